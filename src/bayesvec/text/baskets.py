"""Baskets from a table with a basket and an item in each row, such as the films that users have rated."""

from collections.abc import Iterable

import numpy as np

from bayesvec._types import Int32, Int64
from bayesvec.counts.spill import GrowingArray, parts
from bayesvec.text.corpus import TokenStream
from bayesvec.text.sources import ReadOptions
from bayesvec.text.tables import Record, group_of, name_in


def collect_baskets(
    records: Iterable[tuple[str, str | None, Record]], options: ReadOptions, *, memory: int
) -> TokenStream:
    """Collect the items of each basket, which need not be next to each other, in the order of the rows.

    With groups, what a basket holds in each group is a basket of its own.

    Parameters
    ----------
    records : iterable of (str, str or None, Record)
        Name of the table, its group if it has one, and a row.
    options : ReadOptions
        The columns.
    memory : int
        Limit on memory in bytes.
    """
    number_of_item: dict[str, int] = {}
    number_of_basket: dict[tuple[str, str | None], int] = {}
    items, baskets = GrowingArray(np.int32, memory // 8), GrowingArray(np.int32, memory // 8)
    some: list[tuple[int, int]] = []
    for name, group, (row, number) in records:
        item = name_in(row, str(options.item_column), name, number, "an item")
        basket = name_in(row, str(options.basket_column), name, number, "a basket")
        key = (basket, group if group is not None else group_of(row, name, options, number))
        some.append(
            (
                number_of_item.setdefault(item, len(number_of_item)),
                number_of_basket.setdefault(key, len(number_of_basket)),
            )
        )
        if len(some) == 1 << 16:
            _append(some, items, baskets)
    _append(some, items, baskets)
    tokens, basket_of = items.finish(), baskets.finish()
    lengths, frequency = (
        _occurrences(basket_of, len(number_of_basket)),
        _occurrences(tokens, len(number_of_item)),
    )
    groups = [group for _, group in number_of_basket if group is not None]
    ordered = _by_basket(tokens, basket_of, lengths, memory=memory)
    return TokenStream(ordered, lengths, list(number_of_item), frequency, groups or None)


def _append(some: list[tuple[int, int]], items: GrowingArray, baskets: GrowingArray) -> None:
    if some:
        numbers = np.array(some, dtype=np.int32)
        items.append(numbers[:, 0])
        baskets.append(numbers[:, 1])
        some.clear()


def _occurrences(numbers: Int32, size: int) -> Int64:
    from bayesvec.kernels.counting import add_occurrences

    total = np.zeros(size, dtype=np.int64)
    for part in parts(numbers):
        add_occurrences(part, total)
    return total


def _by_basket(items: Int32, baskets: Int32, lengths: Int64, *, memory: int) -> Int32:
    """Return the items basket by basket, otherwise in order: some baskets at a time."""
    ends = np.cumsum(lengths)
    ordered = GrowingArray(np.int32, memory // 8)
    first = 0
    while first < len(lengths):
        # at least one basket; a row takes its item, its basket, its place in the order, and the same in parts
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + memory // 128, side="right")))
        found = []
        for some, of in zip(parts(items), parts(baskets), strict=True):
            inside = (of >= first) & (of < last)
            found.append((some[inside], of[inside]))
        some, of = (np.concatenate(column) for column in zip(*found, strict=True))
        ordered.append(some[np.argsort(of, kind="stable")])
        first = last
    return ordered.finish()
