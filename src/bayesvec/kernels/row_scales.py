r"""Rows with heavy tails: a scale of its own for each row, drawn given the row.

A row with a multivariate t distribution of :math:`\nu` degrees of freedom is Gaussian given its scale:

.. math:: x \sim N\big(0, (\tau \Lambda)^{-1}\big), \quad \tau \sim \mathrm{Gamma}(\nu/2, \nu/2), \qquad
          \tau \mid x \sim \mathrm{Gamma}\Big(\frac{\nu + K}2,\ \frac{\nu + x^\top \Lambda x}2\Big).
"""

import math

from bayesvec._types import Float32, Float64, Int64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.rng import Key, gamma


@inlined
def distance_of(row: int, rows: Float32, precision: Float64) -> float:
    """Return x^T Lambda x of one row."""
    total = 0.0
    for k in range(precision.shape[1]):
        x = float(rows[row, k])
        total += precision[row, k] * x * x
    return total


@compiled
def draw_row_scales(
    first: int,
    last: int,
    order: Int64,
    rows: Float32,
    precision: Float64,
    tails: float,
    key: Key,
    block: int,
    out: Float64,
) -> None:
    """Draw the scales of the rows ``order[first:last]`` given these, in the same order.

    Random numbers from ``block`` of the address of a row on are used.
    """
    shape = 0.5 * (tails + precision.shape[1])
    for place in range(first, last):
        row = int(order[place])
        out[place] = gamma(shape, key, row, block) / (0.5 * (tails + distance_of(row, rows, precision)))


@compiled
def expected_row_scales(rows: Float32, precision: Float64, tails: float, out: Float64) -> None:
    """Put the mean of the scale of each row given the row into ``out``."""
    for row in range(len(out)):
        out[row] = (tails + precision.shape[1]) / (tails + distance_of(row, rows, precision))


@compiled
def log_prior_rows_with_tails(
    first: int, last: int, rows: Float32, precision: Float64, tails: float, out: Float64
) -> None:
    """Put the log density of each row, its scale integrated out, relative to that at zero, into ``out``."""
    power = 0.5 * (tails + precision.shape[1])
    for row in range(first, last):
        out[row] = -power * math.log1p(distance_of(row, rows, precision) / tails)
