"""Gaussian priors over rows against SciPy's normal density, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from bayesvec.errors import OptionError
from bayesvec.priors import Prior, RowPrior, spherical

ROWS, DIM = 4, 3
SHAPES = [(), (ROWS, 1), (1, DIM), (ROWS, DIM), (1, 1)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("mean_shape", SHAPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_density_gradient_and_hessian(shape, mean_shape, rng):
    prior = RowPrior(rng.gamma(2.0, size=shape), rng.normal(size=mean_shape))
    x, direction = rng.normal(size=(2, ROWS, DIM))
    assert_allclose(prior.log_density(x), norm.logpdf(x, prior.mean, prior.precision**-0.5).sum(), rtol=1e-13)
    ahead, behind = prior.gradient(x + direction), prior.gradient(x - direction)
    # the log density is quadratic: central differences are exact for any step
    assert_allclose((ahead - behind) / 2, prior.hessian_product(direction), rtol=1e-12, atol=1e-12)
    slope = (prior.log_density(x + direction) - prior.log_density(x - direction)) / 2
    assert_allclose(np.sum(prior.gradient(x) * direction), slope, rtol=1e-11)


def test_a_standard_deviation_taken_for_a_precision_would_be_seen(rng):
    prior, x = RowPrior(4.0), rng.normal(size=(ROWS, DIM))
    with pytest.raises(AssertionError):
        assert_allclose(prior.log_density(x), norm.logpdf(x, 0.0, 4.0).sum(), rtol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_for_the_row_update(shape, rng):
    prior = RowPrior(rng.gamma(2.0, size=shape), rng.normal(size=(1, DIM)))
    precision, shift = prior.precision_rows(ROWS, DIM), prior.shift_rows(ROWS, DIM)
    assert precision.shape == shift.shape == (ROWS, DIM)
    assert precision.dtype == shift.dtype == np.float64
    # the gradient is shift - precision * x, and so is zero at the mean
    x = rng.normal(size=(ROWS, DIM))
    assert_allclose(shift - precision * x, prior.gradient(x), atol=1e-13)
    assert not np.any(prior.gradient(np.broadcast_to(prior.mean, (ROWS, DIM))))


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (RowPrior(2.0), True),
        (RowPrior([[1.0], [2.0]]), True),
        (RowPrior([[3.0, 3.0], [2.0, 2.0]]), True),
        (RowPrior([[1.0, 2.0]]), False),
        (RowPrior([[1.0, 1.0], [1.0, 2.0]]), False),
        (RowPrior(2.0, [[0.0], [1e-9]]), False),
    ],
)
def test_isotropy_is_invariance_under_rotation(prior, expected, rng):
    x, y = rng.normal(size=(2, 2))
    x = np.stack([x, y])
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert prior.is_isotropic is expected
    assert Prior(prior, RowPrior(1.0)).is_isotropic is expected
    assert Prior(RowPrior(1.0), prior).is_isotropic is expected
    unchanged = abs(prior.log_density(x @ turn) - prior.log_density(x)) < 1e-12
    assert unchanged is expected


def test_spherical(rng):
    prior = spherical(2.5)
    rho, alpha = rng.normal(size=(5, DIM)), rng.normal(size=(2, DIM))
    expected = norm.logpdf(np.vstack([rho, alpha]), scale=2.5**-0.5).sum()
    assert_allclose(prior.log_density(rho, alpha), expected, rtol=1e-13)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, [[1.0], [0.0]], [1.0, 2.0], np.ones((2, 2, 2))])
def test_precisions_that_are_refused(bad):
    with pytest.raises(OptionError, match="precision"):
        RowPrior(bad)
    with pytest.raises(OptionError, match="precision"):
        spherical(bad)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, [0.0, 1.0]])
def test_means_that_are_refused(bad):
    with pytest.raises(OptionError, match="mean"):
        RowPrior(1.0, bad)


def test_shapes_that_do_not_fit_the_rows():
    for prior in (RowPrior(np.ones((3, 1))), RowPrior(1.0, np.ones((1, 2)))):
        with pytest.raises(OptionError, match=r"for 4 rows of 3 axes"):
            prior.log_density(np.zeros((ROWS, DIM)))
        with pytest.raises(OptionError, match=r"for 4 rows of 3 axes"):
            prior.shift_rows(ROWS, DIM)


def test_a_prior_cannot_be_changed_from_outside():
    precision = np.ones((ROWS, 1))
    prior = RowPrior(precision)
    precision[:] = 7.0
    assert_array_equal(prior.precision, np.ones((ROWS, 1)))
    with pytest.raises(ValueError, match="read-only"):
        prior.precision[0] = 2.0
