r"""The Laplace approximation of chosen rows: their joint covariance, at any size of the model.

A column of :math:`(-H)^{-1}` is the solution of one linear system, found by conjugate gradients on products with
the Hessian; the inverse is never formed. From the solutions y of the right-hand sides b, with residuals r, the
covariance of two columns is :math:`b_i^\top y_j + y_i^\top r_j`, symmetrised: its error is the product of the errors
of both solutions, so a tolerance of 1e-3 leaves it right to about six digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads, default_threads
from bayesvec._types import Float64, Int64
from bayesvec.counts.names import Names
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.contract import Report, silent
from bayesvec.inference.laplace.solver import Elimination
from bayesvec.inference.laplace.space import Space, reach_mode
from bayesvec.kernels import rng
from bayesvec.model.density import Curvature, Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior

BLOCK = 128  # columns that are solved together: two words of 50 axes, or five of 25
NEGATIVE = 1e-9  # of the largest eigenvalue of a covariance: below zero by less is rounding


@dataclass(frozen=True, eq=False)
class RowsCovariance:
    """The Laplace approximation of some rows.

    Attributes
    ----------
    words, contexts : tuple of str
        Whose rows: the words' vectors come first, then the contexts'.
    mean : ndarray, shape (rows, K)
        The mode.
    covariance : ndarray, shape (rows * K, rows * K)
        Joint covariance of the rows, K coordinates per row; rotations are projected out.
    distance : float
        How far the place is off the exact mode, in posterior standard deviations.
    iterations : int
        Iterations of conjugate gradients, over all blocks of columns.
    """

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    mean: Float64
    covariance: Float64
    distance: float
    iterations: int

    def draws(self, count: int, *, seed: int = 0) -> Float64:
        """Return draws of the rows, (1, count, rows, K): one chain of independent ones.

        Parameters
        ----------
        count : int
            How many.
        seed : int, optional
            Decides the draws; draw i is the same for any ``count``.
        """
        variance, axes = np.linalg.eigh(self.covariance)
        # directions of no variance (rotations, if all rows were chosen) come out as zero up to rounding
        if variance[0] < -NEGATIVE * variance[-1]:
            raise NumericalError(
                f"the covariance has an eigenvalue of {variance[0]:.3g} beside {variance[-1]:.3g}, where none may "
                "be negative; compute it with a smaller tolerance"
            )
        noise = np.empty((count, len(variance)))
        for draw in range(count):
            rng.fill_normals(rng.make_key(seed, rng.APPROXIMATION, sweep=draw), 0, 0, noise[draw])
        change = (noise * np.sqrt(np.maximum(variance, 0.0))) @ axes.T
        return np.asarray(self.mean + change.reshape(1, count, *self.mean.shape))


def laplace_covariance(
    counts: PairCounts,
    prior: Prior,
    near: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    words: Sequence[str] = (),
    contexts: Sequence[str] = (),
    anchors: Anchors | None = None,
    tolerance: float = 1e-3,
    mode_tolerance: float = 1e-2,
    max_iterations: int = 1000,
    threads: int | None = None,
    report: Report | None = None,
) -> RowsCovariance:
    """Return the joint covariance of the vectors of chosen words and contexts under the Laplace approximation.

    For each coordinate of the rows it takes about 80 bytes times K for each context, and 8 K^2 bytes for each word
    and context beside that: some 2 GB for two words at 5000 words, 5000 contexts and K = 50.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    near : (array_like, array_like)
        A converged MAP (rho, alpha); Newton steps go from there to the exact mode.
    words, contexts : sequence of str
        The rows; at least one.
    anchors : Anchors, optional
        Context rows that stay fixed; without, rotations are projected out (if the prior has them).
    tolerance : float, optional
        Relative residual at which conjugate gradients stop; the covariance's relative error is its square.
    mode_tolerance : float, optional
        How far the place may be off the exact mode, in posterior standard deviations.
    max_iterations : int, optional
        Maximum number of iterations; an error is raised if they do not suffice.
    threads : int, optional
        Threads, by default one per processor. The result does not depend on it.
    report : callable, optional
        Given the progress.
    """
    from threadpoolctl import threadpool_limits

    word_rows, context_rows = _rows(counts, words, contexts)
    for name, value in (("tolerance", tolerance), ("mode_tolerance", mode_tolerance)):
        if not 0.0 < value < 1.0:
            raise OptionError(f"{name} is {value}; it must be between 0 and 1")
    if max_iterations < 1:
        raise OptionError(f"max_iterations is {max_iterations}; it must be 1 or more")

    report = report or silent

    def make_solver(curvature: Curvature, space: Space) -> Elimination:
        report("a Newton step to the mode")
        return Elimination(curvature, space, max_iterations=max_iterations)

    workers = Threads(default_threads() if threads is None else threads)
    with workers, threadpool_limits(1, "blas"):
        model = Model(counts, prior, threads=workers)
        mode = reach_mode(model, near, anchors, make_solver, tolerance=mode_tolerance)
        covariance, iterations = joint_covariance(mode.solver, word_rows, context_rows, tolerance, report)
    return RowsCovariance(
        words=tuple(words),
        contexts=tuple(contexts),
        mean=np.concatenate([mode.rho[word_rows], mode.alpha[context_rows]]),
        covariance=covariance,
        distance=mode.distance,
        iterations=iterations,
    )


def joint_covariance(
    solver: Elimination, word_rows: list[int], context_rows: list[int], tolerance: float, report: Report
) -> tuple[Float64, int]:
    """Return the covariance of all coordinates of some rows, and the iterations it took."""
    num_words, dim = solver.curvature.rho.shape
    rows = np.array([*word_rows, *(num_words + row for row in context_rows)])  # of [rho; alpha] stacked
    size = len(rows) * dim
    found = np.empty((size, size))
    solved, left = np.empty((2, solver.curvature.alpha.size, size))
    iterations = 0
    for first in range(0, size, BLOCK):
        columns = np.arange(first, min(first + BLOCK, size))
        right, shift = solver.reduce(*_units(solver.space, rows[columns // dim], columns % dim))
        where = f"covariance: columns {first + 1} to {columns[-1] + 1} of {size}"
        solution = solver.conjugate_gradients(right, tolerance, partial(_report, report, where))
        iterations += solution.iterations
        found[columns] = solver.complete(solution.x, shift)[rows].reshape(size, -1).T
        solved[:, columns], left[:, columns] = solution.x, solution.residual
    found += solved.T @ left
    return 0.5 * (found + found.T), iterations


def _report(report: Report, where: str, step: int, residual: float) -> None:
    report(f"{where}, step {step}, residual {residual:.1g}")


def _units(space: Space, rows: Int64, axes: Int64) -> tuple[Float64, Float64]:
    """Return the free part of some unit vectors, (num_words, K, S) and (num_contexts, K, S)."""
    (num_words, dim), num_contexts = space.rho.shape, len(space.alpha)
    unit = np.zeros((num_words + num_contexts, dim, len(rows)))
    unit[rows, axes, np.arange(len(rows))] = 1.0
    return space.project(unit[:num_words], unit[num_words:])


def _rows(counts: PairCounts, words: Sequence[str], contexts: Sequence[str]) -> tuple[list[int], list[int]]:
    if isinstance(words, str) or isinstance(contexts, str):
        raise OptionError("words and contexts are lists of words; one word is a list of one, ['dog']")
    if not words and not contexts:
        raise OptionError("no words are given; the covariance is that of at least one word or context")
    for given in (words, contexts):
        if len(set(given)) < len(given):
            raise OptionError(f"the words {', '.join(given)} are not all different; give each once")
    by_word, by_context = Names(counts.words), Names(counts.contexts)
    return by_word.rows(words).tolist(), by_context.rows(contexts).tolist()
