r"""The row update: redraw rows of one side given the other side, in place.

Given :math:`\omega_v \sim PG(n_v, \eta_v)` the row is Gaussian (Polson, Scott & Windle 2013, sec. 3.1; n and kappa
are multiplied by the weight of a sample, a power of the likelihood):

.. math:: Q = \Lambda + \sum_v \omega_v \alpha_v \alpha_v^\top, \quad
          b = \Lambda\mu + \sum_v \kappa_v \alpha_v, \quad x \sim N(Q^{-1} b, Q^{-1}).

The other side's rows are taken in panels that stay in the cache: once for :math:`\eta`, once more for their share
of b and, scaled by :math:`\sqrt\omega`, of Q. A panel is filled up to whole vectors with pairs of weight zero.
A row with fewer pairs than axes is drawn in the dimension of its data instead (Bhattacharya, Chakraborty &
Mallick 2016): cheaper, and the only accurate variant there, as the float32 sum would drown a small prior precision.

Overrelaxation (Adler 1981, Neal 1995) replaces the standard Gibbs update: with m = :math:`Q^{-1} b`,
e of N(0, :math:`Q^{-1}`) and 0 <= r < 1,

.. math:: x' = m - r (x - m) + \sqrt{1 - r^2}\, e

leaves the same Gaussian invariant, and crosses to the other side of its mean instead of taking a random walk.
It costs nothing: x' + r x is a draw with (1 + r) b for b and less noise. It helps where the data determine a row,
so r is proportional to the fraction of trace(Q) due to the data, which does not depend on the row itself; rows
with fewer pairs than axes, or none, get the standard update.
"""

import math
from typing import Any

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.dense import add_gram, factor, fold_gram, solve_factor
from bayesvec.kernels.polyagamma import draw_groups
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.rng import Key, fill_blocks, fill_normals
from bayesvec.kernels.row_work import RowSide, Work, clear, padded_count, take_pairs
from bayesvec.kernels.vector_rows import dot_eight, dot_rows, scale_four

SEGMENT = 1 << 14  # pairs after which a row's sums are cut, so that threads can share a huge row

# Blocks of a row's random bits: its pairs from 0 on, then the normals of each inner step, then a restart.
NORMALS = 1 << 31
NORMALS_STEP = 1 << 20
_RESTART: Any = np.int64(3 << 30)  # a plain number would be a type, and a compilation, of its own
MOST_INNER_STEPS = int(_RESTART - NORMALS) // NORMALS_STEP  # that keep out of the restart's blocks


@compiled
def fill_panel(
    row: int,
    start: int,
    count: int,
    first: int,
    side: RowSide,
    x: Float32,
    other: Float32,
    key: Key,
    tables: Tables,
    work: Work,
) -> int:
    """Take ``count`` pairs of a row from ``start`` on, draw their omega, scale each by its root.

    Leaves the scaled rows in ``work.panel``, the roots in ``work.omega``, the sum of kappa * alpha in ``work.share``.
    ``first`` is where the pairs stand in the row's random bits, a multiple of 8. Returns the number of rows of the
    panel, those filled up included, which are zero.
    """
    size = take_pairs(start, count, side, work)
    numbers, eta, omega, share = work.numbers, work.eta, work.omega, work.share
    for p in range(0, size, 8):
        dot_eight(other, numbers, p, x, eta)
    fill_blocks(key, row, first >> 2, omega.view(np.int32)[:size])
    draw_groups(work.n[:size], eta, tables, omega)
    for p in range(size):
        omega[p] = math.sqrt(omega[p])
    for p in range(count, size):
        omega[p] = 0.0
    for k in range(len(share)):
        share[k] = 0.0
    for p in range(0, size, 4):
        scale_four(other, numbers, p, omega, work.kappa, work.panel, share)
    return size


@inlined
def add_pairs(
    row: int,
    first: int,
    last: int,
    index: int,
    side: RowSide,
    x: Float32,
    other: Float32,
    key: Key,
    tables: Tables,
    work: Work,
    gram: Float64,
) -> None:
    """Draw omega of the pairs ``first`` to ``last`` of a row and add their shares of Q and b to ``gram``.

    ``index`` is where they stand in the row's random bits, a multiple of 8.
    """
    for start in range(first, last, len(work.panel)):
        count = min(len(work.panel), last - start)
        size = fill_panel(row, start, count, index + start - first, side, x, other, key, tables, work)
        add_gram(work.panel, size, work.dim, gram)
        for k in range(work.dim):
            gram[k, work.dim] += work.share[k]
    fold_gram(work.dim, gram)


@inlined
def data_fraction(data: float, prior: float) -> float:
    """Return the fraction of a precision due to the data; either part may be zero up to rounding."""
    return data / (data + max(prior, 0.0)) if data > 0.0 else 0.0


