r"""Products over the rows of a side whose bits do not depend on how the rows are shared out.

:math:`x^\top y`, (K, K), is a sum over rows. Floating-point sums depend on their order, and so would the draws on
the number of workers. So every coordinate is rounded to an integer in units of a fraction of the largest on its axis,
and the integer to its upper and lower half,

.. math:: x_k \approx u_k (h_k + 2^{-16} l_k), \qquad |h_k| \le 2^{15}, \quad |l_k| \le 2^{15},

after which the sums of :math:`h h'`, :math:`h l'` and :math:`l h'` over up to :math:`2^{23}` rows are integers below
:math:`2^{53}`: exact, in any order and by any BLAS. What is left out is about :math:`2^{-31}` of the largest square.

:math:`x A` is computed row by row in the order of the axes; BLAS may compute the last rows of a block in an order of
their own.
"""

import numpy as np

from bayesvec._types import Array, Float64
from bayesvec.kernels.compiled import fused

BITS = 15  # of the upper halves
LOWER = 2.0**16  # units of the lower halves in one of the upper
AT_ONCE = 1024  # rows, whose halves stay in the cache


def largest(rows: Array, weights: Float64 | None = None) -> Float64:
    """Return the largest absolute value on each axis, (K,), of rows times their ``weights``."""
    found = np.zeros(rows.shape[1])
    for first in range(0, len(rows), AT_ONCE):
        some = _times(rows[first : first + AT_ONCE], weights, first)
        np.maximum(found, np.abs(some).max(axis=0), out=found)
    return found


def units(sizes: Float64) -> Float64:
    """Return the units of axes whose values are at most so large: powers of two, so that rescaling is exact."""
    _, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(1.0, exponents - BITS))


def cross_parts(
    x: Array, y: Array | None, unit_x: Float64, unit_y: Float64, weights: Float64 | None = None
) -> Float64:
    """Return the integer parts of x^T y, (3, K, K); those of some rows are added to those of others.

    Parameters
    ----------
    x, y : ndarray, shape (rows, K)
        Any of the rows; without ``y`` it is ``x``.
    unit_x, unit_y : ndarray of float64, shape (K,)
        `units` of the largest values among all rows.
    weights : ndarray of float64, shape (rows,), optional
        What the rows of ``x`` (and ``y``, if that is ``x``) are multiplied by.
    """
    parts = np.zeros((3, x.shape[1], x.shape[1]))
    for first in range(0, len(x), AT_ONCE):
        high, low = _halves(_times(x[first : first + AT_ONCE], weights, first), unit_x)
        if y is None:
            cross = high.T @ low
            parts += (high.T @ high, cross, cross.T)
        else:
            other_high, other_low = _halves(y[first : first + AT_ONCE], unit_y)
            parts += (high.T @ other_high, high.T @ other_low, low.T @ other_high)
    return parts


def from_parts(parts: Float64, unit_x: Float64, unit_y: Float64) -> Float64:
    """Return x^T y, (K, K), from the sum of its parts over all rows."""
    return np.asarray((parts[0] + (parts[1] + parts[2]) / LOWER) * unit_x[:, None] * unit_y)


def cross(x: Array, y: Array) -> Float64:
    """Return x^T y, (K, K)."""
    unit_x, unit_y = units(largest(x)), units(largest(y))
    return from_parts(cross_parts(x, y, unit_x, unit_y), unit_x, unit_y)


def multiplied(rows: Array, matrix: Float64) -> Array:
    """Return rows times a matrix, (rows, K), of the type of ``rows``."""
    given = np.require(rows, requirements=["C", "W"])  # an array that is read-only would be compiled again
    out = np.empty_like(given)
    multiply_rows(0, len(rows), given, np.ascontiguousarray(matrix, dtype=np.float64), out)
    return out


@fused
def multiply_rows(first: int, last: int, rows: Array, matrix: Float64, out: Array) -> None:
    """Put some rows times a square matrix into ``out``, four terms at a time, summed in float64."""
    dim = len(matrix)
    line = np.empty(dim)
    for i in range(first, last):
        for k in range(dim):
            line[k] = 0.0
        for j in range(0, dim - dim % 4, 4):
            w, x, y, z = (
                float(rows[i, j]),
                float(rows[i, j + 1]),
                float(rows[i, j + 2]),
                float(rows[i, j + 3]),
            )
            p, q, r, s = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
            for k in range(dim):
                line[k] += w * p[k] + x * q[k] + y * r[k] + z * s[k]
        for j in range(dim - dim % 4, dim):
            for k in range(dim):
                line[k] += float(rows[i, j]) * matrix[j, k]
        for k in range(dim):
            out[i, k] = line[k]


def _times(rows: Array, weights: Float64 | None, first: int) -> Array:
    return rows if weights is None else rows * weights[first : first + len(rows), None]


def _halves(rows: Array, unit: Float64) -> tuple[Float64, Float64]:
    """Return the upper and lower halves of rows in these units, as integers."""
    rest = rows / unit
    high = np.rint(rest)
    rest -= high
    rest *= LOWER
    return high, np.rint(rest, out=rest)
