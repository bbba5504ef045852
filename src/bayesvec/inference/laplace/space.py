r"""The parameters that are free at a mode, and the way there: what both Laplace solvers share.

Under an isotropic prior the posterior does not change along the rotations
:math:`\theta \to \theta + \theta X`, X antisymmetric: at the mode the Hessian is singular there. They are
projected out, which is to first order what aligning a draw with the mode does (`bayesvec.model.identification`). With
anchors there are no rotations left; the anchors' rows are taken out before anything is factored.
"""

import math
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.errors import NumericalError
from bayesvec.model.density import Curvature, Model
from bayesvec.model.identification import Anchors, to_gauge
from bayesvec.priors import Prior

RANK_TOLERANCE = 1e-12  # of the largest squared singular value, below which an axis is empty
NEWTON_STEPS = 30
NEWTON_TOLERANCE = 1e-6  # posterior standard deviations that the place may be off the mode
HALVINGS = 30
LANCZOS_RESTARTS = 20
ROUNDING = 1e-13  # of the log posterior, by which it may seem to fall


class Space:
    r"""The directions in which the parameters are free at one place.

    Parameters
    ----------
    rho, alpha : ndarray
        The place.
    prior : Prior
        If it is isotropic, and nothing is anchored, there are rotations to project out.
    anchors : Anchors, optional
        Context rows that stay fixed.
    """

    def __init__(self, rho: Float64, alpha: Float64, prior: Prior, anchors: Anchors | None) -> None:
        self.rho = rho
        self.alpha = alpha
        self.fixed = np.zeros(len(alpha), dtype=bool)
        if anchors is not None:
            self.fixed[anchors.rows] = True
        self.rotates = anchors is None and prior.is_isotropic
        self._both = _Rotations(np.concatenate([rho, alpha]))
        self._contexts = _Rotations(alpha)

    @property
    def num_flat(self) -> int:
        """Number of independent rotations that are projected out."""
        return self._both.count if self.rotates else 0

    @property
    def num_free(self) -> int:
        """Number of parameters that are not anchored."""
        return int(self.rho.size + np.count_nonzero(~self.fixed) * self.alpha.shape[1])

    def project(self, d_rho: Float64, d_alpha: Float64) -> tuple[Float64, Float64]:
        """Return the part of directions that is free, given as (rows, K) or (rows, K, S)."""
        if self.rotates:
            stacked = np.concatenate([d_rho, d_alpha])
            stacked -= self._both.nearest(stacked)
            return stacked[: len(d_rho)], stacked[len(d_rho) :]
        return d_rho, self.unanchored(d_alpha)

    def project_contexts(self, direction: Float64) -> Float64:
        """Return directions of the contexts (num_contexts, K, S) less anchors and rotations of alpha alone."""
        return direction - self.context_rotation(direction) if self.rotates else self.unanchored(direction)

    def context_rotation(self, direction: Float64) -> Float64:
        """Return the rotations of alpha alone that are nearest to directions (num_contexts, K, S)."""
        return self._contexts.nearest(direction)

    def unanchored(self, direction: Float64) -> Float64:
        """Return directions of the contexts that are zero at the anchors."""
        if not np.any(self.fixed):
            return direction
        out = direction.copy()
        out[self.fixed] = 0.0
        return out

    def context_rotations(self) -> Float64:
        """Return the alpha part of every rotation, (rotations, num_contexts, K), not normalised."""
        dim = self.alpha.shape[1]
        i, j = np.triu_indices(dim, 1)
        size = np.arange(len(i))
        rotated = np.zeros((len(i), len(self.alpha), dim))
        rotated[size, :, j] = self.alpha.T[i]
        rotated[size, :, i] = -self.alpha.T[j]
        return rotated


class _Rotations:
    r"""The rotations :math:`\theta X` of some rows."""

    def __init__(self, theta: Float64) -> None:
        self.theta = theta
        square, self._axes = np.linalg.eigh(theta.T @ theta)
        self._sum = square[:, None] + square
        # rotating two empty axes into each other changes nothing
        self._moves = self._sum > RANK_TOLERANCE * max(square[-1], 0.0)
        np.fill_diagonal(self._moves, val=False)
        self.count = int(np.count_nonzero(self._moves)) // 2

    def nearest(self, direction: Float64) -> Float64:
        r"""Return the rotation that is nearest to each direction D, given as (rows, K) or (rows, K, S).

        It solves :math:`\theta^\top\theta X + X \theta^\top\theta = \theta^\top D - D^\top\theta`; on the principal
        axes that is one division per entry.
        """
        rows, dim = self.theta.shape
        cross = (self.theta.T @ direction.reshape(rows, -1)).reshape(dim, dim, -1)
        cross = self._axes.T @ (cross - cross.transpose(1, 0, 2)).transpose(2, 0, 1) @ self._axes  # (S, K, K)
        rotation = np.divide(cross, self._sum, out=np.zeros_like(cross), where=self._moves)
        rotation = (self._axes @ rotation @ self._axes.T).transpose(1, 2, 0)
        return np.asarray((self.theta @ rotation.reshape(dim, -1)).reshape(direction.shape))


class Solver(Protocol):
    """Solves with the negative Hessian at one place."""

    def solve(self, d_rho: Float64, d_alpha: Float64) -> tuple[Float64, Float64]:
        """Return the inverse of the negative Hessian times a direction, over the free parameters."""


