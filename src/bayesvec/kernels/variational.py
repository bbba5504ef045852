r"""The compiled loops of the variational methods: normals row by row, and the row update in expectation.

With Gaussians over all rows, :math:`m_v` and :math:`M_v = E[\alpha_v \alpha_v^\top]`, the best Gaussian of a
row x has (Jaakkola & Jordan 2000; Durante & Rigon 2019, sec. 2, for logistic regression)

.. math:: \xi_v^2 = E[(x^\top \alpha_v)^2] = \mathrm{tr}(E[x x^\top] M_v), \quad
          E[\omega_v] = \frac{n_v}{2 \xi_v} \tanh\frac{\xi_v}{2},

.. math:: Q = \Lambda + \sum_v E[\omega_v] M_v, \quad b = \Lambda\mu + \sum_v \kappa_v m_v, \quad
          q(x) = N(Q^{-1} b, Q^{-1}):

the row update of `rows` with expectations in place of draws. Second moments are symmetric, so each is kept
as its upper triangle, row after row: :math:`\xi^2` is then one dot product and Q one sum of long vectors.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled, summing
from bayesvec.kernels.dense import factor, solve_factor, subtract_product
from bayesvec.kernels.density import add_scaled, add_scaled4
from bayesvec.kernels.rng import Key, fill_normals
from bayesvec.kernels.row_work import RowSide
from bayesvec.kernels.vector import padded


class Rows(NamedTuple):
    """The Gaussians of one side; T = K (K + 1) / 2."""

    mean: Float64  # (rows, K)
    moment: Float32  # (rows, T) upper triangle of E[x x^T]
    root: Float32  # (rows, T) upper triangle of U, where U^T U is the precision
    prior: Float64  # (rows,) expected log prior, relative to its value at zero
    entropy: Float64  # (rows,) less its constant: minus the log determinant of U
    data: Float64  # (rows,) bound of the log likelihood of a row's pairs, before the row's latest update


class Work(NamedTuple):
    """What one thread needs to update a row."""

    dim: int  # K
    probe: Float32  # (T,) the row's own second moment, off-diagonal entries doubled
    sums: Float64  # (T,) of E[omega] M
    shift: Float64  # (K,) of kappa m
    matrix: Float64  # (padded K, padded (K + 1) + padded K) Q, then b, then the unit matrix
    inverse: Float64  # (padded K, padded K) U^-T
    covariance: Float64  # (padded K, padded K) less than zero: -Q^-1
    right: Float64  # (K,)
    x: Float64  # (as long as a row of matrix,)


def make_rows(mean: Float64) -> Rows:
    """Return point masses at ``mean``."""
    rows, dim = mean.shape
    upper = np.triu_indices(dim)
    return Rows(
        mean=mean,
        moment=(mean[:, upper[0]] * mean[:, upper[1]]).astype(np.float32, order="C"),
        root=np.zeros((rows, len(upper[0])), dtype=np.float32),
        prior=np.zeros(rows),
        entropy=np.zeros(rows),
        data=np.zeros(rows),
    )


def make_work(dim: int) -> Work:
    """Return the scratch of one thread."""
    size, height = dim * (dim + 1) // 2, padded(dim)
    width = padded(dim + 1) + height
    return Work(
        dim=dim,
        probe=np.zeros(size, dtype=np.float32),
        sums=np.zeros(size),
        shift=np.zeros(dim),
        matrix=np.zeros((height, width)),
        inverse=np.zeros((height, height)),
        covariance=np.zeros((height, height)),
        right=np.zeros(dim),
        x=np.zeros(width),
    )


@compiled
def fill_normal_rows(first: int, last: int, key: Key, block: int, out: Float64) -> None:
    """Fill ``out[first:last]`` with standard normals, each row's from its own ``block`` on."""
    for row in range(first, last):
        fill_normals(key, row, block, out[row])


