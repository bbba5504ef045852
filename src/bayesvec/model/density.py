r"""The posterior density of the word vectors: log likelihood, gradient and Hessian over pair counts.

For each pair with :math:`n^+` positive and :math:`n^-` negative samples, :math:`n = n^+ + n^-` and
:math:`\eta = \rho_w^\top \alpha_v`,

.. math:: \ell = n^+ \log \sigma(\eta) + n^- \log \sigma(-\eta),

    \partial \ell / \partial \rho_w = r \alpha_v, \qquad r = n^+ - n \sigma(\eta),

    \partial^2 \ell / \partial \rho_w \partial \rho_w^\top = - n \sigma'(\eta) \alpha_v \alpha_v^\top, \qquad
    \partial^2 \ell / \partial \rho_w \partial \alpha_v^\top = r I - n \sigma'(\eta) \alpha_v \rho_w^\top.

The log likelihood is multiplied by the weight of the counts, and so are its derivatives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import WORTH_SHARING, Threads
from bayesvec._types import Float64, Int64
from bayesvec.counts.documents import offsets
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.errors import OptionError
from bayesvec.kernels import density
from bayesvec.priors import Prior

SERIAL = Threads(1)


class Gradient(NamedTuple):
    """A log density and its gradient."""

    value: float
    rho: Float64  # (num_words, K)
    alpha: Float64  # (num_contexts, K)


class Model:
    """The posterior density given some counts; results do not depend on the number of threads.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    threads : Threads, optional
        Threads that share the rows; by default only the caller's.
    """

    def __init__(self, counts: PairCounts, prior: Prior, *, threads: Threads = SERIAL) -> None:
        self.counts = counts
        self.prior = prior
        self.threads = threads

    def log_likelihood(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> float:
        """Return the log likelihood of ``rho`` (num_words, K) and ``alpha`` (num_contexts, K)."""
        x, y = self.check(rho, alpha)
        side = self.counts.by_word
        value = np.empty(len(x))
        self._over_rows(side, x, lambda a, b: density.likelihood_rows(a, b, *side, x, y, value))
        return self.counts.weight * float(value.sum())

    def log_prior(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> float:
        """Return the log density of the prior, normalising constant included."""
        return self.prior.log_density(*self.check(rho, alpha))

    def log_posterior(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> float:
        """Return log likelihood plus log prior (the posterior up to a constant that depends on the data)."""
        return self.log_likelihood(rho, alpha) + self.log_prior(rho, alpha)

    def likelihood_gradient(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> Gradient:
        """Return the log likelihood and its gradient."""
        x, y = self.check(rho, alpha)
        words, contexts, permutation = self.counts.by_word, self.counts.by_context, self.counts.permutation
        value, residual = np.empty(len(x)), np.empty(self.counts.num_pairs)
        to_rho, to_alpha = np.empty_like(x), np.zeros_like(y)
        self._over_rows(
            words, x, lambda a, b: density.gradient_rows(a, b, *words, x, y, value, residual, to_rho)
        )
        self._over_rows(
            contexts,
            x,
            lambda a, b: density.combine_rows(
                a, b, contexts.indptr, contexts.other, permutation, residual, x, to_alpha
            ),
        )
        weight = self.counts.weight
        return Gradient(weight * float(value.sum()), weight * to_rho, weight * to_alpha)

    def gradient(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> Gradient:
        """Return the log posterior and its gradient."""
        x, y = self.check(rho, alpha)
        value, to_rho, to_alpha = self.likelihood_gradient(x, y)
        to_rho += self.prior.rho.gradient(x)
        to_alpha += self.prior.alpha.gradient(y)
        return Gradient(value + self.prior.log_density(x, y), to_rho, to_alpha)

    def curvature(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> "Curvature":
        """Return the Hessian of the log posterior at this point, for products and blocks."""
        x, y = self.check(rho, alpha)
        side = self.counts.by_word
        residual, weight = np.empty(self.counts.num_pairs), np.empty(self.counts.num_pairs)
        self._over_rows(side, x, lambda a, b: density.curvature_rows(a, b, *side, x, y, residual, weight))
        residual *= self.counts.weight
        weight *= self.counts.weight
        return Curvature(self, x.copy(), y.copy(), residual, weight)

    def check(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return both sides as contiguous float64, or raise if they do not fit the counts or each other."""
        # writeable too: one type of array is one compilation
        x, y = (np.require(side, np.float64, ["C", "W", "A"]) for side in (rho, alpha))
        wanted = (self.counts.num_words, self.counts.num_contexts)
        if x.ndim != 2 or y.ndim != 2 or (len(x), len(y)) != wanted or x.shape[1] != y.shape[1]:
            raise OptionError(
                f"rho and alpha have shapes {x.shape} and {y.shape}; "
                f"these counts need ({wanted[0]}, K) and ({wanted[1]}, K) with the same K"
            )
        return x, y

    def _over_rows(self, side: Side, x: Float64, work: Callable[[int, int], None]) -> None:
        """Do ``work(first, last)`` over all rows of ``side``, in chunks of about equally many pairs."""
        if self.counts.num_pairs * x.shape[1] < WORTH_SHARING:
            work(0, len(side.indptr) - 1)
        else:
            self.threads.run(lambda a, b, _: work(a, b), self.threads.chunks(np.diff(side.indptr) + 1))


