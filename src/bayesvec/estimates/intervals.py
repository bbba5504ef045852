"""Quantiles and intervals of draws that hold what they promise, also when the draws are few."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import FewDrawsWarning, OptionError

LEVEL = 0.9  # of an interval, unless another is given
ENOUGH_DRAWS = 100  # with fewer, an interval comes with a warning


def tails(level: float) -> tuple[float, float]:
    """Return the two probabilities between which an equal-tailed interval of ``level`` lies."""
    if not 0 < level < 1:
        raise OptionError(f"level is {level:g}; it must lie between 0 and 1, such as 0.9")
    return (1 - level) / 2, (1 + level) / 2


def quantiles(
    draws: Float64, probabilities: float | Sequence[float], axis: tuple[int, ...] | None = None
) -> Float64:
    r"""Return quantiles such that a new draw falls below each with its probability.

    A new draw falls below the i-th smallest of n independent draws with probability i / (n + 1), so the quantile of p
    is the draw of rank p (n + 1), interpolated (Weibull's rule). The common rule, rank 1 + p (n - 1), gives intervals
    that are too narrow: with 10 draws a new one falls in a 90% interval with probability 0.75. Beyond the smallest
    and the largest draw there is nothing to interpolate; there the quantile is that draw.

    Parameters
    ----------
    draws : ndarray
        Draws, such as (chain, draw).
    probabilities : float or sequence of float
        Between 0 and 1.
    axis : tuple of int, optional
        The axes of the draws; by default all.
    """
    return np.asarray(np.quantile(draws, probabilities, axis=axis, method="weibull"))


def shortest(draws: Float64, level: float) -> tuple[float, float]:
    """Return the shortest of the intervals between two draws that hold a new draw with probability ``level``."""
    ordered = np.sort(draws, axis=None)
    apart = min(math.ceil(level * (ordered.size + 1) - 1e-9), ordered.size - 1)  # ranks
    widths = ordered[apart:] - ordered[: ordered.size - apart]
    first = int(np.argmin(widths))
    return float(ordered[first]), float(ordered[first + apart])


def warn_of_few(size: int, level: float) -> None:
    """Warn if an interval of ``level`` rests on fewer than `ENOUGH_DRAWS` draws; a single point has no interval."""
    if not 1 < size < ENOUGH_DRAWS:
        return
    reach = (size - 1) / (size + 1)  # probability that a new draw falls in the range of the others
    text = f"a {100 * level:g}% interval of {size} draws is rough"
    if reach < level - 1e-9:
        text = (
            f"{size} draws are too few for a {100 * level:g}% interval: it is their range, in which a new draw "
            f"falls with probability {reach:.2f}"
        )
    warnings.warn(f"{text}; take {ENOUGH_DRAWS} draws or more", FewDrawsWarning, stacklevel=3)
