"""Stan's automatic variational inference, step by step, with Stan's default settings: the paper's MFVI.

The schedule is that of Kucukelbir, Tran, Ranganath, Gelman & Blei (2017, sec. 2.6) as Stan has it: means start
uniform in (-2, 2) and standard deviations at 1, one draw per gradient, the step scale chosen from five by 50
iterations of each, and an end when the relative change of the ELBO over 100 iterations, in the mean or in the
median, is below 0.01. As the ELBO grows with the data, that end comes long before the optimum: with many data
the means are still some standard deviations away from it, and intervals around them miss.
"""

import math

import numpy as np
from scipy.special import ndtr

from bayesvec._types import Float64
from bayesvec.errors import NumericalError
from bayesvec.inference.contract import Report
from bayesvec.inference.mfvi.ascent import Bound, Result

SCALES = (100.0, 10.0, 1.0, 0.1, 0.01)  # eta
TRIAL = 50  # iterations for which a scale is tried
EVERY = 100  # iterations between evaluations of the ELBO
DRAWS = 100  # for an evaluation
TOLERANCE = 0.01
_KEPT, _NEW = 0.9, 0.1  # shares of past and present in the running square of the gradient
_TRIALS_FROM = 1 << 31  # where the random numbers of the trials are: beyond those of any iteration


class _Climb:
    """Means and log sds with the running square of their gradients."""

    def __init__(self, bound: Bound, mean: Float64, log_sd: Float64, scale: float) -> None:
        self.bound = bound
        self.mean = mean.copy()
        self.log_sd = log_sd.copy()
        self.scale = scale
        self._square = np.zeros((2, *mean.shape))

    def step(self, count: int, address: int) -> None:
        """Take step number ``count``, with the random numbers at ``address``."""
        found = self.bound.gradient(self.mean, self.log_sd, self.bound.noise(self.mean.shape, address, 0))
        slope = np.stack([found.to_mean, found.to_log_sd])
        self._square = slope**2 if count == 1 else _KEPT * self._square + _NEW * slope**2
        change = self.scale / math.sqrt(count) * slope / (1.0 + np.sqrt(self._square))
        self.mean += change[0]
        self.log_sd += change[1]

    def elbo(self, address: int) -> float:
        """Evaluate the ELBO with draws of its own."""
        words, total = self.bound.model.counts.num_words, 0.0
        for draw in range(1, DRAWS + 1):
            theta = self.mean + np.exp(self.log_sd) * self.bound.noise(self.mean.shape, address, draw)
            total += self.bound.model.log_posterior(theta[:words], theta[words:])
        return total / DRAWS + self.bound.entropy(self.log_sd)


def climb(bound: Bound, place: Float64, *, max_iterations: int, report: Report) -> Result:
    """Climb as Stan does.

    Parameters
    ----------
    bound : Bound
        What to climb.
    place : ndarray, shape (R + C, K)
        Where fixed rows are; free rows start at random.
    max_iterations : int
        Maximum number of iterations.
    report : callable
        Given the progress.

    Returns
    -------
    Result
        With the ELBO of every evaluation.
    """
    free = bound.free[:, None]
    mean = np.where(free, 4.0 * ndtr(bound.noise(place.shape, 0, 0)) - 2.0, place)
    log_sd = np.where(free, np.zeros_like(mean), -math.inf)
    ascent = _Climb(bound, mean, log_sd, _choose_scale(bound, mean, log_sd))
    kept = max(2, max_iterations // (10 * EVERY))
    elbo, changes = [0.0], list[float]()
    for count in range(1, max_iterations + 1):
        ascent.step(count, count)
        if count % EVERY:
            continue
        elbo.append(ascent.elbo(count))
        changes = [*changes, abs((elbo[-2] - elbo[-1]) / elbo[-1])][-kept:]
        report(f"iteration {count} of at most {max_iterations}: ELBO {elbo[-1]:.1f}")
        if min(float(np.mean(changes)), sorted(changes)[len(changes) // 2]) < TOLERANCE:
            return Result(ascent.mean, ascent.log_sd, elbo[1:], True, count)
    return Result(ascent.mean, ascent.log_sd, elbo[1:], False, max_iterations)


def _choose_scale(bound: Bound, mean: Float64, log_sd: Float64) -> float:
    """Return the scale with the highest ELBO after a few iterations, largest first, the first peak taken."""
    first = _Climb(bound, mean, log_sd, 1.0).elbo(_TRIALS_FROM)
    best, chosen = -math.inf, None
    for number, scale in enumerate(SCALES, start=1):
        value = _try_scale(_Climb(bound, mean, log_sd, scale), _TRIALS_FROM + number * (TRIAL + 1))
        if value < best and best > first:
            break
        if value > best:
            best, chosen = value, scale
    if chosen is None or not best > first:
        raise NumericalError(
            "no step scale raises the ELBO from its random start; try a larger prior precision, or the "
            "schedule 'adam', which starts at the MAP"
        )
    return chosen


def _try_scale(ascent: _Climb, address: int) -> float:
    """Return the ELBO after the trial, or minus infinity if the scale is far too large for it."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            for count in range(1, TRIAL + 1):
                ascent.step(count, address + count)
            value = ascent.elbo(address)
    except NumericalError:
        return -math.inf
    return value if math.isfinite(value) else -math.inf