S = TypeVar("S", bound=Solver)


class Mode(NamedTuple, Generic[S]):
    """A mode of the posterior, and the solver there."""

    rho: Float64
    alpha: Float64
    log_posterior: float
    distance: float  # to the exact mode, in posterior standard deviations
    steps: int
    solver: S


def reach_mode(
    model: Model,
    near: tuple[npt.ArrayLike, npt.ArrayLike],
    anchors: Anchors | None,
    make_solver: Callable[[Curvature, Space], S],
    *,
    tolerance: float = NEWTON_TOLERANCE,
) -> Mode[S]:
    r"""Take the last steps to the mode by Newton's method.

    The distance left is :math:`\sqrt{g^\top H^{-1} g}` with the gradient g: that to the mode of the quadratic,
    in standard deviations of the Laplace approximation along that line.

    Parameters
    ----------
    model : Model
        Whose posterior it is.
    near : (array_like, array_like)
        A place (rho, alpha) near the mode, such as an L-BFGS optimum.
    anchors : Anchors, optional
        Context rows that stay at their values.
    make_solver : callable
        Makes the solver from the curvature at a place; raises a `NumericalError` if that is not definite.
    tolerance : float, optional
        How far the place may be off the mode, in those standard deviations.
    """
    rho, alpha = (side.copy() for side in model.check(*near))
    if anchors is not None and not np.array_equal(alpha[anchors.rows], anchors.values):
        rho, alpha = (np.asarray(side, dtype=np.float64) for side in to_gauge(rho, alpha, anchors))
        alpha[anchors.rows] = anchors.values
    for step in range(NEWTON_STEPS):
        value, *slope = model.gradient(rho, alpha)
        space = Space(rho, alpha, model.prior, anchors)
        slope[1][space.fixed] = 0.0
        solver = make_solver(model.curvature(rho, alpha), space)
        move = space.project(*solver.solve(*slope))
        gain = sum(float(np.vdot(g, d)) for g, d in zip(slope, move, strict=True))
        distance = math.sqrt(max(gain, 0.0))
        if distance < tolerance:
            return Mode(rho, alpha, value, distance, step, solver)
        rho, alpha = _line_search(model, (rho, alpha), move, value, gain)
    raise NumericalError(
        f"the mode was not reached in {NEWTON_STEPS} Newton steps: the place is still {distance:.2g} posterior "
        "standard deviations away; give a MAP of a smaller tolerance, or take a larger prior precision"
    )


def _line_search(
    model: Model, place: tuple[Float64, Float64], move: tuple[Float64, Float64], value: float, gain: float
) -> tuple[Float64, Float64]:
    """Halve a Newton step until the log posterior rises by a fair part of what the quadratic predicts."""
    size = 1.0
    for _ in range(HALVINGS):
        rho, alpha = (side + size * change for side, change in zip(place, move, strict=True))
        if model.log_posterior(rho, alpha) >= value + 0.1 * size * gain - ROUNDING * abs(value):
            return rho, alpha
        size *= 0.5
    raise NumericalError(
        "no step along the Newton direction raises the log posterior; "
        "give a MAP of a smaller tolerance, or take a larger prior precision"
    )


def indefinite(curvature: Curvature, space: Space, d_rho: Float64, d_alpha: Float64) -> NumericalError:
    """Return the error for a Hessian that is not definite, which names the direction at fault.

    Parameters
    ----------
    curvature : Curvature
        The Hessian.
    space : Space
        What is free.
    d_rho, d_alpha : ndarray
        A free direction along which the log posterior does not fall.
    """
    names, split = curvature.model.counts, len(d_rho)
    bend, direction = _lowest(curvature, space, np.concatenate([d_rho, d_alpha]))
    length = np.sum(direction**2, axis=1)
    word = names.words[int(np.argmax(length[:split]))]
    context = names.contexts[int(np.argmax(length[split:]))]
    return NumericalError(
        f"the negative Hessian is not positive definite: it is {bend:.3g} along a direction that moves the word "
        f"{word!r} and the context {context!r} the most, so this place is no mode with a Gaussian shape; "
        "converge the MAP further (smaller tolerance, more starts), take a larger prior precision or a "
        "smaller dim, or use method='gibbs'",
        word=word,
    )


def _lowest(curvature: Curvature, space: Space, direction: Float64) -> tuple[float, Float64]:
    """Return the lowest eigenvalue and its direction, nearly, by Lanczos' method from a direction (rows, K)."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    shape, split = direction.shape, len(curvature.rho)

    def product(flat: Float64) -> Float64:
        rows = np.concatenate(space.project(*np.split(flat.reshape(shape), [split])))
        moved = curvature.product(*np.split(rows, [split]))
        return -np.concatenate(space.project(*moved)).ravel()

    operator = LinearOperator((direction.size, direction.size), matvec=product, dtype=np.float64)
    start = direction.ravel()
    try:
        values, vectors = eigsh(operator, k=1, which="SA", v0=start, tol=1e-2, maxiter=LANCZOS_RESTARTS)
    except ArpackNoConvergence:  # what was given is such a direction too, if not the lowest
        return float(start @ product(start) / (start @ start)), direction
    return float(values[0]), vectors[:, 0].reshape(shape)
