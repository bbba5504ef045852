"""Which rows each worker owns: contiguous rows, or whole trees of coupled rows, cut by cost."""

import numpy as np

from bayesvec._parallel import chunks_by_cost
from bayesvec._types import Int64
from bayesvec.inference.sides import Half


def cut(half: Half, sizes: Int64, workers: int) -> list[Int64]:
    """Return the rows of each worker, rising; of some there may be none.

    Parameters
    ----------
    half : Half
        The side; its pairs are not needed.
    sizes : ndarray of int64
        Number of pairs of each row.
    workers : int
        Number of workers.
    """
    _, dim = half.side.precision.shape
    cost = sizes + dim // 3 + 1  # as in `make_half`
    if half.forest is None:
        blocks = [np.arange(first, last) for first, last in chunks_by_cost(cost, workers)]
    else:
        trees = half.forest.trees
        total = np.concatenate([[0], np.cumsum(cost[trees.row])])
        chunks = chunks_by_cost(np.diff(total[trees.indptr]), workers)
        blocks = [np.sort(trees.row[slice(*trees.indptr[[first, last]])]) for first, last in chunks]
    return blocks + [np.zeros(0, dtype=np.int64)] * (workers - len(blocks))


def whole_rounds(half: Half) -> bool:
    """Whether a worker can redraw its rows without those of others: none are coupled, or it has whole trees."""
    return half.coupling is None or half.forest is not None
