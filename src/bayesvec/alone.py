"""One chain of a method in memory, without a run folder: for many small fits that nobody keeps."""

from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec.counts import PairCounts
from bayesvec.identify import Anchors, choose_anchors
from bayesvec.mode import find_map
from bayesvec.parallel import Threads
from bayesvec.priors import Prior
from bayesvec.runs.begin import ANCHOR_ITERATIONS, START_ITERATIONS, jittered
from bayesvec.runs.outcome import SWEEPS, kind_of

Float32 = npt.NDArray[np.float32]


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
    module : ModuleType
        The method, see `bayesvec.run`.
    counts, prior, dim
        The model.
    options : Options
        Of the method.
    draws, warmup, thin : int
        As in `fit`.
    fixed : bool
        Keep K context rows at their MAP (``identify="fixed"``); otherwise draws are raw (``"none"``).
    seed : int
        Decides every random number.
    """
    sweeping = kind_of(module) == SWEEPS
    anchors, start = _begin(counts, prior, dim, sweeping=sweeping, fixed=fixed, seed=seed)
    given: dict[str, Any] = {"options": options, "anchors": anchors}
    if not sweeping:
        given["approximation"] = module.approximate(
            counts,
            prior,
            dim,
            **given,
            seed=seed,
            chains=1,
            draws=draws * thin,
            warmup=warmup,
            threads=1,
            report=lambda text: None,
        )
    problem = module.prepare(counts, prior, dim, **given)
    state = module.start(problem, seed=seed, chain=0, **start)
    first = warmup if sweeping else 0
    kept = []
    with Threads(1) as threads:
        for number in range(1, first + draws * thin + 1):
            state, _ = module.sweep(problem, state, seed=seed, chain=0, number=number, threads=threads)
            if number > first and (number - first) % thin == 0:
                kept.append(state)
    return np.array([state.rho for state in kept]), np.array([state.alpha for state in kept])


def _begin(
    counts: PairCounts, prior: Prior, dim: int, *, sweeping: bool, fixed: bool, seed: int
) -> tuple[Anchors | None, dict[str, npt.NDArray[Any]]]:
    """Return the anchors and the start of the chain, as `begin.find_begin` and `chain.Work` have them."""
    if not (sweeping or fixed):
        return None, {}
    iterations = ANCHOR_ITERATIONS if fixed else START_ITERATIONS
    found = find_map(counts, prior, dim, seed=seed, max_iterations=iterations, threads=1)
    anchors = choose_anchors(found.alpha, seed=seed) if fixed else None
    if not sweeping or found.is_zero:
        return anchors, {}
    return anchors, jittered({"rho": found.rho, "alpha": found.alpha}, seed, 0)
