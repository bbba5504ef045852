r"""A row update by Hamiltonian dynamics: rows of one side moved given the other side, in place.

The row is a logistic regression with log density l(x). In the coordinates y = U x, for a fixed matrix
:math:`Q = U^\top U`, a step of angle :math:`\theta` from (y, p), with h = :math:`U^{-\top} \nabla l`, is

.. math:: y' = y + \sin\theta\,(p + \tan\tfrac\theta2\, h(y)), \quad
          p' = \cos\theta\,(p + \tan\tfrac\theta2\, h(y)) + \tan\tfrac\theta2\,(h(y') + y' - y).

It is a kick, a rotation and a kick, of which each preserves volume and which read the same backwards (a splitting
into a Gaussian part, solved exactly, and the rest: Shahbaba, Lan, Johnson & Neal 2014). If l is Gaussian with
precision Q, whatever its mean, the energy does not change at all. For a logistic regression it changes a little,
and the end of the path is accepted with probability min(1, exp(-change)), so that the update is exact for every Q
that does not depend on the row.

The path has total angle arccos(-r): for a Gaussian its end is m - r (x - m) + sqrt(1 - r^2) e, the overrelaxed update
(`bayesvec.kernels.rows`), but of the posterior itself. Polya-Gamma variables can only be overrelaxed given
themselves, and where logits are far from zero they carry less than half of the information: most of the
overrelaxation is lost there, and it is what frequent words need.

Q is found once, at a reference: vectors near which the chains start. With hats for the reference and s for about the
conditional standard deviations of its coordinates, it is the curvature there with the other side as it varies,

.. math:: Q = \Lambda + \sum_v w n_v s'(\hat\eta_v)\,(\hat\alpha_v \hat\alpha_v^\top + \mathrm{diag}(s_v^2)).

The posterior may be rotated against the reference; the kernel takes the rotation O, found from the other side alone,
and uses :math:`O Q O^\top`. So a sweep costs a few passes over the pairs of order K, not :math:`K^2`.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled, inlined, summing
from bayesvec.kernels.dense import add_gram, factor, fold_gram
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

FEW_AXES = 32
STEPS = 3, 4  # of a path with fewer axes, and with more: a rejection also undoes the overrelaxation around it


class Shapes(NamedTuple):
    """The matrices Q of rows, at a reference."""

    row: Int64  # (matrices,) the row of each, rising
    factor: Float32  # (matrices, K (K + 1) / 2) its Cholesky factor U, row by row
    fraction: Float64  # (matrices,) of the trace that is due to the data


class Path(NamedTuple):
    """What one thread needs to move a row, beside its `Work`."""

    place: Float32  # (padded K,) the current point of the path
    residual: Float32  # (P,) slope of the log likelihood of each pair
    term: Float32  # (P,) the log likelihoods
    slope: Float64  # (K,) gradient of the log density, and then h
    momentum: Float64  # (K,)
    step: Float64  # (K,) y' - y
    rotated: Float64  # (K,)


def make_path(dim: int, panel: int) -> Path:
    """Return the scratch of one thread whose panels have so many rows."""
    return Path(
        place=aligned_zeros((padded(dim),)),
        residual=np.zeros(panel, dtype=np.float32),
        term=np.zeros(panel, dtype=np.float32),
        slope=np.zeros(dim),
        momentum=np.zeros(dim),
        step=np.zeros(dim),
        rotated=np.zeros(dim),
    )


@compiled
def find_shapes(
    first: int,
    last: int,
    side: RowSide,
    rows: Float32,
    other: Float32,
    variance: Float32,
    work: Work,
    shapes: Shapes,
) -> int:
    """Find the matrices ``first`` to ``last`` at the reference; return -1, or the row at which Q broke down.

    ``variance`` are the squares of the sizes of the other side's coordinates, (others, padded K).
    """
    dim, gram, omega, weight = work.dim, work.gram, work.omega, work.kappa
    for place in range(first, last):
        row = int(shapes.row[place])
        clear(gram, padded_count(dim), gram.shape[1])
        for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
            count = min(len(work.panel), side.indptr[row + 1] - start)
            size = take_pairs(start, count, side, work)
            for p in range(0, size, 4):
                dot_four(other, work.numbers, p, rows[row], work.eta)
            for p in range(size):
                e = exp_negative(-abs(float(work.eta[p])))
                near = 1.0 / (1.0 + e)
                weight[p] = side.weight * work.n[p] * e * near * near if p < count else 0.0
                omega[p] = math.sqrt(weight[p])
            work.share[:] = 0.0
            for p in range(0, size, 4):
                scale_four(other, work.numbers, p, omega, weight, work.panel, work.share)
            add_gram(work.panel, size, dim, gram)
            work.share[:] = 0.0
            for p in range(0, size, 4):
                add_four(variance, work.numbers, p, weight, work.share)
            for k in range(dim):
                gram[k, k] += work.share[k]
        fold_gram(dim, gram)
        data, prior = 0.0, 0.0
        for k in range(dim):
            data += gram[k, k]
            prior += side.precision[row, k]
            gram[k, k] += side.precision[row, k]
        shapes.fraction[place] = data_fraction(data, prior)
        if not factor(gram, dim, padded_count(dim)):
            return row
        entry = 0
        for i in range(dim):
            for k in range(i, dim):
                shapes.factor[place, entry] = gram[i, k]
                entry += 1
    return -1


@summing
def _total(terms: Float32, count: int) -> float:
    total = 0.0
    for p in range(count):
        total += terms[p]
    return total


@summing
def _dot(left: Float32, right: Float64) -> float:
    total = 0.0
    for k in range(len(right)):
        total += left[k] * right[k]
    return total


@compiled
def _evaluate(row: int, side: RowSide, other: Float32, work: Work, path: Path) -> float:
    """Return the log density of a row at ``path.place``; leave its gradient in ``path.slope``."""
    slope, place = path.slope, path.place
    slope[:] = 0.0
    density = 0.0
    for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
        count = min(len(work.panel), side.indptr[row + 1] - start)
        size = take_pairs(start, count, side, work)
        for p in range(0, size, 4):
            dot_four(other, work.numbers, p, place, work.eta)
        link_single(work.eta[:size], work.n, work.kappa, side.weight, path.residual, path.term)
        density += _total(path.term, count)
        for p in range(count, size):
            path.residual[p] = 0.0
        work.share[:] = 0.0
        for p in range(0, size, 4):
            add_four(other, work.numbers, p, path.residual, work.share)
        for k in range(work.dim):
            slope[k] += work.share[k]
    for k in range(work.dim):
        x, precision, shift = float(place[k]), side.precision[row, k], side.shift[row, k]
        density += x * (shift - 0.5 * precision * x)
        slope[k] += shift - precision * x
    return density


@compiled
def _rotate(matrix: Float64, x: Float64, out: Float64) -> None:
    """Put ``x @ matrix`` into ``out``."""
    out[:] = 0.0
    for i in range(len(x)):
        value, line = x[i], matrix[i]
        for k in range(len(out)):
            out[k] += value * line[k]


@compiled
def _whiten(upper: Float32, rotation: Float64, path: Path) -> None:
    """Replace ``path.slope`` g by h = U^-T O^T g."""
    slope, x = path.slope, path.rotated
    _rotate(rotation, slope, x)
    entry = 0
    for i in range(len(x)):
        value = x[i] / upper[entry]
        slope[i] = value
        line, rest = upper[entry + 1 : entry + len(x) - i], x[i + 1 :]
        for k in range(len(rest)):
            rest[k] -= line[k] * value
        entry += len(x) - i


@compiled
def _advance(upper: Float32, back: Float64, path: Path) -> None:
    """Add O U^-1 ``path.step`` to the place; ``back`` is O^T."""
    x, dim = path.rotated, len(path.step)
    entry = dim * (dim + 1) // 2
    for i in range(dim - 1, -1, -1):
        entry -= dim - i
        explained = _dot(upper[entry + 1 : entry + dim - i], x[i + 1 :]) if i + 1 < dim else 0.0
        x[i] = (path.step[i] - explained) / upper[entry]
    for i in range(dim):
        value, line = x[i], back[i]
        for k in range(dim):
            path.place[k] += value * line[k]


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
    upper: Float32,
    fraction: float,
    rotation: Float64,
    back: Float64,
    x: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
) -> None:
    """Move one row to the end of a path, if that is accepted."""
    steps = STEPS[0] if work.dim < FEW_AXES else STEPS[1]
    dim, slope, momentum, step = work.dim, path.slope, path.momentum, path.step
    angle = math.acos(-fraction * overrelax) / steps
    cosine, sine, kick = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    fill_normals(key, row, NORMALS, momentum)
    path.place[:] = x
    density = _evaluate(row, side, other, work, path)
    _whiten(upper, rotation, path)
    change = 0.5 * _square(momentum) - density
    for _ in range(steps):
        for k in range(dim):
            momentum[k] += kick * slope[k]
            step[k] = sine * momentum[k]
        _advance(upper, back, path)
        density = _evaluate(row, side, other, work, path)
        _whiten(upper, rotation, path)
        for k in range(dim):
            momentum[k] = cosine * momentum[k] + kick * (slope[k] + step[k])
    change += density - 0.5 * _square(momentum)
    if math.log(uniforms(key, row, NORMALS + NORMALS_STEP)[0]) < change:  # never, if it is not a number
        x[:] = path.place


@compiled
def move_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    shapes: Shapes,
    rotation: Float64,
    back: Float64,
    rows: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
) -> None:
    """Move the rows of the matrices ``order[first:last]`` given ``other`` in place.

    ``rotation`` is O, by which a reference vector is that of the current axes times O, and ``back`` its transpose.
    """
    for place in range(first, last):
        number = int(order[place])
        row = int(shapes.row[number])
        _move_row(
            row,
            side,
            shapes.factor[number],
            shapes.fraction[number],
            rotation,
            back,
            rows[row],
            other,
            overrelax,
            key,
            work,
            path,
        )
