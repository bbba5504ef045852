r"""The mode under a prior with mean zero: its factors are balanced, and with little data it is zero.

The log likelihood depends only on :math:`M = \rho \alpha^\top`. Among all factors of M those with the highest
prior density are balanced. Under an isotropic prior, :math:`\rho^\top P_\rho \rho = \alpha^\top P_\alpha \alpha`,
where P are the precisions of the rows; their log density is a constant minus the nuclear norm of
:math:`P_\rho^{1/2} M P_\alpha^{1/2}` (Srebro, Rennie & Jaakkola 2005, "Maximum-margin matrix factorization").
The log likelihood is concave in M, with gradient :math:`\kappa` at zero, so the mode is zero if and only if
no singular value of :math:`P_\rho^{-1/2} \kappa P_\alpha^{-1/2}` exceeds 1.

If the precisions of axis k are those of the rows times :math:`a_k` for words and :math:`b_k` for contexts, the best
factors are again singular vectors: each with its singular value :math:`d` divided between the sides so that both have
the same prior energy, :math:`\sqrt{a_k b_k}\, d / 2`, and the largest d where :math:`a_k b_k` is smallest.
The mode is then zero if no singular value exceeds the smallest :math:`\sqrt{a_k b_k}`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.kernels import rng
from bayesvec.priors import Prior, RowPrior

if TYPE_CHECKING:
    from scipy.sparse import csr_array


RANK_TOLERANCE = 1e-12  # relative to the largest squared singular value; below it an axis is empty
SMALL = 40_000  # entries up to which dense singular values are fastest


def has_balanced_mode(prior: Prior) -> bool:
    """Whether `balanced` knows the best factors: mean zero, and rows and axes that multiply to the precisions."""
    if prior.is_isotropic:
        return True
    sides = prior.rho, prior.alpha
    return all(
        side.coupling is None
        and not np.any(side.mean)
        and np.allclose(side.precision, side.precision[:, :1] * _axis_weights(side), rtol=1e-12, atol=0.0)
        for side in sides
    )


def balanced(rho: Float64, alpha: Float64, prior: Prior) -> tuple[Float64, Float64]:
    """Return the factors of rho alpha^T with the highest prior density.

    Parameters
    ----------
    rho, alpha : ndarray
        The vectors, (num_words, K) and (num_contexts, K).
    prior : Prior
        A prior that `has_balanced_mode`.

    Returns
    -------
    rho, alpha : ndarray
        The balanced factors along their principal axes, the strongest on the axis with the smallest product of the
        precisions of both sides, or first if all are equal; the largest coordinate of rho on each axis is positive.
    """
    if not has_balanced_mode(prior):
        raise OptionError(
            "balanced factors are known only for isotropic priors, and for priors with mean zero and independent "
            "rows whose precisions have the same ratios between axes; give such a prior"
        )
    if prior.rho.coupling is not None or prior.alpha.coupling is not None:
        return _balanced_by_forms(rho, alpha, prior)
    roots = _roots(prior, len(rho), len(alpha))
    (q_rho, r_rho), (q_alpha, r_alpha) = (
        np.linalg.qr(side * root) for side, root in zip((rho, alpha), roots, strict=True)
    )
    u, strength, vt = np.linalg.svd(r_rho @ r_alpha.T, full_matrices=False)
    x, y = q_rho @ u, q_alpha @ vt.T
    size = len(strength)  # less than K where a side has fewer rows
    factor = np.sqrt(strength) * np.where(x[np.argmax(np.abs(x), axis=0), np.arange(size)] < 0, -1.0, 1.0)
    of_words, of_contexts = (
        np.broadcast_to(_axis_weights(side), rho.shape[1]) for side in (prior.rho, prior.alpha)
    )
    axes = np.argsort(of_words * of_contexts, kind="stable")[:size]
    share = (of_contexts / of_words)[axes] ** 0.25
    out_rho, out_alpha = np.zeros_like(rho), np.zeros_like(alpha)
    out_rho[:, axes] = x * (factor * share) / roots[0]
    out_alpha[:, axes] = y * (factor / share) / roots[1]
    return out_rho, out_alpha


def _balanced_by_forms(rho: Float64, alpha: Float64, prior: Prior) -> tuple[Float64, Float64]:
    r"""Balance under a prior that couples rows, by roots of :math:`\rho^\top P_\rho \rho` and of alpha's."""
    roots, inverses = [], []
    for side, x in ((prior.rho, rho), (prior.alpha, alpha)):
        values, axes = np.linalg.eigh(side.form(x))
        kept = values > RANK_TOLERANCE * max(values[-1], 0.0)
        root = np.sqrt(np.where(kept, values, 0.0))
        roots.append(root[:, None] * axes.T)
        inverses.append(axes * np.divide(1.0, root, out=np.zeros_like(root), where=kept))
    u, strength, vt = np.linalg.svd(roots[0] @ roots[1].T)
    x, y = rho @ inverses[0] @ u, alpha @ inverses[1] @ vt.T
    columns = np.arange(len(strength))
    sign = np.where(x[np.argmax(np.abs(x), axis=0), columns] < 0, -1.0, 1.0)
    return x * np.sqrt(strength) * sign, y * np.sqrt(strength) * sign


