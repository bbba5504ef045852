r"""What is known of the mode under an isotropic prior: it is balanced, and with little data it is zero.

The log likelihood depends on :math:`M = \rho \alpha^\top` alone. Among all factors of M those of the highest
prior density are balanced, :math:`\rho^\top P_\rho \rho = \alpha^\top P_\alpha \alpha` with the precisions P
of the rows, and their log density is a constant less the nuclear norm of
:math:`P_\rho^{1/2} M P_\alpha^{1/2}` (Srebro, Rennie & Jaakkola 2005, "Maximum-margin matrix factorization").
As the log likelihood is concave in M, with gradient :math:`\kappa` at zero, the mode is zero if and only if
no singular value of :math:`P_\rho^{-1/2} \kappa P_\alpha^{-1/2}` is above 1.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec.counts import PairCounts
from bayesvec.errors import OptionError
from bayesvec.kernels import rng
from bayesvec.priors import Prior

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Float64 = npt.NDArray[np.float64]

SMALL = 40_000  # entries up to which the singular values of a dense matrix are the quickest
_LANCZOS = 4  # the sweep in the address of its first vector: the starts of chains use 0 to 3


def balanced(rho: Float64, alpha: Float64, prior: Prior) -> tuple[Float64, Float64]:
    """Return the factors of the same rho alpha^T that an isotropic prior likes best.

    Parameters
    ----------
    rho, alpha : ndarray
        The vectors, (num_words, K) and (num_contexts, K).
    prior : Prior
        An isotropic prior.

    Returns
    -------
    rho, alpha : ndarray
        The balanced factors; the axes are the principal ones, the strongest first, and the largest coordinate
        of rho along each is positive.
    """
    roots = _roots(prior, len(rho), len(alpha))
    (q_rho, r_rho), (q_alpha, r_alpha) = (
        np.linalg.qr(side * root) for side, root in zip((rho, alpha), roots, strict=True)
    )
    u, strength, vt = np.linalg.svd(r_rho @ r_alpha.T, full_matrices=False)
    x, y = q_rho @ u, q_alpha @ vt.T
    size = len(strength)  # less than K where a side has fewer rows
    factor = np.sqrt(strength) * np.where(x[np.argmax(np.abs(x), axis=0), np.arange(size)] < 0, -1.0, 1.0)
    out_rho, out_alpha = np.zeros_like(rho), np.zeros_like(alpha)
    out_rho[:, :size] = x * factor / roots[0]
    out_alpha[:, :size] = y * factor / roots[1]
    return out_rho, out_alpha


def zero_is_the_mode(counts: PairCounts, prior: Prior) -> bool:
    """Tell whether an isotropic ``prior`` is so strong, or the data so few, that the mode is exactly zero."""
    from scipy.sparse import csr_array

    side, shape = counts.by_word, (counts.num_words, counts.num_contexts)
    rho_root, alpha_root = (root[:, 0] for root in _roots(prior, *shape))
    rows = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    kappa = 0.5 * (side.n_pos - side.n_neg) / (rho_root[rows] * alpha_root[side.other])
    if np.max(np.bincount(rows, weights=kappa**2)) > 1.0:
        return False  # no row is longer than the largest singular value: most data need no more than this
    matrix = csr_array((kappa, side.other, side.indptr), shape=shape)
    return _largest_singular_value(matrix) <= 1.0


def _largest_singular_value(matrix: "csr_array[Any, tuple[int, int]]") -> float:
    """Return the spectral norm: by Lanczos iteration, or densely where that is quicker or the iteration fails.

    The iteration begins at normals. A vector with a pattern may be orthogonal to all that matters: with one
    negative sample for each positive one, every row of kappa adds up to zero.
    """
    from scipy.sparse.linalg import ArpackError, svds

    if matrix.shape[0] * matrix.shape[1] > SMALL:
        start = np.empty(min(matrix.shape))
        rng.fill_normals(rng.make_key(0, rng.START, sweep=_LANCZOS), 0, 0, start)
        try:
            return float(svds(matrix, k=1, v0=start, return_singular_vectors=False)[0])
        except ArpackError:
            pass
    return float(np.linalg.norm(matrix.toarray(), 2))


def _roots(prior: Prior, num_words: int, num_contexts: int) -> tuple[Float64, Float64]:
    """Return the square roots of the precisions of the rows, (num_words, 1) and (num_contexts, 1)."""
    if not prior.is_isotropic:
        raise OptionError(
            "the prior has a mean or favours an axis; only an isotropic prior has a balanced mode"
        )
    return (
        np.sqrt(np.broadcast_to(prior.rho.precision[:, :1], (num_words, 1))),
        np.sqrt(np.broadcast_to(prior.alpha.precision[:, :1], (num_contexts, 1))),
    )
