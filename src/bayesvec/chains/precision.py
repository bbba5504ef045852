"""The precision of the spherical prior, learned by a short Gibbs run for methods that cannot learn it."""

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._progress import progress
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.methods import find
from bayesvec.priors import spherical
from bayesvec.storage.memory import Memory
from bayesvec.storage.settings import Settings

LEARNER = "gibbs"
SWEEPS = 60  # of which the second half counts
DIGITS = 4


def learn_precision(counts: PairCounts, *, dim: int, seed: int, threads: int, show: bool = False) -> float:
    """Return the precision of both sides that a short Gibbs run learns.

    The data determine the product of the two sides' precisions, so it is their geometric mean, averaged over the
    second half of the run.

    Parameters
    ----------
    counts : PairCounts
        The data.
    dim : int
        Length of a vector.
    seed : int
        Decides the run.
    threads : int
        Threads to use; the result does not depend on it.
    show : bool
        Show progress.
    """
    method = find(LEARNER)
    settings = Settings(
        dim=dim,
        chains=1,
        draws=1,
        warmup=SWEEPS,
        identify="none",
        seed=seed,
        prior_precision="learn",
        options=method.make_options({}),
    )
    driver = Driver(Memory(settings, counts), method, counts, spherical("learn"), threads=threads)
    logs = []
    with Threads(threads) as workers, progress("learning the prior", SWEEPS, enabled=show) as advance:
        for _, (state, _info) in zip(range(SWEEPS), driver.states(0, workers), strict=False):
            logs.append(float(np.mean(np.log(state.scales))))
            advance(1, f"precision {np.exp(logs[-1]):.3g}")
    return float(f"{np.exp(np.mean(logs[SWEEPS // 2 :])):.{DIGITS}g}")
