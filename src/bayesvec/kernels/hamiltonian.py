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

Q is found once. It is the curvature at a reference, marked by hats, which is the state near which the chains start:

.. math:: Q = \Lambda + \sum_v w n_v s'(\hat\eta_v)\,\hat\alpha_v \hat\alpha_v^\top.

That should be a state of the posterior, not its mode, at which frequent words are longer and more paths are rejected.

The posterior may be rotated against the reference; the kernel takes the rotation O, found from the other side alone,
and uses :math:`O Q O^\top`. So a sweep costs a few passes over the pairs of order K, not :math:`K^2`.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int32, Int64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.dense import add_gram, factor, fold_gram
from bayesvec.kernels.logistic import exp_negative, slope_single, sum_single, value_single
from bayesvec.kernels.rng import Key, fill_normals, uniforms
from bayesvec.kernels.row_work import RowSide, Work, clear, padded_count, take_pairs
from bayesvec.kernels.rows import NORMALS, NORMALS_STEP, data_fraction
from bayesvec.kernels.vector import aligned_zeros, padded
from bayesvec.kernels.vector_rows import add_block, add_eight, dot_block, dot_eight, scale_four


class Shapes(NamedTuple):
    """The matrices Q of rows, at a reference."""

    row: Int64  # (matrices,) the row of each, rising
    root: Float32  # (matrices, `root_size`) U^-1, in blocks of eight rows from the diagonal on
    fraction: Float64  # (matrices,) of the trace that is due to the data
    steps: Int64  # (matrices,) of a path of the row


def root_size(dim: int) -> int:
    """Return the size of a root: eight rows of K, K - 8, ... numbers, K rounded up to whole vectors."""
    blocks = padded(dim) // 8
    return 32 * blocks * (blocks + 1)


class Path(NamedTuple):
    """What one thread needs to move a row, beside its `Work`; vectors of length padded K end with zeros."""

    place: Float32  # (padded K,) the current point of the path
    residual: Float32  # (P,) slope of the log likelihood of each pair
    slope: Float64  # (K,) gradient of the log density
    momentum: Float64  # (K,)
    force: Float32  # (padded K,) h
    step: Float32  # (padded K,) y' - y
    line: Float32  # (padded K,) between two products
    rotated: Float32  # (padded K,)
    axes: Int32  # (padded K,) 0, 1, 2, ...


def make_path(dim: int, panel: int) -> Path:
    """Return the scratch of one thread whose panels have so many rows."""
    width = padded(dim)
    return Path(
        place=aligned_zeros((width,)),
        residual=aligned_zeros((panel,)),
        slope=np.zeros(dim),
        momentum=np.zeros(dim),
        force=aligned_zeros((width,)),
        step=aligned_zeros((width,)),
        line=aligned_zeros((width,)),
        rotated=aligned_zeros((width,)),
        axes=np.arange(width, dtype=np.int32),
    )


class Rotation(NamedTuple):
    """The rotation O between a reference and the current axes, as the kernels take it."""

    forth: Float32  # (padded K, padded K) a vector of the current axes times O is one of the reference's
    back: Float32  # its transpose


def make_rotation(matrix: Float64) -> Rotation:
    """Return an orthogonal matrix as the kernels take it."""
    dim, width = len(matrix), padded(len(matrix))
    forth, back = aligned_zeros((width, width)), aligned_zeros((width, width))
    forth[:dim, :dim], back[:dim, :dim] = matrix, matrix.T
    return Rotation(forth, back)


@inlined
def _invert(dim: int, upper: Float64, line: Float64) -> None:
    """Replace U in the upper triangle by its inverse, from the last row up."""
    for i in range(dim - 1, -1, -1):
        line[:dim] = 0.0
        for k in range(i + 1, dim):
            value = upper[i, k]
            for j in range(k, dim):
                line[j] -= value * upper[k, j]
        scale = 1.0 / upper[i, i]
        upper[i, i] = scale
        for j in range(i + 1, dim):
            upper[i, j] = scale * line[j]


