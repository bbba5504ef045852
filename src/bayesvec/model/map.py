r"""The MAP estimate: the mode of the posterior, by L-BFGS on the compiled density.

Rows differ in curvature as words differ in frequency, so L-BFGS (SciPy's L-BFGS-B; Byrd, Lu, Nocedal & Zhu 1995)
works on scaled rows: at first by one number each, its approximate posterior standard deviation, and after some
iterations by the Cholesky factor of its K x K block of the Hessian, recomputed every so often. On text that takes
a quarter of the iterations. Along :math:`(\rho A, \alpha A^{-\top})` the likelihood is constant and the prior, which
varies slowly, decides alone; but there the highest point is known (`bayesvec.model.balance`), and the search goes to
it whenever the blocks are computed.

Convergence is judged on the same scale: if the gradient of every row is shorter than ``tolerance``, every row is
within about that many standard deviations of its mode given the others, whatever the size of the corpus. With little
data the mode under a prior of mean zero is zero.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._pipeline import check_threads
from bayesvec._types import Array, Float64
from bayesvec._validate import positive, whole
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.errors import NumericalError, OptionError
from bayesvec.kernels import rng
from bayesvec.model.balance import balanced, has_balanced_mode, zero_is_the_mode
from bayesvec.model.density import Model
from bayesvec.priors import Prior
from bayesvec.storage.room import BLOCK_BYTES

Report = Callable[[int, float, float], None]  # iteration, log posterior, scaled gradient

FIRST_STAGE = 50  # iterations with guessed scales of the rows, before they are measured
SECOND_STAGE = 50  # iterations with measured scales, before rows are scaled by their blocks of the Hessian
BLOCK_STAGE = 75  # iterations until the factors are balanced and the blocks recomputed
MEMORY = 10  # corrections that L-BFGS stores
START_SCALE = 0.1  # relative to the standard deviation of the prior
MARGIN = 0.9  # fraction of the tolerance that is aimed at: rounding changes the gradient slightly


@dataclass(frozen=True, eq=False)
class MapEstimate:
    """A mode of the posterior, with its convergence.

    Attributes
    ----------
    rho, alpha : ndarray
        The vectors; balanced if that is known under the prior, and with the strongest axes first if it is isotropic.
    log_posterior : float
        The log posterior at the mode.
    gradient_norm : float
        Euclidean norm of the gradient.
    scaled_gradient : float
        Length of the longest row of the gradient, rows scaled by their approximate standard deviation.
    converged : bool
        Whether ``scaled_gradient`` is within the tolerance.
    iterations, evaluations : int
        Iterations of L-BFGS and evaluations of the gradient, over all starts.
    start_values : tuple of float
        The log posterior reached from each start; the highest is kept.
    seconds : float
        Time taken.
    """

    rho: Float64
    alpha: Float64
    log_posterior: float
    gradient_norm: float
    scaled_gradient: float
    converged: bool
    iterations: int
    evaluations: int
    start_values: tuple[float, ...]
    seconds: float


def find_map(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    seed: int = 0,
    starts: int = 1,
    tolerance: float = 1e-4,
    max_iterations: int = 5000,
    threads: int | None = None,
    init: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    callback: Report | None = None,
) -> MapEstimate:
    """Find the mode of the posterior.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    dim : int
        Dimension K of the vectors.
    seed : int, optional
        Seed of the starts, which are small normals.
    starts : int, optional
        Number of starts; the highest mode is kept.
    tolerance : float, optional
        Scaled gradient at which to stop: how far, in posterior standard deviations, a row may be from its mode.
    max_iterations : int, optional
        Maximum iterations of L-BFGS per start; a few tens are enough to start a chain.
    threads : int, optional
        Number of threads; by default one per processor. The result does not depend on it.
    init : (array_like, array_like), optional
        Initial (rho, alpha), instead of the first random start.
    callback : callable, optional
        Called as ``callback(iteration, log_posterior, scaled_gradient)`` after each iteration.
    """
    from threadpoolctl import threadpool_limits

    began = time.perf_counter()
    for name, value in {"dim": dim, "starts": starts, "max_iterations": max_iterations}.items():
        whole(name, value, 1)
    positive("tolerance", tolerance)
    # the optimiser's vectors are short: BLAS threads would only compete with ours
    with Threads(check_threads(threads)) as workers, threadpool_limits(1, "blas"):
        model = Model(counts, prior, threads=workers)
        place = None if init is None else _given(model, dim, init)
        if has_balanced_mode(prior) and zero_is_the_mode(counts, prior):
            theta = np.zeros((counts.num_words + counts.num_contexts, dim))
            return _estimate(model, theta, _Scale(_guessed_scale(model, dim)), tolerance, began)
        best, values, iterations, evaluations = None, [], 0, 0
        for start in range(starts):
            climb = _Climb(model, tolerance, callback)
            climb.run(_start(model, dim, seed, start) if place is None or start else place, max_iterations)
            found = _estimate(model, climb.theta, climb.scale, tolerance, began)
            best = found if best is None or found.log_posterior > best.log_posterior else best
            values.append(found.log_posterior)
            iterations, evaluations = iterations + climb.iterations, evaluations + climb.evaluations
            del climb, found  # the blocks of one start are enough to hold
        assert best is not None
        return replace(
            best,
            iterations=iterations,
            evaluations=evaluations,
            start_values=tuple(values),
            seconds=time.perf_counter() - began,
        )


class _Climb:
    """One run of L-BFGS over the stacked rows ``theta`` (num_words + num_contexts, K)."""

    def __init__(self, model: Model, tolerance: float, callback: Report | None) -> None:
        self.model = model
        self.tolerance = tolerance
        self.callback = callback
        self.iterations = self.evaluations = 0
        self.theta = np.empty((0, 0))
        self.scale: _Scale | _Blocks = _Scale(np.empty((0, 0)))
        self._steepest = np.inf  # longest row of the scaled gradient at the latest evaluation

    def run(self, theta: Float64, max_iterations: int) -> None:
        """Climb from ``theta``: with guessed scales, with measured ones, then with blocks; balance the factors."""
        self.theta, self.scale = theta, _Scale(_guessed_scale(self.model, theta.shape[1]))
        self._stage(min(FIRST_STAGE, max_iterations))
        left = max_iterations - self.iterations
        blocks = left > 0 and theta.size * theta.shape[1] * 8 <= BLOCK_BYTES
        if left > 0:
            self.scale = _Scale(measured_scale(self.model, self.theta))
            self._stage(min(SECOND_STAGE, left) if blocks else left)
        if not blocks:
            self._balance()
            return
        self._measure_blocks()
        moved = True
        while moved and self.iterations < max_iterations and not self._arrived:
            moved = self._stage(min(BLOCK_STAGE, max_iterations - self.iterations))
            self._measure_blocks()

    def _measure_blocks(self) -> None:
        """Balance the factors, scale the rows by their blocks of the Hessian, and evaluate the gradient there."""
        self._balance()
        self.scale = _Scale(np.ones((1, 1)))  # release the blocks before there are others
        self.scale = _Blocks(self.model, self.theta)
        self._objective(self.scale.scaled(self.theta))

    def _balance(self) -> None:
        """Go to the highest point with the same likelihood, if it is known."""
        prior = self.model.prior
        if has_balanced_mode(prior):
            self.theta = np.concatenate(balanced(*_sides(self.model, self.theta), prior))

    @property
    def _arrived(self) -> bool:
        return self._steepest <= MARGIN * self.tolerance

    def _stage(self, max_iterations: int) -> bool:
        """Climb for so many iterations; return whether any step was found: rounding may leave none."""
        from scipy.optimize import minimize

        before = self.iterations
        result = minimize(
            self._objective,
            self.scale.scaled(self.theta).ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=self._report,
            options={
                "maxcor": MEMORY,
                "maxiter": max_iterations,
                "maxfun": 20 * max_iterations + 100,
                "ftol": 0.0,  # only the gradient decides
                "gtol": MARGIN * self.tolerance / np.sqrt(self.theta.shape[1]),
            },
        )
        self.theta = self.scale.unscaled(result.x.reshape(self.theta.shape))
        return self.iterations > before

    def _objective(self, scaled: Float64) -> tuple[float, Float64]:
        theta = self.scale.unscaled(scaled.reshape(self.theta.shape))
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are an error below
            value, to_rho, to_alpha = self.model.gradient(*_sides(self.model, theta))
            slope = -self.scale.slope(np.concatenate([to_rho, to_alpha]))
            self._steepest = _longest(slope)
        self.evaluations += 1
        if not (np.isfinite(value) and np.isfinite(self._steepest)):
            raise NumericalError(
                f"the log posterior is {value} at evaluation {self.evaluations} of the search for its mode; "
                "try a larger prior precision, or another start"
            )
        return -value, slope.ravel()

    def _report(self, intermediate_result: Any) -> None:
        self.iterations += 1
        if self.callback is not None:
            self.callback(self.iterations, -float(intermediate_result.fun), self._steepest)
        if self._arrived:
            raise StopIteration


class _Scale:
    """Rows scaled by one number each, (rows, 1)."""

    def __init__(self, scale: Float64) -> None:
        self._scale = scale

    def scaled(self, theta: Float64) -> Float64:
        """Return the variables of the optimiser."""
        return np.asarray(theta / self._scale)

    def unscaled(self, scaled: Float64) -> Float64:
        """Return rows from the variables of the optimiser."""
        return np.asarray(scaled * self._scale)

    def slope(self, gradient: Float64) -> Float64:
        """Return the gradient by the variables of the optimiser."""
        return np.asarray(gradient * self._scale)


class _Blocks:
    r"""Rows scaled by the Cholesky factor of their block of the negative Hessian, :math:`x = L^T \theta`."""

    def __init__(self, model: Model, theta: Float64) -> None:
        curvature = model.curvature(*_sides(model, theta))
        blocks = np.concatenate([curvature.rho_blocks(), curvature.alpha_blocks()])  # (rows, K, K)
        self._factor = np.linalg.cholesky(np.negative(blocks, out=blocks))
        del blocks
        self._inverse = np.linalg.inv(self._factor)

    def scaled(self, theta: Float64) -> Float64:
        """Return the variables of the optimiser."""
        return np.asarray(np.einsum("rij,ri->rj", self._factor, theta))

    def unscaled(self, scaled: Float64) -> Float64:
        """Return rows from the variables of the optimiser."""
        return np.asarray(np.einsum("rji,rj->ri", self._inverse, scaled))

    def slope(self, gradient: Float64) -> Float64:
        """Return the gradient by the variables of the optimiser."""
        return np.asarray(np.einsum("rij,rj->ri", self._inverse, gradient))


def _estimate(
    model: Model, theta: Float64, scale: _Scale | _Blocks, tolerance: float, began: float
) -> MapEstimate:
    """Return the estimate at ``theta``, without the history of the search."""
    rho, alpha = _sides(model, theta)
    value, to_rho, to_alpha = model.gradient(rho, alpha)
    slope = np.concatenate([to_rho, to_alpha])
    scaled = _longest(scale.slope(slope))
    return MapEstimate(
        rho=rho.copy(),
        alpha=alpha.copy(),
        log_posterior=value,
        gradient_norm=float(np.linalg.norm(slope)),
        scaled_gradient=scaled,
        converged=scaled <= tolerance,
        iterations=0,
        evaluations=0,
        start_values=(value,),
        seconds=time.perf_counter() - began,
    )


def _longest(slope: Float64) -> float:
    return float(np.sqrt(np.max(np.sum(slope**2, axis=1))))


def _sides(model: Model, theta: Float64) -> tuple[Float64, Float64]:
    return theta[: model.counts.num_words], theta[model.counts.num_words :]


def _start(model: Model, dim: int, seed: int, start: int) -> Float64:
    """Small normals around the prior mean, addressed by start and row."""
    key = rng.make_key(seed, rng.START, chain=start, sweep=rng.Start.MODE)
    theta = np.empty((model.counts.num_words + model.counts.num_contexts, dim))
    for row in range(len(theta)):
        rng.fill_normals(key, row, 0, theta[row])
    precision, mean = _prior_rows(model, dim)
    return mean + START_SCALE * theta / np.sqrt(precision)


def _given(model: Model, dim: int, init: tuple[npt.ArrayLike, npt.ArrayLike]) -> Float64:
    rho, alpha = model.check(*init)
    if rho.shape[1] != dim:
        raise OptionError(f"init has vectors of {rho.shape[1]} coordinates; dim is {dim}; they must agree")
    if not (np.all(np.isfinite(rho)) and np.all(np.isfinite(alpha))):
        raise OptionError("init has values that are not finite; give finite ones")
    if not (np.any(rho) or np.any(alpha) or np.any(model.prior.rho.mean) or np.any(model.prior.alpha.mean)):
        raise OptionError("init is zero, where the gradient is zero too; give another one or none")
    return np.concatenate([rho, alpha])


def _prior_rows(model: Model, dim: int) -> tuple[Float64, Float64]:
    """Return precision (of each row given the others) and mean of the prior over the stacked rows."""
    sides = ((model.prior.rho, model.counts.num_words), (model.prior.alpha, model.counts.num_contexts))
    precision = np.concatenate([prior.precision_rows(rows, dim) for prior, rows in sides])
    return precision, np.concatenate([prior.mean_rows(rows, dim) for prior, rows in sides])


def _guessed_scale(model: Model, dim: int) -> Float64:
    """One over the square root of each row's curvature if the vectors of the other side had length one."""
    counts = model.counts
    samples = [_row_sums(side, side.n_pos + side.n_neg) for side in (counts.by_word, counts.by_context)]
    precision, _ = _prior_rows(model, dim)
    scale: Float64 = 1.0 / np.sqrt(
        precision.mean(axis=1) + counts.weight * np.concatenate(samples) / (4.0 * dim)
    )
    return scale[:, None]


