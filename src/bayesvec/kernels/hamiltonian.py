r"""A row update by Hamiltonian dynamics: rows of one side moved given the other side, in place.

The row is a logistic regression with log density l(x). In the coordinates y = U x, where

.. math:: U^\top U = Q = \Lambda + \sum_v c_v \alpha_v \alpha_v^\top,

with fixed numbers c, a step of angle :math:`\theta` from (y, p), with h = :math:`U^{-\top} \nabla l`, is

.. math:: y' = y + \sin\theta\,(p + \tan\tfrac\theta2\, h(y)), \quad
          p' = \cos\theta\,(p + \tan\tfrac\theta2\, h(y)) + \tan\tfrac\theta2\,(h(y') + y' - y).

It is a kick, a rotation and a kick, of which each preserves volume and which read the same backwards (a splitting
into a Gaussian part, solved exactly, and the rest: Shahbaba, Lan, Johnson & Neal 2014). If l is Gaussian with
precision Q, whatever its mean, the energy does not change at all. For a logistic regression it changes a little,
and the end of the path is accepted with probability min(1, exp(-change)), so that the update is exact for every c.

The path has total angle arccos(-r): for a Gaussian its end is m - r (x - m) + sqrt(1 - r^2) e, the overrelaxed update
(`bayesvec.kernels.rows`), but of the posterior itself. Polya-Gamma variables can only be overrelaxed given
themselves, and where logits are far from zero they carry less than half of the information: most of the
overrelaxation is lost there, and it is what frequent words need.

The numbers are c = w n s'(eta) at the logits of a reference that does not depend on the row, where the chains start,
in steps of 1/1020: the closer Q is to the curvature, the larger the share of paths that are accepted.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int64, UInt8
from bayesvec.kernels.compiled import compiled, inlined, summing
from bayesvec.kernels.dense import add_gram, factor, fold_gram, solve_factor
from bayesvec.kernels.logistic import exp_negative, link_single
from bayesvec.kernels.rng import Key, fill_normals, uniforms
from bayesvec.kernels.rows import (
    NORMALS,
    NORMALS_STEP,
    RowSide,
    Work,
    clear,
    data_fraction,
    padded_count,
    take_pairs,
)
from bayesvec.kernels.vector import add_four, aligned_zeros, dot_four, padded, scale_four

STEPS = 2  # of a path; one step has many more rejections, three are hardly better
FULL = 1020.0  # the code of s'(eta), at most 1/4, is 1 to 255


class Path(NamedTuple):
    """What one thread needs to move a row, beside its `Work`."""

    place: Float32  # (padded K,) the current point of the path
    residual: Float32  # (P,) slope of the log likelihood of each pair
    term: Float32  # (P,) the log likelihoods
    slope: Float64  # (K,) gradient of the log density, then h of the point
    momentum: Float64  # (K,)
    step: Float64  # (K,) y' - y
    solved: Float64  # (padded (K + 1),)


def make_path(dim: int, panel: int) -> Path:
    """Return the scratch of one thread whose panels have so many rows."""
    return Path(
        place=aligned_zeros((padded(dim),)),
        residual=np.zeros(panel, dtype=np.float32),
        term=np.zeros(panel, dtype=np.float32),
        slope=np.zeros(dim),
        momentum=np.zeros(dim),
        step=np.zeros(dim),
        solved=np.zeros(padded(dim + 1)),
    )


@compiled
def curvatures(
    first: int, last: int, side: RowSide, rows: Float32, other: Float32, work: Work, out: UInt8
) -> None:
    """Put the code of s'(eta) of the pairs of some rows into ``out``, eta at the vectors given."""
    for row in range(first, last):
        for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
            count = min(len(work.panel), side.indptr[row + 1] - start)
            size = take_pairs(start, count, side, work)
            for p in range(0, size, 4):
                dot_four(other, work.numbers, p, rows[row], work.eta)
            for p in range(count):
                e = exp_negative(-abs(float(work.eta[p])))
                near = 1.0 / (1.0 + e)
                out[start + p] = max(1, round(FULL * e * near * near))


@summing
def _total(terms: Float32, count: int) -> float:
    total = 0.0
    for p in range(count):
        total += terms[p]
    return total


@inlined
def _add_prior(row: int, side: RowSide, place: Float32, slope: Float64) -> float:
    """Add the prior's share to the gradient; return its share of the log density."""
    density = 0.0
    for k in range(len(slope)):
        x, precision, shift = float(place[k]), side.precision[row, k], side.shift[row, k]
        density += x * (shift - 0.5 * precision * x)
        slope[k] += shift - precision * x
    return density


