r"""The likelihood along a line: rows :math:`x + s\,d` for a direction :math:`d` and any :math:`s`.

Logits are linear in s, so they and their slopes are taken once; after that a value of s costs no dot product.
"""

import numpy as np

from bayesvec._types import Float32, Float64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.logistic import sum_single, value_single
from bayesvec.kernels.row_work import RowSide, Work
from bayesvec.kernels.vector_rows import dot_rows


@compiled
def pair_lines(
    first: int,
    last: int,
    side: RowSide,
    rows: Float32,
    direction: Float32,
    other: Float32,
    eta: Float32,
    slope: Float32,
) -> None:
    """Put the logit of each pair of some rows into ``eta``, and by how much it changes with s into ``slope``."""
    for row in range(first, last):
        for p in range(side.indptr[row], side.indptr[row + 1]):
            eta[p] = dot_rows(rows, row, other, side.other[p])
            slope[p] = dot_rows(direction, row, other, side.other[p])


@compiled
def log_likelihood_rows(
    first: int, last: int, side: RowSide, eta: Float32, slope: Float32, s: float, work: Work, out: Float64
) -> None:
    """Put the log likelihood of each row's pairs at ``s`` into ``out``."""
    moved, terms = work.eta, work.terms
    for row in range(first, last):
        total = 0.0
        stop = side.indptr[row + 1]
        for start in range(side.indptr[row], stop, len(moved)):
            count = min(len(moved), stop - start)
            for p in range(count):
                moved[p] = eta[start + p] + np.float32(s) * slope[start + p]
            value_single(moved[:count], side.n[start:], side.kappa[start:], side.weight, terms)
            total += sum_single(terms[:count])
        out[row] = total
