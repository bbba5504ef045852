"""Short Gibbs runs: precisions of a prior for methods that cannot learn them, and a state of the posterior."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._progress import progress
from bayesvec._types import Float64
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.methods import find
from bayesvec.priors import Prior, spherical
from bayesvec.storage.memory import Memory
from bayesvec.storage.settings import Settings

LEARNER = "gibbs"
CHAIN = 2**24 - 1  # of short runs: no chain of a run has this number, so they share no random numbers
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
        for state in short_run(counts, prior, SWEEPS, dim=dim, seed=seed, threads=threads, init="map"):
            logs.append(np.log(state.scales))
            advance(1, f"precision {np.exp(np.mean(logs[-1])):.3g}")
    return np.asarray(np.mean(logs[SWEEPS // 2 :], axis=0))


def short_run(
    counts: PairCounts, prior: Prior, sweeps: int, *, dim: int, seed: int, threads: int, init: str
) -> Iterator[Any]:
    """Yield the states of a short Gibbs run, which is not kept.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    sweeps : int
        Their number.
    dim, seed, threads
        As in `learn_prior`.
    init : {"map", "random"}
        Where it starts.
    """
    method = find(LEARNER)
    settings = Settings(
        dim=dim,
        chains=1,
        draws=1,
        warmup=sweeps,
        identify="none",
        seed=seed,
        init=init,
        prior_precision="learn",
        options=method.make_options({}),
    )
    driver = Driver(Memory(settings, counts), method, counts, prior, threads=threads)
    with Threads(threads) as workers:
        for _, (state, _info) in zip(range(sweeps), driver.states(CHAIN, workers), strict=False):
            yield state


def _rounded(log_scale: float) -> float:
    return float(f"{np.exp(log_scale):.{DIGITS}g}")
