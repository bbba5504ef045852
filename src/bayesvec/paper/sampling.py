"""Draws from a posterior by one of the variants, with how long they took."""

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

REFERENCE_DRAWS = 50  # from which the reference of the alignment is made


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws by a variant.

    Attributes
    ----------
    rho, alpha : ndarray of float32
        Draws, (chain, draw, R, K) and (chain, draw, C, K); not aligned.
    rotates : bool
        Whether draws are rotated against each other, so that they must be aligned before they are averaged.
    warmup_seconds, seconds : float
        Wall time until the first draw, and of the draws.
    summary : dict
        What the method reports, such as whether it converged.
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
        """Return the draws aligned to one reference, the Procrustes mean of some of them."""
        if not self.rotates:
            return self.rho, self.alpha
        rho, alpha = (side.reshape(-1, *side.shape[2:]).copy() for side in (self.rho, self.alpha))
        step = max(1, len(rho) // REFERENCE_DRAWS)
        reference = settle_reference(list(zip(rho[::step], alpha[::step], strict=True)))
        for i in range(len(rho)):
            rho[i], alpha[i] = align(rho[i], alpha[i], reference)
        return rho.reshape(self.rho.shape), alpha.reshape(self.alpha.shape)

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
    """Return a driver that keeps draws in memory; raise an `AnchorError` if the contexts cannot be fixed.

    Parameters
    ----------
    name : str
        The variant.
    counts, dim, prior_precision
        The model.
    draws, warmup, chains, seed
        As in `fit`.
    threads : int
        Threads for the start and for an approximation.
    report : callable, optional
        Called with the progress of an approximation; may raise to stop.
    """
    variant = VARIANTS[name]
    method = find(variant.method)
    settings = Settings(
        dim=dim,
        method=method.name,
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
    name: str, counts: PairCounts, dim: int, *, workspace: Workspace, threads: int = 1, **given: Any
) -> Drawn:
    """Draw from the posterior by one of the variants.

    Parameters
    ----------
    name, counts, dim
        As in `prepare`.
    workspace : Workspace
        Checked for whether to stop.
    threads : int
        Chains at a time; the draws do not depend on it.
    **given
        Further arguments of `prepare`; a MAP is one draw.
    """
    began = time.perf_counter()
    method = find(VARIANTS[name].method)
    given |= {"chains": 1, "draws": 1} if method.is_point else {}
    driver = prepare(name, counts, dim, threads=threads, report=lambda _: workspace.check(), **given)
    settings, memory = driver.settings, driver.store
    assert isinstance(memory, Memory)
    clocks = [Clock(settings.warmup if method.is_sampler else 0, workspace) for _ in range(settings.chains)]

    def run(chain: int) -> None:
        clocks[chain].start()
        driver.run_chain(chain, 1, clocks[chain])

    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(run, range(settings.chains)))
        except BaseException:
            workspace.stop.set()  # or the other chains run to their end
            raise
    driver.finish()
    whole = time.perf_counter() - began
    seconds = math.fsum(clock.seconds(settings.draws) for clock in clocks) / min(threads, settings.chains)
    return Drawn(
        memory.arrays["rho"],
        memory.arrays["alpha"],
        # independent draws of an approximation share one centre and are averaged as they are
        rotates=VARIANTS[name].anchors is None and method.is_sampler,
        warmup_seconds=whole if math.isnan(seconds) else whole - seconds,
        seconds=0.0 if method.is_point else seconds,
        summary={} if method.is_point else dict(memory.read_outcome().summary),
    )


def compile_variant(name: str, dim: int, workspace: Workspace) -> None:
    """Compile all code of a variant, so that compilation is not timed."""
    counts, _ = simulate(3 * dim, dim, pairs=200 * dim * dim, seed=0)
    given = {"prior_precision": 1.0, "draws": 2, "warmup": 2, "chains": 2}
    with contextlib.suppress(AnchorError):
        draw(name, counts, dim, threads=2, workspace=workspace, **given)


class Clock:
    """Follows a chain and measures how long its draws after warm-up took.

    A sampler that runs a chain as a whole reports only from time to time: when it is first seen past warm-up, it
    has already made some draws.

    Parameters
    ----------
    warmup : int
        Steps of warm-up.
    workspace : Workspace
        Checked at every step for whether to stop.
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
        """Note that the chain starts."""
        if not self._warmup:
            self._since = self._now()

    def report(self, done: int) -> None:
        """Note the steps that a sampler has done ahead of the driver, including warm-up."""
        self._workspace.check()
        self._end = self._now()
        if self._since is None and done >= self._warmup:
            self._since, self._made = self._end, done - self._warmup

    def at(self, sweep: int, log_posterior: float) -> None:
        """Note a sweep."""
        self.report(sweep)

    def add(self, cosines: Array) -> None:
        """Ignore a stored draw: its sweep is noted."""

    def back_to(self, sweep: int, draws: int) -> None:
        """Do nothing: no draw is lost on one machine."""

    def seconds(self, draws: int) -> float:
        """Return how long ``draws`` took; NaN if too few of them were seen."""
        if self._since is None or self._made > draws // 2:
            return math.nan
        return (self._end - self._since) * draws / (draws - self._made)