@inlined
def _keep_root(dim: int, upper: Float64, root: Float32) -> None:
    """Put the upper triangle into ``root``, in blocks of eight rows from the diagonal on."""
    entry, width = 0, padded_count(dim)
    for i in range(width):
        for k in range(i // 8 * 8, width):
            root[entry] = upper[i, k] if i <= k < dim else 0.0
            entry += 1


@compiled
def find_shapes(
    first: int,
    last: int,
    side: RowSide,
    rows: Float32,
    other: Float32,
    work: Work,
    shapes: Shapes,
) -> int:
    """Find the matrices ``first`` to ``last`` at the reference; return -1, or the row at which Q broke down."""
    dim, gram, omega, weight = work.dim, work.gram, work.omega, work.kappa
    for place in range(first, last):
        row = int(shapes.row[place])
        clear(gram, padded_count(dim), gram.shape[1])
        for start in range(side.indptr[row], side.indptr[row + 1], len(work.panel)):
            count = min(len(work.panel), side.indptr[row + 1] - start)
            size = take_pairs(start, count, side, work)
            for p in range(0, size, 8):
                dot_eight(other, work.numbers, p, rows[row], work.eta)
            for p in range(size):
                e = exp_negative(-abs(float(work.eta[p])))
                near = 1.0 / (1.0 + e)
                weight[p] = side.weight * work.n[p] * e * near * near if p < count else 0.0
                omega[p] = math.sqrt(weight[p])
            work.share[:] = 0.0
            for p in range(0, size, 4):
                scale_four(other, work.numbers, p, omega, weight, work.panel, work.share)
            add_gram(work.panel, size, dim, gram)
        fold_gram(dim, gram)
        data, prior = 0.0, 0.0
        for k in range(dim):
            data += gram[k, k]
            prior += side.precision[row, k]
            gram[k, k] += side.precision[row, k]
        shapes.fraction[place] = data_fraction(data, prior)
        if not factor(gram, dim, padded_count(dim)):
            return row
        _invert(dim, gram, work.x)
        _keep_root(dim, gram, shapes.root[place])
    return -1


@compiled
def _evaluate(
    row: int, side: RowSide, tails: float, other: Float32, valued: bool, work: Work, path: Path
) -> tuple[float, float]:
    """Put the gradient of a row's log density at ``path.place`` into ``path.slope``.

    Returns the log density of its prior, relative to that at zero, and the log likelihood (0 unless ``valued``).
    """
    slope, place, share, eta, residual = path.slope, path.place, work.share, work.eta, path.residual
    prior, likelihood = 0.0, 0.0
    for k in range(work.dim):
        x, precision, shift = float(place[k]), side.precision[row, k], side.shift[row, k]
        prior += x * (shift - 0.5 * precision * x)
        slope[k] = shift - precision * x
    if tails > 0.0:  # a t distribution of mean zero, of which this is the Gaussian
        distance = -2.0 * prior
        prior = -0.5 * (tails + work.dim) * math.log1p(distance / tails)
        for k in range(work.dim):
            slope[k] *= (tails + work.dim) / (tails + distance)
    start, last = side.indptr[row], side.indptr[row + 1]
    while start < last:
        count = min(len(work.panel), last - start)
        if count >= 8:  # as they lie, in whole vectors
            count -= count % 8
            stop = start + count
            numbers, n, kappa = side.other[start:stop], side.n[start:stop], side.kappa[start:stop]
        else:
            take_pairs(start, count, side, work)
            numbers, n, kappa = work.numbers, work.n, work.kappa
        start += count
        size = padded_count(count)
        for p in range(0, size, 8):
            dot_eight(other, numbers, p, place, eta)
        slope_single(eta[:size], n, kappa, side.weight, residual)
        for p in range(count, size):
            residual[p] = 0.0
        for k in range(len(share)):
            share[k] = 0.0
        for p in range(0, size, 8):
            add_eight(other, numbers, p, residual, share)
        for k in range(work.dim):
            slope[k] += share[k]
        if valued:
            value_single(eta[:count], n, kappa, side.weight, work.terms)
            likelihood += sum_single(work.terms[:count])
    return prior, likelihood


@compiled
def _whiten(root: Float32, rotation: Rotation, path: Path) -> None:
    """Put h = U^-T O^T g into ``path.force``, of the gradient g in ``path.slope``."""
    line, rotated, force, width = path.line, path.rotated, path.force, len(path.force)
    for k in range(len(path.slope)):
        line[k] = path.slope[k]
    for k in range(width):
        rotated[k] = force[k] = 0.0
    for p in range(0, width, 8):
        add_eight(rotation.forth, path.axes, p, line, rotated)
    entry = 0
    for p in range(0, width, 8):
        add_block(root, entry, width - p, p, rotated, force)
        entry += 8 * (width - p)


@compiled
def _advance(root: Float32, rotation: Rotation, path: Path) -> None:
    """Add O U^-1 ``path.step`` to the place."""
    line, width, entry = path.line, len(path.step), 0
    for p in range(0, width, 8):
        dot_block(root, entry, width - p, p, path.step, line)
        entry += 8 * (width - p)
    for p in range(0, width, 8):
        add_eight(rotation.back, path.axes, p, line, path.place)


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
    tails: float,
    root: Float32,
    fraction: float,
    steps: int,
    rotation: Rotation,
    x: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
) -> float:
    """Move one row to the end of a path, if that is accepted; return the log likelihood where it is then."""
    dim, force, momentum, step = work.dim, path.force, path.momentum, path.step
    angle = math.acos(-fraction * overrelax) / steps
    cosine, sine, kick = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    fill_normals(key, row, NORMALS, momentum)
    for k in range(len(x)):
        path.place[k] = x[k]
    likelihood, change, moved = 0.0, 0.0, 0.0
    for number in range(
        steps + 1
    ):  # the start, then the end of each step: what is called once is compiled once
        if number > 0:
            for k in range(dim):
                momentum[k] += kick * force[k]
                step[k] = sine * momentum[k]
            _advance(root, rotation, path)
        prior, moved = _evaluate(row, side, tails, other, number % steps == 0, work, path)
        _whiten(root, rotation, path)
        if number == 0:
            likelihood, change = moved, 0.5 * _square(momentum) - (prior + moved)
            continue
        for k in range(dim):
            momentum[k] = cosine * momentum[k] + kick * (force[k] + step[k])
    change += (prior + moved) - 0.5 * _square(momentum)
    if math.log(uniforms(key, row, NORMALS + NORMALS_STEP)[0]) < change:  # never, if it is not a number
        for k in range(len(x)):
            x[k] = path.place[k]
        likelihood = moved
    return likelihood


@compiled
def move_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    tails: float,
    shapes: Shapes,
    rotation: Rotation,
    rows: Float32,
    other: Float32,
    overrelax: float,
    key: Key,
    work: Work,
    path: Path,
    likelihood: Float64,
) -> None:
    """Move the rows of the matrices ``order[first:last]`` given ``other`` in place.

    Their prior is Gaussian if ``tails`` is 0, otherwise it has so many degrees of freedom. The log likelihoods of
    their pairs after it go to ``likelihood``, (rows,).
    """
    for place in range(first, last):
        number = int(order[place])
        row = int(shapes.row[number])
        root, fraction, steps = shapes.root[number], shapes.fraction[number], int(shapes.steps[number])
        likelihood[row] = _move_row(
            row, side, tails, root, fraction, steps, rotation, rows[row], other, overrelax, key, work, path
        )
