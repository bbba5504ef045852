"""Draws from a posterior in one of the ways, with how long they took."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads
from bayesvec._types import Float32
from bayesvec.chains.memory import Alone, prepare_alone
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import AnchorError
from bayesvec.fitting import find_method
from bayesvec.model.identification import align, settle_reference
from bayesvec.model.map import find_map
from bayesvec.paper.variants import WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate
from bayesvec.storage.outcome import APPROXIMATION, POINT, SWEEPS, WHOLE_CHAINS, kind_of

REFERENCE_DRAWS = 50  # that draws are turned to


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a way gave.

    Attributes
    ----------
    rho, alpha : ndarray of float32
        Draws, (chain, draw, R, K) and (chain, draw, C, K); raw if they are free.
    rotates : bool
        Whether draws are rotated against each other, so that they must be turned before they are averaged.
    warmup_seconds, seconds : float
        Time until the first draw, and of the draws, by the clock.
    told : dict
        What the method says of its long work, such as whether it converged.
    """

    rho: Float32
    alpha: Float32
    rotates: bool
    warmup_seconds: float
    seconds: float
    told: dict[str, Any] = field(default_factory=dict)

    def chain(self, number: int) -> "Drawn":
        """Return one chain by itself."""
        one = slice(number, number + 1)
        return replace(self, rho=self.rho[one], alpha=self.alpha[one])

    def turned(self) -> tuple[Float32, Float32]:
        """Return the draws, each turned to one reference (the Procrustes mean of a few of them)."""
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
        rho, alpha = self.turned()
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
    report: Callable[[str], None] = lambda text: None,
) -> Alone:
    """Do what comes before the draws; raise an `AnchorError` where the MAP cannot hold the anchors.

    Parameters
    ----------
    name : str
        The way.
    counts, dim, prior_precision
        The model.
    draws, warmup, chains, seed
        As in `fit`.
    threads : int
        Threads to use.
    report : callable, optional
        Told how far the method is, if it does not sweep; may raise to stop.
    """
    way = WAYS[name]
    module = find_method(way.method)
    return prepare_alone(
        module,
        counts,
        spherical(prior_precision),
        dim,
        options=module.Options(**options_of(name)),
        chains=chains,
        draws=draws,
        warmup=warmup,
        anchors=way.anchors,
        seed=seed,
        threads=threads,
        report=report,
    )


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
    bench: Bench,
) -> Drawn:
    """Draw from the posterior in one of the `WAYS`.

    Parameters
    ----------
    name, counts, dim, prior_precision, draws, warmup, chains, seed
        As in `prepare`; a MAP is one draw.
    threads : int
        Chains at a time; the draws do not depend on it.
    bench : Bench
        Asked whether to stop.
    """
    way, began = WAYS[name], time.perf_counter()
    kind = kind_of(find_method(way.method))
    if kind == POINT:
        found = find_map(counts, spherical(prior_precision), dim, seed=seed, threads=threads)
        sides = [side[None, None].astype(np.float32) for side in (found.rho, found.alpha)]
        return Drawn(sides[0], sides[1], False, time.perf_counter() - began, 0.0)
    clock = _Clock(chains * warmup, bench, together=threads >= chains)
    given: dict[str, Any] = {"draws": draws, "warmup": warmup, "chains": chains}
    alone = prepare(
        name, counts, dim, prior_precision=prior_precision, **given, seed=seed, threads=threads, report=clock
    )
    if kind == WHOLE_CHAINS:
        assert alone.approximation is not None
        rho, alpha = alone.approximation["rho"], alone.approximation["alpha"]
        middle, seconds = clock.split(chains * draws)
    else:
        first = warmup if kind == SWEEPS else 0
        rho, alpha, middle = _sweep(alone, chains, first, draws, threads, bench)
        seconds = time.perf_counter() - middle
    # independent draws of an approximation stand around one place of its own and are averaged as they are
    rotates = way.anchors is None and kind != APPROXIMATION
    told = {} if alone.approximation is None else alone.module.summary(alone.approximation)
    return Drawn(rho, alpha, rotates, middle - began, seconds, told)


def draw_world(settings: Mapping[str, Any], counts: PairCounts, bench: Bench) -> Drawn | str:
    """Draw from a world whose prior precision is K, as the settings of a cell say; or say why that cannot be.

    Parameters
    ----------
    settings : Mapping
        ``method``, ``dim``, ``chains``, ``draws``, ``warmup``.
    counts : PairCounts
        The world's.
    bench : Bench
        As many chains are drawn at a time as it has threads.
    """
    given = {name: settings[name] for name in ("draws", "warmup", "chains")}
    dim = settings["dim"]
    try:
        with threadpool_limits(limits=1, user_api="blas"):
            return draw(
                settings["method"],
                counts,
                dim,
                prior_precision=float(dim),
                **given,
                threads=bench.threads,
                bench=bench,
            )
    except AnchorError as reason:
        return str(reason)


def compile_way(name: str, dim: int, bench: Bench) -> None:
    """Have everything compiled that a way needs, so that no clock sees it."""
    counts, _ = simulate(3 * dim, dim, pairs=200 * dim * dim, seed=0)
    with contextlib.suppress(AnchorError):
        draw(name, counts, dim, prior_precision=1.0, draws=2, warmup=2, chains=2, threads=2, bench=bench)


def _sweep(
    alone: Alone, chains: int, warmup: int, draws: int, threads: int, bench: Bench
) -> tuple[Float32, Float32, float]:
    """Return draws of both sides, (chain, draw, ...), and when warm-up was over."""
    own = Threads(1)
    states = [alone.states(chain, own) for chain in range(chains)]

    def take(count: int, kept: list[list[Any]] | None) -> None:
        def chain(number: int) -> None:
            for state in islice(states[number], count):
                bench.check()
                if kept is not None:
                    kept[number].append(state)

        with ThreadPoolExecutor(threads) as pool:
            try:
                list(pool.map(chain, range(chains)))
            except BaseException:
                bench.stop.set()  # or the other chains go on to their end
                raise

    take(warmup, None)
    middle = time.perf_counter()
    kept: list[list[Any]] = [[] for _ in range(chains)]
    take(draws, kept)
    sides = [np.array([[state[side] for state in chain] for chain in kept]) for side in (0, 1)]
    return sides[0], sides[1], middle


class _Clock:
    """Listens to what NUTS tells, and finds out how long the draws after warm-up took.

    It tells from time to time only: when it is first heard that all chains together are past warm-up, some draws
    have been made already. Of chains that do not run together, it cannot be told when they were past it.
    """

    def __init__(
        self,
        warmup: int,
        bench: Bench,
        *,
        together: bool = True,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._warmup = warmup
        self._bench = bench
        self._together = together
        self._now = now
        self._heard: float | None = None
        self._made = 0  # draws when that was heard

    def __call__(self, text: str) -> None:
        self._bench.check()
        head, _, rest = text.partition(" of ")
        if self._heard is not None or not rest or not head.startswith("NUTS: "):
            return
        made = int(head.removeprefix("NUTS: ").replace(",", "")) - self._warmup
        if made >= 0:
            self._heard, self._made = self._now(), made

    def split(self, draws: int) -> tuple[float, float]:
        """Return when warm-up ended and how long ``draws`` took from then on; not a number if too few were heard."""
        end = self._now()
        if not self._together or self._heard is None or self._made > draws // 2:
            return end, math.nan
        seconds = (end - self._heard) * draws / (draws - self._made)
        return end - seconds, seconds
