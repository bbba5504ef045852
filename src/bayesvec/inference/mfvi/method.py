r"""Mean-field variational inference: an independent normal for every coordinate of rho and of alpha.

The evidence lower bound (ELBO) is climbed with reparameterised gradients on all of the data (Bamler & Mandt
2017; Kucukelbir, Tran, Ranganath, Gelman & Blei 2017), to its optimum (`bayesvec.inference.mfvi.ascent`) or, to
reproduce the paper's figures, as Stan does by default (`bayesvec.inference.mfvi.advi`), which stops on the way.

What to expect of it. At the optimum a coordinate's variance is one over the expected curvature along it,
:math:`s^2 = 1 / E[-H]`. With many data the expected curvatures are sums over pairs of
:math:`w\, \alpha_{vk}^2`, so :math:`\sum w\, \mathrm{var}(\eta)` over all pairs is the number of coordinates:
that of the true posterior, but for the K^2 directions that the data do not see. The probabilities of pairs then
have intervals of the right width on average. What moves along those directions, as cosines do, is badly
wrong at any amount of data, and with few data the means are shrunk and intervals miss.
"""

from typing import Any

import numpy as np

from bayesvec._parallel import Threads
from bayesvec.inference.contract import Approximation, Arrays, Problem, Report, silent
from bayesvec.inference.mfvi import Options, advi
from bayesvec.inference.mfvi.ascent import AVERAGED, Ascent, Bound, start_log_sd
from bayesvec.inference.state import Info, State
from bayesvec.inference.variational import find_place, is_free, place_anchors, to_state
from bayesvec.kernels import rng
from bayesvec.kernels.variational import fill_normal_rows
from bayesvec.model.density import Model


class MeanField(Approximation):
    """An independent normal for every coordinate."""

    @staticmethod
    def fit(problem: Problem, *, seed: int = 1, threads: int = 1, report: Report = silent) -> Arrays:
        """Fit the approximation; the same for any number of threads.

        Returns
        -------
        dict
            ``mean`` and ``sd`` of the stacked rows (R + C, K); ``elbo`` of every iteration (of every evaluation
            under the schedule "advi"); ``iterations``; ``converged``.
        """
        options, counts, anchors = problem.options or Options(), problem.counts, problem.anchors
        with Threads(threads) as workers:
            bound = Bound(Model(counts, problem.prior, threads=workers), is_free(counts, anchors), seed)
            if options.schedule == "advi":
                result = advi.climb(
                    bound,
                    place_anchors(np.zeros((len(bound.free), problem.dim)), counts, anchors),
                    max_iterations=options.max_iterations,
                    report=report,
                )
            else:
                place = find_place(problem, seed=seed, threads=threads, report=report)
                log_sd = start_log_sd(bound.model, place, bound.free)
                result = Ascent(
                    bound, place, log_sd, pairs=options.pairs, max_iterations=options.max_iterations
                ).run(options.tolerance, report)
        return {
            "mean": result.mean,
            "sd": np.exp(result.log_sd),
            "elbo": np.array(result.elbo),
            "iterations": np.array(result.iterations),
            "converged": np.array(result.converged),
        }

    def centre(self, *, seed: int, chain: int) -> State:
        """Return the mean."""
        return to_state(self.arrays["mean"], self.problem.counts)

    def draw(self, *, seed: int, chain: int, number: int, threads: Threads) -> tuple[State, Info]:
        """Draw once; the draw is a function of (seed, chain, number)."""
        noise = np.empty_like(self.arrays["mean"])
        key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
        threads.run(
            lambda first, last, _: fill_normal_rows(first, last, key, 0, noise),
            threads.chunks(np.ones(len(noise))),
        )
        drawn = self.arrays["mean"] + self.arrays["sd"] * noise
        return self.scored(to_state(drawn, self.problem.counts), threads)

    @staticmethod
    def summary(arrays: Arrays) -> dict[str, Any]:
        """Return whether and where the ascent converged."""
        elbo, iterations = arrays["elbo"], int(arrays["iterations"])
        last = AVERAGED if len(elbo) == iterations else 1
        return {
            "converged": bool(arrays["converged"]),
            "iterations": iterations,
            "elbo": float(np.mean(elbo[-last:])),
        }
