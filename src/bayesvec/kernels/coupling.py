"""Rows that a prior couples: the shift of each row's conditional given its neighbours."""

from typing import NamedTuple

from bayesvec._types import Float32, Float64, Int32, Int64
from bayesvec.kernels.compiled import compiled


class Coupling(NamedTuple):
    """The entries of a prior's precision between different rows, row after row."""

    indptr: Int64  # (rows + 1,)
    other: Int32  # (entries,)
    weight: Float64  # (entries,)


@compiled
def couple_rows(
    first: int,
    last: int,
    order: Int64,
    coupling: Coupling,
    share: float,
    rows: Float32,
    base: Float64,
    out: Float64,
) -> None:
    r"""Put the shift of each row's conditional, :math:`(P\mu)_w - \sum_u C_{wu} x_u`, into ``out``.

    Parameters
    ----------
    first, last : int
        Places in ``order``.
    order : ndarray of int64
        Rows, none of them a neighbour of another if others change ``rows`` meanwhile.
    coupling : Coupling
        C.
    share : float
        By which C is multiplied: 1 for a conditional, 1/2 for a row's share of the log density.
    rows : ndarray of float32, shape (rows, at least K)
        The rows as they are.
    base : ndarray, shape (rows, K)
        The precision times the mean.
    out : ndarray, shape (rows, K)
        Written at the chosen rows.
    """
    dim = base.shape[1]
    for i in range(first, last):
        row = order[i]
        for k in range(dim):
            out[row, k] = base[row, k]
        for entry in range(coupling.indptr[row], coupling.indptr[row + 1]):
            other, weight = coupling.other[entry], share * coupling.weight[entry]
            for k in range(dim):
                out[row, k] -= weight * rows[other, k]
