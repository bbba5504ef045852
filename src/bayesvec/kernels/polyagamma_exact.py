r"""The Polya-Gamma distribution to double precision: moments, distribution function, quantiles.

Plain NumPy, made to be right rather than fast; the tables of the fast sampler are built from it and the
samplers are tested against it. X ~ PG(h, z) has the Laplace transform (Polson, Scott & Windle 2013, eq. 3)

.. math:: E[e^{-pX}] = \cosh^h(z/2) / \cosh^h(w), \qquad w = \sqrt{z^2/4 + p/2},

for any real h > 0. Its singularities lie on the real line left of :math:`p = -(z^2 + \pi^2)/2`. With
q = p + (z^2 + pi^2)/2 the Bromwich integral is taken along the parabola q = q0 (1 + i theta)^2, on which the
integrand decays like a Gaussian (for large z it is one), so that the trapezoidal rule converges
geometrically. The vertex q0 is the saddle point, which gives full relative precision in both tails.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64

POINTS = 64  # of the trapezoidal rule on one half of the parabola
REACH = 11.0  # how far it goes, in standard deviations of the integrand at the vertex
NEAR = 1.2  # a saddle point nearer to the pole at p = 0, in standard deviations of X, is moved ...
SHIFT = 2.2  # ... to this distance on its right


class Tails(NamedTuple):
    """P(X <= x), P(X > x) and the density at x, each with full relative precision."""

    lower: Float64
    upper: Float64
    density: Float64


def _tanh_ratio(w2: Float64) -> Float64:
    """Return tanh(w) / w as a function of w^2, which may be negative (then tan(|w|) / |w|)."""
    w = np.maximum(np.sqrt(np.abs(w2)), 1e-8)
    return np.where(w2 >= 0.0, np.tanh(w), np.tan(np.minimum(w, np.pi / 2 - 1e-12))) / w


def _unit_mean(w2: Float64) -> Float64:
    """Return the mean of PG(1, 2w)."""
    return _tanh_ratio(w2) / 4.0


def _unit_variance(w2: Float64) -> Float64:
    """Return the variance of PG(1, 2w)."""
    ratio = _tanh_ratio(w2)
    small = np.abs(w2) < 1e-3  # the closed form cancels there; the series is good to 1e-14
    series = 1 / 3 - w2 * (4 / 15 - w2 * (17 / 105 - w2 * (248 / 2835)))
    closed = (ratio - 1.0 + w2 * ratio**2) / (2.0 * np.where(small, 1.0, w2))
    return np.where(small, series, closed) / 8.0


def mean(h: npt.ArrayLike, z: npt.ArrayLike) -> Float64:
    """Return the mean of PG(h, z): h tanh(z/2) / (2z)."""
    return np.asarray(h) * _unit_mean(np.asarray(z, dtype=np.float64) ** 2 / 4.0)


def variance(h: npt.ArrayLike, z: npt.ArrayLike) -> Float64:
    """Return the variance of PG(h, z): h (sinh z - z) / (4 z^3 cosh^2(z/2))."""
    return np.asarray(h) * _unit_variance(np.asarray(z, dtype=np.float64) ** 2 / 4.0)


def _saddle(mean_wanted: Float64) -> Float64:
    """Return the q at which the tilted PG(1, .) has the mean wanted, by Newton steps in log q."""
    q = 1.0 / (8.0 * mean_wanted**2) + np.where(mean_wanted > 1.0, 1.0, 0.73) / mean_wanted
    for _ in range(50):
        w2 = q / 2.0 - np.pi**2 / 4.0
        value = _unit_mean(w2)
        step = np.log(value / mean_wanted) * value / (_unit_variance(w2) * q)
        q = q * np.exp(np.clip(step, -1.0, 1.0))
        if np.max(np.abs(step), initial=0.0) < 1e-6:
            break
    return q


def _log_cosh(a: Float64, b: Float64) -> tuple[Float64, Float64]:
    """Return real and imaginary part of log(2 cosh w) for w^2 = a + ib, b >= 0.

    In real arithmetic, for which NumPy has vectorised functions: four times as fast as its complex ones.
    """
    larger = np.sqrt((np.hypot(a, b) + np.abs(a)) / 2.0 + 1e-300)
    smaller = b / (2.0 * larger)
    u, v = np.where(a >= 0.0, larger, smaller), np.where(a >= 0.0, smaller, larger)
    e = np.exp(-2.0 * u)
    real, imag = 1.0 + e * np.cos(2.0 * v), -e * np.sin(2.0 * v)
    return u + 0.5 * np.log(real**2 + imag**2), v + np.arctan2(imag, real)


def tails(
    x: npt.ArrayLike, h: npt.ArrayLike, z: npt.ArrayLike, *, points: int = POINTS, reach: float = REACH
) -> Tails:
    """Return both tails and the density of PG(h, z) at ``x`` > 0.

    Parameters
    ----------
    x, h, z : array_like
        Broadcast against each other; ``h`` > 0 need not be an integer.
    points : int, optional
        Nodes of the trapezoidal rule on one half of the parabola.
    reach : float, optional
        How far the rule goes, in standard deviations of the integrand.
    """
    x, h, z = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (x, h, z)))
    pole = (z**2 + np.pi**2) / 2.0  # where p = 0 lies in q
    q = _saddle(x / h)
    distance = (q - pole) * np.sqrt(h * _unit_variance(q / 2.0 - np.pi**2 / 4.0))
    right = distance < -NEAR  # the contour passes left of the pole: minus the upper tail
    q = np.where(np.abs(distance) < NEAR, pole + SHIFT / np.sqrt(variance(h, z)), q)
    sd = 0.5 / (q * np.sqrt(h * _unit_variance(q / 2.0 - np.pi**2 / 4.0)))

    theta = (reach * sd / points)[..., None] * np.arange(points)
    p_real, p_imag = q[..., None] * (1.0 - theta**2) - pole[..., None], 2.0 * q[..., None] * theta
    log_size, phase = _log_cosh(p_real / 2.0 + z[..., None] ** 2 / 4.0, p_imag / 2.0)
    half = np.abs(z)[..., None] / 2.0
    log_size = half + np.log1p(np.exp(-2.0 * half)) - log_size
    size = np.exp(p_real * x[..., None] + h[..., None] * log_size)
    phase = p_imag * x[..., None] - h[..., None] * phase
    size[..., 0] *= 0.5
    cosine, sine = np.cos(phase), np.sin(phase)
    real, imag = size * (cosine - theta * sine), size * (sine + theta * cosine)  # the factor is dp / d theta
    scale = 2.0 * q * reach * sd / (points * np.pi)
    density = scale * real.sum(-1)
    tail = scale * ((real * p_real + imag * p_imag) / (p_real**2 + p_imag**2)).sum(-1)
    return Tails(np.where(right, 1.0 + tail, tail), np.where(right, -tail, 1.0 - tail), density)


def quantile(
    t: npt.ArrayLike, h: npt.ArrayLike, z: npt.ArrayLike, *, points: int = POINTS, reach: float = REACH
) -> Float64:
    """Return the x at which PG(h, z) has the lower tail of a standard normal at ``t``.

    Newton steps in log x on the normal scale, where the distribution function is nearly straight.

    Parameters
    ----------
    t, h, z : array_like
        Broadcast against each other.
    points, reach : optional
        As in `tails`.
    """
    from scipy.special import ndtri  # slow to import, and seldom needed

    t, h, z = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (t, h, z)))
    shape = t.shape
    t, h, z = t.ravel(), h.ravel(), z.ravel()
    centre = mean(h, z)
    spread = np.sqrt(variance(h, z)) / centre
    log_x = np.log(centre) + spread * t - spread**2 / 2.0
    left = np.arange(len(t))
    for _ in range(50):
        x = np.exp(log_x[left])
        at = tails(x, h[left], z[left], points=points, reach=reach)
        lower = at.lower < 0.5
        tail = np.maximum(np.where(lower, at.lower, at.upper), 1e-300)
        normal = np.where(lower, 1.0, -1.0) * ndtri(tail)
        slope = np.exp(-(normal**2) / 2.0) / np.sqrt(2.0 * np.pi) / np.maximum(at.density * x, 1e-300)
        step = np.clip((t[left] - normal) * slope, -0.7, 0.7)
        log_x[left] += step
        left = left[np.abs(step) > 1e-6]  # the next step would be the square of this one
        if not len(left):
            break
    return np.asarray(np.exp(log_x).reshape(shape))
