import numpy as np
import pytest
from scipy import stats

from bayesvec.diagnostics.truth import coverage, inside, rmse_co
from bayesvec.errors import NumericalError, OptionError


def test_rmse_co_by_hand(monkeypatch):
    generator = np.random.default_rng(0)
    rho, alpha, rho2, alpha2 = (generator.normal(size=(rows, 3)) for rows in (5, 4, 5, 4))
    p, q = (1 / (1 + np.exp(-a @ b.T)) for a, b in ((rho, alpha), (rho2, alpha2)))
    by_hand = np.sqrt(((p - q) ** 2).mean())
    assert rmse_co(rho, alpha, rho2, alpha2) == pytest.approx(by_hand, rel=1e-12)
    monkeypatch.setattr("bayesvec.diagnostics.truth._BLOCK_VALUES", 8)
    assert rmse_co(rho, alpha, rho2, alpha2) == pytest.approx(by_hand, rel=1e-12)


def test_rmse_co_does_not_see_linear_maps():
    generator = np.random.default_rng(1)
    rho, alpha, a = (
        generator.normal(size=(6, 3)),
        generator.normal(size=(5, 3)),
        generator.normal(size=(3, 3)),
    )
    assert rmse_co(rho, alpha, rho @ a, alpha @ np.linalg.inv(a).T) < 1e-12
    assert rmse_co(rho, alpha, rho @ a, alpha @ a) > 0.01
    with pytest.raises(OptionError, match="6 x 5 and 5 x 6"):
        rmse_co(rho, alpha, alpha, rho)


def coverage_error(scale):
    """Standard score of the coverage of 2000 intervals of draws ``scale`` times as wide as they should be."""
    generator = np.random.default_rng(7)
    mean = generator.normal(size=2000)
    truth = mean + generator.normal(size=2000)  # given the data, truth is normal around mean
    draws = mean + scale * generator.normal(size=(2, 2000, 2000))
    return (coverage(draws, truth, 0.9) - 0.9) / np.sqrt(0.9 * 0.1 / 2000)


def test_coverage_of_right_draws():
    assert abs(coverage_error(1.0)) < stats.norm.ppf(1 - 1e-3)


def test_coverage_sees_draws_that_are_too_narrow():
    assert coverage_error(0.9) < -stats.norm.ppf(1 - 1e-3)


def test_coverage_by_hand():
    draws = np.arange(99.0).reshape(
        1, 99, 1
    )  # 90% of the 100 ranks: from the 5th smallest draw to the 5th largest
    for value, covered in ((3.9, 0), (4.1, 1), (50.0, 1), (93.9, 1), (94.1, 0)):
        assert coverage(draws, [value], 0.9) == covered
        assert inside(np.array([(draws < value).sum()]), 99, 0.9) == covered
    draws = draws.repeat(3, axis=2)
    assert coverage(draws, [5.0, 3.9, 50.0], 0.9) == pytest.approx(2 / 3)
    with pytest.raises(OptionError, match="true values"):
        coverage(draws, [1.0], 0.9)
    with pytest.raises(NumericalError, match="finite"):
        coverage(draws, [np.nan, 1.0, 1.0], 0.9)
