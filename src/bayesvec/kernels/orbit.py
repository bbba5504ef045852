r"""The orbit move: the likelihood is constant along :math:`(\rho A, \alpha A^{-\top})`, so the prior alone decides.

A generalised Gibbs step (Liu & Sabatti 2000), which leaves the posterior invariant when the prior has mean zero and
is the same on every axis. A random rotation of both sides is followed by draws from two kinds of one-parameter
groups. A rescaling of an axis, :math:`\rho_k d_k` and :math:`\alpha_k / d_k`, has the Jacobian
:math:`d_k^{R - C}`, so that

.. math:: d_k^2 \sim GIG\big((R - C)/2,\ \rho_k^\top P_\rho \rho_k,\ \alpha_k^\top P_\alpha \alpha_k\big),

where GIG(p, a, b) has density proportional to :math:`x^{p-1} \exp(-(a x + b/x)/2)`. A shear of two axes,
:math:`\rho_j + s \rho_i` and :math:`\alpha_i - s \alpha_j`, keeps the volume, so that with
:math:`w = \rho_i^\top P_\rho \rho_i + \alpha_j^\top P_\alpha \alpha_j`

.. math:: s \sim N\big((\alpha_i^\top P_\alpha \alpha_j - \rho_i^\top P_\rho \rho_j) / w,\ 1 / w\big).

The scalings and the shears of all i > j make the lower triangular matrices, which with the rotations are all A: one
round of them comes close to a fresh draw along the whole orbit.

Under a prior with means, or with other precisions on other axes, the shears are still Gaussian, and the shears of all
pairs of axes make all A of determinant 1. There they are the whole move.
"""

import math
from typing import Any

import numpy as np

from bayesvec._types import Float32, Float64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.rng import Key, fill_normals, uniforms
from bayesvec.kernels.vector_rows import add_tail, dot_tail

ROUNDS = 3  # of rotation, rescalings and shears in one orbit move
SHEAR_ROUNDS = 8  # of all shears, where there is nothing else

# Rows of the address space of an orbit move: the axes of each round from 0 on, as many for their shears, then the
# rows of each rotation.
_SHEARS = 1 << 30
_ROTATION = 1 << 31
_FIRST: Any = np.int64(0)  # block; a plain number would be a type, and a compilation, of its own


@inlined
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
    dim, width = out.shape
    for i in range(dim):
        row = out[i]
        for k in range(dim, width):
            row[k] = 0.0
        fill_normals(key, _ROTATION + number * dim + i, _FIRST, row[:dim])
        for _ in range(2):
            for j in range(i):
                add_tail(out, i, j, -dot_tail(out, j, row, 0, width), 0, width)
        norm = math.sqrt(dot_tail(out, i, row, 0, width))
        for k in range(dim):
            row[k] /= norm


@compiled
def _multiply(a: Float64, b: Float64, out: Float64) -> None:
    """Put the product of two square matrices into ``out``, four terms at a time; columns beyond are padding."""
    dim = len(a)
    for i in range(dim):
        line = out[i, :dim]
        for k in range(dim):
            line[k] = 0.0
        for j in range(0, dim - dim % 4, 4):
            w, x, y, z = a[i, j], a[i, j + 1], a[i, j + 2], a[i, j + 3]
            p, q, r, s = b[j], b[j + 1], b[j + 2], b[j + 3]
            for k in range(len(line)):
                line[k] += w * p[k] + x * q[k] + y * r[k] + z * s[k]
        for j in range(dim - dim % 4, dim):
            for k in range(len(line)):
                line[k] += a[i, j] * b[j, k]


@compiled
def _rotate(rotation: Float64, axes: Float64, form: Float64, rotated: Float64) -> None:
    """Rotate one side: its ``axes``, a row each, and its quadratic ``form`` in them."""
    dim = len(form)
    _multiply(rotation, axes, rotated)
    for i in range(dim):  # loops: what assigns an array to another takes seconds to compile
        for k in range(dim):
            axes[i, k] = rotated[i, k]
    _multiply(rotation, form, rotated)
    for i in range(dim):
        for k in range(dim):
            form[i, k] = rotated[k, i]
    _multiply(rotation, form, rotated)
    for i in range(dim):
        for k in range(i + 1):
            form[i, k] = form[k, i] = 0.5 * (rotated[i, k] + rotated[k, i])


@compiled
def rescale_axis(axes: Float64, form: Float64, k: int, scale: float) -> None:
    """Multiply axis ``k`` of one side by ``scale``."""
    for i in range(len(form)):
        axes[k, i] *= scale
        form[k, i] *= scale
    for i in range(len(form)):
        form[i, k] *= scale


