"""The sparse matrix by which a prior couples rows: checked, factored, its rows coloured."""

import itertools
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError

Sparse: TypeAlias = Any  # a scipy.sparse.csr_array; SciPy has no type hints

ROUNDING = 1e-12  # of the largest entry, by which two entries that should be equal may differ


def check_coupling(coupling: Any, precision: Float64) -> Sparse:
    """Return a coupling as a sparse matrix, or raise if it is not symmetric, finite and positive definite.

    Parameters
    ----------
    coupling : sparse or dense matrix
        The coupling.
    precision : ndarray, shape (1 or rows, 1 or K)
        The diagonal of each axis, to which it is added.
    """
    from scipy.sparse import csr_array

    matrix = csr_array(coupling, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise OptionError(f"the coupling of the prior has shape {matrix.shape}; it must be (rows, rows)")
    if len(precision) not in (1, matrix.shape[0]):
        raise OptionError(
            f"the coupling of the prior has {matrix.shape[0]} rows and its precision {len(precision)}; "
            "they must have equally many"
        )
    matrix.sum_duplicates()
    if not np.all(np.isfinite(matrix.data)):
        bad = matrix.data[~np.isfinite(matrix.data)][0]
        raise OptionError(f"the coupling of the prior holds {bad}; every value must be finite")
    apart = abs(matrix - matrix.T)
    if apart.nnz and apart.max() > ROUNDING * abs(matrix).max():
        entry = int(np.argmax(apart.tocoo().data))
        row, column = (int(index[entry]) for index in apart.tocoo().coords)
        raise OptionError(
            f"the coupling of the prior is not symmetric: it is {matrix[row, column]:g} from row {row} to "
            f"row {column} and {matrix[column, row]:g} back; give both the same value"
        )
    matrix = csr_array((matrix + matrix.T) * 0.5)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    for column in np.unique(precision, axis=1).T:
        _check_definite(np.broadcast_to(column, matrix.shape[0]), matrix)
    return matrix


def _check_definite(diagonal: Float64, coupling: Sparse) -> None:
    """Raise unless diagonal + coupling is positive definite."""
    own = diagonal + coupling.diagonal()
    others = np.asarray(abs(coupling).sum(axis=1)).ravel() - np.abs(coupling.diagonal())
    if np.all(own > others):
        return  # each row outweighs its neighbours (Gershgorin)
    if not np.isfinite(log_determinant(diagonal, coupling)):
        row = int(np.argmin(own - others))
        raise OptionError(
            "the precision of the prior is not positive definite; the coupling of a row must not exceed its own "
            f"precision: row {row} has {own[row]:g} against {others[row]:g} from its neighbours; "
            "raise the precision or weaken the coupling"
        )


def log_determinant(diagonal: Float64, coupling: Sparse) -> float:
    """Return the log determinant of diagonal + coupling, minus infinity if that is not positive definite.

    Parameters
    ----------
    diagonal : ndarray
        One number, or one per row.
    coupling : sparse matrix
        Symmetric.
    """
    factor = factorise(diagonal, coupling)
    if factor is None:
        return -np.inf
    pivots = factor.U.diagonal()
    # without row exchanges this is the L D L^T of a symmetric matrix: definite if D is positive by more than
    # rounding, which can turn a zero pivot into a small positive one
    own = np.empty(len(pivots))
    own[factor.perm_c] = diagonal + coupling.diagonal()
    rounding = len(pivots) * np.finfo(np.float64).eps * np.abs(own)
    if not (np.array_equal(factor.perm_r, factor.perm_c) and np.all(pivots > rounding)):
        return -np.inf
    return float(np.log(pivots).sum())


def factorise(diagonal: Float64, coupling: Sparse) -> Any:
    """Return the sparse LU factor of diagonal + coupling; None if that is exactly singular."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    size = coupling.shape[0]
    matrix = csc_array(coupling + diags_array(np.broadcast_to(diagonal, size), format="csr"))
    try:
        return splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # exactly singular
        return None


def off_diagonal(coupling: Sparse) -> Sparse:
    """Return a symmetric matrix without its diagonal."""
    from scipy.sparse import csr_array, diags_array

    matrix = csr_array(coupling - diags_array(coupling.diagonal(), format="csr"))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def colours(neighbours: Sparse | None, rows: int) -> list[Int64]:
    """Split rows into a few sets without coupled rows in any, each in ascending order.

    Two sets are enough for graphs without odd cycles, such as walks and stars. Other graphs are coloured
    greedily, rows with the most neighbours first (Welsh & Powell 1967).

    Parameters
    ----------
    neighbours : sparse matrix or None
        Symmetric, nonzero where two rows are coupled, zero on the diagonal.
    rows : int
        Number of rows.
    """
    if neighbours is None or not neighbours.nnz:
        return [np.arange(rows)]
    found = _two_colours(neighbours)
    if found is None:
        found = _greedy_colours(neighbours)
    return [np.flatnonzero(found == colour) for colour in range(int(found.max()) + 1)]


def _greedy_colours(neighbours: Sparse) -> Int64:
    """Give each row the first colour that none of its neighbours has, rows with the most neighbours first."""
    indptr, other = neighbours.indptr, neighbours.indices
    found = np.full(neighbours.shape[0], -1)
    for row in np.argsort(-np.diff(indptr), kind="stable"):
        taken = set(found[other[indptr[row] : indptr[row + 1]]].tolist())
        found[row] = next(colour for colour in itertools.count() if colour not in taken)
    return found


def search_breadth_first(neighbours: Sparse, label: npt.NDArray[np.integer]) -> tuple[Int64, Int64]:
    """Return the rows of each component in breadth-first order, and the parent of each row (-1 for the first).

    Parameters
    ----------
    neighbours : sparse matrix
        Symmetric.
    label : ndarray of int
        The component of each row.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    rows = neighbours.shape[0]
    # an extra row, linked to the first of each component, connects the graph
    firsts = np.unique(label, return_index=True)[1]
    coo = neighbours.tocoo()
    origins, ends = coo.coords
    graph = csr_array(
        (
            np.ones(coo.nnz + len(firsts)),
            (np.append(origins, np.full(len(firsts), rows)), np.append(ends, firsts)),
        ),
        shape=(rows + 1, rows + 1),
    )
    order, before = breadth_first_order(graph, rows, directed=True)
    parent = before[:rows].astype(np.int64)
    parent[parent == rows] = -1
    return order[1:].astype(np.int64), parent


def _two_colours(neighbours: Sparse) -> Int64 | None:
    """Return the parity of each row's distance from the first row of its component; None if that fails."""
    from scipy.sparse.csgraph import connected_components

    order, parent = search_breadth_first(neighbours, connected_components(neighbours, directed=False)[1])
    parity = np.zeros(neighbours.shape[0], dtype=np.int64)
    for row, before in zip(order.tolist(), parent[order].tolist(), strict=True):
        parity[row] = 1 - parity[before] if before >= 0 else 0
    origins, ends = neighbours.nonzero()
    return None if np.any(parity[origins] == parity[ends]) else parity
