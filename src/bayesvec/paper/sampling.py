"""Draws from a posterior by one of the variants, and how long they took."""

import contextlib
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesvec._types import Array, Float32
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import AnchorError
from bayesvec.inference.contract import silent
from bayesvec.inference.methods import find
from bayesvec.model.identification import align, settle_reference
from bayesvec.paper.variants import VARIANTS, options_of
from bayesvec.paper.workspace import Workspace
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate
from bayesvec.storage.kinds import SWEEPS
from bayesvec.storage.memory import Memory
from bayesvec.storage.settings import Settings

REFERENCE_DRAWS = 50  # that draws are aligned to


@dataclass(frozen=True, eq=False)
class Drawn:
    """The draws of a variant.

    Attributes
    ----------
    rho, alpha : ndarray of float32
        Draws, (chain, draw, R, K) and (chain, draw, C, K); raw if they are free.
    rotates : bool
        Whether draws are rotated against each other, so that they must be aligned before they are averaged.
    warmup_seconds, seconds : float
        Time until the first draw, and of the draws, by the clock.
    summary : dict
        What the method reports of the run, such as whether it converged.
    """

    rho: Float32
    alpha: Float32
    rotates: bool
    warmup_seconds: float
    seconds: float
    summary: dict[str, Any] = field(default_factory=dict)

    def chain(self, number: int) -> "Drawn":
        """Return one chain by itself."""
        one = slice(number, number + 1)
        return replace(self, rho=self.rho[one], alpha=self.alpha[one])

    def aligned(self) -> tuple[Float32, Float32]:
        """Return the draws, each aligned to one reference (the Procrustes mean of a few of them)."""
        if not self.rotates:
            return self.rho, self.alpha
        flat = [side.reshape(-1, *side.shape[2:]) for side in (self.rho, self.alpha)]
        step = max(1, len(flat[0]) // REFERENCE_DRAWS)
        reference = settle_reference([(flat[0][i], flat[1][i]) for i in range(0, len(flat[0]), step)])
        pairs = [align(rho, alpha, reference) for rho, alpha in zip(*flat, strict=True)]
        return (
            np.array([rho for rho, _ in pairs], dtype=np.float32).reshape(self.rho.shape),
            np.array([alpha for _, alpha in pairs], dtype=np.float32).reshape(self.alpha.shape),
        )

    def mean(self) -> tuple[Float32, Float32]:
        """Return the posterior means of rho and alpha, (R, K) and (C, K)."""
        rho, alpha = self.aligned()
        return rho.mean(axis=(0, 1), dtype=np.float64), alpha.mean(axis=(0, 1), dtype=np.float64)


def prepare(
    name: str,
    counts: PairCounts,
    dim: int,
    *,
    prior_precision: float,
    draws: int,
    warmup: int,
    chains: int = 1,
    seed: int = 1,
    threads: int = 1,
    report: Callable[[str], None] = silent,
) -> Driver:
    """Do what comes before the draws; raise an `AnchorError` where the MAP cannot hold the anchors.

    Parameters
    ----------
    name : str
        The variant.
    counts, dim, prior_precision
        The model.
    draws, warmup, chains, seed
        As in `fit`.
    threads : int
        Threads to use.
    report : callable, optional
        Given the progress of an approximation; may raise to stop.
    """
    variant = VARIANTS[name]
    method = find(variant.method)
    settings = Settings(
        dim=dim,
        method=variant.method,
        chains=chains,
        draws=draws,
        warmup=warmup,
        seed=seed,
        identify="none" if variant.anchors is None else "fixed",
        anchors=variant.anchors or Settings.anchors,
        prior_precision=prior_precision,
        options=options_of(name),
        sweeping=method.kind == SWEEPS,
    )
    memory, prior = Memory(settings, counts), spherical(prior_precision)
    return Driver(memory, method, counts, prior, threads=threads, report=report)


def draw(
    name: str,
    counts: PairCounts,
    dim: int,
    *,
    prior_precision: float,
    draws: int,
    warmup: int,
    chains: int = 1,
    seed: int = 1,
    threads: int = 1,
    workspace: Workspace,
) -> Drawn:
    """Draw from the posterior by one of the `VARIANTS`.

    Parameters
    ----------
    name, counts, dim, prior_precision, draws, warmup, chains, seed
        As in `prepare`; a MAP is one draw.
    threads : int
        Chains at a time; the draws do not depend on it.
    workspace : Workspace
        Where it works; it may stop the draws.
    """
    variant, began = VARIANTS[name], time.perf_counter()
    method = find(variant.method)
    if method.is_point:
        chains, draws = 1, 1
    driver = prepare(
        name,
        counts,
        dim,
        prior_precision=prior_precision,
        draws=draws,
        warmup=warmup,
        chains=chains,
        seed=seed,
        threads=threads,
        report=lambda _: workspace.check(),
    )
    clocks = [Clock(warmup if method.is_sampler else 0, workspace) for _ in range(chains)]

    def run(chain: int) -> None:
        clocks[chain].start()
        driver.run_chain(chain, 1, clocks[chain])

    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(run, range(chains)))
        except BaseException:
            workspace.stop.set()  # or the other chains run to their end
            raise
    driver.finish()
    memory = driver.store
    assert isinstance(memory, Memory)
    whole = time.perf_counter() - began
    seconds = math.fsum(clock.seconds(draws) for clock in clocks) / min(threads, chains)
    if method.is_point:
        seconds = 0.0
    # independent draws of an approximation stand around one centre of its own and are averaged as they are
    rotates = variant.anchors is None and method.is_sampler
    summary = {} if method.is_point else memory.read_outcome().summary
    warm = whole if math.isnan(seconds) else whole - seconds
    return Drawn(memory.arrays["rho"], memory.arrays["alpha"], rotates, warm, seconds, summary)


