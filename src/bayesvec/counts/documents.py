"""Encoded documents: token ids, where each document begins, and its group."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesvec._types import Array, Int32, Int64, UInt8
from bayesvec.counts.spill import empty_array


def offsets(lengths: Array) -> Int64:
    """Return where each of consecutive items of these lengths starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class EncodedCorpus:
    """Documents as token ids, with everything needed to count them again.

    Attributes
    ----------
    tokens : ndarray of int32
        The context row of each token, document after document; -1 for a word outside the vocabulary.
    bounds : ndarray of int64
        Document ``d`` is ``tokens[bounds[d] : bounds[d + 1]]``.
    numbers : ndarray of int64
        Each document's number in the whole corpus, the address of its random numbers.
    frequency : ndarray of int64
        Frequency of each word of the vocabulary in the whole corpus.
    group_of : ndarray of int32 or None
        The group of each document, if there are groups.
    rows : ndarray of int32, shape (rows, 2), or None
        The word and the group of each word row, if there are groups; otherwise word rows are the vocabulary.
    left_out_names, left_out_counts : ndarray or None
        The most frequent words outside the vocabulary, see `bayesvec.counts.left_out`.
    options : dict
        How pairs are counted (the fields of `bayesvec.counts.windows.PairOptions`), as JSON values.
    """

    tokens: Int32
    bounds: Int64
    numbers: Int64
    frequency: Int64
    group_of: Int32 | None = None
    rows: Int32 | None = None
    options: dict[str, Any] = field(default_factory=dict)
    left_out_names: UInt8 | None = None
    left_out_counts: Int64 | None = None

    ARRAYS = (
        *("tokens", "bounds", "numbers", "frequency"),
        *("group_of", "rows", "left_out_names", "left_out_counts"),
    )

    @property
    def num_documents(self) -> int:
        """Number of documents, including those without words."""
        return len(self.bounds) - 1

    def arrays(self) -> dict[str, Array]:
        """Return the arrays by name; ``EncodedCorpus(**arrays, options=options)`` restores the corpus."""
        held = {name: getattr(self, name) for name in self.ARRAYS}
        return {name: array for name, array in held.items() if array is not None}

    def select(self, documents: Int64, *, memory: int | None = None) -> "EncodedCorpus":
        """Return the corpus of some documents, in the order given; they keep their numbers."""
        from bayesvec.kernels.counting import gather

        bounds = offsets(np.diff(self.bounds)[documents])
        in_file = memory is not None and 4 * bounds[-1] > memory // 4
        tokens = empty_array(int(bounds[-1]), np.int32, in_file=in_file)
        gather(self.tokens, self.bounds, documents, tokens)
        group_of = None if self.group_of is None else self.group_of[documents]
        return EncodedCorpus(
            tokens, bounds, self.numbers[documents], self.frequency, group_of, self.rows, dict(self.options)
        )
