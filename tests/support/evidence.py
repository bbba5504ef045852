"""How a statistical test decides: errors over their Monte Carlo standard errors, under a Bonferroni bound."""

import numpy as np
import pytest
from scipy import stats

from bayesvec.estimates.convergence import ess_bulk

ERROR_RATE = 1e-4  # of a right sampler failing one test; seeds are fixed, so it fails always or never


def z_scores(draws, expected):
    """Errors of the columns' means over their standard errors; ``draws`` is (draw, column) of one chain."""
    draws = np.asarray(draws, dtype=np.float64)
    effective = np.minimum(ess_bulk(draws[None]), len(draws))
    return (draws.mean(axis=0) - expected) / (draws.std(axis=0, ddof=1) / np.sqrt(effective))


def agrees(draws, expected):
    """Whether every column's mean is what is expected, at one error rate for all of them together."""
    z = np.abs(z_scores(draws, expected))
    assert np.all(np.isfinite(z))
    return bool(z.max() < stats.norm.isf(ERROR_RATE / (2 * len(z))))


def moments(x):
    """First and second moments of the columns of ``x`` (draw, column), and their products."""
    rows, columns = np.triu_indices(x.shape[1])
    return np.hstack([x, x[:, rows] * x[:, columns]])


def long_but(first, cases):
    """The cases of a test, of which all but ``first`` are marked long."""
    return [case if case == first else pytest.param(case, marks=pytest.mark.long) for case in cases]
