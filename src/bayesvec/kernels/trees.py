r"""Redraw whole trees of rows at once: walks over time slices, and groups around their shared row.

Rows that a prior couples as a tree (each to at most one parent, by :math:`c_w I`) are jointly Gaussian given the
Polya-Gamma variables, and their precision has a block Cholesky factor without fill. Going up from the leaves, with
:math:`Q_w`, :math:`b_w` those of the row update, a row takes in its children u,

.. math:: \tilde Q_w = Q_w - \sum_u c_u^2 \tilde Q_u^{-1}, \quad
          \tilde b_w = b_w - \sum_u c_u \tilde Q_u^{-1} \tilde b_u ,

and going down each row is drawn given its parent p: :math:`x_w \sim N(\tilde Q_w^{-1} (\tilde b_w - c_w x_p),
\tilde Q_w^{-1})`. On a walk this is forward filtering and backward sampling (Carter & Kohn 1994; Frühwirth-Schnatter
1994). Updated row by row, tightly coupled neighbours would mix slowly. As a single row (rows.py) a tree is
overrelaxed by the fraction of its precision due to the data; the coupling between its rows cancels in the sum of
all blocks of that precision.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.coupling import Coupling
from bayesvec.kernels.dense import factor, solve_factor, subtract_product
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.rng import Key, fill_normals
from bayesvec.kernels.row_work import RowSide, Work, padded_count
from bayesvec.kernels.rows import NORMALS, NORMALS_STEP, add_pairs, data_fraction, fill_panel
from bayesvec.kernels.vector import padded


class Trees(NamedTuple):
    """Rows in trees, each tree from its leaves to its root."""

    indptr: Int64  # (trees + 1,)
    row: Int64  # (rows,)
    parent: Int64  # (rows,) place of the parent within the tree; -1 of a root
    entry: Int64  # (rows,) of the coupling, from the row to its parent


class TreeWork(NamedTuple):
    """What one thread needs to redraw a tree."""

    matrix: Float64  # (nodes, padded K, padded (K + 1)) Q, with b in column K; then its factor
    message: Float64  # (padded K, padded (K + 1)) from a row to its parent
    panel: Float64  # (panel rows, padded K)
    right: Float64  # (K,)
    noise: Float64  # (K,)
    x: Float64  # (nodes, padded (K + 1))


def make_tree_work(dim: int, nodes: int) -> TreeWork:
    """Return the scratch of one thread for trees of at most ``nodes`` rows."""
    height, width = padded(dim), padded(dim + 1)
    return TreeWork(
        matrix=np.zeros((nodes, height, width)),
        message=np.zeros((height, width)),
        panel=np.zeros((height, height)),
        right=np.zeros(dim),
        noise=np.zeros(dim),
        x=np.zeros((nodes, width)),
    )


@compiled
def _add_few(count: int, dim: int, work: Work, scratch: TreeWork, gram: Float64) -> None:
    """Add the Gram matrix of few rows, in float64: a float32 sum would drown a small prior precision."""
    panel = scratch.panel
    for p in range(count):
        for k in range(dim):
            panel[p, k] = work.panel[p, k]
    for k in range(dim):  # the tiles subtract
        for j in range(k, dim):
            gram[k, j] = -gram[k, j]
    for i in range(0, dim, 4):
        subtract_product(panel, panel, count, i, i, panel.shape[1], gram)
    for k in range(dim):
        for j in range(k, dim):
            gram[k, j] = -gram[k, j]


@compiled
def _gather(
    row: int,
    step: int,
    side: RowSide,
    x: Float32,
    other: Float32,
    key: Key,
    tables: Tables,
    work: Work,
    scratch: TreeWork,
    matrix: Float64,
) -> None:
    """Add Q and b of a row, its neighbours left out, to ``matrix``."""
    dim = work.dim
    start, stop = side.indptr[row], side.indptr[row + 1]
    count = stop - start
    index = step * padded_count(count)
    if count >= dim:
        add_pairs(row, start, stop, index, side, x, other, key, tables, work, matrix)
    else:
        for first in range(0, count, len(work.panel)):
            size = min(len(work.panel), count - first)
            fill_panel(
                row,
                start + first,
                size,
                step * padded_count(count) + first,
                side,
                x,
                other,
                key,
                tables,
                work,
            )
            _add_few(size, dim, work, scratch, matrix)
            for k in range(dim):
                matrix[k, dim] += work.share[k]
    for k in range(dim):
        matrix[k, k] += side.precision[row, k]
        matrix[k, dim] += side.shift[row, k]


@compiled
def _trace(matrix: Float64, dim: int) -> float:
    """Return the trace of the K x K part."""
    total = 0.0
    for k in range(dim):
        total += matrix[k, k]
    return total


@compiled
def fill_message(weight: float, dim: int, upper: Float64, message: Float64) -> None:
    r"""Fill the lower triangle of ``message`` with :math:`V = c U^{-\top}`, and its column K with that of U.

    Eight rows at a time, as the factor: subtract what the rows above have, then eliminate among the eight.
    """
    message[:] = 0.0
    for top in range(0, dim, 8):
        if top:
            for row in (top, top + 4):
                subtract_product(upper, message, top, row, 0, top, message)
        for row in range(top, min(top + 8, dim)):
            message[row, row] += weight
            scale = 1.0 / upper[row, row]
            own = message[row, : row + 1]
            for k in range(len(own)):
                own[k] *= scale
            for below in range(row + 1, min(top + 8, dim)):
                line, share = message[below, : row + 1], upper[row, below]
                for k in range(len(line)):
                    line[k] -= share * own[k]
    for row in range(dim):
        message[row, dim] = upper[row, dim]


@compiled
def _pass_up(weight: float, dim: int, upper: Float64, message: Float64, parent: Float64) -> None:
    r"""Take a row out of its parent's matrix: subtract :math:`V^\top V`, and :math:`V^\top U^{-\top} b` from b."""
    fill_message(weight, dim, upper, message)
    width = message.shape[1]
    for i in range(0, dim, 4):
        column = i
        while column < width:
            last = min(column + 12, width)
            # above the diagonal there are zeros, but not in the column of b
            first = column if last <= dim else i
            part = message[first:dim]
            subtract_product(part, part, dim - first, i, column, last, parent)
            column = last


