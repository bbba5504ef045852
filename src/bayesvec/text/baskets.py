"""Baskets from a table with a basket and an item in each row, such as the films that users have rated."""

from collections.abc import Iterable

import numpy as np

from bayesvec.counts.spill import GrowingArray
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
    order = np.argsort(basket_of, kind="stable")
    lengths = np.bincount(basket_of, minlength=len(number_of_basket)).astype(np.int64)
    frequency = np.bincount(tokens, minlength=len(number_of_item)).astype(np.int64)
    groups = [group for _, group in number_of_basket if group is not None]
    return TokenStream(tokens[order], lengths, list(number_of_item), frequency, groups or None)


def _append(some: list[tuple[int, int]], items: GrowingArray, baskets: GrowingArray) -> None:
    if some:
        numbers = np.array(some, dtype=np.int32)
        items.append(numbers[:, 0])
        baskets.append(numbers[:, 1])
        some.clear()
