"""Small dense matrices of a row update: the Gram matrix, its Cholesky factor and the draw from it.

Upper triangles, row-major, in arrays whose rows are whole vectors, built on `tiles` and `vector_rows`. At these
sizes this factors in about 0.6 of the time of SciPy's LAPACK and solves the right-hand side along the way.
"""

import math

from bayesvec._types import Float32, Float64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.tiles import (
    add_tile_1,
    add_tile_2,
    add_tile_3,
    subtract_tile_1,
    subtract_tile_2,
    subtract_tile_3,
)
from bayesvec.kernels.vector_rows import add_tail, dot_tail


@compiled
def _add_tiles(panel: Float32, count: int, row: int, first: int, last: int, gram: Float64) -> None:
    """Add four rows of ``panel[:count].T @ panel[:count]``, columns ``first`` to ``last``, to ``gram``."""
    column = first
    left = (last - first) // 8
    while left == 3 or left > 4:
        add_tile_3(panel, count, row, column, gram)
        column += 24
        left -= 3
    while left >= 2:
        add_tile_2(panel, count, row, column, gram)
        column += 16
        left -= 2
    if left == 1:
        add_tile_1(panel, count, row, column, gram)


@compiled
def add_gram(panel: Float32, count: int, dim: int, gram: Float64) -> None:
    """Add ``panel[:count].T @ panel[:count]`` to ``gram``; `fold_gram` then completes its upper triangle.

    The last one to four axes of a dimension that is no multiple of 8 are multiplied as rows, by all the axes before
    them: as columns they would take a whole vector in every row.

    Parameters
    ----------
    panel : ndarray of float32, shape (size, at least padded dim)
        Rows to multiply. Sums over ``count`` of them are taken in float32: keep it to a few hundred.
    count : int
        How many rows count; at least 1.
    dim : int
        Size of the triangle that is wanted.
    gram : ndarray of float64, shape (at least padded dim, at least padded dim)
        Added to.
    """
    whole = dim // 8 * 8
    width = whole if dim - whole <= 4 else whole + 8
    for row in range(0, min(dim, width), 4):
        _add_tiles(panel, count, row, row // 8 * 8, width, gram)
    if width < dim:
        _add_tiles(panel, count, width, width - width, width + 8, gram)


@inlined
def fold_gram(dim: int, gram: Float64) -> None:
    """Move what `add_gram` has put to the left of the diagonal into the upper triangle."""
    whole = dim // 8 * 8
    if dim - whole <= 4:
        for row in range(whole, dim):
            for column in range(whole):
                gram[column, row] += gram[row, column]
                gram[row, column] = 0.0


@compiled
def subtract_product(
    left: Float64, right: Float64, count: int, row: int, first: int, last: int, target: Float64
) -> None:
    """Subtract ``left[:count].T @ right[:count]`` from ``target``: four rows, columns ``first`` to ``last``."""
    column = first
    while last - column >= 12:
        subtract_tile_3(left, right, count, row, column, target)
        column += 12
    if last - column == 8:
        subtract_tile_2(left, right, count, row, column, target)
    elif last - column == 4:
        subtract_tile_1(left, right, count, row, column, target)


@compiled
def factor(matrix: Float64, dim: int, width: int) -> bool:
    """Overwrite the upper triangle of ``matrix[:dim, :dim]`` with U, where U^T U is the matrix.

    Columns from ``dim`` on are right-hand sides: column b becomes U^-T b. Eight rows at a time: subtract what
    the rows above have explained, then eliminate among the eight. What stands below the diagonal is scratch.

    Parameters
    ----------
    matrix : ndarray of float64, shape (at least dim rounded up to 8, at least width)
        Symmetric; only the upper triangle is read.
    dim : int
        Size of the matrix.
    width : int
        Number of columns, right-hand sides included: a multiple of 8.

    Returns
    -------
    bool
        Whether the matrix is positive definite.
    """
    for top in range(0, dim, 8):
        if top:
            for row in (top, top + 4):
                subtract_product(matrix, matrix, top, row, top, width, matrix)
        for row in range(top, min(top + 8, dim)):
            pivot = matrix[row, row]
            if not (pivot > 0.0 and pivot < math.inf):
                return False
            scale = 1.0 / math.sqrt(pivot)
            for column in range(row, width):
                matrix[row, column] *= scale
            for below in range(row + 1, min(top + 8, dim)):
                add_tail(matrix, below, row, -matrix[row, below], top, width)
    return True


@inlined
def solve_factor(upper: Float64, dim: int, right: Float64, x: Float64) -> None:
    """Solve ``U x = right`` for the factor of `factor`.

    ``x`` has room for ``dim`` rounded up to 4, and is zero beyond ``dim`` afterwards.
    """
    stop = (dim + 3) // 4 * 4
    for k in range(len(x)):
        x[k] = 0.0
    for row in range(dim - 1, -1, -1):
        explained = dot_tail(upper, row, x, (row + 1) // 4 * 4, stop) if row + 1 < dim else 0.0
        x[row] = (right[row] - explained) / upper[row, row]
