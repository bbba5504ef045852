r"""The logistic link of one block of pairs: log likelihoods, residuals and weights, without overflow.

Everything is a function of :math:`e = \exp(-|\eta|)`, so no logarithm of a logistic is ever taken.
Exponential and logarithm are plain arithmetic here: a library call would keep the loop from being vectorised.
"""

import math

import numpy as np

from bayesvec._types import Float32, Float64, Int32
from bayesvec.kernels.compiled import fused, summing

FLOOR = -708.0  # exp of less is not a normal number

_MAGIC = 1.5 * 2.0**52  # adding it leaves the rounded whole number in the low bits
_LOG2E = 1.0 / math.log(2.0)
_LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")  # ln 2 in two parts: k times the first is exact
_LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")
_EXP = np.array([1.0 / math.factorial(j) for j in range(13, -1, -1)])  # |r| <= ln(2)/2: error below 4e-18
_ATANH = np.array([1.0 / (2 * j + 1) for j in range(16, -1, -1)])  # z <= 1/9: error below 2e-18
_ONE_BITS = np.int64(1023 << 52)
_EXPONENT = np.int64(52)


@fused
def exp_negative(y: float) -> float:
    """Return the exponential of ``y`` <= 0, or exp(-708) where that is more."""
    y = FLOOR if y < FLOOR else y  # written so that NaN stays NaN
    shifted = y * _LOG2E + _MAGIC
    k = shifted - _MAGIC
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    series = _EXP[0]
    for j in range(1, 14):
        series = series * r + _EXP[j]
    power = np.int64((np.float64(shifted).view(np.int64) << _EXPONENT) + _ONE_BITS)
    scaled: float = series * power.view(np.float64)
    return scaled


@fused
def log1p_unit(e: float) -> float:
    """Return log(1 + e) for e in [0, 1]: twice the inverse hyperbolic tangent of e / (2 + e)."""
    f = e / (2.0 + e)
    z = f * f
    series = _ATANH[0]
    for j in range(1, 17):
        series = series * z + _ATANH[j]
    twice: float = 2.0 * f * series
    return twice


@fused
def link(eta: Float64, n_pos: Int32, n_neg: Int32, term: Float64) -> None:
    """Replace ``eta`` by the residual n+ - n s(eta); the log likelihoods go to ``term``."""
    for i in range(eta.shape[0]):
        x = eta[i]
        e = exp_negative(-abs(x))
        near = 1.0 / (1.0 + e)  # s(|eta|)
        far = e * near  # s(-|eta|)
        pos, neg = float(n_pos[i]), float(n_neg[i])
        up = x >= 0.0
        term[i] = (-neg * x if up else pos * x) - (pos + neg) * log1p_unit(e)
        # n+ s(-eta) - n- s(eta) is the residual without cancellation
        eta[i] = pos * (far if up else near) - neg * (near if up else far)


@fused
def curve(eta: Float64, n_pos: Int32, n_neg: Int32, weight: Float64) -> None:
    """Replace ``eta`` by the residual; n s'(eta) goes to ``weight``."""
    for i in range(eta.shape[0]):
        x = eta[i]
        e = exp_negative(-abs(x))
        near = 1.0 / (1.0 + e)
        far = e * near
        pos, neg = float(n_pos[i]), float(n_neg[i])
        up = x >= 0.0
        weight[i] = (pos + neg) * near * far
        eta[i] = pos * (far if up else near) - neg * (near if up else far)


# The same in single precision, for loops over pairs whose logits are no more exact than that.
_ZERO, _HALF, _ONE, _TWO = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
_FLOOR_SINGLE = np.float32(-87.0)
_MAGIC_SINGLE = np.float32(1.5 * 2.0**23)
_LOG2E_SINGLE = np.float32(_LOG2E)
_LN2_HIGH_SINGLE = np.float32(0.693145751953125)  # 16 bits: k times it is exact
_LN2_LOW_SINGLE = np.float32(math.log(2.0) - 0.693145751953125)
_EXP_SINGLE = _EXP[6:].astype(np.float32)  # up to r^7: error below 6e-9
_ATANH_SINGLE = _ATANH[10:].astype(np.float32)  # up to z^6: error below 2e-8
_ONE_BITS_SINGLE = np.int32(127 << 23)
_EXPONENT_SINGLE = np.int32(23)


@fused
def _exp_negative_single(y: np.float32) -> np.float32:
    """Return the exponential of ``y`` <= 0, or exp(-87) where that is more."""
    y = _FLOOR_SINGLE if y < _FLOOR_SINGLE else y
    shifted = y * _LOG2E_SINGLE + _MAGIC_SINGLE
    k = shifted - _MAGIC_SINGLE
    r = (y - k * _LN2_HIGH_SINGLE) - k * _LN2_LOW_SINGLE
    series = _EXP_SINGLE[0]
    for j in range(1, 8):
        series = series * r + _EXP_SINGLE[j]
    power = np.int32((np.float32(shifted).view(np.int32) << _EXPONENT_SINGLE) + _ONE_BITS_SINGLE)
    scaled: np.float32 = series * power.view(np.float32)
    return scaled


@fused
def slope_single(eta: Float32, n: Int32, kappa: Float32, weight: float, residual: Float32) -> None:
    """Put kappa - w n (s(eta) - 1/2), the slope of the log likelihood of each pair, into ``residual``."""
    w = np.float32(weight)
    for i in range(eta.shape[0]):
        e = _exp_negative_single(-abs(eta[i]))
        near = _ONE / (_ONE + e)
        s = near if eta[i] >= _ZERO else e * near
        residual[i] = kappa[i] - w * np.float32(n[i]) * (s - _HALF)


@fused
def value_single(eta: Float32, n: Int32, kappa: Float32, weight: float, term: Float32) -> None:
    """Put the log likelihood of each pair into ``term``.

    With kappa = w (n+ - n / 2) it is -w n log(1 + e) - |eta| w n', where n' is n- for eta >= 0 and n+ below: a sum
    of terms of one sign, so that nothing cancels.
    """
    w = np.float32(weight)
    for i in range(eta.shape[0]):
        size = abs(eta[i])
        e = _exp_negative_single(-size)
        f = e / (_TWO + e)
        z = f * f
        atanh = _ATANH_SINGLE[0]
        for j in range(1, 7):
            atanh = atanh * z + _ATANH_SINGLE[j]
        half = _HALF * w * np.float32(n[i])
        wrong = half - kappa[i] if eta[i] >= _ZERO else half + kappa[i]
        term[i] = -size * wrong - _TWO * half * (_TWO * f * atanh)


@summing
def sum_single(terms: Float32) -> float:
    """Return the sum of numbers in single precision, added up in double."""
    total = 0.0
    for i in range(len(terms)):
        total += terms[i]
    return total
