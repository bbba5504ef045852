"""The log prior density and the log likelihood of each row of one side."""

import math

from bayesvec._types import Float32, Float64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.logistic import sum_single, value_single
from bayesvec.kernels.row_work import RowSide, Work, take_pairs
from bayesvec.kernels.vector_rows import dot_eight


@compiled
def log_prior_rows(first: int, last: int, side: RowSide, rows: Float32, out: Float64) -> None:
    """Put the log density of each row under its prior, relative to that at zero, into ``out``."""
    for row in range(first, last):
        total = 0.0
        for k in range(side.precision.shape[1]):
            x = float(rows[row, k])
            total += x * (side.shift[row, k] - 0.5 * side.precision[row, k] * x)
        out[row] = total


@compiled
def fill_likelihoods(
    first: int, last: int, side: RowSide, rows: Float32, other: Float32, work: Work, out: Float64
) -> None:
    r"""Put the log likelihood of each row's pairs into ``out`` where that is not a number.

    A pair gives :math:`n^+ \log s(\eta) + n^- \log s(-\eta) = \kappa\eta - n\,(|\eta|/2 + \log(1 + e^{-|\eta|}))`.
    """
    eta, terms = work.eta, work.terms
    for row in range(first, last):
        if not math.isnan(out[row]):
            continue
        total, stop = 0.0, side.indptr[row + 1]
        for start in range(side.indptr[row], stop, len(eta)):
            count = min(len(eta), stop - start)
            size = take_pairs(start, count, side, work)
            for p in range(0, size, 8):
                dot_eight(other, work.numbers, p, rows[row], eta)
            value_single(eta[:count], work.n, work.kappa, side.weight, terms)
            total += sum_single(terms[:count])
        out[row] = total