def zero_is_the_mode(counts: PairCounts, prior: Prior) -> bool:
    """Whether a prior that `has_balanced_mode` is so strong, or the data so few, that the mode is exactly zero."""
    from scipy.sparse import csr_array

    side, shape = counts.by_word, (counts.num_words, counts.num_contexts)
    if prior.rho.coupling is not None or prior.alpha.coupling is not None:
        kappa = 0.5 * counts.weight * (side.n_pos - side.n_neg)
        return _largest_coupled(csr_array((kappa, side.other, side.indptr), shape=shape), prior) <= 1.0
    rho_root, alpha_root = (root[:, 0] for root in _roots(prior, *shape))
    rows = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    kappa = 0.5 * counts.weight * (side.n_pos - side.n_neg) / (rho_root[rows] * alpha_root[side.other])
    limit = float(np.sqrt((_axis_weights(prior.rho) * _axis_weights(prior.alpha)).min()))
    if np.max(np.bincount(rows, weights=kappa**2)) > limit**2:
        return False  # the longest row is a lower bound of the largest singular value; this decides most data
    matrix = csr_array((kappa, side.other, side.indptr), shape=shape)
    return _largest_singular_value(matrix) <= limit


def _largest_singular_value(matrix: "csr_array[Any, tuple[int, int]]") -> float:
    """Return the spectral norm: by Lanczos iteration, or densely if that is faster or the iteration fails."""
    from scipy.sparse.linalg import ArpackError, svds

    if matrix.shape[0] * matrix.shape[1] > SMALL:
        start = _lanczos_start(min(matrix.shape))
        try:
            return float(svds(matrix, k=1, v0=start, return_singular_vectors=False)[0])
        except ArpackError:
            pass
    return float(np.linalg.norm(matrix.toarray(), 2))


def _lanczos_start(size: int) -> Float64:
    """Return normals, where the iteration starts.

    A vector with a pattern may be orthogonal to the solution: with one negative sample for each positive one,
    every row of kappa adds up to zero.
    """
    start = np.empty(size)
    rng.fill_normals(rng.make_key(0, rng.START, sweep=rng.Start.LANCZOS), 0, 0, start)
    return start


def _largest_coupled(kappa: Any, prior: Prior) -> float:
    r"""Return the square of that singular value under a prior that couples rows.

    It is the largest eigenvalue of :math:`P_\alpha^{-1} \kappa^\top P_\rho^{-1} \kappa`, found by iteration in the
    inner product of :math:`P_\alpha`.
    """
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    columns = kappa.shape[1]

    def bend(x: Float64) -> Float64:
        return np.asarray(kappa.T @ prior.rho.solve(kappa @ x))

    if columns**2 > SMALL:
        operators = [
            LinearOperator((columns, columns), matvec=product, dtype=np.float64)
            for product in (
                bend,
                lambda x: -prior.alpha.hessian_product(x[:, None])[:, 0],
                prior.alpha.solve,
            )
        ]
        whole, own, inverse = operators
        start = _lanczos_start(columns)
        try:
            found = eigsh(whole, k=1, M=own, Minv=inverse, v0=start, return_eigenvectors=False)
            return float(found[-1])
        except ArpackError:
            pass
    dense = prior.alpha.solve(bend(np.eye(columns)))
    return float(np.linalg.eigvals(dense).real.max())


def _axis_weights(prior: RowPrior) -> Float64:
    """Return the precision of each axis over that of the first, (K,) or (1,)."""
    weights: Float64 = prior.precision[0] / prior.precision[0, 0]
    return weights


def _roots(prior: Prior, num_words: int, num_contexts: int) -> tuple[Float64, Float64]:
    """Return the roots of the precisions of the rows on the first axis, (num_words, 1) and (num_contexts, 1)."""
    return (
        np.sqrt(np.broadcast_to(prior.rho.precision[:, :1], (num_words, 1))),
        np.sqrt(np.broadcast_to(prior.alpha.precision[:, :1], (num_contexts, 1))),
    )
