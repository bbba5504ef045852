"""An approximation to copy: every coordinate is normal around the MAP, with one standard deviation."""

from dataclasses import dataclass

import numpy as np

from bayesvec.inference.contract import Approximation
from bayesvec.inference.methods import Method
from bayesvec.inference.state import State
from bayesvec.model.map import find_map


@dataclass(frozen=True)
class Options:
    sd: float = 0.1


class Ball(Approximation):
    @staticmethod
    def fit(problem, *, seed=1, threads=1, report=lambda text: None):
        report("looking for the mode")
        found = find_map(problem.counts, problem.prior, problem.dim, seed=seed, threads=threads)
        return {"rho": found.rho, "alpha": found.alpha, "converged": np.array(found.converged)}

    def centre(self, *, seed, chain):
        return State(*(self.arrays[side].astype(np.float32) for side in ("rho", "alpha")))

    def draw(self, *, seed, chain, number, threads):
        random = np.random.default_rng([seed, chain, number])
        sd = self.problem.options.sd
        drawn = [side + sd * random.normal(size=side.shape) for side in self.centre(seed=seed, chain=chain)]
        return self.scored(State(*(side.astype(np.float32) for side in drawn)), threads)

    @staticmethod
    def summary(arrays):
        return {"converged": bool(arrays["converged"])}


METHOD = Method(
    name="ball",
    kind="approximation",
    sentence="An approximation: a ball around the mode.",
    use="In tests.",
    code="toy_approximation:Ball",
    options=Options,
    caveat="its width was chosen, not fitted",
)
