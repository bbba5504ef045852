r"""Variational inference with one full K x K Gaussian for every row, by coordinate ascent.

The Gibbs sampler's row update with :math:`E[\omega]` in place of a draw and second moments in place of vectors
(`bayesvec.inference.blockvi.ascent`, `bayesvec.kernels.variational`). It knows the correlations within a row and none
between rows.

The bound does not change under a rotation of both sides: the ascent ends at one of equally good places.
Second moments and factors are float32 triangles, K (K + 1) / 2 numbers a row each: at 5,000 words and
contexts 100 MB in all at K = 50, 400 MB at K = 100.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Array, Float32, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.inference.blockvi.ascent import BlockAscent
from bayesvec.inference.state import Info, State
from bayesvec.inference.variational import Report, find_place, is_free, to_state
from bayesvec.kernels import rng
from bayesvec.kernels.variational import draw_rows, make_work
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior

INDEPENDENT = True
CAVEAT = "its rows are independent of each other, so its intervals are too narrow"


@dataclass(frozen=True)
class Options:
    """How to climb.

    Attributes
    ----------
    max_sweeps : int
        Updates of all rows at most.
    tolerance : float
        Rise of the bound in a sweep, per coordinate, below which the ascent has converged.
    """

    max_sweeps: int = 1000
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        if self.max_sweeps < 1:
            raise OptionError(f"max_sweeps is {self.max_sweeps}; it must be 1 or more")
        if not 0.0 < self.tolerance < math.inf:
            raise OptionError(f"tolerance is {self.tolerance}; it must be positive")


@dataclass(frozen=True, eq=False)
class Problem:
    """The approximation to draw from, and the model that its draws are judged by."""

    counts: PairCounts
    prior: Prior
    mean: Float64  # (R + C, K)
    root: Float32  # (R + C, K (K + 1) / 2) upper triangles of U, where U^T U is a row's precision


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
        Decides where the ascent begins.
    threads : int, optional
        Threads to use.
    report : callable, optional
        Told how far it is.
    **_ : int
        Chains, draws and warm-up of the run, which do not matter here.

    Returns
    -------
    dict
        ``mean`` (R + C, K) and ``root`` (R + C, K (K + 1) / 2) of the stacked rows, the latter the upper
        triangle of U where U^T U is a row's precision; ``elbo``, the bound after every update of a side but
        the last; ``converged``.
    """
    from threadpoolctl import threadpool_limits

    options = options or Options()
    place = find_place(counts, prior, dim, anchors=anchors, seed=seed, threads=threads, report=report)
    with Threads(threads) as workers, threadpool_limits(1, "blas"):
        ascent = BlockAscent(counts, prior, place, is_free(counts, anchors), workers)
        bounds, converged = ascent.run(options.max_sweeps, options.tolerance, report)
    return {
        "mean": np.concatenate([rows.mean for rows in ascent.rows]),
        "root": np.concatenate([rows.root for rows in ascent.rows]),
        "elbo": np.array([bound for bound in bounds if math.isfinite(bound)]),
        "converged": np.array(converged),
    }


def summary(approximation: dict[str, Array]) -> dict[str, Any]:
    """Return what to tell of an approximation."""
    elbo = approximation["elbo"]
    return {
        "converged": bool(approximation["converged"]),
        "sweeps": (len(elbo) + 1) // 2,
        "elbo": float(elbo[-1]),
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
        raise OptionError("blockvi draws from an approximation and none was given; make one with approximate")
    # writeable copies: one type of array is one compilation
    mean, root = (np.array(approximation[name], order="C") for name in ("mean", "root"))
    return Problem(counts, prior, mean, root)


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
    out = np.empty(problem.mean.shape, dtype=np.float32)
    key = rng.make_key(seed, rng.APPROXIMATION, chain=chain, sweep=number)
    works = [make_work(problem.mean.shape[1]) for _ in range(threads.count)]
    threads.run(
        lambda first, last, thread: draw_rows(
            first, last, key, problem.mean, problem.root, works[thread], out
        ),
        threads.chunks(np.ones(len(out))),
    )
    drawn = to_state(out, problem.counts)
    model = Model(problem.counts, problem.prior, threads=threads)
    return drawn, Info(model.log_posterior(drawn.rho, drawn.alpha))