@summing
def _dot4(
    x: Float32, a: Float32, b: Float32, c: Float32, d: Float32
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    s0 = s1 = s2 = s3 = np.float32(0.0)
    for i in range(x.shape[0]):
        s0 += x[i] * a[i]
        s1 += x[i] * b[i]
        s2 += x[i] * c[i]
        s3 += x[i] * d[i]
    return s0, s1, s2, s3


@compiled
def expected_omega(n: float, square: float) -> tuple[float, float]:
    r"""Return E[omega] of PG(n, xi) and the pair's bound less its linear term, where xi^2 is ``square``.

    The bound is :math:`-n \log(2 \cosh(\xi / 2)) = -n (\xi / 2 + \log(1 + e^{-\xi}))`.
    """
    if square < 1e-6:  # the first neglected term is of order square^2 / 120
        square = max(square, 0.0)
        return n * (0.25 - square / 48.0), -n * (math.log(2.0) + square / 8.0)
    xi = math.sqrt(square)
    e = math.exp(-xi)
    return n * (1.0 - e) / ((1.0 + e) * 2.0 * xi), -n * (0.5 * xi + math.log1p(e))


@compiled
def _add_pairs(row: int, side: RowSide, own: Rows, other: Rows, work: Work) -> None:
    """Put the pairs' shares of Q and of b into ``work``, and their bound into ``own.data``."""
    first, last = side.indptr[row], side.indptr[row + 1]
    moment, total = other.moment, 0.0
    work.sums[:] = 0.0
    work.shift[:] = 0.0
    w = np.zeros(4, dtype=np.float32)
    for start in range(first, last, 4):
        end = last - 1  # the last group may be short: its last pair stands in, with weight zero
        a, b = side.other[start], side.other[min(start + 1, end)]
        c, d = side.other[min(start + 2, end)], side.other[min(start + 3, end)]
        squares = _dot4(work.probe, moment[a], moment[b], moment[c], moment[d])
        w[:] = 0.0
        for p in range(min(4, last - start)):
            omega, bound = expected_omega(side.weight * side.n[start + p], float(squares[p]))
            w[p] = omega
            total += bound
            add_scaled(work.shift, side.kappa[start + p], other.mean[side.other[start + p]])
        add_scaled4(work.sums, w[0], moment[a], w[1], moment[b], w[2], moment[c], w[3], moment[d])
    for k in range(work.dim):
        total += work.shift[k] * own.mean[row, k]
    own.data[row] = total


@compiled
def _invert(row: int, side: RowSide, work: Work) -> bool:
    """Factor Q, solve for b on the way, and put minus Q^-1 into ``work``; False if Q breaks down.

    The unit matrix rides along as right-hand sides and becomes U^-T, whose Gram matrix is Q^-1.
    """
    dim, matrix, inverse, covariance = work.dim, work.matrix, work.inverse, work.covariance
    height, offset = inverse.shape[0], matrix.shape[1] - inverse.shape[0]
    matrix[:] = 0.0
    place = 0
    for i in range(dim):
        for j in range(i, dim):
            matrix[i, j] = work.sums[place]
            place += 1
        matrix[i, i] += side.precision[row, i]
        matrix[i, dim] = work.shift[i] + side.shift[row, i]
        matrix[i, offset + i] = 1.0
    if not factor(matrix, dim, matrix.shape[1]):
        return False
    for i in range(dim):
        for j in range(dim):
            inverse[i, j] = matrix[i, offset + j]
    covariance[:] = 0.0
    for i in range(0, dim, 4):
        subtract_product(inverse, inverse, dim, i, i, height, covariance)
    return True


@compiled
def _store(row: int, side: RowSide, own: Rows, work: Work) -> bool:
    """Put the row's new Gaussian into ``own``; False if it is not finite."""
    dim = work.dim
    for k in range(dim):
        work.right[k] = work.matrix[k, dim]
    solve_factor(work.matrix, dim, work.right, work.x)
    place, prior, entropy = 0, 0.0, 0.0
    for i in range(dim):
        own.mean[row, i] = work.x[i]
        for j in range(i, dim):
            own.moment[row, place] = work.x[i] * work.x[j] - work.covariance[i, j]
            own.root[row, place] = work.matrix[i, j]
            place += 1
        square = work.x[i] * work.x[i] - work.covariance[i, i]
        prior += side.shift[row, i] * work.x[i] - 0.5 * side.precision[row, i] * square
        entropy -= math.log(work.matrix[i, i])
    own.prior[row] = prior
    own.entropy[row] = entropy
    return math.isfinite(prior) and math.isfinite(entropy)


@compiled
def update_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    own: Rows,
    other: Rows,
    work: Work,
) -> int:
    """Update the Gaussians of the rows ``order[first:last]`` given the other side's, in place.

    Fixed rows keep theirs; only the bound of their pairs is taken. Returns -1, or the row that broke down.
    """
    for number in range(first, last):
        row = int(order[number])
        place = 0
        for i in range(work.dim):
            for j in range(i, work.dim):
                work.probe[place] = own.moment[row, place] * np.float32(1.0 if i == j else 2.0)
                place += 1
        _add_pairs(row, side, own, other, work)
        if side.fixed[row]:
            continue
        if not _invert(row, side, work) or not _store(row, side, own, work):
            return row
    return -1


@compiled
def draw_rows(
    first: int, last: int, key: Key, mean: Float64, root: Float32, work: Work, out: Float32
) -> None:
    """Draw rows ``first`` to ``last`` from their Gaussians: m + U^-1 noise; a row with U = 0 is fixed."""
    dim, matrix = work.dim, work.matrix
    for row in range(first, last):
        if root[row, 0] == 0.0:
            for k in range(dim):
                out[row, k] = mean[row, k]
            continue
        matrix[:] = 0.0
        place = 0
        for i in range(dim):
            for j in range(i, dim):
                matrix[i, j] = root[row, place]
                place += 1
        fill_normals(key, row, 0, work.right)
        solve_factor(matrix, dim, work.right, work.x)
        for k in range(dim):
            out[row, k] = mean[row, k] + work.x[k]
