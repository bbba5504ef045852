r"""The Laplace approximation: a Gaussian at the mode with the inverse of the negative Hessian as covariance.

With anchors the Hessian is that of the free parameters alone: conditioning a Gaussian on some coordinates
takes their rows out of its precision, not out of its covariance. Without, the rotations are flat directions;
they are projected out, as they are from draws that were aligned to the mode. Draws are
:math:`\hat\theta + M^{-\top} \varepsilon` with :math:`M M^\top = -H`; nothing is inverted and no eigenvalue
clipped. For a few words of a large model see `bayesvec.inference.laplace.covariance`.
"""

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads
from bayesvec.inference.contract import Approximation, Arrays, Problem, Report, silent
from bayesvec.inference.laplace import Options
from bayesvec.inference.laplace.factor import Factor, check_size, factorise
from bayesvec.inference.laplace.space import Space, reach_mode
from bayesvec.inference.state import Info, State
from bayesvec.kernels import rng
from bayesvec.model.density import Model
from bayesvec.model.map import find_map


class Laplace(Approximation):
    """A Gaussian at the mode."""

    def __init__(self, problem: Problem, arrays: Arrays) -> None:
        super().__init__(problem, arrays)
        self.rho, self.alpha = arrays["rho"], arrays["alpha"]  # (R, K), (C, K) the mode
        self.space = Space(self.rho, self.alpha, problem.prior, problem.anchors)
        self.factor = Factor(
            word=arrays["factor_word"],
            mixed=arrays["factor_mixed"],
            context=arrays["factor_context"],
            free=np.flatnonzero(~self.space.fixed),
            num_contexts=len(self.alpha),
        )

    @staticmethod
    def fit(problem: Problem, *, seed: int = 1, threads: int = 1, report: Report = silent) -> Arrays:
        """Find the mode and factor the Hessian there.

        Returns
        -------
        dict of str to ndarray
            The mode, the factor, and how well the mode was reached.
        """
        counts, prior, dim, anchors = problem.counts, problem.prior, problem.dim, problem.anchors
        check_size(counts.num_words, counts.num_contexts, dim)
        found = find_map(
            counts,
            prior,
            dim,
            seed=seed,
            starts=(problem.options or Options()).starts,
            threads=threads,
            callback=lambda step, value, _: report(f"mode: step {step}, log posterior {value:.1f}"),
        )
        report("factoring the Hessian")
        with Threads(threads) as workers, threadpool_limits(1, "blas"):
            model = Model(counts, prior, threads=workers)
            mode = reach_mode(model, (found.rho, found.alpha), anchors, factorise)
            slope = model.gradient(mode.rho, mode.alpha)
        space = Space(mode.rho, mode.alpha, prior, anchors)
        slope.alpha[space.fixed] = 0.0
        reached = {
            "log_posterior": mode.log_posterior,
            "gradient_norm": np.sqrt(np.sum(slope.rho**2) + np.sum(slope.alpha**2)),
            "distance": mode.distance,
            "iterations": found.iterations,
            "newton_steps": mode.steps,
            "free_parameters": space.num_free,
            "rotations": space.num_flat,
        }
        return {
            "rho": mode.rho,
            "alpha": mode.alpha,
            "factor_word": mode.solver.word,
            "factor_mixed": mode.solver.mixed,
            "factor_context": mode.solver.context,
            **{name: np.asarray(value) for name, value in reached.items()},
        }

    def centre(self, *, seed: int, chain: int) -> State:
        """Return the mode; if that is zero, a draw (number 0, which is not stored)."""
        if np.any(self.rho) or np.any(self.alpha):
            return State(self.rho.astype(np.float32), self.alpha.astype(np.float32))
        return self._draw(seed, chain, 0)

    def draw(self, *, seed: int, chain: int, number: int, threads: Threads) -> tuple[State, Info]:
        """Draw once; the draw is a function of (seed, chain, number)."""
        return self.scored(self._draw(seed, chain, number), threads)

    @staticmethod
    def summary(arrays: Arrays) -> dict[str, Any]:
        """Return how well the mode was reached."""
        return {name: value.item() for name, value in arrays.items() if value.ndim == 0}

    def _draw(self, seed: int, chain: int, number: int) -> State:
        key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
        dim = self.problem.dim
        noise = []
        for row, size in enumerate((len(self.rho), len(self.factor.free))):
            normals = np.empty(size * dim)
            rng.fill_normals(key, row, 0, normals)
            noise.append(normals.reshape(size, dim))
        change = self.space.project(*self.factor.whiten(*noise))
        rho, alpha = self.rho + change[0], self.alpha + change[1]
        return State(rho.astype(np.float32), alpha.astype(np.float32))
