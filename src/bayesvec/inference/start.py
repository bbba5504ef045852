"""A place near the mode, from which samplers and ascents start."""

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.inference.contract import Problem, Report, silent
from bayesvec.model.identification import to_gauge
from bayesvec.model.map import find_map

START_ITERATIONS = 100  # of the search for the mode, enough for a start
JITTER = 0.5  # spread of the starts around a place, in units of the root mean square of its axis
LEAST_JITTER = 0.5  # of that over all axes, which a weak axis has too


def jitter_sizes(rows: Float64) -> Float64:
    """Return the standard deviation of the noise on each axis, by which starts differ from ``rows``, (K,)."""
    squares = np.mean(np.square(rows, dtype=np.float64), axis=0)
    return np.asarray(JITTER * np.sqrt(np.maximum(squares, LEAST_JITTER**2 * squares.mean())))


def near_mode(
    problem: Problem, *, seed: int, threads: int, report: Report = silent, iterations: int = START_ITERATIONS
) -> tuple[Float64, Float64] | None:
    """Return rho and alpha near the MAP, in the gauge of the anchors; None where the data give no direction.

    With anchors the posterior has minor modes, in which an anchor is on the wrong side of the other contexts;
    chains from anywhere would be caught in them.
    """
    found = find_map(
        problem.counts,
        problem.prior,
        problem.dim,
        seed=seed,
        max_iterations=iterations,
        threads=threads,
        callback=lambda number, value, _: report(
            f"looking for a start: iteration {number}, log posterior {value:.1f}"
        ),
    )
    if not (np.any(found.rho) and np.any(found.alpha)):
        return None
    if problem.anchors is None:
        return found.rho, found.alpha
    try:
        rho, alpha = to_gauge(found.rho, found.alpha, problem.anchors)
    except OptionError:  # the MAP spans fewer directions than the anchors
        return None
    return np.asarray(rho, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
