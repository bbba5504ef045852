r"""Rows with heavy tails moved along their own direction: x becomes s x.

No update of a whole row changes its length much: given its scale (`bayesvec.kernels.row_scales`) a row of K axes that
the data say little about has about the length that the scale allows, and the scale is drawn given that length. So the
length itself is drawn, by a generalised Gibbs step (Liu & Sabatti 2000) with the scale integrated out: with
:math:`q = x^\top \Lambda x`, the log of s has the density

.. math:: K \log s - \frac{\nu + K}2 \log\Big(1 + \frac{s^2 q}\nu\Big) + \log p(D \mid s x).

Logits are proportional to s, so they are computed once. The draw is by slice sampling (Neal 2003).
"""

import math

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.logistic import sum_single, value_single
from bayesvec.kernels.rng import Key, exponential, uniforms
from bayesvec.kernels.row_scales import distance_of
from bayesvec.kernels.row_work import RowSide, Work, take_pairs
from bayesvec.kernels.vector_rows import dot_eight

WIDTH = 0.5  # of the first interval around log s = 0
MOST_STEPS = 4  # of this width that the interval grows by
BLOCK = 1 << 24  # of the address of a row, from which on its random numbers are used here


@inlined
def _logits(row: int, side: RowSide, rows: Float32, other: Float32, work: Work, eta: Float32) -> None:
    """Put the logits of a row's pairs into ``eta``."""
    first, stop = side.indptr[row], side.indptr[row + 1]
    for start in range(first, stop, len(work.panel)):
        count = min(len(work.panel), stop - start)
        size = take_pairs(start, count, side, work)
        for p in range(0, size, 8):
            dot_eight(other, work.numbers, p, rows[row], work.eta)
        for p in range(count):
            eta[start - first + p] = work.eta[p]


@compiled
def _likelihood(row: int, log_scale: float, side: RowSide, eta: Float32, work: Work) -> float:
    """Return the log likelihood of a row's pairs whose logits are ``eta`` times a scale."""
    first, stop, total = side.indptr[row], side.indptr[row + 1], 0.0
    scale = np.float32(math.exp(log_scale))
    for start in range(first, stop, len(work.eta)):
        count = min(len(work.eta), stop - start)
        for p in range(count):
            work.eta[p] = scale * eta[start - first + p]
        value_single(work.eta[:count], side.n[start:], side.kappa[start:], side.weight, work.terms)
        total += sum_single(work.terms[:count])
    return total


@inlined
def _prior(log_scale: float, distance: float, tails: float, dim: int) -> float:
    return dim * log_scale - 0.5 * (tails + dim) * math.log1p(math.exp(2.0 * log_scale) * distance / tails)


@compiled
def _draw(
    row: int, side: RowSide, tails: float, distance: float, key: Key, work: Work, eta: Float32
) -> tuple[float, float]:
    """Draw the log of s; return it with the log likelihood there."""
    here = _likelihood(row, 0.0, side, eta, work)
    level = here + _prior(0.0, distance, tails, work.dim) - exponential(key, row, BLOCK)
    place, share = uniforms(key, row, BLOCK + 1)
    low = -WIDTH * place
    high = low + WIDTH
    below = int(MOST_STEPS * share)
    for end in range(2):  # step out, to the left and to the right
        for _ in range(below if end == 0 else MOST_STEPS - 1 - below):
            edge = low if end == 0 else high
            value = _likelihood(row, edge, side, eta, work) + _prior(edge, distance, tails, work.dim)
            if value <= level:
                break
            low, high = (low - WIDTH, high) if end == 0 else (low, high + WIDTH)
    block = BLOCK + 2
    while True:
        after = low + (high - low) * uniforms(key, row, block)[0]
        value = _likelihood(row, after, side, eta, work)
        if value + _prior(after, distance, tails, work.dim) > level:
            return after, value
        if abs(after) < 1e-9:  # the interval has shrunk to where the row is
            return 0.0, here
        low, high = (after, high) if after < 0.0 else (low, after)
        block += 1


@compiled
def rescale_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    tails: float,
    rows: Float32,
    other: Float32,
    key: Key,
    work: Work,
    eta: Float32,
    likelihood: Float64,
) -> None:
    """Draw the lengths of the rows ``order[first:last]``, in place; their log likelihoods go to ``likelihood``.

    ``eta`` has room for the pairs of the longest of them.
    """
    for place in range(first, last):
        row = int(order[place])
        distance = distance_of(row, rows, side.precision)
        if distance <= 0.0:
            continue
        _logits(row, side, rows, other, work, eta)
        log_scale, value = _draw(row, side, tails, distance, key, work, eta)
        scale = np.float32(math.exp(log_scale))
        for k in range(rows.shape[1]):
            rows[row, k] *= scale
        likelihood[row] = value
