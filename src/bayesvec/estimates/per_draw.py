"""Functions of every draw, with a few draws in memory at a time, however long the run."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32, Float64, Int64
from bayesvec.errors import NumericalError

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


BLOCK_BYTES = 64 << 20


def each_draw(draws: "Draws", name: str) -> Iterator[Float32]:
    """Yield all rows of one draw after another, (row, K), chain by chain, reading ahead in the background."""
    with ThreadPoolExecutor(1, thread_name_prefix="bayesvec-read") as reader:
        blocks = iter(draws.blocks(name))
        ahead = reader.submit(next, blocks, None)
        while (block := ahead.result()) is not None:
            ahead = reader.submit(next, blocks, None)
            yield from block[2]


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
        dot = np.einsum("cdmk,cdmk->cdm", x[:, :, one], x[:, :, other])
        return np.asarray(np.clip(dot / (norm[:, :, one] * norm[:, :, other]), -1.0, 1.0))

    return _by_pairs(draws, first, second, measure)


def distances(draws: "Draws", first: Int64, second: Int64) -> Float64:
    """Return the Euclidean distances between words ``first`` and ``second``, pair by pair, (chain, draw, M)."""
    return _by_pairs(
        draws, first, second, lambda rows, x, one, other: _lengths(x[:, :, one] - x[:, :, other])
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
    return joined(
        np.clip(
            np.einsum("cdmk,cdk->cdm", unit[:, :, compared], direction(unit[:, :, summed], weights)),
            -1.0,
            1.0,
        )
        for unit in unit_vectors(draws, distinct)
    )


def direction(x: Float64, weights: Float64) -> Float64:
    """Return the direction of the weighted sum of vectors (chain, draw, M, K), (chain, draw, K)."""
    total = np.einsum("m,cdmk->cdk", weights, x)
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    if not length.all():
        raise NumericalError(
            "the words add up to zero in a draw, which has no direction; ask about other words"
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
    return joined(logistic(np.einsum("cdmk,cdmk->cdm", x[:, :, word], y[:, :, context])) for x, y in sides)


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
    num_words = len(draws.words)
    total = np.zeros(num_words)
    in_top, first = np.zeros((2, num_words), dtype=np.int64)
    for cosine in _cosines_with_all(draws, rows, weights.astype(np.float32), among):
        edge = np.partition(cosine, num_words - n)[num_words - n]
        in_top += (cosine >= edge) & (cosine > -np.inf)
        first += cosine == cosine.max()
        total += cosine
    number = draws.num_chains * draws.num_draws
    return Nearness(total / number, in_top / number, first / number)


def ranks(draws: "Draws", row: int, others: Int64, *, among: Int64) -> Float64:
    """Return the rank of each of ``others`` among the neighbours of word ``row``, (chain, draw, M).

    The nearest has rank 1; ``among`` are the candidates.
    """
    result = np.empty((draws.num_chains * draws.num_draws, len(others)))
    weight = np.ones(1, dtype=np.float32)
    for number, cosine in enumerate(_cosines_with_all(draws, np.array([row]), weight, among)):
        ordered = np.sort(cosine)
        result[number] = 1 + len(cosine) - np.searchsorted(ordered, cosine[others], side="right")
    return result.reshape(draws.num_chains, draws.num_draws, len(others))


def _cosines_with_all(draws: "Draws", rows: Int64, weights: Float32, among: Int64) -> Iterator[Float32]:
    """Yield for every draw the cosine of each word with a sum, (word,); -inf for what is never near.

    Never near are the words of the sum, words that are not candidates, and words whose vector is zero.
    """
    far = np.ones(len(draws.words), dtype=bool)
    far[among] = False
    far[rows] = True
    for rho in each_draw(draws, "rho"):
        # Both products are bound by memory; a BLAS call would wait for threads and round by their number.
        norm = np.sqrt(np.einsum("vk,vk->v", rho, rho))
        _refuse_zero(draws, norm[rows][None, None], rows)
        target = np.einsum("m,mk->k", weights / norm[rows], rho[rows])
        dot = np.einsum("vk,k->v", rho, target)
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = np.asarray(dot / (norm * np.sqrt(np.dot(target, target))))
        np.nan_to_num(cosine, copy=False, nan=-np.inf)
        cosine[far] = -np.inf
        yield cosine


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
