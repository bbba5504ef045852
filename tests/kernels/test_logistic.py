"""The logistic link in single precision, against SciPy in double."""

import numpy as np
from scipy.special import expit

from bayesvec.kernels.logistic import slope_single, sum_single, value_single

WEIGHT = 0.7
ETA = np.concatenate([np.linspace(-30, 30, 2001), [-2000.0, -87.5, 0.0, 87.5, 2000.0]]).astype(np.float32)


def samples():
    """n, n+ and kappa of pairs with these logits."""
    generator = np.random.default_rng(0)
    n = generator.integers(1, 3000, size=len(ETA)).astype(np.int32)
    n_pos = generator.binomial(n, 0.2)
    return n, n_pos, (WEIGHT * (n_pos - 0.5 * n)).astype(np.float32)


def test_slopes():
    n, n_pos, kappa = samples()
    slope = np.empty_like(ETA)
    slope_single(ETA, n, kappa, WEIGHT, slope)
    exact = WEIGHT * (n_pos - n * expit(ETA.astype(np.float64)))
    assert np.all(np.abs(slope - exact) <= 4e-7 * n)


def test_values_and_their_sum():
    n, n_pos, kappa = samples()
    value, eta = np.empty_like(ETA), ETA.astype(np.float64)
    value_single(ETA, n, kappa, WEIGHT, value)
    exact = -WEIGHT * (n_pos * np.logaddexp(0, -eta) + (n - n_pos) * np.logaddexp(0, eta))
    np.testing.assert_allclose(value, exact, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(sum_single(value), value.astype(np.float64).sum(), rtol=1e-13)


def test_what_is_not_a_number_stays_so():
    value = np.empty(1, dtype=np.float32)
    one = np.ones(1, dtype=np.int32)
    value_single(np.full(1, np.nan, dtype=np.float32), one, np.zeros(1, dtype=np.float32), 1.0, value)
    assert np.isnan(value[0])
