"""A method on one set of counts in memory, without a run folder: for many small fits that nobody keeps."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._types import Array, Float32
from bayesvec.chains.begin import ANCHOR_ITERATIONS, START_ITERATIONS, jittered, must_span
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.state import State
from bayesvec.model.identification import AnchorChoice, Anchors, choose_anchors
from bayesvec.model.map import find_map
from bayesvec.priors import Prior
from bayesvec.storage.outcome import SWEEPS, kind_of


@dataclass(frozen=True, eq=False)
class Alone:
    """A method that is ready to draw; chains are those of such a run."""

    module: ModuleType
    problem: Any
    begin: Mapping[str, Array]  # the MAP that chains begin near; empty if at random
    seed: int
    approximation: Mapping[str, Array] | None  # what a method that does not sweep has found

    def states(self, chain: int, threads: Threads) -> Iterator[State]:
        """Yield the state after each sweep of a chain, without end; warm-up is the caller's to leave out."""
        start = jittered(self.begin, self.seed, chain) if self.begin else {}
        state = self.module.start(self.problem, seed=self.seed, chain=chain, **start)
        number = 0
        while True:
            number += 1
            state, _ = self.module.sweep(
                self.problem, state, seed=self.seed, chain=chain, number=number, threads=threads
            )
            yield state


def prepare_alone(
    module: ModuleType,
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Any,
    draws: int,
    warmup: int,
    chains: int = 1,
    anchors: AnchorChoice | None = None,
    seed: int = 1,
    threads: int = 1,
    report: Callable[[str], None] = lambda text: None,
) -> Alone:
    """Do what comes before the draws: the MAP, the anchors, the long work of a method that does not sweep.

    Parameters
    ----------
    module : ModuleType
        The method, see `bayesvec.fitting`.
    counts, prior, dim
        The model.
    options : Options
        Of the method.
    draws, warmup, chains : int
        As in `fit`.
    anchors : {"qr", "last", "first", "random"}, optional
        Keep K context rows at their MAP, chosen like this (``identify="fixed"``); by default draws are free
        and raw (``"none"``).
    seed : int
        Decides every random number.
    threads : int
        Threads; the result does not depend on it.
    report : callable, optional
        Told how far a method that does not sweep is; may raise to stop.
    """
    sweeping = kind_of(module) == SWEEPS
    spanning = must_span(asdict(options))
    fixed, begin = _begin(
        counts, prior, dim, sweeping=sweeping, how=anchors, spanning=spanning, seed=seed, threads=threads
    )
    given: dict[str, Any] = {"options": options, "anchors": fixed}
    if not sweeping:
        given["approximation"] = module.approximate(
            counts,
            prior,
            dim,
            **given,
            seed=seed,
            chains=chains,
            draws=draws,
            warmup=warmup,
            threads=threads,
            report=report,
        )
    problem = module.prepare(counts, prior, dim, **given)
    return Alone(module, problem, begin, seed, given.get("approximation"))


def draw_alone(
    module: ModuleType,
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Any,
    draws: int,
    warmup: int,
    thin: int = 1,
    fixed: bool = False,
    seed: int = 1,
) -> tuple[Float32, Float32]:
    """Return draws of rho (draw, R, K) and alpha (draw, C, K), those of the first chain of such a run.

    Parameters
    ----------
    module, counts, prior, dim, options, seed
        As in `prepare_alone`.
    draws, warmup, thin : int
        As in `fit`.
    fixed : bool
        Keep K context rows at their MAP (``identify="fixed"``); otherwise draws are raw (``"none"``).
    """
    alone = prepare_alone(
        module,
        counts,
        prior,
        dim,
        options=options,
        draws=draws * thin,
        warmup=warmup,
        anchors="qr" if fixed else None,
        seed=seed,
    )
    first = warmup if kind_of(module) == SWEEPS else 0
    kept = []
    with Threads(1) as threads:
        for number, state in enumerate(alone.states(0, threads), start=1):
            if number > first and (number - first) % thin == 0:
                kept.append(state)
            if len(kept) == draws:
                break
    return np.array([state.rho for state in kept]), np.array([state.alpha for state in kept])


def _begin(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    sweeping: bool,
    how: AnchorChoice | None,
    spanning: bool,
    seed: int,
    threads: int,
) -> tuple[Anchors | None, dict[str, Array]]:
    """Return the anchors and the MAP that chains begin near, as `begin.find_begin` and `chain.Work` have them."""
    if not sweeping and how is None:
        return None, {}
    iterations = START_ITERATIONS if how is None else ANCHOR_ITERATIONS
    found = find_map(counts, prior, dim, seed=seed, max_iterations=iterations, threads=threads)
    anchors = None if how is None else choose_anchors(found.alpha, how, seed=seed, spanning=spanning)
    if not sweeping or found.is_zero:
        return anchors, {}
    return anchors, {"rho": found.rho, "alpha": found.alpha}