@compiled
def _draw_down(
    row: int,
    step: int,
    weight: float,
    relax: float,
    dim: int,
    upper: Float64,
    above: Float64,
    key: Key,
    scratch: TreeWork,
    x: Float64,
) -> bool:
    """Draw a row given its parent's ``above`` from its factor: U^-1 (U^-T (b - c x_p) + noise).

    With overrelaxation, what is drawn, here and of the parent, is x' + r x, with (1 + r) b and less noise.
    """
    noise, right, less = scratch.noise, scratch.right, math.sqrt(1.0 - relax * relax)
    fill_normals(key, row, NORMALS + step * NORMALS_STEP, noise)
    for k in range(dim):
        right[k] = weight * above[k]
    for i in range(dim):  # U^-T of the parent's share, column by column
        right[i] /= upper[i, i]
        value, line, rest = right[i], upper[i, i + 1 : dim], right[i + 1 :]
        for k in range(len(rest)):
            rest[k] -= line[k] * value
    for k in range(dim):
        noise[k] = less * noise[k] + (1.0 + relax) * upper[k, dim] - right[k]
    solve_factor(upper, dim, noise, x)
    finite = True
    for k in range(dim):
        finite &= math.isfinite(x[k])
    return finite


@compiled
def redraw_trees(
    first: int,
    last: int,
    trees: Trees,
    coupling: Coupling,
    side: RowSide,
    rows: Float32,
    other: Float32,
    inner_steps: int,
    overrelax: float,
    key: Key,
    tables: Tables,
    work: Work,
    scratch: TreeWork,
) -> int:
    """Redraw all rows of the trees ``first`` to ``last`` in place; return -1, or a row that broke down."""
    dim, matrix = work.dim, scratch.matrix
    for tree in range(first, last):
        start = trees.indptr[tree]
        nodes = trees.indptr[tree + 1] - start
        for step in range(inner_steps):
            matrix[:nodes] = 0.0
            data, prior = 0.0, 0.0  # traces due to the data, and to the prior of the tree as a whole
            for node in range(nodes):
                row, parent = trees.row[start + node], trees.parent[start + node]
                before = _trace(matrix[node], dim)  # less what its children have taken
                _gather(row, step, side, rows[row], other, key, tables, work, scratch, matrix[node])
                own = side.precision[row, :dim].sum()
                data += _trace(matrix[node], dim) - before - own
                prior += own
                if not factor(matrix[node], dim, matrix.shape[2]):
                    return int(row)
                if parent >= 0:
                    weight = coupling.weight[trees.entry[start + node]]
                    prior += 2.0 * dim * weight  # the trace of all blocks; a weight is negative
                    _pass_up(weight, dim, matrix[node], scratch.message, matrix[parent])
            relax = data_fraction(data, prior) * overrelax
            for node in range(nodes - 1, -1, -1):
                row, parent = trees.row[start + node], trees.parent[start + node]
                weight, above = 0.0, scratch.x[node]
                if parent >= 0:
                    weight, above = coupling.weight[trees.entry[start + node]], scratch.x[parent]
                else:
                    above[:] = 0.0
                x = scratch.x[node]
                if not _draw_down(row, step, weight, relax, dim, matrix[node], above, key, scratch, x):
                    return int(row)
                for k in range(dim):
                    rows[row, k] = x[k] - relax * rows[row, k]
    return -1
