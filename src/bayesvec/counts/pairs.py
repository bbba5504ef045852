"""Pair counts: positive and negative samples of each (word, context) pair, by word and by context."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import chunks_by_cost
from bayesvec._types import Float64, Int32, Int64, UInt8
from bayesvec.counts.documents import EncodedCorpus, offsets
from bayesvec.counts.spill import parts
from bayesvec.errors import InputError

SAMPLES_AT_ONCE = 1 << 24  # pairs


class Side(NamedTuple):
    """The pairs of one side in compressed sparse rows; ``other`` increases within a row."""

    indptr: Int64  # (rows + 1,)
    other: Int32  # (num_pairs,) row of the other side
    n_pos: Int32  # (num_pairs,) positive samples
    n_neg: Int32  # (num_pairs,) negative samples

    def rows(self) -> Int64:
        """Return the row of each pair, (num_pairs,)."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def num_others(self) -> int:
        """One more than the last row of the other side that occurs."""
        return int(self.other.max(initial=-1)) + 1

    def only(self, rows: Int64) -> "Side":
        """Return the pairs of some ``rows`` (rising); the other rows have none."""
        sizes = np.zeros(len(self.indptr) - 1, dtype=np.int64)
        sizes[rows] = np.diff(self.indptr)[rows]
        indptr = offsets(sizes)
        columns = [np.empty(indptr[-1], array.dtype) for array in self[1:]]
        # runs of neighbouring rows are copied at once
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        for run in np.split(rows, breaks):
            if len(run):
                there, here = (
                    slice(*self.indptr[[run[0], run[-1] + 1]]),
                    slice(*indptr[[run[0], run[-1] + 1]]),
                )
                for column, array in zip(columns, self[1:], strict=True):
                    column[here] = array[there]
        for array in (indptr, *columns):
            array.flags.writeable = False  # as those of all counts: another type would be compiled again
        return Side(indptr, *columns)

    def samples(self) -> Float64:
        """Return the number of samples of each row, positive and negative, (rows,); a few pairs in memory at once."""
        total = np.empty(len(self.indptr) - 1)
        chunks = chunks_by_cost(np.diff(self.indptr), 1 + len(self.other) // SAMPLES_AT_ONCE)
        for first, last in chunks:
            ends = self.indptr[first : last + 1]
            n = self.n_pos[ends[0] : ends[-1]] + self.n_neg[ends[0] : ends[-1]]
            total[first:last] = np.diff(np.append(0, np.cumsum(n, dtype=np.float64))[ends - ends[0]])
        return total

    def positives(self) -> Int64:
        """Return the number of positive samples of each row, (rows,)."""
        total = np.concatenate([[0], np.cumsum(self.n_pos, dtype=np.int64)])
        return np.asarray(np.diff(total[self.indptr]))


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Number of positive and negative samples of each (word, context) pair: one entry per pair.

    Made by `count`, `count_baskets`, `simulate`, `from_table` or `from_pairs`.

    Attributes
    ----------
    words, contexts : tuple of str
        Names of the rows of rho and of alpha.
    by_word, by_context : Side
        The same pairs, sorted by word and by context.
    permutation : ndarray of int64
        Entry ``j`` of ``by_context`` is entry ``permutation[j]`` of ``by_word``.
    groups : tuple of str or None
        The group (a party, a year) of each word row, where rows are word@group.
    recipe : Mapping
        How the counts were made: options, seed, version, inputs. Read-only.
    source : EncodedCorpus or None
        The encoded documents, kept so that some of them can be held out later.
    weight : float
        Power of the likelihood of these counts in a model. It is no part of the data: `fit` sets its own.
    words_left_out : tuple of ndarray or None
        The most frequent words outside the vocabulary, where no ``source`` has them; see `bayesvec.counts.left_out`.
    """

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    by_word: Side
    by_context: Side
    permutation: Int64
    groups: tuple[str, ...] | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    source: EncodedCorpus | None = None
    weight: float = 1.0
    words_left_out: tuple[UInt8, Int64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "recipe", MappingProxyType(dict(self.recipe)))
        sides = ((self.by_word, self.words), (self.by_context, self.contexts))
        fits = all(len(side.indptr) == len(names) + 1 for side, names in sides)
        lengths = {len(array) for side, _ in sides for array in side[1:]} | {len(self.permutation)}
        if not fits or len(lengths) != 1 or len(self.groups or self.words) != len(self.words):
            raise InputError("the arrays of the counts do not fit together; make counts with from_pairs")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "recipe": dict(self.recipe)}  # a read-only view cannot be pickled

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, recipe=MappingProxyType(state["recipe"]))

    @property
    def left_out(self) -> tuple[UInt8, Int64] | None:
        """The most frequent words outside the vocabulary, if they are known; see `bayesvec.counts.left_out`."""
        source = self.source
        if source is None or source.left_out_names is None or source.left_out_counts is None:
            return self.words_left_out
        return source.left_out_names, source.left_out_counts

    @property
    def num_words(self) -> int:
        """Number of word rows."""
        return len(self.words)

    @property
    def num_contexts(self) -> int:
        """Number of context rows."""
        return len(self.contexts)

    @property
    def num_pairs(self) -> int:
        """Number of distinct (word, context) pairs observed."""
        return len(self.by_word.other)

    @cached_property
    def num_positives(self) -> int:
        """Number of positive samples over all pairs."""
        return sum(int(part.sum(dtype=np.int64)) for part in parts(self.by_word.n_pos))

    @cached_property
    def num_negatives(self) -> int:
        """Number of negative samples over all pairs."""
        return sum(int(part.sum(dtype=np.int64)) for part in parts(self.by_word.n_neg))

    @property
    def num_observations(self) -> int:
        """Number of samples, positive and negative: the paper's N."""
        return self.num_positives + self.num_negatives

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names and counts: equal data have equal fingerprints, however they were made."""
        digest = hashlib.sha256()
        for names in (self.words, self.contexts, self.groups or ()):
            encoded = [name.encode("utf-8", "surrogatepass") for name in names]
            # lengths first, so that different lists of names never give the same bytes
            digest.update(np.array([len(encoded), *map(len, encoded)], dtype="<i8").data)
            digest.update(b"".join(encoded))
        for array in self.by_word:
            for part in parts(array):
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:32]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the counts to a folder, which `open_counts` opens memory-mapped.

        Parameters
        ----------
        path : path
            The folder to create; it appears complete or not at all.
        force : bool
            Replace existing counts.
        """
        from bayesvec.counts.store import save_counts

        save_counts(self, path, force=force)

    def split(
        self,
        by: str = "document",
        *,
        fractions: Sequence[float] = (0.7, 0.15, 0.15),
        seed: int = 0,
    ) -> tuple["PairCounts", ...]:
        """Split into parts for training and hold-out; they have the same rows and add up to the whole.

        Parameters
        ----------
        by : {"document", "basket", "pair"}
            "document" and "basket" hold out whole documents (baskets): no two parts have samples from the same
            document. "pair" assigns each sample independently, as in the paper's tables; the same pair may then be
            in several parts.
        fractions : sequence of float
            Expected fraction of each part; positive, adding up to 1.
        seed : int
            Seed of the assignment.
        """
        from bayesvec.counts.split import split_counts

        return split_counts(self, by, fractions=fractions, seed=seed)

    def __repr__(self) -> str:
        return (
            f"PairCounts({self.num_words:,} words x {self.num_contexts:,} contexts, "
            f"{self.num_pairs:,} pairs, {self.num_positives:,} positives, {self.num_negatives:,} negatives)"
        )


def from_pairs(
    word: npt.ArrayLike,
    context: npt.ArrayLike,
    *,
    n_pos: npt.ArrayLike,
    n_neg: npt.ArrayLike,
    words: Sequence[str],
    contexts: Sequence[str],
    groups: Sequence[str] | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> PairCounts:
    """Make pair counts from parallel arrays; repeated pairs are added up, empty pairs are dropped.

    Parameters
    ----------
    word, context : array_like of int
        Row of each pair in ``words`` and in ``contexts``.
    n_pos, n_neg : array_like of int
        Positive and negative samples of each pair, zero or more.
    words, contexts : sequence of str
        Names of the rows, distinct and not empty.
    groups : sequence of str, optional
        The group of each word row.
    recipe : Mapping, optional
        How the counts were made, kept with them.
    """
    given = {"word": word, "context": context, "n_pos": n_pos, "n_neg": n_neg}
    rows, columns, positive, negative = (_integers(values, name) for name, values in given.items())
    if not len(rows) == len(columns) == len(positive) == len(negative):
        sizes = f"{len(rows)}, {len(columns)}, {len(positive)} and {len(negative)}"
        raise InputError(f"word, context, n_pos and n_neg have {sizes} entries; they must have equally many")
    _check_names(words, "words")
    _check_names(contexts, "contexts")
    if groups is not None and len(groups) != len(words):
        raise InputError(f"groups has {len(groups)} entries for {len(words)} words; it needs one for each")
    _check_range(rows, len(words), "word")
    _check_range(columns, len(contexts), "context")
    for name, values in (("n_pos", positive), ("n_neg", negative)):
        if len(values) and values.min() < 0:
            where = int(np.argmin(values))
            raise InputError(f"{name} is {values[where]} at entry {where}; counts must not be negative")
        _check_largest(values)
    cell = rows * len(contexts) + columns
    if not np.all(cell[1:] > cell[:-1]):
        cell, inverse = np.unique(cell, return_inverse=True)
        positive = added(inverse, positive, len(cell))
        negative = added(inverse, negative, len(cell))
    kept = positive + negative > 0
    cell, positive, negative = cell[kept], positive[kept], negative[kept]
    if not len(cell):
        raise InputError("there are no pairs: every count is zero; give at least one sample")
    _check_largest(positive + negative)
    pairs = (*np.divmod(cell, len(contexts)), positive, negative)
    return from_sorted(
        *(array.astype(np.int32) for array in pairs),
        words=tuple(words),
        contexts=tuple(contexts),
        groups=None if groups is None else tuple(groups),
        recipe=dict(recipe or {}),
    )


def from_sorted(
    word: Int32,
    context: Int32,
    n_pos: Int32,
    n_neg: Int32,
    *,
    words: tuple[str, ...],
    contexts: tuple[str, ...],
    groups: tuple[str, ...] | None,
    recipe: Mapping[str, Any],
    source: EncodedCorpus | None = None,
) -> PairCounts:
    """Make pair counts from distinct pairs sorted by word, then context (not checked)."""
    permutation = _stable_order(context, len(contexts))
    by_word = Side(_indptr(word, len(words)), context, n_pos, n_neg)
    by_context = Side(
        _indptr(context, len(contexts)), word[permutation], n_pos[permutation], n_neg[permutation]
    )
    for array in (*by_word, *by_context, permutation):
        array.flags.writeable = False
    return PairCounts(words, contexts, by_word, by_context, permutation, groups, recipe, source)


def _stable_order(ids: Int32, size: int) -> Int64:
    """Return the stable order that sorts ``ids`` (all below ``size``).

    NumPy uses radix sort for 16-bit numbers, which is several times faster: sort by lower, then by upper half.
    """
    order = np.argsort((ids & 0xFFFF).astype(np.uint16), kind="stable")
    if size > 1 << 16:
        order = order[np.argsort((ids[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def _indptr(rows: Int32, num_rows: int) -> Int64:
    """Return where each row starts, given the row of each entry in any order."""
    return offsets(np.bincount(rows, minlength=num_rows))


def _integers(values: npt.ArrayLike, name: str) -> Int64:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} has {array.ndim} dimensions; it must have one")
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~(np.abs(array) < 2.0**53) | (array != np.floor(array)))
        if len(bad):
            raise InputError(f"{name} is {array[bad[0]]} at entry {bad[0]}; it must be a whole number")
    elif array.dtype.kind not in "iub" and array.size:
        raise InputError(f"{name} holds {array.dtype}; it must hold whole numbers")
    elif array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise InputError(f"{name} holds {array.max()}; it must be below 2**63")
    return array.astype(np.int64)


def _check_names(names: Sequence[str], what: str) -> None:
    if not len(names):
        raise InputError(f"{what} is empty; at least one name is needed")
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None or isinstance(names, str):
        raise InputError(f"{what} holds {other or names!r}; it must be a sequence of strings")
    if "" in names:
        raise InputError(f"{what} has an empty name at entry {list(names).index('')}; every row needs a name")
    if (twice := first_repeated(names)) is not None:
        raise InputError(f"{what} has {twice!r} more than once; names must be distinct")


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that occurs a second time."""
    if len(set(names)) == len(names):
        return None
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def _check_largest(samples: Int64) -> None:
    if len(samples) and samples.max() >= 2**31:
        raise InputError(f"a pair has {samples.max()} samples; at most {2**31 - 1} are allowed")


def _check_range(ids: Int64, size: int, name: str) -> None:
    if len(ids) and (ids.min() < 0 or ids.max() >= size):
        bad = int(ids.min() if ids.min() < 0 else ids.max())
        raise InputError(f"{name} holds {bad}; it must be from 0 to {size - 1}")


def added(inverse: Int64, values: Int64, size: int) -> Int64:
    """Add up ``values`` in the same cell, as integers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, inverse, values)
    return total
