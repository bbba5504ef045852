r"""Variational inference with one full K x K Gaussian for every row, by coordinate ascent.

The Gibbs sampler's row update with :math:`E[\omega]` in place of a draw and second moments in place of vectors
(`bayesvec.inference.blockvi.ascent`, `bayesvec.kernels.variational`). It knows the correlations within a row and none
between rows.

The bound does not change under a rotation of both sides: the ascent ends at one of equally good places.
Second moments and factors are float32 triangles, K (K + 1) / 2 numbers per row each: at 5,000 words and
contexts 100 MB in all at K = 50, 400 MB at K = 100.
"""

import math
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads
from bayesvec._types import Float32
from bayesvec.inference.blockvi import Options
from bayesvec.inference.blockvi.ascent import BlockAscent
from bayesvec.inference.contract import Approximation, Arrays, Problem, Report, silent
from bayesvec.inference.state import Info, State
from bayesvec.inference.variational import find_place, is_free, to_state
from bayesvec.kernels import rng
from bayesvec.kernels.variational import draw_rows, make_work


class BlockVI(Approximation):
    """A Gaussian for every row."""

    def __init__(self, problem: Problem, arrays: Arrays) -> None:
        super().__init__(problem, arrays)
        # writeable copies: one type of array is one compilation
        self.mean = np.array(arrays["mean"], order="C")  # (R + C, K)
        self.root: Float32 = np.array(arrays["root"], order="C")

    @staticmethod
    def fit(problem: Problem, *, seed: int = 1, threads: int = 1, report: Report = silent) -> Arrays:
        """Fit the approximation; the same for any number of threads.

        Returns
        -------
        dict
            ``mean`` (R + C, K) and ``root`` (R + C, K (K + 1) / 2) of the stacked rows, the latter the upper
            triangle of U where U^T U is a row's precision; ``elbo``, the bound after every update of a side but
            the last; ``converged``.
        """
        options = problem.options or Options()
        counts = problem.counts
        place = find_place(problem, seed=seed, threads=threads, report=report)
        with Threads(threads) as workers, threadpool_limits(1, "blas"):
            ascent = BlockAscent(counts, problem.prior, place, is_free(counts, problem.anchors), workers)
            bounds, converged = ascent.run(options.max_sweeps, options.tolerance, report)
        return {
            "mean": np.concatenate([rows.mean for rows in ascent.rows]),
            "root": np.concatenate([rows.root for rows in ascent.rows]),
            "elbo": np.array([bound for bound in bounds if math.isfinite(bound)]),
            "converged": np.array(converged),
        }

    def centre(self, *, seed: int, chain: int) -> State:
        """Return the mean."""
        return to_state(self.mean, self.problem.counts)

    def draw(self, *, seed: int, chain: int, number: int, threads: Threads) -> tuple[State, Info]:
        """Draw once; the draw is a function of (seed, chain, number)."""
        out = np.empty(self.mean.shape, dtype=np.float32)
        key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
        works = [make_work(self.mean.shape[1]) for _ in range(threads.count)]
        threads.run(
            lambda first, last, thread: draw_rows(first, last, key, self.mean, self.root, works[thread], out),
            threads.chunks(np.ones(len(out))),
        )
        return self.scored(to_state(out, self.problem.counts), threads)

    @staticmethod
    def summary(arrays: Arrays) -> dict[str, Any]:
        """Return whether and where the ascent converged."""
        elbo = arrays["elbo"]
        return {
            "converged": bool(arrays["converged"]),
            "sweeps": (len(elbo) + 1) // 2,
            "elbo": float(elbo[-1]),
        }
