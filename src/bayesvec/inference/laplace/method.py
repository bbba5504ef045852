r"""The Laplace approximation: a Gaussian at the mode with the inverse of the negative Hessian as covariance.

With anchors the Hessian is that of the free parameters alone: conditioning a Gaussian on some coordinates
takes their rows out of its precision, not out of its covariance. Without, the rotations are flat directions;
they are projected out, as they are from draws that were turned to the mode. Draws are
:math:`\hat\theta + M^{-\top} \varepsilon` with :math:`M M^\top = -H`; nothing is inverted and no eigenvalue
clipped. For a few words of a large model see `bayesvec.inference.laplace.covariance`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Array, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.inference.laplace.factor import Factor, check_size, factorise
from bayesvec.inference.laplace.space import Space, reach_mode
from bayesvec.inference.state import Info, State
from bayesvec.kernels import rng
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.model.map import find_map
from bayesvec.priors import Prior

INDEPENDENT = True  # no warm-up: every draw is a new one from the Gaussian
CAVEAT = "it is a Gaussian at the mode, which the posterior is not like where there are few data"


@dataclass(frozen=True)
class Options:
    """How to find the mode.

    Attributes
    ----------
    starts : int
        Starts of the search; the highest mode is kept.
    """

    starts: int = 1

    def __post_init__(self) -> None:
        if self.starts < 1:
            raise OptionError(f"starts is {self.starts}; it must be 1 or more")


@dataclass(frozen=True, eq=False)
class Problem:
    """The approximation, ready to draw from."""

    model: Model
    rho: Float64  # (R, K) the mode
    alpha: Float64  # (C, K)
    factor: Factor
    space: Space


def approximate(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    seed: int = 0,
    chains: int = 1,
    draws: int = 1,
    warmup: int = 0,
    threads: int = 1,
    report: Callable[[str], None] | None = None,
) -> dict[str, Array]:
    """Find the mode and factor the Hessian there.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    dim : int
        Dimension K of the vectors.
    options : Options, optional
        How to find the mode.
    anchors : Anchors, optional
        Context rows that stay fixed.
    seed : int, optional
        Seed of the search's starts.
    chains, draws, warmup : int, optional
        Of the run; they do not matter here.
    threads : int, optional
        Threads of the search; the result does not depend on it.
    report : callable, optional
        Told what is being done.

    Returns
    -------
    dict of str to ndarray
        The mode, the factor, and how well the mode was reached.
    """
    from threadpoolctl import threadpool_limits

    check_size(counts.num_words, counts.num_contexts, dim)
    tell = report or (lambda _: None)
    found = find_map(
        counts,
        prior,
        dim,
        seed=seed,
        starts=(options or Options()).starts,
        threads=threads,
        callback=lambda step, value, _: tell(f"mode: step {step}, log posterior {value:.1f}"),
    )
    tell("factoring the Hessian")
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


def prepare(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    approximation: dict[str, Array] | None = None,
) -> Problem:
    """Make the approximation ready to draw from.

    Parameters
    ----------
    counts, prior, dim, options, anchors
        As for `approximate`.
    approximation : dict
        What `approximate` returned.
    """
    if approximation is None:
        approximation = approximate(counts, prior, dim, options=options, anchors=anchors)
    rho, alpha = approximation["rho"], approximation["alpha"]
    space = Space(rho, alpha, prior, anchors)
    factor = Factor(
        word=approximation["factor_word"],
        mixed=approximation["factor_mixed"],
        context=approximation["factor_context"],
        free=np.flatnonzero(~space.fixed),
        num_contexts=len(alpha),
    )
    return Problem(Model(counts, prior), rho, alpha, factor, space)


def start(
    problem: Problem,
    *,
    seed: int,
    chain: int,
    rho: npt.ArrayLike | None = None,
    alpha: npt.ArrayLike | None = None,
) -> State:
    """Return the mode, to which draws are turned; if that is zero, a draw (number 0, which no sweep takes).

    Parameters
    ----------
    problem : Problem
        The approximation.
    seed, chain : int
        Address of the draw.
    rho, alpha : array_like, optional
        Another place to start from; of no use here.
    """
    if np.any(problem.rho) or np.any(problem.alpha):
        return State(problem.rho.astype(np.float32), problem.alpha.astype(np.float32))
    return _draw(problem, seed, chain, 0)


def sweep(
    problem: Problem, state: State, *, seed: int, chain: int, number: int, threads: Threads
) -> tuple[State, Info]:
    """Return a draw, a function of the seed, the chain and its number alone.

    Parameters
    ----------
    problem : Problem
        The approximation.
    state : State
        The draw before; not looked at.
    seed, chain, number : int
        Address of the draw.
    threads : Threads
        Share the rows of its log posterior.
    """
    drawn = _draw(problem, seed, chain, number)
    model = Model(problem.model.counts, problem.model.prior, threads=threads)
    return drawn, Info(model.log_posterior(drawn.rho, drawn.alpha))


def summary(approximation: dict[str, Array]) -> dict[str, Any]:
    """Return how well the mode was reached, as plain numbers."""
    return {name: value.item() for name, value in approximation.items() if value.ndim == 0}


def _draw(problem: Problem, seed: int, chain: int, number: int) -> State:
    key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
    dim = problem.rho.shape[1]
    noise = []
    for row, size in enumerate((len(problem.rho), len(problem.factor.free))):
        normals = np.empty(size * dim)
        rng.fill_normals(key, row, 0, normals)
        noise.append(normals.reshape(size, dim))
    change = problem.space.project(*problem.factor.whiten(*noise))
    rho, alpha = problem.rho + change[0], problem.alpha + change[1]
    return State(rho.astype(np.float32), alpha.astype(np.float32))
