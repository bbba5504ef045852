"""Questions put to every draw: a few draws in memory at a time, however long the run."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesvec.errors import NumericalError

if TYPE_CHECKING:
    from bayesvec.draws import Draws

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

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
    """Cut the draws into slices of which ``num_rows`` vectors of every chain fit `BLOCK_BYTES`."""
    fits = max(1, BLOCK_BYTES // (8 * draws.num_chains * num_rows * draws.dim))
    length = fits // 100 * 100 or fits  # files hold at most 100 draws: do not cut them where it can be helped
    for first in range(0, draws.num_draws, length):
        yield slice(first, min(first + length, draws.num_draws))


def cosines(draws: "Draws", first: Rows, second: Rows) -> Float64:
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
    rows, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = np.split(place, 2)
    result = np.empty((draws.num_chains, draws.num_draws, len(first)))
    for block in draw_slices(draws, len(rows) + 2 * len(first)):
        x = draws.read("rho", rows=rows, draws=block).astype(np.float64)
        norm = np.sqrt(np.einsum("cdrk,cdrk->cdr", x, x))
        _refuse_zero(draws, norm, rows)
        dot = np.einsum("cdmk,cdmk->cdm", x[:, :, one], x[:, :, other])
        result[:, block] = np.clip(dot / (norm[:, :, one] * norm[:, :, other]), -1.0, 1.0)
    return result


def probabilities(draws: "Draws", words: Rows, contexts: Rows) -> Float64:
    r"""Return :math:`s(\rho_w^\top \alpha_v)` for each pair of a word and a context, (chain, draw, M)."""
    rows, word = np.unique(words, return_inverse=True)
    columns, context = np.unique(contexts, return_inverse=True)
    result = np.empty((draws.num_chains, draws.num_draws, len(words)))
    for block in draw_slices(draws, len(rows) + len(columns) + 2 * len(words)):
        x = draws.read("rho", rows=rows, draws=block).astype(np.float64)
        y = draws.read("alpha", rows=columns, draws=block).astype(np.float64)
        result[:, block] = logistic(np.einsum("cdmk,cdmk->cdm", x[:, :, word], y[:, :, context]))
    return result


def logistic(eta: Float64) -> Float64:
    """Return 1 / (1 + exp(-eta)) without overflow."""
    small = np.exp(-np.abs(eta))
    return np.asarray(np.where(eta >= 0, 1.0, small) / (1.0 + small))


def nearest(draws: "Draws", row: int, n: int) -> tuple[Rows, Float64]:
    """Find the ``n`` words with the largest posterior mean cosine to word ``row``.

    Returns
    -------
    rows : ndarray of int64, (n,)
        The words, the nearest first; the earlier row first where means are equal.
    probability : ndarray, (n,)
        Share of draws in which fewer than ``n`` words are strictly nearer.
    """
    num_words = len(draws.words)
    total = np.zeros(num_words)
    in_top = np.zeros(num_words, dtype=np.int64)
    for rho in each_draw(draws, "rho"):
        cosine = _cosines_to(rho, row)
        if np.isnan(cosine[row]):
            _refuse_zero(draws, np.zeros((1, 1, 1)), np.array([row]))
        np.nan_to_num(cosine, copy=False, nan=-np.inf)  # a word at zero is nobody's neighbour
        cosine[row] = -np.inf
        edge = np.partition(cosine, num_words - n)[num_words - n]
        in_top += (cosine >= edge) & (cosine > -np.inf)
        total += cosine
    rows = np.argsort(-total, kind="stable")[:n]
    return rows, in_top[rows] / (draws.num_chains * draws.num_draws)


def _cosines_to(rho: Float32, row: int) -> Float32:
    # Both are bound by memory; a BLAS call would wait for threads and round by their number.
    norm = np.sqrt(np.einsum("vk,vk->v", rho, rho))
    dot = np.einsum("vk,k->v", rho, rho[row])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(dot / (norm * norm[row]))


def _refuse_zero(draws: "Draws", norm: Float64, rows: Rows) -> None:
    zero = np.flatnonzero((norm == 0).any(axis=(0, 1)))
    if len(zero):
        word = draws.words[rows[zero[0]]]
        raise NumericalError(
            f"the vector of {word!r} is zero, so it has no cosines: the data say nothing about it; "
            "use more text, a smaller --prior-precision, or a method that draws from the posterior",
            word=word,
        )
