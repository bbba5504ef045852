"""Encoded documents: token ids, where each document begins, and its group."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesvec._types import Array, Int32, Int64, UInt8
from bayesvec.counts.spill import PART, GrowingArray, grown, parts, release

BOUNDS_SHARE = 32  # of the memory, for each array with an entry per document


def offsets(lengths: Array) -> Int64:
    """Return where each of consecutive items of these lengths starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def document_bounds(lengths: Int64, *, memory: int) -> Int64:
    """Return the `offsets` of documents, of which there may be very many, within some memory."""

    def pieces() -> Iterator[Int64]:
        last = np.zeros(1, dtype=np.int64)
        yield last
        for part in parts(lengths):
            ends = last + np.cumsum(part)
            last = ends[-1:]
            yield ends

    return grown(pieces(), np.int64, memory // BOUNDS_SHARE)


class Lengths:
    """The length of each document; parts of a document in several blocks are added up."""

    def __init__(self, memory: int) -> None:
        self._whole = GrowingArray(np.int64, memory // BOUNDS_SHARE)
        self._last = np.zeros(0, dtype=np.int64)

    def append(self, lengths: Int64, continues: bool) -> None:
        """Append the lengths of more documents; if it ``continues``, the first is the rest of the last one."""
        if not len(lengths):
            return
        if continues:
            lengths = np.append(self._last + lengths[0], lengths[1:])
        else:
            self._whole.append(self._last)
        self._whole.append(lengths[:-1])
        self._last = lengths[-1:].copy()

    def finish(self) -> Int64:
        """Return all lengths."""
        self._whole.append(self._last)
        return self._whole.finish()


class Span(NamedTuple):
    """Some tokens, and the documents that they are in; the first and the last document may be incomplete."""

    document: int
    documents_end: int
    token: int
    tokens_end: int


def spans(bounds: Int64, size: int = PART) -> Iterator[Span]:
    """Yield spans of at most ``size`` tokens and ``size`` documents that cover all tokens and documents in order."""
    document = token = 0
    while document < len(bounds) - 1:
        end = min(document + size, len(bounds) - 1)
        last = int(bounds[end])
        if last > token + size:
            last = token + size
            end = document + int(np.searchsorted(bounds[document : end + 1], last))
        yield Span(document, end, token, last)
        document, token = end if bounds[end] == last else end - 1, last


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
        edges = np.unique(np.searchsorted(bounds, [*range(0, int(bounds[-1]), PART), bounds[-1]]))

        def pieces() -> Iterator[Int32]:
            for first, last in pairwise(edges):
                tokens = np.empty(bounds[last] - bounds[first], dtype=np.int32)
                gather(self.tokens, self.bounds, documents[first:last], tokens)
                release(self.tokens)
                yield tokens

        tokens = grown(pieces(), np.int32, 1 << 62 if memory is None else memory // 4)
        group_of = None if self.group_of is None else self.group_of[documents]
        return EncodedCorpus(
            tokens, bounds, self.numbers[documents], self.frequency, group_of, self.rows, dict(self.options)
        )