def compile_variant(name: str, dim: int, workspace: Workspace) -> None:
    """Compile everything that a variant needs, so that it is not timed."""
    counts, _ = simulate(3 * dim, dim, pairs=200 * dim * dim, seed=0)
    with contextlib.suppress(AnchorError):
        draw(
            name,
            counts,
            dim,
            prior_precision=1.0,
            draws=2,
            warmup=2,
            chains=2,
            threads=2,
            workspace=workspace,
        )


class Clock:
    """Follows a chain and measures how long its draws after warm-up took.

    A sampler that runs a chain as a whole reports from time to time only: when it is first known to be past warm-up,
    some draws have been made already.

    Parameters
    ----------
    warmup : int
        Steps of warm-up.
    workspace : Workspace
        Asked at every step whether to stop.
    now : callable, optional
        The time.
    """

    def __init__(
        self, warmup: int, workspace: Workspace, now: Callable[[], float] = time.perf_counter
    ) -> None:
        self._warmup = warmup
        self._workspace = workspace
        self._now = now
        self._since: float | None = None
        self._made = 0  # draws at that time
        self._end = math.nan

    def start(self) -> None:
        """Take note that the chain starts."""
        if not self._warmup:
            self._since = self._now()

    def report(self, done: int) -> None:
        """Take note of steps that a sampler has done ahead of the driver, warm-up included."""
        self._workspace.check()
        self._end = self._now()
        if self._since is None and done >= self._warmup:
            self._since, self._made = self._end, done - self._warmup

    def at(self, sweep: int, log_posterior: float) -> None:
        """Take note of a sweep."""
        self._workspace.check()
        self._end = self._now()
        if self._since is None and sweep >= self._warmup:
            self._since = self._end

    def add(self, cosines: Array) -> None:
        """Take no note of a draw: its sweep is noted."""

    def seconds(self, draws: int) -> float:
        """Return how long ``draws`` took; NaN if too few of them were seen."""
        if self._since is None or self._made > draws // 2:
            return math.nan
        return (self._end - self._since) * draws / (draws - self._made)
