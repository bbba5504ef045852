"""Functions of every draw, with a few draws in memory at a time, however long the run."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import default_threads
from bayesvec._types import Float32, Float64, Int64
from bayesvec.errors import NumericalError

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


BLOCK_BYTES = 64 << 20
_LEAST = np.finfo(np.float32).min  # above the -inf of words that are never near

Result = TypeVar("Result")


def each_draw(draws: "Draws", name: str) -> Iterator[Float32]:
    """Yield all rows of one draw after another, (row, K), chain by chain, reading ahead in the background."""
    with ThreadPoolExecutor(1, thread_name_prefix="bayesvec-read") as reader:
        blocks = iter(draws.blocks(name))
        ahead = reader.submit(next, blocks, None)
        while (block := ahead.result()) is not None:
            ahead = reader.submit(next, blocks, None)
            yield from block[2]


def over_blocks(draws: "Draws", work: "Callable[[Float32, Float32], Result]") -> "Iterator[Result]":
    """Yield ``work(rho, norm)`` for a few draws of rho after another, in their order, computed on all processors.

    The blocks do not depend on the number of threads. ``rho`` is (draw, word, K), ``norm`` its lengths, (draw, word).
    """
    kept = getattr(draws, "row_norms", None)

    def call(chain: int, first: int) -> "Result":
        rho = draws.block("rho", chain, first)
        if kept is None:
            return work(rho, np.sqrt(np.einsum("dvk,dvk->dv", rho, rho)))
        return work(rho, kept[chain, first : first + len(rho)])

    threads = default_threads()
    with ThreadPoolExecutor(threads, thread_name_prefix="bayesvec-ask") as pool:
        ahead: deque[Future[Result]] = deque()
        for start in draws.block_starts("rho"):
            ahead.append(pool.submit(call, *start))
            if len(ahead) > threads + 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def draw_slices(draws: "Draws", num_rows: int) -> Iterator[slice]:
    """Cut the draws into slices of which ``num_rows`` vectors (or none) of every chain fit `BLOCK_BYTES`."""
    fits = max(1, BLOCK_BYTES // (8 * draws.num_chains * max(1, num_rows) * draws.dim))
    length = fits // 100 * 100 or fits  # a file holds at most 100 draws; cut between files if possible
    for first in range(0, draws.num_draws, length):
        yield slice(first, min(first + length, draws.num_draws))


def vectors(draws: "Draws", rows: Int64, *, beside: int = 0, side: str = "rho") -> Iterator[Float64]:
    """Yield the vectors of ``rows``, (chain, draw, M, K), a few draws at a time.

    ``beside`` is how many more vectors per draw the caller needs room for.
    """
    for block in draw_slices(draws, len(rows) + beside):
        yield draws.read(side, rows=rows, draws=block).astype(np.float64)


def unit_vectors(draws: "Draws", rows: Int64, *, beside: int = 0) -> Iterator[Float64]:
    """Yield the vectors of words ``rows`` as `vectors` does, each of length 1."""
    for x in vectors(draws, rows, beside=len(rows) + beside):
        norm = _lengths(x)
        _refuse_zero(draws, norm, rows)
        yield x / norm[..., None]


def joined(parts: Iterable[Float64]) -> Float64:
    """Return values that were computed for a few draws at a time, (chain, some draws, ...), for all draws."""
    return np.concatenate(list(parts), axis=1)


def norms(draws: "Draws", rows: Int64, *, side: str = "rho") -> Float64:
    """Return the lengths of the vectors of ``rows``, (chain, draw, M)."""
    return joined(map(_lengths, vectors(draws, rows, side=side)))


def cosines(draws: "Draws", first: Int64, second: Int64) -> Float64:
    """Return the cosines between words ``first`` and ``second``, pair by pair.

    Parameters
    ----------
    draws : Draws
        The run.
    first, second : ndarray of int64, (M,)
        Rows of rho.

    Returns
    -------
    ndarray, (chain, draw, M)
    """

    def measure(rows: Int64, x: Float64, one: Int64, other: Int64) -> Float64:
        norm = _lengths(x)
        _refuse_zero(draws, norm, rows)
        dot = np.einsum("cdmk,cdmk->cdm", _chosen(x, one), _chosen(x, other))
        return np.asarray(np.clip(dot / (_chosen(norm, one) * _chosen(norm, other)), -1.0, 1.0))

    return _by_pairs(draws, first, second, measure)


def distances(draws: "Draws", first: Int64, second: Int64) -> Float64:
    """Return the Euclidean distances between words ``first`` and ``second``, pair by pair, (chain, draw, M)."""
    return _by_pairs(
        draws, first, second, lambda rows, x, one, other: _lengths(_chosen(x, one) - _chosen(x, other))
    )


def _by_pairs(draws: "Draws", first: Int64, second: Int64, measure: Callable[..., Float64]) -> Float64:
    """Measure pairs of words: ``measure(rows, x, one, other)`` of vectors x and places of the pairs in them."""
    rows, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = np.split(place, 2)
    return joined(measure(rows, x, one, other) for x in vectors(draws, rows, beside=2 * len(first)))


def cosines_with_sum(draws: "Draws", rows: Int64, weights: Float64, others: Int64) -> Float64:
    """Return the cosines of ``others`` with the weighted sum of the unit vectors of ``rows``, (chain, draw, M)."""
    distinct, place = np.unique(np.concatenate([rows, others]), return_inverse=True)
    summed, compared = np.split(place, [len(rows)])

    def measure(unit: Float64) -> Float64:
        target = direction(_chosen(unit, summed), weights)
        # of all words at once, because picking cosines is much faster than picking vectors
        cosine = np.einsum("cdmk,cdk->cdm", unit, target)
        return np.asarray(np.clip(_chosen(cosine, compared), -1.0, 1.0))

    return joined(map(measure, unit_vectors(draws, distinct)))


def direction(x: Float64, weights: Float64) -> Float64:
    """Return the direction of the weighted sum of vectors (chain, draw, M, K), (chain, draw, K)."""
    total = np.einsum("m,cdmk->cdk", weights, x)
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    if not length.all():
        raise NumericalError(
            "the words cancel each other: they add up to zero in a draw, which has no direction; "
            "ask about other words"
        )
    return np.asarray(total / length)


def probabilities(draws: "Draws", words: Int64, contexts: Int64) -> Float64:
    r"""Return :math:`s(\rho_w^\top \alpha_v)` for each pair of a word and a context, (chain, draw, M)."""
    rows, word = np.unique(words, return_inverse=True)
    columns, context = np.unique(contexts, return_inverse=True)
    room = 2 * len(words)
    sides = zip(
        vectors(draws, rows, beside=len(columns) + room),
        vectors(draws, columns, beside=len(rows) + room, side="alpha"),
        strict=True,
    )
    return joined(
        logistic(np.einsum("cdmk,cdmk->cdm", _chosen(x, word), _chosen(y, context))) for x, y in sides
    )


def logistic(eta: Float64) -> Float64:
    """Return 1 / (1 + exp(-eta)) without overflow."""
    small = np.exp(-np.abs(eta))
    return np.asarray(np.where(eta >= 0, 1.0, small) / (1.0 + small))


class Nearness(NamedTuple):
    """How near each word is to a sum of word vectors, over all draws; the words of the sum count as far."""

    mean: Float64  # (word,) posterior mean of the cosine, -inf for the words of the sum
    in_top: Float64  # (word,) fraction of draws in which fewer than n words are strictly nearer
    first: Float64  # (word,) fraction of draws in which no word is strictly nearer


def nearest(draws: "Draws", rows: Int64, weights: Float64, n: int, *, among: Int64) -> Nearness:
    """Find how near every word is to the weighted sum of the unit vectors of words ``rows``.

    Parameters
    ----------
    draws : Draws
        The run.
    rows : ndarray of int64, (M,)
        The words of the sum, each once; a single one for its neighbours.
    weights : ndarray, (M,)
        Their weights, such as -1, 1, 1 for an analogy.
    n : int
        How many words count as the top.
    among : ndarray of int64
        The candidates.
    """
    return nearest_to_each(draws, [(rows, weights)], n, among=among)[0]


def nearest_to_each(
    draws: "Draws", sums: Sequence[tuple[Int64, Float64]], n: int, *, among: Int64
) -> list[Nearness]:
    """Find how near every word is to each of several ``sums``, (rows, weights), reading the draws once."""
    num_words = len(draws.words)
    cosines_of = [_cosines_with_all(draws, rows, weights, among) for rows, weights in sums]

    def count(rho: Float32, norm: Float32) -> list[tuple[Float64, Int64, Int64]]:
        found = []
        for cosine in (each(rho, norm) for each in cosines_of):
            top = np.partition(cosine, num_words - n, axis=1)[:, -n:]  # the n-th nearest comes first
            in_top = (cosine >= np.maximum(top[:, :1], _LEAST)).sum(axis=0)
            first = (cosine == top.max(axis=1, keepdims=True)).sum(axis=0)
            found.append((cosine.sum(axis=0, dtype=np.float64), in_top, first))
        return found

    number = draws.num_chains * draws.num_draws
    totals = [
        list(map(sum, zip(*parts, strict=True))) for parts in zip(*over_blocks(draws, count), strict=True)
    ]
    return [Nearness(*(np.asarray(total / number) for total in each)) for each in totals]


class Places(NamedTuple):
    """Where words lie along a sum of word vectors, over all draws."""

    mean: Float64  # (M,) posterior mean of the cosine
    above: Float64  # (M,) fraction of draws in which it is above zero


def signs_with_sum(draws: "Draws", rows: Int64, weights: Float64, *, among: Int64) -> Places:
    """Return the mean and the sign of the cosine of many words with the weighted sum of some unit vectors.

    It is what `cosines_with_sum` gives, without keeping the draws of every word.

    Parameters
    ----------
    draws : Draws
        The run.
    rows : ndarray of int64
        The words of the sum, each once.
    weights : ndarray
        Their weights.
    among : ndarray of int64, (M,)
        The words to place, none of them in the sum.
    """
    cosines_of = _cosines_with_all(draws, rows, weights, among)

    def count(rho: Float32, norm: Float32) -> tuple[Float64, Int64]:
        cosine = cosines_of(rho, norm)
        return cosine.sum(axis=0, dtype=np.float64)[among], (cosine > 0.0).sum(axis=0)[among]

    total, above = (sum(part) for part in zip(*over_blocks(draws, count), strict=True))
    number = draws.num_chains * draws.num_draws
    return Places(np.asarray(total / number), np.asarray(above / number))


def ranks(draws: "Draws", row: int, others: Int64, *, among: Int64) -> Float64:
    """Return the rank of each of ``others`` among the neighbours of word ``row``, (chain, draw, M).

    The nearest has rank 1; ``among`` are the candidates.
    """
    cosines_of = _cosines_with_all(draws, np.array([row]), np.ones(1), among)

    def rank(rho: Float32, norm: Float32) -> Float64:
        cosine = cosines_of(rho, norm)
        ordered = np.sort(cosine, axis=1)
        nearer = [
            np.searchsorted(*each, side="right") for each in zip(ordered, cosine[:, others], strict=True)
        ]
        return np.asarray(1.0 + cosine.shape[1] - np.stack(nearer))

    every = np.concatenate(list(over_blocks(draws, rank)))
    return every.reshape(draws.num_chains, draws.num_draws, len(others))


def _cosines_with_all(
    draws: "Draws", rows: Int64, weights: Float64, among: Int64
) -> Callable[[Float32, Float32], Float32]:
    """Return a function of draws, (draw, word, K), and their lengths: cosines of words with a sum, (draw, word).

    It is -inf for what is never near: the words of the sum, words that are not candidates, and words whose vector is
    zero.
    """
    far = np.union1d(np.setdiff1d(np.arange(len(draws.words)), among), rows)
    weights = weights.astype(np.float32)

    def cosines_of(rho: Float32, norm: Float32) -> Float32:
        # The products are bound by memory; a BLAS call would wait for threads and round by their number.
        _refuse_zero(draws, norm[None, :, rows], rows)
        target = np.einsum("dm,dmk->dk", weights / norm[:, rows], rho[:, rows])
        length = np.sqrt(np.einsum("dk,dk->d", target, target))
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = np.einsum("dvk,dk->dv", rho, target / length[:, None])
            cosine /= norm
        cosine[:, far] = -np.inf
        cosine[norm == 0] = -np.inf
        cosine[length == 0] = -np.inf
        return np.asarray(cosine)

    return cosines_of


def _chosen(x: Float64, places: Int64) -> Float64:
    """Return some of the vectors (chain, draw, M, K); ten times as fast as an index in brackets."""
    return np.take(x, places, axis=2)


def _lengths(x: Float64) -> Float64:
    return np.asarray(np.sqrt(np.einsum("...k,...k->...", x, x)))


def _refuse_zero(draws: "Draws", norm: npt.NDArray[np.floating[Any]], rows: Int64) -> None:
    zero = np.flatnonzero((norm == 0).any(axis=(0, 1)))
    if len(zero):
        word = draws.words[rows[zero[0]]]
        raise NumericalError(
            f"the vector of {word!r} is zero, so it has no cosines: the data contain no information about it; "
            "use more text, a smaller --prior-precision, or a method that draws from the posterior",
            word=word,
        )
