"""Coupled rows that form trees (walks over slices, groups around a shared row), which are redrawn as wholes.

That is done in every sweep or, where it would cost much beside the rest, in some.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from bayesvec._types import Bool, Int64
from bayesvec.kernels.trees import Trees
from bayesvec.priors.coupling import Sparse, search_breadth_first

TREE_SHARE = 0.25  # of a sweep's time that redrawing whole trees may add to it, on average
TREE_BYTES = 64 << 20  # that a tree may take in each thread


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees that are redrawn as wholes."""

    trees: Trees
    cost: Int64  # of redrawing each tree among the others
    largest: int  # rows of the largest
    every: int  # sweeps from one such redrawing to the next

    def only(self, kept: Bool) -> "Forest":
        """Return the trees of the rows that are ``kept``."""
        trees = self.trees
        chosen = kept[trees.row[trees.indptr[:-1]]]  # (trees,)
        sizes = np.diff(trees.indptr)
        nodes = np.repeat(chosen, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes[chosen])]).astype(np.int64)
        parts = (part[nodes] for part in (trees.row, trees.parent, trees.entry))
        return replace(self, trees=Trees(indptr, *parts), cost=self.cost[chosen])


def make_forest(neighbours: Sparse, sizes: Int64, others: int, dim: int) -> Forest | None:
    """Return the trees of the coupling, if it has no cycle and none of them is too large to hold."""
    trees = make_trees(neighbours)
    if trees is None:
        return None
    largest = int(np.diff(trees.indptr).max())
    if largest * dim**2 * 8 > TREE_BYTES:
        return None
    cost = np.add.reduceat(sizes[trees.row] + 2 * dim, trees.indptr[:-1])
    # in units of a pair, as measured: what a row takes more in its tree, and what a whole sweep takes
    few = sizes < dim
    more = np.where(few, 40 + 3.2 * dim, 30 + 2 * dim).sum()
    whole = 2 * sizes.sum() + np.where(few, 50 + 2 * sizes, 85 + dim).sum() + others * (85 + dim)
    every = max(1, math.ceil(more / (TREE_SHARE * whole)))
    return Forest(trees, cost, largest, every)


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
