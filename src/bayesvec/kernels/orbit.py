r"""The orbit move: along :math:`(\rho A, \alpha A^{-\top})` the data say nothing, so the prior alone decides.

A generalised Gibbs step (Liu & Sabatti 2000). The group is first a random rotation O of both sides, then a
scaling :math:`d_k` of each axis; its invariant measure and the Jacobian :math:`d_k^{R - C}` give

.. math:: d_k^2 \sim GIG\big((R - C)/2,\ \rho_k^\top P_\rho \rho_k,\ \alpha_k^\top P_\alpha \alpha_k\big),

where GIG(p, a, b) has density proportional to :math:`x^{p-1} \exp(-(a x + b/x)/2)`. It leaves the posterior
invariant when the prior has mean zero and is the same on every axis.
"""

import math

import numpy as np
import numpy.typing as npt

from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.rng import Key, fill_normals, uniforms

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

# Rows of the address space of one orbit move: the axes from 0 on, then the rotation.
_ROTATION = 1 << 31


@compiled
def _log_height(t: float, power: float, omega: float, mode: float) -> float:
    """Log density of the centred log of a GIG variate, zero at its mode."""
    return power * t - omega * (math.cosh(mode + t) - math.cosh(mode))


@compiled
def _contact(side: float, power: float, omega: float, mode: float) -> float:
    """Return a distance right (1) or left (-1) of the mode where the log density is between -2 and -1/2."""
    distance = math.sqrt(2.0 / (omega * math.cosh(mode)))
    if distance > 1.0:
        distance = 1.0
    while _log_height(side * distance, power, omega, mode) < -2.0:
        distance *= 0.7
    while _log_height(side * distance, power, omega, mode) > -0.5:
        distance *= 1.3
    return distance


@compiled
def draw_gig(power: float, a: float, b: float, key: Key, row: int) -> float:
    r"""Return a draw of GIG(``power``, ``a``, ``b``), a and b positive.

    The log of the variate, :math:`x = \sqrt{b/a}\, e^t`, has the log-concave density
    :math:`\exp(p t - \omega \cosh t)` with :math:`\omega = \sqrt{ab}` (Devroye 2014); it is drawn by
    rejection from the flat top and the two tangents that touch it on either side of its mode.
    """
    omega = math.sqrt(a * b)
    mode = math.asinh(power / omega)
    right = _contact(1.0, power, omega, mode)
    left = _contact(-1.0, power, omega, mode)
    rate_right = omega * math.sinh(mode + right) - power
    rate_left = power - omega * math.sinh(mode - left)
    end_right = right + _log_height(right, power, omega, mode) / rate_right
    end_left = -left - _log_height(-left, power, omega, mode) / rate_left
    top = end_right - end_left
    area_right, area_left = 1.0 / rate_right, 1.0 / rate_left
    block = 0
    while True:
        where, u = uniforms(key, row, block)
        accept, _ = uniforms(key, row, block + 1)
        block += 2
        where *= top + area_right + area_left
        if where < top:
            t, log_hat = end_left + where, 0.0
        elif where < top + area_right:
            log_hat = math.log(u)
            t = end_right - log_hat / rate_right
        else:
            log_hat = math.log(u)
            t = end_left + log_hat / rate_left
        if math.log(accept) + log_hat <= _log_height(t, power, omega, mode):
            return math.sqrt(b / a) * math.exp(mode + t)


@compiled
def fill_rotation(key: Key, out: Float64) -> None:
    """Fill the square ``out`` with a random orthogonal matrix: normals made orthonormal, row by row.

    Gram-Schmidt, twice for accuracy, keeps the diagonal of the triangular factor positive, so the result has
    the uniform distribution over all orthogonal matrices (Mezzadri 2007).
    """
    dim = len(out)
    for i in range(dim):
        row = out[i]
        fill_normals(key, _ROTATION + i, 0, row)
        for _ in range(2):
            for j in range(i):
                projection = 0.0
                for k in range(dim):
                    projection += row[k] * out[j, k]
                for k in range(dim):
                    row[k] -= projection * out[j, k]
        norm = 0.0
        for k in range(dim):
            norm += row[k] * row[k]
        for k in range(dim):
            row[k] /= math.sqrt(norm)


@compiled
def _rotate(x: Float32, rotation: Float32, precision: Float64, forms: Float64) -> None:
    """Multiply the padded rows of ``x`` by ``rotation`` and add up ``precision * x**2`` of each new axis."""
    width = x.shape[1]
    dim = len(forms)
    turned = np.empty(width, dtype=np.float32)
    for i in range(len(x)):
        turned[:] = 0.0
        for j in range(dim):
            value = x[i, j]
            for k in range(width):
                turned[k] += value * rotation[j, k]
        for k in range(dim):
            forms[k] += precision[i, 0] * turned[k] * turned[k]
        x[i] = turned


@compiled
def move_along_orbit(
    rho: Float32, alpha: Float32, precision_rho: Float64, precision_alpha: Float64, key: Key
) -> None:
    """Rotate both sides by one random rotation and rescale each axis against the other side, in place.

    Parameters
    ----------
    rho, alpha : ndarray of float32, shape (rows, padded dim)
        Changed in place; their products stay what they are.
    precision_rho, precision_alpha : ndarray of float64, shape (rows, dim)
        Prior precision, the same on all axes of a row.
    key : Key
        The address of this move.
    """
    dim = precision_rho.shape[1]
    rotation = np.zeros((dim, dim))
    fill_rotation(key, rotation)
    wide = np.zeros((dim, rho.shape[1]), dtype=np.float32)
    wide[:, :dim] = rotation
    forms_rho, forms_alpha = np.zeros(dim), np.zeros(dim)
    _rotate(rho, wide, precision_rho, forms_rho)
    _rotate(alpha, wide, precision_alpha, forms_alpha)
    scale = np.ones(rho.shape[1], dtype=np.float32)
    inverse = np.ones(rho.shape[1], dtype=np.float32)
    for k in range(dim):
        if forms_rho[k] > 0.0 and forms_alpha[k] > 0.0:
            d = math.sqrt(draw_gig(0.5 * (len(rho) - len(alpha)), forms_rho[k], forms_alpha[k], key, k))
            scale[k], inverse[k] = d, 1.0 / d
    for i in range(len(rho)):
        for k in range(rho.shape[1]):
            rho[i, k] *= scale[k]
    for i in range(len(alpha)):
        for k in range(alpha.shape[1]):
            alpha[i, k] *= inverse[k]
