r"""The part of the Hessian that joins words and contexts, times several directions at once."""

import numpy as np
import numpy.typing as npt

from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.density import _add, _add4, _dot, _dot4

Float64 = npt.NDArray[np.float64]

BLOCK = 32  # entries whose vectors stay in the first cache over all directions


@compiled
def mixed_rows(
    first: int,
    last: int,
    indptr: npt.NDArray[np.int64],
    other: npt.NDArray[np.int32],
    residual: Float64,
    weight: Float64,
    x: Float64,
    y: Float64,
    direction: Float64,
    out: Float64,
) -> None:
    r"""Set rows of ``out`` (rows, S, K) to :math:`\sum_v n \sigma' (\rho_w^\top d_v) \alpha_v - r d_v`.

    That is the negative of the Hessian's mixed blocks times S directions d of the other side.

    Parameters
    ----------
    first, last : int
        The rows.
    indptr, other : ndarray
        The pairs of this side.
    residual, weight : ndarray
        :math:`r = n^+ - n \sigma(\eta)` and :math:`n \sigma'(\eta)` of its entries.
    x, y : ndarray
        Vectors of this side (rows, K) and of the other.
    direction : ndarray
        The directions, (rows of the other side, S, K).
    out : ndarray
        The result.
    """
    moved = np.empty(BLOCK)
    size = direction.shape[1]
    for w in range(first, last):
        out[w] = 0.0
        row = x[w]
        for a in range(indptr[w], indptr[w + 1], BLOCK):
            b = min(a + BLOCK, indptr[w + 1])
            whole = b - (b - a) % 4
            for s in range(size):
                to = out[w, s]
                for i in range(a, whole, 4):
                    v0, v1, v2, v3 = other[i], other[i + 1], other[i + 2], other[i + 3]
                    t0, t1, t2, t3 = _dot4(
                        row, direction[v0, s], direction[v1, s], direction[v2, s], direction[v3, s]
                    )
                    moved[i - a] = weight[i] * t0
                    moved[i - a + 1] = weight[i + 1] * t1
                    moved[i - a + 2] = weight[i + 2] * t2
                    moved[i - a + 3] = weight[i + 3] * t3
                for i in range(whole, b):
                    moved[i - a] = weight[i] * _dot(row, direction[other[i], s])
                for i in range(a, whole, 4):
                    v0, v1, v2, v3 = other[i], other[i + 1], other[i + 2], other[i + 3]
                    m = i - a
                    _add4(to, moved[m], y[v0], moved[m + 1], y[v1], moved[m + 2], y[v2], moved[m + 3], y[v3])
                    _add4(
                        to,
                        -residual[i],
                        direction[v0, s],
                        -residual[i + 1],
                        direction[v1, s],
                        -residual[i + 2],
                        direction[v2, s],
                        -residual[i + 3],
                        direction[v3, s],
                    )
                for i in range(whole, b):
                    _add(to, moved[i - a], y[other[i]])
                    _add(to, -residual[i], direction[other[i], s])
