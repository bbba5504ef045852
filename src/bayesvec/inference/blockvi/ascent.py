r"""The ascent of one full K x K Gaussian for every row: coordinate by coordinate, and along the orbit.

The Polya-Gamma bound of the likelihood makes each row's best Gaussian explicit given all others (see
`bayesvec.kernels.variational`): it is the Gibbs sampler's row update with :math:`E[\omega]` in place of a draw
and second moments in place of vectors. Every step raises the bound

.. math:: \sum \kappa\, m_w^\top m_v - n \log(2 \cosh(\xi / 2)) + E_q[\log p(\theta)] + H(q) .

The data say nothing along :math:`(\rho A, \alpha A^{-\top})`, so the ascent would crawl there. Under an
isotropic prior the best A is known: with :math:`M_\rho = \sum_w \lambda_w E[\rho_w \rho_w^\top]`, R words
and C contexts, :math:`G = A A^\top` solves :math:`G M_\rho G - (R - C) G = M_\alpha` (the transformations of
Luttinen & Ilin 2010). It is applied between sweeps, as the sampler's orbit move is.
"""

import math

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Bool, Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.contract import Report
from bayesvec.inference.sides import broken_row, make_half
from bayesvec.kernels import rng
from bayesvec.kernels.variational import make_rows, make_work, update_rows
from bayesvec.priors import Prior

_CHUNK = 1 << 22  # numbers of second moments that are unpacked at once


