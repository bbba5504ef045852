r"""The orbit move under a prior with another precision on each axis: shears and rescalings, without rotations.

With precisions :math:`\lambda_j` on both sides, the shear :math:`\rho_j \to \rho_j + t \rho_k`,
:math:`\alpha_k \to \alpha_k - t \alpha_j` does not change the likelihood and has Jacobian 1. A generalised Gibbs step
(Liu & Sabatti 2000) draws t from

.. math:: N(-l / q,\ 1 / q), \qquad q = \lambda_j |\rho_k|^2 + \lambda_k |\alpha_j|^2, \qquad
          l = \lambda_j \rho_j^\top \rho_k - \lambda_k \alpha_j^\top \alpha_k.

All shears and the rescalings of `bayesvec.kernels.orbit` together reach every :math:`(\rho A, \alpha A^{-\top})`.
"""

import math

import numpy as np

from bayesvec._types import Float64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.orbit import draw_gig, rescale_axis, shear_axis
from bayesvec.kernels.rng import Key, normals

PASSES = 2  # over all shears and rescalings in one move

_SHEAR = 1 << 31  # rows of the address space of a move: the axes of each pass from 0 on, then the shears


@compiled
def draw_axis_change(
    form_rho: Float64, form_alpha: Float64, precision: Float64, power: float, key: Key, move: int
) -> tuple[Float64, Float64]:
    """Draw a change of both sides along the orbit.

    Parameters
    ----------
    form_rho, form_alpha : ndarray of float64, shape (K, K)
        rho^T rho and alpha^T alpha; overwritten with those after the change.
    precision : ndarray of float64, shape (K,)
        Precision of each axis, on both sides.
    power : float
        (R - C) / 2, for R rows of rho and C of alpha.
    key : Key
        The address of the moves of a sweep.
    move : int
        The number of this one among them.

    Returns
    -------
    tuple of two (K, K) arrays
        A and A^-T: rho becomes rho A, alpha becomes alpha A^-T.
    """
    dim = len(precision)
    change, inverse = np.eye(dim), np.eye(dim)  # transposed: a row is an axis
    for step in range(move * PASSES, (move + 1) * PASSES):
        for j in range(dim):
            for k in range(dim):
                if j == k:
                    continue
                square = precision[j] * form_rho[k, k] + precision[k] * form_alpha[j, j]
                if square <= 0.0:
                    continue
                linear = precision[j] * form_rho[j, k] - precision[k] * form_alpha[j, k]
                noise = normals(key, _SHEAR + (step * dim + j) * dim + k, 0)[0]
                t = noise / math.sqrt(square) - linear / square
                shear_axis(change, form_rho, j, k, t)
                shear_axis(inverse, form_alpha, k, j, -t)
        for k in range(dim):
            a, b = precision[k] * form_rho[k, k], precision[k] * form_alpha[k, k]
            if a > 0.0 and b > 0.0:
                scale = math.sqrt(draw_gig(power, a, b, key, step * dim + k))
                rescale_axis(change, form_rho, k, scale)
                rescale_axis(inverse, form_alpha, k, 1.0 / scale)
    return change.T, inverse.T
