r"""The orbit move: the likelihood is constant along :math:`(\rho A, \alpha A^{-\top})`, so the prior alone decides.

A generalised Gibbs step (Liu & Sabatti 2000). The group is first a random rotation O of both sides, then a
scaling :math:`d_k` of each axis; its invariant measure and the Jacobian :math:`d_k^{R - C}` give

.. math:: d_k^2 \sim GIG\big((R - C)/2,\ \rho_k^\top P_\rho \rho_k,\ \alpha_k^\top P_\alpha \alpha_k\big),

where GIG(p, a, b) has density proportional to :math:`x^{p-1} \exp(-(a x + b/x)/2)`. It leaves the posterior
invariant when the prior has mean zero and is the same on every axis. Repeated with new rotations it comes
close to a fresh draw along the whole orbit.
"""

import math

import numpy as np

from bayesvec._types import Float32, Float64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.rng import Key, fill_normals, uniforms
from bayesvec.kernels.vector import add_tail, dot_tail

MOVES = 8  # rotations and rescalings in one orbit move

# Rows of the address space of an orbit move: the axes of each step from 0 on, then the rows of each rotation.
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
def fill_rotation(key: Key, number: int, out: Float64) -> None:
    """Fill the square ``out`` with random orthogonal matrix ``number``: normals made orthonormal, row by row.

    Gram-Schmidt, twice for accuracy, keeps the diagonal of the triangular factor positive, so the result has
    the uniform distribution over all orthogonal matrices (Mezzadri 2007). Columns beyond the square are
    padding and become zero.
    """
    dim = len(out)
    out[:, dim:] = 0.0
    for i in range(dim):
        row = out[i]
        fill_normals(key, _ROTATION + number * dim + i, 0, row[:dim])
        for _ in range(2):
            for j in range(i):
                add_tail(out, i, j, -dot_tail(out, j, row, 0), 0)
        norm = math.sqrt(dot_tail(out, i, row, 0))
        for k in range(dim):
            row[k] /= norm


@compiled
def _multiply(a: Float64, b: Float64, out: Float64) -> None:
    """Put the product of two square matrices into ``out``, four terms at a time."""
    dim = len(a)
    for i in range(dim):
        line = out[i, :dim]
        line[:] = 0.0
        for j in range(0, dim - dim % 4, 4):
            w, x, y, z = a[i, j], a[i, j + 1], a[i, j + 2], a[i, j + 3]
            p, q, r, s = b[j], b[j + 1], b[j + 2], b[j + 3]
            for k in range(len(line)):
                line[k] += w * p[k] + x * q[k] + y * r[k] + z * s[k]
        for j in range(dim - dim % 4, dim):
            for k in range(len(line)):
                line[k] += a[i, j] * b[j, k]


@compiled
def draw_change(form_rho: Float64, form_alpha: Float64, power: float, key: Key) -> tuple[Float64, Float64]:
    """Draw a change of both sides along the orbit: rotations and rescalings, `MOVES` times over.

    The steps need only the quadratic forms of the two sides, so that many of them cost little more than one.

    Parameters
    ----------
    form_rho, form_alpha : ndarray of float64, shape (K, K)
        Quadratic forms of the prior over the axes: the sum over rows of precision * x x^T.
    power : float
        (R - C) / 2, for R rows of rho and C of alpha.
    key : Key
        The address of this move.

    Returns
    -------
    tuple of two (K, K) arrays
        A and A^-T: rho becomes rho A, alpha becomes alpha A^-T.
    """
    dim = len(form_rho)
    change, inverse = np.eye(dim), np.eye(dim)
    rotation, rotated = np.empty((dim, (dim + 3) // 4 * 4)), np.empty((dim, dim))
    size_rho, size_alpha = np.empty(dim), np.empty(dim)
    for move in range(MOVES):
        fill_rotation(key, move, rotation)
        for side, form, sizes in ((change, form_rho, size_rho), (inverse, form_alpha, size_alpha)):
            _multiply(side, rotation, rotated)
            side[:] = rotated
            _multiply(form, side, rotated)
            sizes[:] = 0.0
            for j in range(dim):
                for k in range(dim):
                    sizes[k] += side[j, k] * rotated[j, k]
        for k in range(dim):
            if size_rho[k] > 0.0 and size_alpha[k] > 0.0:
                scale = math.sqrt(draw_gig(power, size_rho[k], size_alpha[k], key, move * dim + k))
                change[:, k] *= scale
                inverse[:, k] /= scale
    return change, inverse


def move_along_orbit(
    rho: Float32, alpha: Float32, precision_rho: Float64, precision_alpha: Float64, key: Key
) -> tuple[Float32, Float32]:
    """Return both sides moved along the orbit; their products stay what they are.

    Parameters
    ----------
    rho, alpha : ndarray of float32, shape (rows, K)
        The two sides.
    precision_rho, precision_alpha : ndarray of float64, shape (rows, K)
        Prior precision, the same on all axes of a row.
    key : Key
        The address of this move.
    """
    form_rho, form_alpha = (
        (x.T @ (x * precision[:, :1].astype(np.float32))).astype(np.float64)
        for x, precision in ((rho, precision_rho), (alpha, precision_alpha))
    )
    return move_by_forms(rho, alpha, form_rho, form_alpha, key)


def move_by_forms(
    rho: Float32, alpha: Float32, form_rho: Float64, form_alpha: Float64, key: Key
) -> tuple[Float32, Float32]:
    r"""Return both sides moved along the orbit, given the prior's quadratic forms.

    Parameters
    ----------
    rho, alpha : ndarray of float32, shape (rows, K)
        The two sides.
    form_rho, form_alpha : ndarray, shape (K, K)
        :math:`\rho^\top P_\rho \rho` and :math:`\alpha^\top P_\alpha \alpha`.
    key : Key
        The address of this move.
    """
    change, inverse = draw_change(form_rho, form_alpha, 0.5 * (len(rho) - len(alpha)), key)
    return rho @ change.astype(np.float32), alpha @ inverse.astype(np.float32)
