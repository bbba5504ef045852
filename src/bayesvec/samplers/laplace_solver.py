r"""Solving with the negative Hessian at any size, by conjugate gradients on the contexts' Schur complement.

With the blocks A of the words, D of the contexts and C between them, the words are eliminated by their K x K
blocks, and conjugate gradients solve with :math:`S = D - C^\top A^{-1} C`, which is only ever multiplied. The
preconditioner has two parts. The blocks of D take care of rows that differ in how much data they have. The
directions :math:`(-\rho X, \alpha X)`, X symmetric, change no product :math:`\rho_w^\top \alpha_v`: only the
prior holds them, and they would be the last to converge. At a balanced mode, with
:math:`\rho^\top P \rho = \alpha^\top P \alpha = \mathrm{diag}(m)` on its axes, the Hessian over them is
diagonal, :math:`2 \sum_{ij} (m_i + m_j) X_{ij}^2`, and so is solved at once.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec.counts import Side
from bayesvec.errors import NumericalError
from bayesvec.kernels.mixed import mixed_rows
from bayesvec.model import Curvature
from bayesvec.samplers.laplace_space import RANK_TOLERANCE, Space, indefinite

Float64 = npt.NDArray[np.float64]

BATCH = 8  # right-hand sides that share one pass over the pairs


class Solution(NamedTuple):
    """What conjugate gradients found for a batch of right-hand sides."""

    x: Float64  # (C, S, K)
    residual: Float64  # (C, S, K)
    iterations: int


class Elimination:
    """The negative Hessian at one place with the words eliminated; directions are (rows, S, K), S at a time.

    Parameters
    ----------
    curvature : Curvature
        The Hessian.
    space : Space
        What is free.
    tolerance : float, optional
        Residual to stop at, relative to that of zero, in the norm of the preconditioner.
    max_iterations : int, optional
        Iterations at most, for each batch.
    """

    def __init__(
        self, curvature: Curvature, space: Space, *, tolerance: float = 1e-5, max_iterations: int = 1000
    ) -> None:
        counts = curvature.model.counts
        self.curvature = curvature
        self.space = space
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        # K x K inverses, of precisions that a prior keeps away from zero: applied some hundred times each
        self._word_inverse = _inverse(-curvature.rho_blocks())
        self._context = -curvature.alpha_blocks()
        self._context_inverse = _inverse(self._context)
        self._by_word = curvature.residual, curvature.weight
        self._by_context = curvature.residual[counts.permutation], curvature.weight[counts.permutation]
        # held by the prior at the mode: alpha^T P alpha is the mean over both sides if it is not quite balanced
        prior, (rho, alpha) = curvature.model.prior, (curvature.rho, curvature.alpha)
        held = rho.T @ -prior.rho.hessian_product(rho) + alpha.T @ -prior.alpha.hessian_product(alpha)
        strength, self._axes = np.linalg.eigh(0.5 * held)
        total = strength[:, None] + strength
        full = total > np.sqrt(RANK_TOLERANCE) * max(float(strength[-1]), 0.0)
        self._softness = np.divide(0.25, total, out=np.zeros_like(total), where=full)

    def solve(self, d_rho: Float64, d_alpha: Float64) -> tuple[Float64, Float64]:
        """Return the inverse of the negative Hessian times one direction."""
        right, shift = self.reduce(d_rho[:, None], d_alpha[:, None])
        x = self.complete(self.conjugate_gradients(right).x, shift)[:, 0]
        return x[: len(d_rho)], x[len(d_rho) :]

    def complete(self, alpha: Float64, shift: Float64) -> Float64:
        r"""Return the solution over both sides stacked, with :math:`\rho = A^{-1} (b_\rho - C \alpha)`.

        Parameters
        ----------
        alpha : ndarray
            The contexts' solution.
        shift : ndarray
            What `reduce` returned beside their right-hand side.
        """
        rho = shift - _times(self._word_inverse, self.to_words(alpha))
        return np.concatenate(self.space.project(rho, alpha))

    def reduce(self, b_rho: Float64, b_alpha: Float64) -> tuple[Float64, Float64]:
        r"""Return the contexts' right side :math:`b_\alpha - C^\top A^{-1} b_\rho`, and :math:`A^{-1} b_\rho`."""
        shift = _times(self._word_inverse, b_rho)
        return self.space.project_contexts(b_alpha - self.to_contexts(shift)), shift

    def to_words(self, direction: Float64) -> Float64:
        """Return C times directions of the contexts."""
        return self._mixed(
            self.curvature.model.counts.by_word,
            self._by_word,
            (self.curvature.rho, self.curvature.alpha),
            direction,
        )

    def to_contexts(self, direction: Float64) -> Float64:
        """Return the transpose of C times directions of the words."""
        return self._mixed(
            self.curvature.model.counts.by_context,
            self._by_context,
            (self.curvature.alpha, self.curvature.rho),
            direction,
        )

    def product(self, direction: Float64) -> Float64:
        """Return the Schur complement times directions of the contexts."""
        back = self.to_contexts(_times(self._word_inverse, self.to_words(direction)))
        return self.space.project_contexts(_times(self._context, direction) - back)

    def precondition(self, residual: Float64) -> Float64:
        """Return nearly the inverse of the Schur complement times residuals."""
        out = _times(self._context_inverse, residual)
        if self.space.turns:
            alpha = self.curvature.alpha
            cross = np.tensordot(residual, alpha, (0, 0))  # (S, K, K)
            cross = self._axes.T @ (cross + cross.transpose(0, 2, 1)) @ self._axes
            out += np.tensordot(alpha, self._axes @ (self._softness * cross) @ self._axes.T, (1, 1))
        return self.space.project_contexts(out)

    def conjugate_gradients(
        self, right: Float64, report: Callable[[int, float], None] | None = None
    ) -> Solution:
        """Solve with the Schur complement for a batch of right-hand sides (C, S, K).

        Parameters
        ----------
        right : ndarray
            The right-hand sides.
        report : callable, optional
            Told the iteration and the largest relative residual.
        """
        x, residual = np.zeros_like(right), right.copy()
        conditioned = self.precondition(residual)
        size = first = _dot(residual, conditioned)  # (S,)
        direction = conditioned.copy()
        goal = self.tolerance**2 * first
        for iteration in range(self.max_iterations + 1):
            active = size > goal
            if not np.any(active):
                return Solution(x, residual, iteration)
            product = self.product(direction)
            bend = _dot(direction, product)
            self._check(direction, bend, active)
            step = np.divide(size, bend, out=np.zeros_like(size), where=active)[:, None]
            x += step * direction
            residual -= step * product
            conditioned = self.precondition(residual)
            before, size = size, np.where(active, _dot(residual, conditioned), size)
            share = np.divide(size, before, out=np.zeros_like(size), where=active)[:, None]
            direction *= share
            direction += conditioned
            if report is not None:
                report(iteration + 1, float(np.sqrt(np.max(size[first > 0] / first[first > 0]))))
        raise NumericalError(
            f"conjugate gradients have left {np.sqrt(np.max(size / first)):.1g} of the residual after "
            f"{self.max_iterations} iterations ({self.tolerance:g} was asked for); allow more iterations or a "
            "larger tolerance, or take a larger prior precision"
        )

    def _check(self, direction: Float64, bend: Float64, active: npt.NDArray[np.bool_]) -> None:
        if np.all(bend[active] > 0.0):
            return
        worst = int(np.argmin(np.where(active, bend, np.inf)))
        alpha = np.ascontiguousarray(direction[:, worst : worst + 1])
        rho = -_times(self._word_inverse, self.to_words(alpha))
        raise indefinite(self.curvature, self.space, rho[:, 0], alpha[:, 0])

    def _mixed(
        self,
        side: Side,
        entries: tuple[Float64, Float64],
        vectors: tuple[Float64, Float64],
        direction: Float64,
    ) -> Float64:
        out = np.empty((len(vectors[0]), *direction.shape[1:]))
        direction = np.ascontiguousarray(direction)
        threads = self.curvature.model.threads
        threads.run(
            lambda a, b, _: mixed_rows(a, b, side.indptr, side.other, *entries, *vectors, direction, out),
            threads.chunks(np.diff(side.indptr) + 1),
        )
        return out


def _inverse(blocks: Float64) -> Float64:
    return np.asarray(np.linalg.inv(blocks), dtype=np.float64)


def _times(blocks: Float64, direction: Float64) -> Float64:
    """Return symmetric blocks (rows, K, K) times directions (rows, S, K)."""
    return np.asarray(np.matmul(direction, blocks))


def _dot(x: Float64, y: Float64) -> Float64:
    return np.asarray(np.einsum("csk,csk->s", x, y))
