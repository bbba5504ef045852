"""The MAP as a method: one draw, the mode of the posterior (found by `bayesvec.model.map`)."""

from typing import Any

import numpy as np

from bayesvec._parallel import Threads
from bayesvec.inference.contract import Approximation, Arrays, Problem, Report, silent
from bayesvec.inference.map import Options
from bayesvec.inference.state import Info, State
from bayesvec.model.identification import to_gauge
from bayesvec.model.map import find_map

_NUMBERS = ("converged", "iterations", "log_posterior", "gradient_norm", "scaled_gradient")


class Mode(Approximation):
    """The mode."""

    @staticmethod
    def fit(problem: Problem, *, seed: int = 1, threads: int = 1, report: Report = silent) -> Arrays:
        """Find the mode; anchors are taken from it, so it is in their gauge already up to rounding."""
        options = problem.options or Options()
        found = find_map(
            problem.counts,
            problem.prior,
            problem.dim,
            seed=seed,
            starts=options.starts,
            tolerance=options.tolerance,
            max_iterations=options.max_iterations,
            threads=threads,
            callback=lambda number, value, slope: report(
                f"iteration {number}, log posterior {value:.1f}, gradient {slope:.2g} (wanted {options.tolerance:g})"
            ),
        )
        rho, alpha = found.rho, found.alpha
        if problem.anchors is not None:
            rho, alpha = to_gauge(rho, alpha, problem.anchors)  # type: ignore[assignment]
        numbers = ("log_posterior", "gradient_norm", "scaled_gradient", "iterations", "converged", "seconds")
        kept = {name: np.asarray(getattr(found, name)) for name in numbers}
        return {"rho": rho, "alpha": alpha, "start_values": np.asarray(found.start_values), **kept}

    def centre(self, *, seed: int, chain: int) -> State:
        """Return the mode."""
        return State(self.arrays["rho"].astype(np.float32), self.arrays["alpha"].astype(np.float32))

    def draw(self, *, seed: int, chain: int, number: int, threads: Threads) -> tuple[State, Info]:
        """Return the mode, whatever the number."""
        return self.centre(seed=seed, chain=chain), Info(float(self.arrays["log_posterior"]))

    @staticmethod
    def summary(arrays: Arrays) -> dict[str, Any]:
        """Return how well the mode was reached."""
        return {name: arrays[name].item() for name in _NUMBERS}
