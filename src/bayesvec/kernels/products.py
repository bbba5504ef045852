r"""Products over the rows of a side whose bits do not depend on how the rows are shared out.

:math:`x^\top y`, (K, K), is a sum over rows. Floating-point sums depend on their order, and so would the draws on
the number of workers. So every coordinate is rounded to an integer, in units of a small fraction of the largest on
its axis. Of R rows, integers of :math:`(53 - \log_2 R) / 2` bits have products whose sums stay below :math:`2^{53}`:
these are exact in any order. That is 19 bits for 30,000 rows and 16 for a million. Rounding errors average out over
the rows, except that a square grows by a twelfth of a squared unit on average, which matters only where one row is
thousands of times as long as the others.

:math:`x A` is computed row by row in the order of the axes; BLAS may compute the last rows of a block in an order of
their own. Nor do threads of BLAS get in the way of ours here.
"""

import math

import numpy as np

from bayesvec._types import Array, Float64
from bayesvec.kernels.compiled import compiled, fused

EXACT = 53  # bits of the integers that float64 has
MOST_BITS = 23  # of a rounded coordinate; float32 has no more
AT_ONCE = 1024  # rows whose absolute values are held


def largest(rows: Array, weights: Float64 | None = None) -> Float64:
    """Return the largest absolute value on each axis, (K,), of rows times their ``weights``."""
    found = np.zeros(rows.shape[1])
    for first in range(0, len(rows), AT_ONCE):
        some = rows[first : first + AT_ONCE]
        if weights is not None:
            some = some * weights[first : first + AT_ONCE, None]
        np.maximum(found, np.abs(some).max(axis=0), out=found)
    return found


def units(sizes: Float64, rows: int) -> Float64:
    """Return the units of the integers on each axis, (K,): powers of two, so that nothing else is rounded.

    Parameters
    ----------
    sizes : ndarray of float64, shape (K,)
        The largest absolute value on each axis, over all rows.
    rows : int
        Number of all rows.
    """
    bits = min(MOST_BITS, (EXACT - math.ceil(math.log2(max(rows, 1)))) // 2)
    _, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(1.0, exponents - bits))


def integer_cross(
    x: Array, y: Array | None, unit_x: Float64, unit_y: Float64, weights: Float64 | None = None
) -> Float64:
    """Return x^T y, (K, K), of integers, which is exact: that of some rows is added to that of others.

    Parameters
    ----------
    x, y : ndarray, shape (rows, K)
        Any of the rows; without ``y`` it is ``x``.
    unit_x, unit_y : ndarray of float64, shape (K,)
        What they are rounded to multiples of.
    weights : ndarray of float64, shape (rows,), optional
        What the rows of ``x`` (and of ``y``, if that is ``x``) are multiplied by before.
    """
    own = _plain(np.ones(len(x)) if weights is None else weights)
    total = np.zeros((x.shape[1], x.shape[1]))
    if y is None:
        _add_cross(_plain(x), _plain(x), 1.0 / unit_x, 1.0 / unit_x, own, True, total)
        return np.asarray(np.triu(total) + np.triu(total, 1).T)
    same = y.astype(x.dtype, copy=False)  # another type would be compiled again
    _add_cross(_plain(x), _plain(same), 1.0 / unit_x, 1.0 / unit_y, own, False, total)
    return total


def cross(x: Array, y: Array) -> Float64:
    """Return x^T y, (K, K)."""
    unit_x, unit_y = units(largest(x), len(x)), units(largest(y), len(y))
    return in_units(integer_cross(x, y, unit_x, unit_y), unit_x, unit_y)


def in_units(total: Float64, unit_x: Float64, unit_y: Float64) -> Float64:
    """Return the x^T y of which ``total`` is the sum of `integer_cross` over all rows."""
    return np.asarray(total * unit_x[:, None] * unit_y)


def multiplied(rows: Array, matrix: Float64) -> Array:
    """Return rows times a matrix, (rows, K), of the type of ``rows``."""
    given = _plain(rows)
    out = np.empty_like(given)
    multiply_rows(0, len(rows), given, np.ascontiguousarray(matrix, dtype=np.float64), out)
    return out


def _plain(array: Array) -> Array:
    """Return an array as the kernels take it: one that is read-only would be compiled again."""
    return np.require(array, requirements=["C", "W"])


@compiled
def _add_cross(
    x: Array,
    y: Array,
    per_unit_x: Float64,
    per_unit_y: Float64,
    weights: Float64,
    symmetric: bool,
    total: Float64,
) -> None:
    """Add products of rounded coordinates to ``total``, four rows at a time; if ``symmetric``, above the diagonal."""
    count, dim = x.shape
    a, b = np.zeros((4, dim)), np.zeros((4, dim))
    for first in range(0, count, 4):
        for i in range(4):
            row = first + i
            for k in range(dim):
                a[i, k] = np.rint(x[row, k] * weights[row] * per_unit_x[k]) if row < count else 0.0
                b[i, k] = a[i, k]
        if not symmetric:
            for i in range(min(4, count - first)):
                for k in range(dim):
                    b[i, k] = np.rint(y[first + i, k] * per_unit_y[k])
        for j in range(dim):
            start = j if symmetric else 0
            p, q, r, s = a[0, j], a[1, j], a[2, j], a[3, j]
            line, w, x_, y_, z = total[j, start:], b[0, start:], b[1, start:], b[2, start:], b[3, start:]
            for k in range(len(line)):
                line[k] += p * w[k] + q * x_[k] + r * y_[k] + s * z[k]


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