@inlined
def draw_many(
    row: int, step: int, side: RowSide, overrelax: float, key: Key, work: Work, gram: Float64, x: Float32
) -> bool:
    """Update a row given the data's share of Q and b in ``gram``; return False if Q breaks down.

    With Q = U^T U the standard draw is U^-1 (U^-T b + noise).
    """
    dim = work.dim
    data, prior = 0.0, 0.0
    for k in range(dim):
        data += gram[k, k]
        prior += side.precision[row, k]
        gram[k, k] += side.precision[row, k]
        gram[k, dim] += side.shift[row, k]
    if not factor(gram, dim, padded_count(dim + 1)):
        return False
    relax = data_fraction(data, prior) * overrelax
    less = math.sqrt(1.0 - relax * relax)
    noise = work.noise[:dim]
    fill_normals(key, row, NORMALS + step * NORMALS_STEP, noise)
    for k in range(dim):
        noise[k] = less * noise[k] + (1.0 + relax) * gram[k, dim]
    solve_factor(gram, dim, noise, work.x)
    finite = True
    for k in range(dim):
        x[k] = work.x[k] - relax * x[k]
        finite &= math.isfinite(work.x[k])
    return finite


@compiled
def _draw_few(
    row: int,
    first: int,
    count: int,
    index: int,
    step: int,
    side: RowSide,
    x: Float32,
    other: Float32,
    key: Key,
    tables: Tables,
    work: Work,
) -> bool:
    r"""Draw a row of m = ``count`` pairs, fewer than K, by a system of size m; False if that breaks down.

    With :math:`S = \Omega^{1/2} A` (m, K), :math:`y = \Omega^{-1/2} \kappa`,
    :math:`u \sim N(\mu, \Lambda^{-1})` and :math:`\delta \sim N(0, I)`: solve
    :math:`(I + S \Lambda^{-1} S^\top) w = y - S u - \delta`; the draw is :math:`u + \Lambda^{-1} S^\top w`.
    """
    dim, scaled, system = (
        work.dim,
        work.few,
        work.gram,
    )  # Lambda^-1/2 S^T; the matrix, with y - S u - delta beside it
    width = padded_count(count + 1)
    noise, line, spread = work.noise[: dim + count], work.line, work.x
    fill_normals(key, row, NORMALS + step * NORMALS_STEP, noise)
    for k in range(dim):
        spread[k] = 1.0 / math.sqrt(side.precision[row, k])
        noise[k] = side.shift[row, k] / side.precision[row, k] + noise[k] * spread[k]  # u
        line[0, k] = noise[k]
    for k in range(dim):
        for p in range(count, padded_count(count)):
            scaled[k, p] = 0.0
    clear(system, padded_count(count), width)
    for start in range(0, count, len(work.panel)):
        size = min(len(work.panel), count - start)
        fill_panel(row, first + start, size, index + start, side, x, other, key, tables, work)
        for p in range(size):
            explained = dot_rows(work.panel, p, line, 0) + noise[dim + start + p]
            system[start + p, count] = side.kappa[first + start + p] / work.omega[p] - explained
            for k in range(dim):
                scaled[k, start + p] = work.panel[p, k] * spread[k]
    add_gram(scaled, dim, count, system)
    fold_gram(count, system)
    right = work.noise[dim : dim + count]
    for p in range(count):
        system[p, p] += 1.0
    if not factor(system, count, width):
        return False
    for p in range(count):
        right[p] = system[p, count]
    solve_factor(system, count, right, work.x)
    finite = True
    for k in range(dim):
        explained = 0.0
        for p in range(count):
            explained += scaled[k, p] * work.x[p]
        value = noise[k] + explained / math.sqrt(side.precision[row, k])
        x[k] = value
        finite &= math.isfinite(value)
    return finite


@inlined
def _draw_prior(row: int, step: int, side: RowSide, key: Key, work: Work, x: Float32) -> bool:
    """Draw a row without data from its prior."""
    noise = work.noise[: work.dim]
    fill_normals(key, row, NORMALS + step * NORMALS_STEP, noise)
    for k in range(work.dim):
        precision = side.precision[row, k]
        x[k] = side.shift[row, k] / precision + noise[k] / math.sqrt(precision)
    return True


@inlined
def restart_row(row: int, key: Key, work: Work, x: Float32) -> None:
    """Put N(0, 1/K) into ``x``: the first line of the paper's inner loop."""
    noise = work.noise[: work.dim]
    fill_normals(key, row, _RESTART, noise)
    for k in range(work.dim):
        x[k] = noise[k] / math.sqrt(work.dim)


@compiled
def redraw_rows(
    first: int,
    last: int,
    order: Int64,
    side: RowSide,
    rows: Float32,
    other: Float32,
    inner_steps: int,
    restart: bool,
    overrelax: float,
    key: Key,
    tables: Tables,
    work: Work,
) -> int:
    """Redraw ``rows[order[first:last]]`` given ``other`` in place; return -1, or the row at which Q broke down.

    Rows of more than one segment are left to the caller, who may share them between threads.
    """
    for place in range(first, last):
        row = int(order[place])
        start, stop = side.indptr[row], side.indptr[row + 1]
        count = stop - start
        if side.fixed[row] or count > SEGMENT:
            continue
        x = rows[row]
        if restart:
            restart_row(row, key, work, x)
        for step in range(inner_steps):
            index = step * padded_count(count)
            if count == 0:
                fine = _draw_prior(row, step, side, key, work, x)
            elif count < work.dim:
                fine = _draw_few(row, start, count, index, step, side, x, other, key, tables, work)
            else:
                clear(work.gram, padded_count(work.dim), work.gram.shape[1])
                add_pairs(row, start, stop, index, side, x, other, key, tables, work, work.gram)
                fine = draw_many(row, step, side, overrelax, key, work, work.gram, x)
            if not fine:
                return row
    return -1
