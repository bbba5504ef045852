"""Word rows of counts with groups: the word of each row, and added rows that have no pairs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import InputError, OptionError


def word_of_rows(counts: PairCounts) -> tuple[str, ...]:
    """Return the word of each word row, without the group."""
    if counts.groups is None:
        return counts.words
    words = []
    for name, group in zip(counts.words, counts.groups, strict=True):
        if not name.endswith(f"@{group}"):
            raise InputError(
                f"row {name!r} is in group {group!r}; its name must be a word followed by @{group}"
            )
        words.append(name[: -len(group) - 1])
    return tuple(words)


def with_rows(counts: PairCounts, added: Sequence[tuple[str, str]]) -> PairCounts:
    """Return the counts with word rows appended that have no pairs.

    Parameters
    ----------
    counts : PairCounts
        Counts with groups.
    added : sequence of (str, str)
        Name and group of each new row.
    """
    if not added:
        return counts
    if counts.groups is None:
        raise OptionError("rows can only be added to counts with groups; count with --group-column")
    known = set(counts.words)
    twice = next((name for name, _ in added if name in known), None)
    if twice is not None:
        raise OptionError(f"there is a row {twice!r} already; rename its group")
    indptr = counts.by_word.indptr
    longer = np.append(indptr, np.full(len(added), indptr[-1]))
    longer.flags.writeable = False
    return replace(
        counts,
        words=(*counts.words, *(name for name, _ in added)),
        groups=(*counts.groups, *(group for _, group in added)),
        by_word=counts.by_word._replace(indptr=longer),
        source=None,  # its rows do not include the new ones
        words_left_out=counts.left_out,
    )
