"""The log posterior and its gradient as one compiled function of one vector of free parameters.

For samplers that call it very often on small models: arrays are laid out once, nothing is checked, and the
interpreter's lock is released, so that chains run side by side in plain threads.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesvec._types import Bool, Float32, Float64, Int32, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.sides import make_coupling
from bayesvec.inference.start import jitter_sizes
from bayesvec.kernels import rng
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.coupling import Coupling
from bayesvec.kernels.density import combine_rows, gradient_rows
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior, RowPrior


class Data(NamedTuple):
    """What the log posterior is a function of beside the parameters."""

    by_word_indptr: Int64
    by_word_other: Int32
    n_pos: Int32
    n_neg: Int32
    by_context_indptr: Int64
    by_context_other: Int32
    permutation: Int64
    rho_prior: "Pull"
    alpha_prior: "Pull"
    constant: float  # of the prior
    weight: float  # of the likelihood


class Pull(NamedTuple):
    """The prior of one side."""

    free: Int64  # rows that are parameters
    fixed: Bool  # (rows,) those that are not
    precision: Float64  # (rows, K) of each row given the others
    mean: Float64  # (rows, K)
    coupling: Coupling


class Scratch(NamedTuple):
    """Arrays of one chain that are overwritten at each evaluation (but for the anchors in alpha)."""

    rho: Float64
    alpha: Float64
    to_rho: Float64
    to_alpha: Float64
    value: Float64  # (R,)
    residual: Float64  # (distinct pairs,)


@compiled
def _add_pull(
    prior: Pull, x: Float64, slope: Float64, weight: float, distance: float, first: int, gradient: Float64
) -> float:
    """Write the gradient of one side from ``first`` on; return ``distance`` plus the prior's of its free rows.

    ``slope`` is the gradient of the likelihood, which counts with its ``weight``.
    A free row and a fixed neighbour count once in each direction; what fixed rows have among themselves is a
    constant.
    """
    dim = x.shape[1]
    pulls = np.empty(dim)
    for i in range(len(prior.free)):
        row = prior.free[i]
        for k in range(dim):
            gap = x[row, k] - prior.mean[row, k]
            pulls[k] = prior.precision[row, k] * gap
            distance += pulls[k] * gap
        for entry in range(prior.coupling.indptr[row], prior.coupling.indptr[row + 1]):
            other, strength = prior.coupling.other[entry], prior.coupling.weight[entry]
            share = 2.0 if prior.fixed[other] else 1.0
            for k in range(dim):
                pull = strength * (x[other, k] - prior.mean[other, k])
                pulls[k] += pull
                distance += share * pull * (x[row, k] - prior.mean[row, k])
        for k in range(dim):
            gradient[first + i * dim + k] = weight * slope[row, k] - pulls[k]
    return distance


@compiled
def log_posterior(theta: Float64, data: Data, work: Scratch, gradient: Float64) -> float:
    """Return the log posterior at ``theta`` (rho row by row, then the free rows of alpha) and its gradient."""
    num_rows, dim = work.rho.shape
    split = num_rows * dim
    for w in range(num_rows):
        for k in range(dim):
            work.rho[w, k] = theta[w * dim + k]
    free = data.alpha_prior.free
    for i in range(len(free)):
        for k in range(dim):
            work.alpha[free[i], k] = theta[split + i * dim + k]
    gradient_rows(
        0,
        num_rows,
        data.by_word_indptr,
        data.by_word_other,
        data.n_pos,
        data.n_neg,
        work.rho,
        work.alpha,
        work.value,
        work.residual,
        work.to_rho,
    )
    work.to_alpha[:] = 0.0
    combine_rows(
        0,
        len(work.alpha),
        data.by_context_indptr,
        data.by_context_other,
        data.permutation,
        work.residual,
        work.rho,
        work.to_alpha,
    )
    distance = _add_pull(data.rho_prior, work.rho, work.to_rho, data.weight, 0.0, 0, gradient)
    distance = _add_pull(data.alpha_prior, work.alpha, work.to_alpha, data.weight, distance, split, gradient)
    total: float = data.constant + data.weight * work.value.sum() - 0.5 * distance
    return total


class Target:
    """The log posterior as a function of one vector of free parameters.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        Gaussian over the rows of either side.
    dim : int
        Number of axes, K.
    anchors : Anchors, optional
        Context rows that are no parameters.
    """

    def __init__(self, counts: PairCounts, prior: Prior, dim: int, *, anchors: Anchors | None = None) -> None:
        self.shapes = (counts.num_words, dim), (counts.num_contexts, dim)
        self.num_pairs = counts.num_pairs
        self.anchors = anchors
        free = np.ones(counts.num_contexts, dtype=bool)
        at_mean = [
            _table(side.mean, shape)
            for side, shape in zip((prior.rho, prior.alpha), self.shapes, strict=True)
        ]
        if anchors is not None:
            free[anchors.rows] = False
            at_mean[1][anchors.rows] = anchors.values  # their share of the prior is a constant
        words, contexts = counts.by_word, counts.by_context
        self.data = Data(
            words.indptr,
            words.other,
            words.n_pos,
            words.n_neg,
            contexts.indptr,
            contexts.other,
            counts.permutation,
            _pull(prior.rho, self.shapes[0], np.ones(counts.num_words, dtype=bool)),
            _pull(prior.alpha, self.shapes[1], free),
            prior.log_density(*at_mean),
            counts.weight,
        )
        self.free = self.data.alpha_prior.free
        self.num_parameters = (counts.num_words + len(self.free)) * dim

    def function(self) -> Callable[[Float64], tuple[float, Float64]]:
        """Return the log posterior with its gradient, on scratch arrays of its own: one for each thread."""
        (num_words, dim), (num_contexts, _) = self.shapes
        work = Scratch(
            np.empty((num_words, dim)),
            np.empty((num_contexts, dim)),
            np.empty((num_words, dim)),
            np.empty((num_contexts, dim)),
            np.empty(num_words),
            np.empty(self.num_pairs),
        )
        if self.anchors is not None:
            work.alpha[self.anchors.rows] = self.anchors.values
        data, size = self.data, self.num_parameters

        def evaluate(theta: Float64) -> tuple[float, Float64]:
            gradient = np.empty(size)
            return log_posterior(theta, data, work, gradient), gradient

        return evaluate

    def start(self, seed: int, chain: int, around: tuple[Float64, Float64] | None = None) -> Float64:
        """Return where a chain starts, with noise of its own: near ``around``, or N(0, 1/K) without it."""
        theta = np.empty(self.num_parameters)
        rng.fill_normals(rng.make_key(seed, rng.START, chain=chain, sweep=rng.Start.JITTER), 0, 0, theta)
        if around is None:
            return np.asarray(theta / np.sqrt(self.shapes[0][1]))
        rho, alpha = around[0], around[1][self.free]
        sizes = [np.broadcast_to(jitter_sizes(rows), rows.shape).ravel() for rows in (rho, alpha)]
        return np.asarray(np.concatenate([rho.ravel(), alpha.ravel()]) + np.concatenate(sizes) * theta)

    def unpack(self, theta: Float64, rho: Float32, alpha: Float32) -> None:
        """Write the rows of ``theta`` to ``rho`` and ``alpha``; anchors are left as they are."""
        rho[:] = theta[: rho.size].reshape(rho.shape)
        alpha[self.free] = theta[rho.size :].reshape(-1, alpha.shape[1])


def _pull(prior: RowPrior, shape: tuple[int, int], free: Bool) -> Pull:
    empty = Coupling(np.zeros(shape[0] + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))
    return Pull(
        np.flatnonzero(free),
        ~free,
        _table(prior.precision_rows(*shape), shape),
        _table(prior.mean, shape),
        empty if prior.neighbours is None else make_coupling(prior.neighbours),
    )


def _table(values: Float64, shape: tuple[int, int]) -> Float64:
    return np.broadcast_to(values, shape).copy()
