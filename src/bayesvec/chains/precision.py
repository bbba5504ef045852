"""Precisions of a prior that a short Gibbs run learns, for methods that cannot."""

import numpy as np

from bayesvec._progress import progress
from bayesvec._types import Float64
from bayesvec.chains.short import short_run
from bayesvec.counts.pairs import PairCounts
from bayesvec.priors import Prior, spherical

SWEEPS = 60  # of which the second half counts
DIGITS = 4


def learn_precision(counts: PairCounts, *, dim: int, seed: int, threads: int, show: bool = False) -> float:
    """Return the precision of both sides of the spherical prior that a short Gibbs run learns.

    The data determine the product of the two sides' precisions, so it is their geometric mean, averaged over the
    second half of the run. Parameters are those of `learn_prior`.
    """
    logs = _learned_logs(counts, spherical("learn"), dim=dim, seed=seed, threads=threads, show=show)
    return _rounded(float(np.mean(logs)))


def learn_prior(
    counts: PairCounts, prior: Prior, *, dim: int, seed: int, threads: int, show: bool = False
) -> Prior:
    """Return a prior with its learned precisions fixed where a short Gibbs run finds them.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior, with precisions to learn.
    dim : int
        Length of a vector.
    seed : int
        Decides the run.
    threads : int
        Threads to use; the result does not depend on it.
    show : bool
        Show progress.
    """
    logs = _learned_logs(counts, prior, dim=dim, seed=seed, threads=threads, show=show)
    return prior.fixed_at([_rounded(value) for value in logs.tolist()])


def _learned_logs(
    counts: PairCounts, prior: Prior, *, dim: int, seed: int, threads: int, show: bool
) -> Float64:
    """Return the mean of the log of each scale over the second half of the run."""
    logs = []
    with progress("learning the prior", SWEEPS, enabled=show) as advance:
        for state, _ in short_run(counts, prior, SWEEPS, dim=dim, seed=seed, threads=threads):
            logs.append(np.log(state.scales))
            advance(1, f"precision {np.exp(np.mean(logs[-1])):.3g}")
    return np.asarray(np.mean(logs[SWEEPS // 2 :], axis=0))


def _rounded(log_scale: float) -> float:
    return float(f"{np.exp(log_scale):.{DIGITS}g}")
