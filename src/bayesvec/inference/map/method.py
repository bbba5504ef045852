"""The MAP as a method: one draw, the mode of the posterior (found by `bayesvec.model.map`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Array
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.inference.state import Info, State
from bayesvec.model.identification import Anchors, to_gauge
from bayesvec.model.map import MapEstimate, find_map
from bayesvec.priors import Prior

__all__ = ["MapEstimate", "find_map"]

INDEPENDENT = True
POINT = True

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class Options:
    """How to climb.

    Attributes
    ----------
    starts : int
        How many starts; the highest mode is kept.
    tolerance : float
        How far, in posterior standard deviations, a row may be from the mode.
    max_iterations : int
        Iterations at most, for each start.
    """

    starts: int = 1
    tolerance: float = 1e-4
    max_iterations: int = 5000

    def __post_init__(self) -> None:
        if self.starts < 1 or self.max_iterations < 1:
            raise OptionError(
                f"starts is {self.starts} and max_iterations {self.max_iterations}; both must be 1 or more"
            )
        if not self.tolerance > 0.0:
            raise OptionError(f"tolerance is {self.tolerance}; it must be positive")


def approximate(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options,
    anchors: Anchors | None,
    seed: int,
    threads: int,
    report: Callable[[str], None],
    **_: int,
) -> dict[str, Array]:
    """Find the mode; anchors are taken from it, so it is in their gauge already up to rounding."""
    found = find_map(
        counts,
        prior,
        dim,
        seed=seed,
        starts=options.starts,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        threads=threads,
        callback=lambda number, value, slope: report(f"iteration {number}, log posterior {value:.1f}"),
    )
    rho, alpha = (found.rho, found.alpha) if anchors is None else to_gauge(found.rho, found.alpha, anchors)
    numbers = ("log_posterior", "gradient_norm", "scaled_gradient", "iterations", "converged", "seconds")
    kept = {name: np.asarray(getattr(found, name)) for name in numbers}
    return {"rho": rho, "alpha": alpha, "start_values": np.asarray(found.start_values), **kept}


def prepare(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options,
    anchors: Anchors | None = None,
    approximation: Arrays,
) -> Arrays:
    """Return the mode as it was found: there is nothing else to lay out."""
    return approximation


def start(problem: Arrays, *, seed: int, chain: int, **_: npt.ArrayLike) -> State:
    """Return the mode."""
    return State(problem["rho"].astype(np.float32), problem["alpha"].astype(np.float32))


def sweep(
    problem: Arrays, state: State, *, seed: int, chain: int, number: int, threads: Threads
) -> tuple[State, Info]:
    """Return the mode again."""
    return state, Info(float(problem["log_posterior"]))


def summary(approximation: Arrays) -> dict[str, Any]:
    """Return how well the mode was reached."""
    return {
        "converged": bool(approximation["converged"]),
        "iterations": int(approximation["iterations"]),
        "log_posterior": float(approximation["log_posterior"]),
        "gradient_norm": float(approximation["gradient_norm"]),
        "scaled_gradient": float(approximation["scaled_gradient"]),
    }
