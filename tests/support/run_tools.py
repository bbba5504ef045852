"""What the tests of runs share: small counts, the bytes of a run, runs that are stopped, samplers driven by hand."""

import itertools
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from bayesvec import fitting as run
from bayesvec._parallel import Threads
from bayesvec.chains.display import ChainProgress
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference import methods
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.priors import spherical
from bayesvec.storage.memory import Memory
from count_tools import every_pair
from fake_sampler import METHOD

methods.register(METHOD)


def small_counts(words: int = 12, contexts: int = 9, seed: int = 0) -> PairCounts:
    """Counts of which every pair is seen."""
    return every_pair(
        [f"w{i}" for i in range(words)],
        [f"c{i}" for i in range(contexts)],
        positives=(0, 5),
        negatives=(1, 5),
        seed=seed,
        recipe={"made": "for a test"},
    )


def draw_bytes(path: Path) -> dict[str, bytes]:
    """The bytes of every file of draws, but the times that sweeps took."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted((path / "draws.zarr").rglob("c.*"))
        if file.parent.name != "seconds"
    }


def fake_fit(out, counts=None, **settings):
    """A run with the fake sampler."""
    given = {"method": "fake", "init": "random", "draws": 25, "warmup": 10, **settings}
    given = {"prior_precision": 1.0, "progress": False} | given
    return run.fit(counts or small_counts(), 3, out=out, **given)


def stop_every(monkeypatch, count):
    """Stop runs of this process after every so many sweeps of all chains; return the count of sweeps, an iterator."""
    sweeps, at = itertools.count(1), ChainProgress.at

    def stop_often(self, sweep, log_posterior):
        at(self, sweep, log_posterior)
        if next(sweeps) % count == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.02)

    monkeypatch.setattr(ChainProgress, "at", stop_often)
    return sweeps


def thinned_gibbs(precision, dim, *, warmup, draws, thin):
    """Draws of the Gibbs sampler under a spherical prior, as simulation-based calibration asks for them."""

    def draw(counts, seed):
        problem = gibbs.prepare(Problem(counts, spherical(precision), dim))
        state = problem.init(Start(seed=seed, chain=0))
        kept = []
        for number in range(1, warmup + draws * thin + 1):
            state, _ = problem.step(state, seed=seed, chain=0, number=number, threads=Threads(1))
            if number > warmup and (number - warmup) % thin == 0:
                kept.append(state)
        return np.array([s.rho for s in kept]), np.array([s.alpha for s in kept])

    return draw


def draw_in_memory(name, counts, prior, dim, **settings):
    """Draws of rho and alpha, (chain, draw, row, K), by the driver into memory."""
    given = {"chains": 1, "identify": "none", **settings}
    memory = Memory(run.make_settings(method=name, dim=dim, **given), counts)
    driver = Driver(memory, methods.find(name), counts, prior)
    for chain in range(memory.settings.chains):
        driver.run_chain(chain)
    return memory.arrays["rho"], memory.arrays["alpha"]


def run_sampler(sampler, *, chains, draws, seed, threads=1, report=lambda done: None):
    """Rows and statistics of all chains of a sampler, (chain, draw, ...) by name; and its last states."""

    def run(chain):
        states = [sampler.init(Start(seed=seed, chain=chain, report=report))]
        infos = []
        for number in range(1, draws + 1):
            state, info = sampler.step(states[-1], seed=seed, chain=chain, number=number, threads=Threads(1))
            states.append(state)
            infos.append(info)
        rows = {side: np.array([getattr(state, side) for state in states[1:]]) for side in ("rho", "alpha")}
        statistics = {name: np.array([getattr(info, name) for info in infos]) for name in infos[0]._fields}
        return rows | statistics, states[-1]

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(run, range(chains)))
    return {name: np.array([kept[name] for kept, _ in found]) for name in found[0][0]}, [
        last for _, last in found
    ]
