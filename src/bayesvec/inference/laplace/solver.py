r"""Solving with the negative Hessian at any size: conjugate gradients on the contexts' Schur complement.

With the blocks A of the words, D of the contexts and C between them, the words are eliminated by their K x K
blocks, and the Schur complement :math:`S = D - C^\top A^{-1} C` is only ever multiplied. It is scaled by the Cholesky
factors L of the blocks of D, which takes care of rows that differ in how much data they have: of
:math:`L^{-1} S L^{-\top}` all eigenvalues are between 0 and 1. Where the posterior is flat, along the rotations
:math:`\alpha X`, a multiple of the projection on them is added; no solution for a right-hand side without rotations
is changed by that.

Right-hand sides are solved together in one block, so that each gains from the directions of all: this is the
method of O'Leary (1980) in the form of Dubrulle (2001, "Retooling the method of block conjugate gradients",
BCGrQ), which keeps the residuals orthonormal and so needs no care when some converge before others.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.counts.pairs import Side
from bayesvec.errors import NumericalError
from bayesvec.inference.laplace.space import Space, indefinite
from bayesvec.kernels.mixed import WIDTH, mixed_rows
from bayesvec.model.density import Curvature

Steps = Callable[[int, float], None]  # iteration, largest relative residual

ROUGH = 0.1  # relative residual of a Newton step: the next one starts ten times nearer to the mode


class Solution(NamedTuple):
    """What conjugate gradients found, in scaled variables."""

    x: Float64  # (C K, S)
    residual: Float64  # (C K, S)
    iterations: int


class Elimination:
    """The negative Hessian at one place with the words eliminated; directions are (rows, K, S), S at a time.

    Parameters
    ----------
    curvature : Curvature
        The Hessian.
    space : Space
        What is free.
    max_iterations : int, optional
        Iterations at most.
    """

    def __init__(self, curvature: Curvature, space: Space, *, max_iterations: int = 1000) -> None:
        counts = curvature.model.counts
        self.curvature = curvature
        self.space = space
        self.max_iterations = max_iterations
        self._solve_words = _word_solver(curvature)
        self._context_neighbours = curvature.model.prior.alpha.neighbours
        blocks = -curvature.alpha_blocks()
        self._stiffness = float(np.trace(blocks.mean(axis=0))) / blocks.shape[1]
        self._unscale = _inverse(np.linalg.cholesky(blocks))  # L^-1
        self._by_word = curvature.residual, curvature.weight
        self._by_context = curvature.residual[counts.permutation], curvature.weight[counts.permutation]

    def solve(self, d_rho: Float64, d_alpha: Float64) -> tuple[Float64, Float64]:
        """Return nearly the inverse of the negative Hessian times one direction, for a Newton step."""
        right, shift = self.reduce(d_rho[:, :, None], d_alpha[:, :, None])
        x = self.complete(self.conjugate_gradients(right, ROUGH).x, shift)[:, :, 0]
        return x[: len(d_rho)], x[len(d_rho) :]

    def reduce(self, b_rho: Float64, b_alpha: Float64) -> tuple[Float64, Float64]:
        r"""Return scaled right sides :math:`L^{-1} (b_\alpha - C^\top A^{-1} b_\rho)` and :math:`A^{-1} b_\rho`."""
        shift = self._solve_words(b_rho)
        right = self._unscale @ self.space.project_contexts(b_alpha - self._to_contexts(shift))
        return right.reshape(-1, right.shape[2]), shift

    def complete(self, scaled: Float64, shift: Float64) -> Float64:
        r"""Return solutions over both sides stacked, with :math:`\rho = A^{-1} (b_\rho - C \alpha)`.

        Parameters
        ----------
        scaled : ndarray
            The contexts' solutions in scaled variables.
        shift : ndarray
            What `reduce` returned beside their right-hand sides.
        """
        alpha = self.unscaled(scaled)
        rho = shift - self._solve_words(self._to_words(alpha))
        return np.concatenate(self.space.project(rho, alpha))

    def unscaled(self, scaled: Float64) -> Float64:
        """Return directions of the contexts (C, K, S) from scaled columns (C K, S)."""
        direction = scaled.reshape(*self.curvature.alpha.shape, -1)
        return self.space.unanchored(self._unscale.transpose(0, 2, 1) @ direction)

    def product(self, scaled: Float64) -> Float64:
        """Return the scaled Schur complement, definite along rotations, times columns (C K, S)."""
        direction = self.unscaled(scaled)
        change = -self._to_contexts(self._solve_words(self._to_words(direction)))
        if self._context_neighbours is not None:
            flat = direction.reshape(len(direction), -1)
            change += (self._context_neighbours @ flat).reshape(direction.shape)
        change = self.space.unanchored(change)
        if self.space.rotates:
            change += self._stiffness * self.space.context_rotation(direction)
        return scaled + (self._unscale @ change).reshape(scaled.shape)

    def conjugate_gradients(self, right: Float64, tolerance: float, report: Steps | None = None) -> Solution:
        """Solve for scaled right-hand sides (C K, S), all in one block.

        Parameters
        ----------
        right : ndarray
            The right-hand sides.
        tolerance : float
            Residual to stop at, relative to the right-hand side, both scaled.
        report : callable, optional
            Told the iteration and the largest relative residual.
        """
        goal = tolerance * np.linalg.norm(right, axis=0)
        x = np.zeros_like(right)
        basis, left = np.linalg.qr(right)  # the residuals are basis @ left
        direction = basis
        for iteration in range(self.max_iterations + 1):
            size = np.linalg.norm(left, axis=0)
            if report is not None:
                report(iteration, _relative(size, goal) * tolerance)
            if np.all(size <= goal):
                return Solution(x, basis @ left, iteration)
            product = self.product(direction)
            step = self._step(direction, product)  # the inverse of direction^T S direction
            x += direction @ (step @ left)
            basis, share = np.linalg.qr(basis - product @ step)
            direction = basis + direction @ share.T
            left = share @ left
        raise NumericalError(
            f"conjugate gradients have left {_relative(size, goal) * tolerance:.1g} of the residual after "
            f"{self.max_iterations} iterations ({tolerance:g} was asked for); allow more iterations or a "
            "larger tolerance, or take a larger prior precision"
        )

    def _step(self, direction: Float64, product: Float64) -> Float64:
        """Invert the small matrix of a block's directions, or name a direction along which it is not definite."""
        bend, axes = np.linalg.eigh(direction.T @ product)
        if not bend[0] > 0.0:
            alpha = self.unscaled(direction @ axes[:, :1])
            rho = -self._solve_words(self._to_words(alpha))
            raise indefinite(self.curvature, self.space, rho[:, :, 0], alpha[:, :, 0])
        return np.asarray((axes / bend) @ axes.T)

    def _to_words(self, direction: Float64) -> Float64:
        """Return C times directions of the contexts."""
        curvature = self.curvature
        return self._mixed(
            curvature.model.counts.by_word, self._by_word, curvature.rho, curvature.alpha, direction
        )

    def _to_contexts(self, direction: Float64) -> Float64:
        """Return the transpose of C times directions of the words."""
        curvature = self.curvature
        return self._mixed(
            curvature.model.counts.by_context, self._by_context, curvature.alpha, curvature.rho, direction
        )

    def _mixed(
        self, side: Side, entries: tuple[Float64, Float64], x: Float64, y: Float64, direction: Float64
    ) -> Float64:
        threads, (rows, dim, size) = self.curvature.model.threads, direction.shape
        chunks = threads.chunks(np.diff(side.indptr) + 1)
        out = np.empty((len(x), dim, size))
        for first in range(0, size, WIDTH):
            some = direction[:, :, first : first + WIDTH]
            full, part = np.zeros((rows, dim, WIDTH)), np.empty((len(x), dim * WIDTH))
            full[:, :, : some.shape[2]] = some

            def work(a: int, b: int, _: int, full: Float64 = full, part: Float64 = part) -> None:
                mixed_rows(a, b, side.indptr, side.other, *entries, x, y, full.reshape(rows, -1), part)

            threads.run(work, chunks)
            out[:, :, first : first + WIDTH] = part.reshape(len(x), dim, WIDTH)[:, :, : some.shape[2]]
        return out


def _word_solver(curvature: Curvature) -> Callable[[Float64], Float64]:
    """Return a function that multiplies directions of the words (R, K, S) by the inverse of their block A."""
    # K x K inverses, of precisions that a prior keeps away from zero: each is applied some hundred times
    blocks, neighbours = -curvature.rho_blocks(), curvature.model.prior.rho.neighbours
    if neighbours is None:
        inverse = _inverse(blocks)
        return lambda right: inverse @ right
    from scipy.sparse import bsr_array, csc_array, eye_array, kron
    from scipy.sparse.linalg import splu

    rows, dim = curvature.rho.shape
    own = bsr_array((blocks, np.arange(rows), np.arange(rows + 1)), shape=(rows * dim, rows * dim))
    factor = splu(
        csc_array(own + kron(neighbours, eye_array(dim))),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return lambda right: np.asarray(factor.solve(right.reshape(rows * dim, -1))).reshape(right.shape)


def _relative(size: Float64, goal: Float64) -> float:
    return float(np.max(size[goal > 0.0] / goal[goal > 0.0], initial=0.0))


def _inverse(blocks: npt.NDArray[np.floating]) -> Float64:
    return np.asarray(np.linalg.inv(blocks), dtype=np.float64)