@dataclass(frozen=True, eq=False)
class Curvature:
    r"""The Hessian of the log posterior at one point, as two numbers per pair.

    Made by `Model.curvature`. The parameters are ordered rho row by row, then alpha row by row.

    Attributes
    ----------
    model : Model
        The model whose posterior it is.
    rho, alpha : ndarray
        The point.
    residual, weight : ndarray
        :math:`n^+ - n \sigma(\eta)` and :math:`n \sigma'(\eta)` of each pair, by word, times
        the weight of the counts.
    """

    model: Model
    rho: Float64
    alpha: Float64
    residual: Float64
    weight: Float64

    def product(self, d_rho: npt.ArrayLike, d_alpha: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the Hessian times a direction; both have a rho part and an alpha part."""
        x, y, dx, dy = self.rho, self.alpha, *self.model.check(d_rho, d_alpha)
        words, contexts = self.model.counts.by_word, self.model.counts.by_context
        permutation = self.model.counts.permutation
        r, weight, change = self.residual, self.weight, np.empty(len(self.weight))
        out, out_alpha = self.model.prior.rho.hessian_product(dx), self.model.prior.alpha.hessian_product(dy)

        def word_rows(a: int, b: int) -> None:
            density.product_rows(a, b, words.indptr, words.other, r, weight, x, y, dx, dy, change, out)

        def context_rows(a: int, b: int) -> None:
            for factor, vectors in ((change, x), (r, dx)):
                density.combine_rows(
                    a, b, contexts.indptr, contexts.other, permutation, factor, vectors, out_alpha
                )

        self.model._over_rows(words, x, word_rows)
        self.model._over_rows(contexts, x, context_rows)
        return out, out_alpha

    def rho_blocks(self, rows: npt.ArrayLike | None = None) -> Float64:
        """Return the diagonal blocks (rows, K, K) of some word rows, by default of all."""
        counts, precision = self.model.counts, self.model.prior.rho.precision_rows(*self.rho.shape)
        as_held = np.arange(counts.num_pairs)
        return self._diagonal(counts.by_word, as_held, self.alpha, precision, rows)

    def alpha_blocks(self, rows: npt.ArrayLike | None = None) -> Float64:
        """Return the diagonal blocks (rows, K, K) of some context rows, by default of all."""
        counts, precision = self.model.counts, self.model.prior.alpha.precision_rows(*self.alpha.shape)
        return self._diagonal(counts.by_context, counts.permutation, self.rho, precision, rows)

    def pair_blocks(self, word: npt.ArrayLike, context: npt.ArrayLike) -> Float64:
        r"""Return the blocks :math:`\partial^2 / \partial \rho_w \partial \alpha_v^\top` (pairs, K, K).

        The block of an unobserved pair is zero; each axis of :math:`\rho_w` is a row of the block.
        """
        w = _indices(word, len(self.rho), "word")
        v = _indices(context, len(self.alpha), "context")
        if len(w) != len(v):
            raise OptionError(f"word has {len(w)} entries and context {len(v)}; a pair needs one of each")
        side = self.model.counts.by_word
        cell = np.repeat(np.arange(len(self.rho)), np.diff(side.indptr)) * len(self.alpha) + side.other
        wanted = w * len(self.alpha) + v
        entry = np.minimum(np.searchsorted(cell, wanted), len(cell) - 1)
        seen = cell[entry] == wanted
        return self._pairs(
            w, v, np.where(seen, self.residual[entry], 0.0), np.where(seen, self.weight[entry], 0.0)
        )

    def matrix(self) -> Any:
        """Return the whole Hessian as a SciPy sparse array of K x K blocks (two per pair: for small models)."""
        from scipy.sparse import bsr_array

        side, dim = self.model.counts.by_word, self.rho.shape[1]
        every = np.arange(len(self.rho) + len(self.alpha))
        w = np.repeat(np.arange(len(self.rho)), np.diff(side.indptr))
        v = len(self.rho) + side.other
        mixed = self._pairs(w, side.other, self.residual, self.weight)
        row, column = np.concatenate([every, w, v]), np.concatenate([every, v, w])
        blocks = np.concatenate([self.rho_blocks(), self.alpha_blocks(), mixed, mixed.transpose(0, 2, 1)])
        order = np.lexsort((column, row))
        data = blocks[order], column[order], offsets(np.bincount(row))
        whole = bsr_array(data, shape=(len(every) * dim, len(every) * dim))
        coupled = self.coupling()
        return whole if coupled is None else bsr_array(whole - coupled, blocksize=(dim, dim))

    def coupling(self) -> Any:
        """Return the prior's part of the negative Hessian between rows of one side; None if there is none."""
        from scipy.sparse import block_diag, csr_array, eye_array, kron

        priors = (self.model.prior.rho, len(self.rho)), (self.model.prior.alpha, len(self.alpha))
        if all(prior.neighbours is None for prior, _ in priors):
            return None
        found = [
            csr_array((rows, rows)) if prior.neighbours is None else prior.neighbours
            for prior, rows in priors
        ]
        return csr_array(kron(block_diag(found), eye_array(self.rho.shape[1])))

    def _pairs(self, w: Int64, v: npt.NDArray[np.integer], residual: Float64, weight: Float64) -> Float64:
        blocks: Float64 = -weight[:, None, None] * self.alpha[v][:, :, None] * self.rho[w][:, None, :]
        axis = np.arange(self.rho.shape[1])
        blocks[:, axis, axis] += residual[:, None]
        return blocks

    def _diagonal(
        self, side: Side, permutation: Int64, vectors: Float64, precision: Float64, rows: npt.ArrayLike | None
    ) -> Float64:
        total, dim = precision.shape
        chosen = np.arange(total) if rows is None else _indices(rows, total, "rows")
        out = np.empty((len(chosen), dim, dim))
        cost = (side.indptr[chosen + 1] - side.indptr[chosen]) * dim + 1
        threads = self.model.threads
        threads.run(
            lambda a, b, _: density.outer_rows(
                a, b, chosen, side.indptr, side.other, permutation, self.weight, vectors, out
            ),
            threads.chunks(cost),
        )
        np.negative(out, out=out)
        axis = np.arange(dim)
        out[:, axis, axis] -= precision[chosen]
        return out


def _indices(values: npt.ArrayLike, size: int, name: str) -> Int64:
    given = np.atleast_1d(np.asarray(values))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise OptionError(f"{name} holds {given.dtype} of shape {given.shape}; give a list of row numbers")
    rows = given.astype(np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() >= size):
        bad = int(rows.min() if rows.min() < 0 else rows.max())
        raise OptionError(f"{name} holds {bad}; it must be from 0 to {size - 1}")
    return rows