@compiled
def _start(
    row: int, side: RowSide, curvature: UInt8, x: Float32, other: Float32, work: Work, path: Path
) -> float:
    """Return the log density of a row; leave its gradient in ``path`` and Q, less the prior's, in ``work.gram``."""
    omega, gram, slope = work.omega, work.gram, path.slope
    slope[:] = 0.0
    clear(gram, padded_count(work.dim), gram.shape[1])
    density = 0.0
    for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
        count = min(len(work.panel), side.indptr[row + 1] - start)
        size = take_pairs(start, count, side, work)
        for p in range(0, size, 4):
            dot_four(other, work.numbers, p, x, work.eta)
        link_single(work.eta[:size], work.n, work.kappa, side.weight, path.residual, path.term)
        density += _total(path.term, count)
        for p in range(count):
            omega[p] = math.sqrt(side.weight / FULL * curvature[start + p] * work.n[p])
        for p in range(count, size):
            omega[p] = 0.0
            path.residual[p] = 0.0
        work.share[:] = 0.0
        for p in range(0, size, 4):
            scale_four(other, work.numbers, p, omega, path.residual, work.panel, work.share)
        add_gram(work.panel, size, work.dim, gram)
        for k in range(work.dim):
            slope[k] += work.share[k]
    fold_gram(work.dim, gram)
    return density + _add_prior(row, side, x, slope)


@compiled
def _follow(row: int, side: RowSide, other: Float32, work: Work, path: Path) -> float:
    """Return the log density of a row at ``path.place``; leave its gradient in ``path``."""
    slope = path.slope
    slope[:] = 0.0
    density = 0.0
    for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
        count = min(len(work.panel), side.indptr[row + 1] - start)
        size = take_pairs(start, count, side, work)
        for p in range(0, size, 4):
            dot_four(other, work.numbers, p, path.place, work.eta)
        link_single(work.eta[:size], work.n, work.kappa, side.weight, path.residual, path.term)
        density += _total(path.term, count)
        for p in range(count, size):
            path.residual[p] = 0.0
        work.share[:] = 0.0
        for p in range(0, size, 4):
            add_four(other, work.numbers, p, path.residual, work.share)
        for k in range(work.dim):
            slope[k] += work.share[k]
    return density + _add_prior(row, side, path.place, slope)


@compiled
def _whiten(upper: Float64, dim: int, x: Float64) -> None:
    """Replace ``x`` by U^-T x."""
    for i in range(dim):
        x[i] /= upper[i, i]
        value, line, rest = x[i], upper[i, i + 1 : dim], x[i + 1 :]
        for k in range(len(rest)):
            rest[k] -= line[k] * value


@inlined
def _square(x: Float64) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k] * x[k]
    return total


@inlined
def _move_row(
    row: int,
    side: RowSide,
    curvature: UInt8,
    x: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
) -> bool:
    """Move one row to the end of a path, if that is accepted; return False if Q breaks down."""
    dim, gram, place = work.dim, work.gram, path.place
    slope, momentum, step = path.slope, path.momentum, path.step
    before = _start(row, side, curvature, x, other, work, path)
    data, prior = 0.0, 0.0
    for k in range(dim):
        data += gram[k, k]
        prior += side.precision[row, k]
        gram[k, k] += side.precision[row, k]
        gram[k, dim] = slope[k]
    if not factor(gram, dim, padded_count(dim + 1)):
        return False
    for k in range(dim):
        slope[k] = gram[k, dim]  # U^-T of the gradient
    angle = math.acos(-data_fraction(data, prior) * overrelax) / STEPS
    cosine, sine, kick = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    fill_normals(key, row, NORMALS, momentum)
    change = 0.5 * _square(momentum) - before
    density = before
    place[:] = x
    for _ in range(STEPS):
        for k in range(dim):
            momentum[k] += kick * slope[k]
            step[k] = sine * momentum[k]
        solve_factor(gram, dim, step, path.solved)
        for k in range(dim):
            place[k] += path.solved[k]
        density = _follow(row, side, other, work, path)
        _whiten(gram, dim, slope)
        for k in range(dim):
            momentum[k] = cosine * momentum[k] + kick * (slope[k] + step[k])
    change += density - 0.5 * _square(momentum)
    if (
        math.log(uniforms(key, row, NORMALS + NORMALS_STEP)[0]) < change
    ):  # never, if the path has left the numbers
        x[:] = place
    return True


@compiled
def move_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    curvature: UInt8,
    rows: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
) -> int:
    """Move ``rows[order[first:last]]``, of at least K pairs each, given ``other`` in place.

    Returns -1, or the row at which Q broke down.
    """
    for place in range(first, last):
        row = int(order[place])
        if side.fixed[row]:
            continue
        if not _move_row(row, side, curvature, rows[row], other, overrelax, key, work, path):
            return row
    return -1