@compiled
def shear_axis(axes: Float64, form: Float64, k: int, other: int, s: float) -> None:
    """Add ``s`` times axis ``other`` of one side to axis ``k``."""
    for i in range(len(form)):
        axes[k, i] += s * axes[other, i]
        form[k, i] += s * form[other, i]
    for i in range(len(form)):
        form[i, k] += s * form[i, other]


@compiled
def draw_change(form_rho: Float64, form_alpha: Float64, power: float, key: Key) -> tuple[Float64, Float64]:
    """Draw a change of both sides along the orbit: rotation, rescalings and shears, `ROUNDS` times over.

    They need only the quadratic forms of the two sides, so that the number of rows does not matter.

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
    rho, alpha = form_rho.copy(), form_alpha.copy()
    change, inverse = np.eye(dim), np.eye(dim)  # transposed: a row is an axis
    rotation, rotated = np.empty((dim, (dim + 3) // 4 * 4)), np.empty((dim, dim))
    normals = np.empty(dim)
    for number in range(ROUNDS):
        fill_rotation(key, number, rotation)
        _rotate(rotation, change, rho, rotated)
        _rotate(rotation, inverse, alpha, rotated)
        for k in range(dim):
            row = number * dim + k
            if rho[k, k] > 0.0 and alpha[k, k] > 0.0:
                scale = math.sqrt(draw_gig(power, rho[k, k], alpha[k, k], key, row))
                rescale_axis(change, rho, k, scale)
                rescale_axis(inverse, alpha, k, 1.0 / scale)
            fill_normals(key, _SHEARS + row, _FIRST, normals[:k])
            for j in range(k):
                if rho[k, k] > 0.0 and alpha[j, j] > 0.0:
                    weight = rho[k, k] + alpha[j, j]
                    s = (alpha[k, j] - rho[k, j]) / weight + normals[j] / math.sqrt(weight)
                    shear_axis(change, rho, j, k, s)
                    shear_axis(inverse, alpha, k, j, -s)
    return change.T, inverse.T


@compiled
def _pull(x: Float64, precision: Float64, shift: Float64, k: int, other: int) -> tuple[float, float]:
    """Return what times s^2 / 2 and s the prior's energy grows by if ``s`` times axis ``other`` is added to ``k``."""
    square, slope = 0.0, 0.0
    for row in range(x.shape[1]):
        square += precision[k, row] * x[other, row] * x[other, row]
        slope += x[other, row] * (precision[k, row] * x[k, row] - shift[k, row])
    return square, slope


@compiled
def draw_shears(
    rho: Float64,
    alpha: Float64,
    prior_rho: tuple[Float64, Float64],
    prior_alpha: tuple[Float64, Float64],
    key: Key,
) -> None:
    """Shear every pair of axes of both sides in turn, in place, under any prior whose rows are independent.

    Parameters
    ----------
    rho, alpha : ndarray of float64, shape (K, rows)
        The two sides, transposed.
    prior_rho, prior_alpha : tuple of two arrays of that shape
        Precision, and precision times mean.
    key : Key
        The address of this move.
    """
    dim = len(rho)
    normals = np.empty(dim)
    for step in range(SHEAR_ROUNDS * dim):
        i = step % dim
        fill_normals(key, _SHEARS + step, _FIRST, normals)
        for j in range(dim):
            if i == j:
                continue
            square_rho, slope_rho = _pull(rho, prior_rho[0], prior_rho[1], j, i)
            square_alpha, slope_alpha = _pull(alpha, prior_alpha[0], prior_alpha[1], i, j)
            weight = square_rho + square_alpha
            if weight > 0.0:
                s = (slope_alpha - slope_rho) / weight + normals[j] / math.sqrt(weight)
                for row in range(rho.shape[1]):
                    rho[j, row] += s * rho[i, row]
                for row in range(alpha.shape[1]):
                    alpha[i, row] -= s * alpha[j, row]


def shear_along_orbit(
    rho: Float32,
    alpha: Float32,
    prior_rho: tuple[Float64, Float64],
    prior_alpha: tuple[Float64, Float64],
    key: Key,
) -> tuple[Float32, Float32]:
    """Return both sides sheared along the orbit; their products stay what they are.

    Parameters
    ----------
    rho, alpha : ndarray of float32, shape (rows, K)
        The two sides.
    prior_rho, prior_alpha : tuple of two arrays of float64, shape (rows, K)
        Precision, and precision times mean, of rows that are independent.
    key : Key
        The address of this move.
    """
    sides = [np.array(x.T, dtype=np.float64, order="C") for x in (rho, alpha)]
    transposed = [
        (np.ascontiguousarray(precision.T), np.ascontiguousarray(shift.T))
        for precision, shift in (prior_rho, prior_alpha)
    ]
    draw_shears(sides[0], sides[1], transposed[0], transposed[1], key)
    moved = [np.array(x.T, dtype=np.float32, order="C") for x in sides]
    return moved[0], moved[1]