class BlockAscent:
    """Both sides' Gaussians and the bound after every update of a side."""

    def __init__(
        self, counts: PairCounts, prior: Prior, place: Float64, free: Bool, threads: Threads
    ) -> None:
        dim, words = place.shape[1], counts.num_words
        self.threads = threads
        self.dim = dim
        self.free = free
        self.names = counts.words, counts.contexts
        self.halves = (
            make_half(
                rng.RHO, counts.words, counts.by_word, prior.rho, dim, ~free[:words], weight=counts.weight
            ),
            make_half(
                rng.ALPHA,
                counts.contexts,
                counts.by_context,
                prior.alpha,
                dim,
                ~free[words:],
                weight=counts.weight,
            ),
        )
        self.sides = tuple(half.side for half in self.halves)
        self._neighbours = prior.rho.neighbours, prior.alpha.neighbours
        self.rows = make_rows(place[:words].copy()), make_rows(place[words:].copy())
        self.symmetric = prior.is_isotropic and bool(free.all())
        zeros = np.zeros((words, dim)), np.zeros((counts.num_contexts, dim))
        self._constant = prior.log_density(*zeros)
        self._constant += 0.5 * free.sum() * dim * (1.0 + math.log(2.0 * math.pi))
        for which, (side, rows) in enumerate(zip(self.sides, self.rows, strict=True)):
            self._take_prior(which)
            rows.entropy[~side.fixed] = -math.inf  # of a point mass
        self._works = [make_work(dim) for _ in range(threads.count)]

    def update(self, which: int) -> float:
        """Update all rows of one side (0 words, 1 contexts); return the bound as it was before."""
        own = self.rows[which]
        before = sum(float(rows.prior.sum() + rows.entropy.sum()) for rows in self.rows)
        broken: list[int] = []
        for colour in self.halves[which].colours:
            broken += self._update_colour(which, colour.rows)
        if self._neighbours[which] is not None:
            self._take_prior(which)
        if broken:
            raise broken_row(self.names[which], broken)
        return before + float(own.data.sum()) + self._constant

    def _update_colour(self, which: int, order: Int64) -> list[int]:
        """Update rows that are not coupled with each other; return those that broke down."""
        side, own, other = self.sides[which], self.rows[which], self.rows[1 - which]
        neighbours = self._neighbours[which]
        if neighbours is not None:
            shift = side.shift.copy()
            shift[order] -= neighbours[order] @ own.mean
            side = side._replace(shift=shift)
        broken: list[int] = []

        def work(first: int, last: int, thread: int) -> None:
            row = update_rows(first, last, order, side, own, other, self._works[thread])
            if row >= 0:
                broken.append(row)

        self.threads.run(work, self.threads.chunks(np.diff(side.indptr)[order] + self.dim))
        return broken

    def run(self, max_sweeps: int, tolerance: float, report: Report) -> tuple[list[float], bool]:
        """Sweep until the bound rises by less than ``tolerance`` per coordinate and sweep.

        Returns the bound before each update of a side, and whether it stopped rising.
        """
        enough = tolerance * np.count_nonzero(self.free) * self.dim
        bounds: list[float] = []
        for number in range(1, max_sweeps + 1):
            # factors stand for a side's Gaussians once it is updated: no balancing after the last sweep
            if self.symmetric and number > 1:
                self.balance(0.1 * enough)
            bounds += [self.update(0), self.update(1)]
            report(f"sweep {number} of at most {max_sweeps}: ELBO {bounds[-1]:.1f}")
            if number > 2 and bounds[-1] - bounds[-3] < enough:
                return bounds, True
        return bounds, False

    def balance(self, least: float) -> None:
        """Move along the orbit to where the bound is largest, if it rises by more than ``least``."""
        weighted = [
            _unpacked((side.precision[:, :1] * rows.moment).sum(axis=0)[None], self.dim)[0]
            for side, rows in zip(self.sides, self.rows, strict=True)
        ]
        for form, rows, neighbours in zip(weighted, self.rows, self._neighbours, strict=True):
            if (
                neighbours is not None
            ):  # different rows are independent: their products are those of the means
                form += rows.mean.T @ (neighbours @ rows.mean)
        excess = len(self.rows[0].mean) - len(self.rows[1].mean)
        change, rise = best_change(weighted[0], weighted[1], excess)
        if rise <= least:
            return
        size = float(np.linalg.slogdet(change)[1])
        sides = zip(self.rows, (change, np.linalg.inv(change).T), (1.0, -1.0), strict=True)
        for which, (rows, factor, sign) in enumerate(sides):
            rows.mean[:] = rows.mean @ factor
            rows.entropy[:] += sign * size
            step = max(1, _CHUNK // self.dim**2)
            for first in range(0, len(rows.mean), step):
                moment = _unpacked(rows.moment[first : first + step], self.dim)
                rows.moment[first : first + step] = _packed(factor.T @ moment @ factor)
            self._take_prior(which)

    def _take_prior(self, which: int) -> None:
        """Compute the expected log prior of each row from its moments; neighbours share what they have."""
        side, rows, neighbours = self.sides[which], self.rows[which], self._neighbours[which]
        diagonal = np.cumsum([0, *range(self.dim, 1, -1)])
        square = rows.moment[:, diagonal].astype(np.float64)
        shift = side.shift if neighbours is None else side.shift - 0.5 * (neighbours @ rows.mean)
        rows.prior[:] = np.sum(shift * rows.mean - 0.5 * side.precision * square, axis=1)


def best_change(to_rho: Float64, to_alpha: Float64, excess: int) -> tuple[Float64, float]:
    r"""Return the symmetric A that raises the bound most as (rho A, alpha A^-T), and by how much.

    With :math:`B = M_\rho^{1/2} G M_\rho^{1/2}` the equation for :math:`G = A A^\top` becomes
    :math:`B^2 - (R - C) B = M_\rho^{1/2} M_\alpha M_\rho^{1/2}`, a quadratic for each eigenvalue.

    Parameters
    ----------
    to_rho, to_alpha : ndarray, shape (K, K)
        Second moments of either side, summed over rows with their prior precisions.
    excess : int
        How many more rows rho has, R - C.
    """
    root, inverse_root = _powers(to_rho, 0.5), _powers(to_rho, -0.5)
    values, vectors = np.linalg.eigh(root @ to_alpha @ root)
    solved = 0.5 * (excess + np.sqrt(excess**2 + 4.0 * np.maximum(values, 0.0)))
    square = inverse_root @ (vectors * solved) @ vectors.T @ inverse_root  # G
    after = np.trace(square @ to_rho) + np.trace(np.linalg.solve(square, to_alpha))
    before = np.trace(to_rho) + np.trace(to_alpha)
    rise = 0.5 * (before - after) + 0.5 * excess * np.linalg.slogdet(square)[1]
    return _powers(square, 0.5), float(rise)


def _powers(matrix: Float64, power: float) -> Float64:
    """Return a power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((vectors * values**power) @ vectors.T)


def _unpacked(triangles: npt.NDArray[np.floating], dim: int) -> Float64:
    """Return symmetric matrices (rows, K, K) from their upper triangles (rows, T)."""
    i, j = np.triu_indices(dim)
    out = np.empty((len(triangles), dim, dim))
    out[:, i, j] = out[:, j, i] = triangles
    return out


def _packed(matrices: Float64) -> Float64:
    i, j = np.triu_indices(matrices.shape[-1])
    return matrices[:, i, j]
