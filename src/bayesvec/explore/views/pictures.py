"""What pictures need beside an answer: an inner interval, and the curve of a density."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.texts import probability_text
from bayesvec.plots.densities import density
from bayesvec.posterior.claims import sign_values

_POINTS = 129  # of a curve


def inner_level(level: float) -> float:
    """Return the probability of the inner of two intervals: 0.5, or half of a narrow outer one."""
    return 0.5 if level > 0.5 else level / 2


def inner_intervals(estimates: Sequence[Estimate], level: float) -> list[list[float] | None]:
    """Return the inner interval of each estimate, None for a single draw."""
    inside = inner_level(level)
    return [list(each.interval(inside)) if each.draws.size > 1 else None for each in estimates]


def drawn(estimate: Estimate, level: float) -> dict[str, Any]:
    """Return an estimate as plain values, with P(above 0), its inner interval and its density."""
    return {
        **sign_values(estimate, level),
        "probability_text": above_text(estimate),
        "inner": inner_intervals([estimate], level)[0],
        "density": curve(estimate),
    }


def above_text(estimate: Estimate) -> str:
    """Return P(above 0) as text."""
    return probability_text(estimate.probability_above(0.0), estimate.draws.size)


def curve(estimate: Estimate) -> dict[str, list[float]] | None:
    """Return the density of an estimate at a few points, None where all draws are equal."""
    if np.ptp(estimate.draws) == 0:
        return None
    bounds = estimate.quantity.bounds if estimate.quantity else None
    grid, height = density(estimate.draws, bounds)
    some = np.linspace(0, len(grid) - 1, _POINTS).round().astype(int)
    return {"x": rounded(grid[some], 6), "y": rounded(height[some], 5)}


def rounded(values: Float64, digits: int) -> list[float]:
    """Return numbers with a few significant digits, which makes an answer shorter."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]
