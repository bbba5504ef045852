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

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Array, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.inference.mfvi import advi
from bayesvec.inference.mfvi.ascent import AVERAGED, Ascent, Bound, start_log_sd
from bayesvec.inference.state import Info, State
from bayesvec.inference.variational import Report, find_place, is_free, place_anchors, to_state
from bayesvec.kernels import rng
from bayesvec.kernels.variational import fill_normal_rows
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior

INDEPENDENT = True
CAVEAT = "it has no correlations, so its intervals are too narrow where there are many data"
SCHEDULES = ("adam", "advi")


@dataclass(frozen=True)
class Options:
    """How to climb.

    Attributes
    ----------
    schedule : {"adam", "advi"}
        Climb to the optimum from near the MAP; or as Stan does by default, from a random start and with its
        rule for stopping, which is the paper's MFVI.
    max_iterations : int
        Iterations at most.
    pairs : int
        Pairs of draws for each gradient, with "adam".
    tolerance : float
        With "adam", rise of the smoothed ELBO per coordinate below which it has converged. It is not relative
        to the ELBO: that grows with the data and says nothing about the approximation.
    """

    schedule: str = "adam"
    max_iterations: int = 5000
    pairs: int = 2
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise OptionError(f"schedule is {self.schedule!r}; it must be one of {', '.join(SCHEDULES)}")
        for name in ("max_iterations", "pairs"):
            if getattr(self, name) < 1:
                raise OptionError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if not 0.0 < self.tolerance < math.inf:
            raise OptionError(f"tolerance is {self.tolerance}; it must be positive")


@dataclass(frozen=True, eq=False)
class Problem:
    """The approximation to draw from, and the model that its draws are judged by."""

    counts: PairCounts
    prior: Prior
    mean: Float64  # (R + C, K)
    sd: Float64  # (R + C, K), zero for fixed rows


def approximate(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    seed: int = 1,
    threads: int = 1,
    report: Report = lambda _: None,
    **_: int,
) -> dict[str, Array]:
    """Fit the approximation; the same for any number of threads.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        Gaussian over the rows of either side.
    dim : int
        Number of axes, K.
    options : Options, optional
        How to climb.
    anchors : Anchors, optional
        Context rows that stay fixed.
    seed : int, optional
        Decides every random number.
    threads : int, optional
        Threads to use.
    report : callable, optional
        Told how far it is.
    **_ : int
        Chains, draws and warm-up of the run, which do not matter here.

    Returns
    -------
    dict
        ``mean`` and ``sd`` of the stacked rows (R + C, K); ``elbo`` of every iteration (of every evaluation
        under the schedule "advi"); ``iterations``; ``converged``.
    """
    options = options or Options()
    with Threads(threads) as workers:
        bound = Bound(Model(counts, prior, threads=workers), is_free(counts, anchors), seed)
        if options.schedule == "advi":
            result = advi.climb(
                bound,
                place_anchors(np.zeros((len(bound.free), dim)), counts, anchors),
                max_iterations=options.max_iterations,
                report=report,
            )
        else:
            place = find_place(counts, prior, dim, anchors=anchors, seed=seed, threads=threads, report=report)
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


def summary(approximation: dict[str, Array]) -> dict[str, Any]:
    """Return what to tell of an approximation."""
    elbo, iterations = approximation["elbo"], int(approximation["iterations"])
    last = AVERAGED if len(elbo) == iterations else 1
    return {
        "converged": bool(approximation["converged"]),
        "iterations": iterations,
        "elbo": float(np.mean(elbo[-last:])),
    }


def prepare(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    approximation: dict[str, Array] | None = None,
) -> Problem:
    """Take up an approximation to draw from.

    Parameters
    ----------
    counts, prior, dim, options, anchors
        As given to `approximate`.
    approximation : dict
        What that returned.
    """
    if approximation is None:
        raise OptionError("mfvi draws from an approximation and none was given; make one with approximate")
    return Problem(counts, prior, approximation["mean"], approximation["sd"])


def start(
    problem: Problem,
    *,
    seed: int,
    chain: int,
    rho: npt.ArrayLike | None = None,
    alpha: npt.ArrayLike | None = None,
) -> State:
    """Return the mean of the approximation: draws do not depend on where they begin."""
    return to_state(problem.mean, problem.counts)


def sweep(
    problem: Problem, state: State, *, seed: int, chain: int, number: int, threads: Threads
) -> tuple[State, Info]:
    """Draw once; the draw is a function of (problem, seed, chain, number) alone."""
    noise = np.empty_like(problem.mean)
    key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
    threads.run(
        lambda first, last, _: fill_normal_rows(first, last, key, 0, noise),
        threads.chunks(np.ones(len(noise))),
    )
    drawn = to_state(problem.mean + problem.sd * noise, problem.counts)
    model = Model(problem.counts, problem.prior, threads=threads)
    return drawn, Info(model.log_posterior(drawn.rho, drawn.alpha))
