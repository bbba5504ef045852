r"""Redraw whole trees of rows at once: walks over time slices, and groups around their shared row.

Rows that a prior couples as a tree (each to at most one parent, by :math:`c_w I`) are jointly Gaussian given the
Polya-Gamma variables, and their precision has a block Cholesky factor without fill. Going up from the leaves, with
:math:`Q_w`, :math:`b_w` those of the row update, a row takes in its children u,

.. math:: \tilde Q_w = Q_w - \sum_u c_u^2 \tilde Q_u^{-1}, \quad
          \tilde b_w = b_w - \sum_u c_u \tilde Q_u^{-1} \tilde b_u ,

and going down each row is drawn given its parent p: :math:`x_w \sim N(\tilde Q_w^{-1} (\tilde b_w - c_w x_p),
\tilde Q_w^{-1})`. On a walk this is forward filtering and backward sampling (Carter & Kohn 1994; Frühwirth-Schnatter
1994). Row by row, neighbours that hold each other tightly would only creep. As a single row (rows.py) a tree goes
beyond its mean by the data's share of what holds it: not of what its rows hold each other by, which cancels in the
sum of all blocks of its precision.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.coupling import Coupling
from bayesvec.kernels.dense import factor, solve_factor
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.rng import Key, fill_normals
from bayesvec.kernels.rows import NORMALS, NORMALS_STEP, RowSide, Work, add_pairs, fill_panel, share_of
from bayesvec.kernels.vector import (
    mixed_tile_1,
    mixed_tile_2,
    mixed_tile_3,
    padded,
    subtract_tile_1,
    subtract_tile_2,
    subtract_tile_3,
)
from bayesvec.priors.coupling import Sparse, search_breadth_first


class Trees(NamedTuple):
    """Rows in trees, each tree from its leaves to its root."""

    indptr: Int64  # (trees + 1,)
    row: Int64  # (rows,)
    parent: Int64  # (rows,) place of the parent within the tree; -1 of a root
    entry: Int64  # (rows,) of the coupling, from the row to its parent


class TreeWork(NamedTuple):
    """What one thread needs to redraw a tree."""

    matrix: Float64  # (nodes, padded K, padded (K + 1)) Q, with b in column K; then its factor
    message: Float64  # (padded K, padded (K + 1)) what a row tells its parent
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


def make_trees(neighbours: Sparse | None) -> Trees | None:
    """Return the trees that a symmetric coupling makes of the rows; None if it has a cycle, or no entries."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if neighbours is None or not neighbours.nnz:
        return None
    rows = neighbours.shape[0]
    components, label = connected_components(neighbours, directed=False)
    if neighbours.nnz // 2 != rows - components:
        return None
    order, parent = search_breadth_first(neighbours, label)
    order = order[::-1]
    order = order[np.argsort(label[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(label))]).astype(np.int64)
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows) - indptr[label[order]]
    above = parent[order]
    joined = np.flatnonzero(above >= 0)
    numbers = csr_array(
        (np.arange(neighbours.nnz) + 1, neighbours.indices, neighbours.indptr), neighbours.shape
    )
    entry = np.full(rows, -1, dtype=np.int64)
    entry[joined] = np.asarray(numbers[order[joined], above[joined]]).ravel() - 1
    found = np.full(rows, -1, dtype=np.int64)
    found[joined] = place[above[joined]]
    return Trees(indptr, order.astype(np.int64), found, entry)


@compiled
def _subtract(panel: Float64, count: int, row: int, first: int, last: int, target: Float64) -> None:
    """Subtract four rows of ``panel[:count].T @ panel[:count]``, columns ``first`` to ``last``, from ``target``."""
    column = first
    while last - column >= 12:
        subtract_tile_3(panel, count, row, column, target)
        column += 12
    if last - column == 8:
        subtract_tile_2(panel, count, row, column, target)
    elif last - column == 4:
        subtract_tile_1(panel, count, row, column, target)


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
        _subtract(panel, count, i, i, panel.shape[1], gram)
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
    if count >= dim:
        add_pairs(row, start, stop, step * count, side, x, other, key, tables, work, matrix)
    else:
        for first in range(0, count, len(work.panel)):
            size = min(len(work.panel), count - first)
            fill_panel(row, start + first, size, step * count + first, side, x, other, key, tables, work)
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
                column = 0
                while top - column >= 12:
                    mixed_tile_3(upper, message, top, row, column, message)
                    column += 12
                if top - column == 8:
                    mixed_tile_2(upper, message, top, row, column, message)
                elif top - column == 4:
                    mixed_tile_1(upper, message, top, row, column, message)
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
            _subtract(message[first:dim], dim - first, i, column, last, parent)
            column = last


@compiled
def _draw_down(
    row: int,
    step: int,
    weight: float,
    beyond: float,
    dim: int,
    upper: Float64,
    above: Float64,
    key: Key,
    scratch: TreeWork,
    x: Float64,
) -> bool:
    """Draw a row given its parent's ``above`` from its factor: U^-1 (U^-T (b - c x_p) + noise).

    To go beyond the mean, what is drawn, here and of the parent, is x' + r x, with (1 + r) b and less noise.
    """
    noise, right, less = scratch.noise, scratch.right, math.sqrt(1.0 - beyond * beyond)
    fill_normals(key, row, NORMALS + step * NORMALS_STEP, noise)
    for k in range(dim):
        right[k] = weight * above[k]
    for i in range(dim):  # U^-T of the parent's share, column by column
        right[i] /= upper[i, i]
        value, line, rest = right[i], upper[i, i + 1 : dim], right[i + 1 :]
        for k in range(len(rest)):
            rest[k] -= line[k] * value
    for k in range(dim):
        noise[k] = less * noise[k] + (1.0 + beyond) * upper[k, dim] - right[k]
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
            seen, known = 0.0, 0.0  # by the data, by the prior of the tree as a whole
            for node in range(nodes):
                row, parent = trees.row[start + node], trees.parent[start + node]
                before = _trace(matrix[node], dim)  # less what its children have taken
                _gather(row, step, side, rows[row], other, key, tables, work, scratch, matrix[node])
                own = side.precision[row, :dim].sum()
                seen += _trace(matrix[node], dim) - before - own
                known += own
                if not factor(matrix[node], dim):
                    return int(row)
                if parent >= 0:
                    weight = coupling.weight[trees.entry[start + node]]
                    known += 2.0 * dim * weight  # the trace of all blocks; a weight is negative
                    _pass_up(weight, dim, matrix[node], scratch.message, matrix[parent])
            beyond = share_of(seen, known) * overrelax
            for node in range(nodes - 1, -1, -1):
                row, parent = trees.row[start + node], trees.parent[start + node]
                weight, above = 0.0, scratch.x[node]
                if parent >= 0:
                    weight, above = coupling.weight[trees.entry[start + node]], scratch.x[parent]
                else:
                    above[:] = 0.0
                x = scratch.x[node]
                if not _draw_down(row, step, weight, beyond, dim, matrix[node], above, key, scratch, x):
                    return int(row)
                for k in range(dim):
                    rows[row, k] = x[k] - beyond * rows[row, k]
    return -1
