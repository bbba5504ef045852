r"""The Cholesky factor of the whole negative Hessian, for small models.

Unless the prior couples them, no two words share a block of the Hessian, nor two contexts, so

.. math:: -H = \begin{pmatrix} A & C \\ C^\top & D \end{pmatrix} = M M^\top, \qquad
    M = \begin{pmatrix} L & 0 \\ W^\top & T \end{pmatrix}, \qquad
    A = L L^\top, \quad L W = C, \quad T T^\top = D - W^\top W,

with A and L block-diagonal (one block of all words if the prior couples them). Only the Schur complement of the
contexts is factored as a dense matrix, and since A is definite under any prior, the whole is so if and only if
that is.
"""

from typing import NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.inference.laplace.space import Space, indefinite
from bayesvec.model.density import Curvature

LARGEST = 6000  # free parameters: two matrices of a quarter GB at most, some seconds on one core


class Factor(NamedTuple):
    """M of the negative Hessian over the free parameters, made definite along the rotations."""

    word: Float64  # (R, K, K) L, lower triangles; (1, R K, R K) if the prior couples words
    mixed: Float64  # (R K, F K) W, F the contexts that are free
    context: Float64  # (F K, F K) T, lower triangle
    free: Int64  # (F,) their rows
    num_contexts: int

    def solve(self, d_rho: Float64, d_alpha: Float64) -> tuple[Float64, Float64]:
        """Return the inverse times a direction; its component along rotations is arbitrary."""
        from scipy.linalg import solve_triangular

        shape = d_rho.shape
        z_rho = _solve(self.word, d_rho)
        right = d_alpha[self.free].ravel() - self.mixed.T @ z_rho.ravel()
        z_alpha = solve_triangular(self.context, right, lower=True)
        return self.whiten(z_rho, z_alpha.reshape(-1, shape[1]))

    def whiten(self, z_rho: Float64, z_alpha: Float64) -> tuple[Float64, Float64]:
        r"""Return :math:`M^{-\top} z`, which has the inverse Hessian as its covariance for a standard normal z.

        Parameters
        ----------
        z_rho, z_alpha : ndarray
            Of shapes (R, K) and (F, K).
        """
        from scipy.linalg import solve_triangular

        dim = z_rho.shape[1]
        alpha = np.zeros((self.num_contexts, dim))
        free = solve_triangular(self.context, z_alpha.ravel(), lower=True, trans="T")
        alpha[self.free] = free.reshape(-1, dim)
        right = z_rho - (self.mixed @ free).reshape(z_rho.shape)
        return _solve(self.word.transpose(0, 2, 1), right), alpha


def check_size(num_words: int, num_contexts: int, dim: int) -> None:
    """Raise if the model is too large for a dense factor."""
    size = (num_words + num_contexts) * dim
    if size > LARGEST:
        raise OptionError(
            f"the Laplace approximation of all rows at once has {size} parameters ({num_words} words and "
            f"{num_contexts} contexts of {dim} axes); at most {LARGEST} are allowed: for a few words fit "
            "with --method map and ask `bayesvec laplace RUN --words a,b`; or use a smaller vocabulary or "
            "another method"
        )


def factorise(curvature: Curvature, space: Space) -> Factor:
    r"""Factor the negative Hessian over the free parameters.

    The rotations U of alpha alone are added to the Schur complement as :math:`\tau U U^\top`. For any
    direction b without a rotation the solution x of the system so amended has :math:`U^\top x = 0` and
    :math:`-H x = b`: up to a rotation, which is projected out of x, it is that of the singular system.

    Parameters
    ----------
    curvature : Curvature
        The Hessian at a mode.
    space : Space
        What is free there.
    """
    from scipy.linalg import cholesky

    rows, dim = curvature.rho.shape
    free = np.flatnonzero(~space.fixed)
    word = np.asarray(np.linalg.cholesky(_word_blocks(curvature)), dtype=np.float64)
    mixed = _solve(word, _mixed(curvature, free)).reshape(rows * dim, -1)
    schur = -(mixed.T @ mixed)
    blocks = schur.reshape(len(free), dim, len(free), dim)
    each = np.arange(len(free))
    blocks[each, :, each, :] -= curvature.alpha_blocks(free)
    neighbours = curvature.model.prior.alpha.neighbours
    if neighbours is not None:
        schur += np.kron(neighbours[free][:, free].toarray(), np.eye(dim))
    if space.num_flat:
        rotations = space.context_rotations().reshape(-1, schur.shape[1])
        # as stiff as the rest, so that the factor keeps its digits
        stiffness = np.trace(schur) / len(schur) / np.max(np.sum(rotations**2, axis=1))
        schur += stiffness * (rotations.T @ rotations)
    try:
        context = cholesky(schur, lower=True)
    except np.linalg.LinAlgError:
        raise _error(curvature, space, word, mixed, schur) from None
    return Factor(word, mixed, context, free, len(curvature.alpha))


def _word_blocks(curvature: Curvature) -> Float64:
    """Return A as its diagonal blocks, or as one if the prior couples words."""
    blocks, neighbours = -curvature.rho_blocks(), curvature.model.prior.rho.neighbours
    if neighbours is None:
        return blocks
    rows, dim = curvature.rho.shape
    whole = np.kron(neighbours.toarray(), np.eye(dim))
    each = np.arange(rows)
    whole.reshape(rows, dim, rows, dim)[each, :, each, :] += blocks
    return whole[None]


def _mixed(curvature: Curvature, free: Int64) -> Float64:
    """Return the negative mixed blocks of the free contexts, dense: (R, K, F K)."""
    side, (rows, dim) = curvature.model.counts.by_word, curvature.rho.shape
    place = np.full(len(curvature.alpha), -1)
    place[free] = np.arange(len(free))
    word = np.repeat(np.arange(rows), np.diff(side.indptr))
    kept = place[side.other] >= 0
    word, context = word[kept], side.other[kept]
    mixed = np.zeros((rows, dim, len(free), dim))
    mixed[word, :, place[context], :] = -curvature.pair_blocks(word, context)
    return mixed.reshape(rows, dim, -1)


def _solve(blocks: Float64, right: Float64) -> Float64:
    """Solve with a block-diagonal matrix for right-hand sides (R, K) or (R, K, S)."""
    columns = right.reshape(len(blocks), blocks.shape[1], -1)
    return np.asarray(np.linalg.solve(blocks, columns), dtype=np.float64).reshape(right.shape)


def _error(curvature: Curvature, space: Space, word: Float64, mixed: Float64, schur: Float64) -> Exception:
    """Name the direction: the lowest eigenvector of the Schur complement, with what rho does along it."""
    from scipy.linalg import eigh

    direction = eigh(schur, subset_by_index=[0, 0])[1][:, 0]
    rho = -_solve(word.transpose(0, 2, 1), (mixed @ direction).reshape(curvature.rho.shape))
    alpha = np.zeros_like(curvature.alpha)
    alpha[~space.fixed] = direction.reshape(-1, alpha.shape[1])
    return indefinite(curvature, space, rho, alpha)