def measured_scale(model: Model, theta: Float64) -> Float64:
    """One over the square root of each row's curvature at ``theta``, averaged over its axes."""
    precision, _ = _prior_rows(model, theta.shape[1])
    scale: Float64 = 1.0 / np.sqrt(precision.mean(axis=1) + _curvature_of_data(model, theta))
    return scale[:, None]


def conditional_sizes(model: Model, theta: Float64) -> Float64:
    """Return about the standard deviation of each coordinate given all other rows, (rows, K)."""
    precision, _ = _prior_rows(model, theta.shape[1])
    return np.asarray(1.0 / np.sqrt(precision + _curvature_of_data(model, theta)[:, None]))


def _curvature_of_data(model: Model, theta: Float64) -> Float64:
    """Return the curvature of the log likelihood along each row, averaged over its axes, (rows,)."""
    rho, alpha = _sides(model, theta)
    counts, weight = model.counts, model.curvature(rho, alpha).weight
    sides = (
        (counts.by_word, weight, alpha),
        (counts.by_context, weight[counts.permutation], rho),
    )
    return np.concatenate([_row_sums(side, w * np.mean(x**2, axis=1)[side.other]) for side, w, x in sides])


def _row_sums(side: Side, values: Array) -> Float64:
    rows = len(side.indptr) - 1
    return np.bincount(
        np.repeat(np.arange(rows), np.diff(side.indptr)), weights=values, minlength=rows
    ).astype(np.float64)
