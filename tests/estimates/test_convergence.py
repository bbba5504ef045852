import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesvec.errors import OptionError
from bayesvec.estimates import convergence
from fake_draws import autoregressive


@pytest.mark.parametrize(("chains", "draws"), [(2, 500), (4, 101), (2, 12), (3, 11), (2, 7), (2, 4)])
@pytest.mark.parametrize("phi", [-0.7, 0.0, 0.5, 0.95])
def test_equal_to_arviz(chains, draws, phi):
    x = autoregressive(phi, (chains, draws, 8), seed=draws)
    arviz = {
        "rhat": array_stats.rhat(x, chain_axis=0, draw_axis=1),
        "ess_bulk": array_stats.ess(x, chain_axis=0, draw_axis=1),
        "mcse": array_stats.mcse(x, chain_axis=0, draw_axis=1),
    }
    if draws > 20:  # with fewer, no draw is above the 95% quantile and arviz counts a constant as full ESS
        arviz["ess_tail"] = array_stats.ess(x, chain_axis=0, draw_axis=1, method="tail", prob=0.05)
    for name, theirs in arviz.items():
        np.testing.assert_allclose(getattr(convergence, name)(x), theirs, rtol=1e-9, err_msg=name)


def test_equal_to_arviz_with_ties():
    x = np.round(2 * autoregressive(0.5, (2, 200, 8), seed=1))
    np.testing.assert_allclose(convergence.rhat(x), array_stats.rhat(x, chain_axis=0, draw_axis=1), rtol=1e-9)
    np.testing.assert_allclose(
        convergence.ess_bulk(x), array_stats.ess(x, chain_axis=0, draw_axis=1), rtol=1e-9
    )


def test_all_measures_at_once_are_those_one_by_one():
    x = autoregressive(0.5, (2, 60, 3, 4), seed=4)
    x[:, :, 1] = np.round(x[:, :, 1])  # ties
    x[:, :, 2, :2] = (0.7, np.nan)
    x[0, :, 2, 2], x[1, :, 2, 2] = 0.0, 1.0
    found = convergence.measures(x)
    for name in found._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(convergence, name)(x))


def test_blocks_of_columns_change_nothing(monkeypatch):
    x = autoregressive(0.3, (2, 50, 4, 5), seed=2)
    whole = convergence.ess_bulk(x)
    monkeypatch.setattr(convergence, "_BLOCK_VALUES", 300)
    np.testing.assert_array_equal(convergence.ess_bulk(x), whole)
    assert whole.shape == (4, 5)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_ess_of_autoregressive_draws_is_what_theory_says(phi):
    x = autoregressive(phi, (4, 4000, 50), seed=3)
    theory = 16000 * (1 - phi) / (1 + phi)
    ess = convergence.ess_bulk(x)
    # Truncating the autocorrelations biases ESS by a few percent; beyond that the mean must be right.
    assert abs(ess.mean() / theory - 1) < 0.03, (ess.mean(), theory)
    wrong = convergence.ess_bulk(np.random.default_rng(0).permuted(x, axis=1))  # the order of draws lost
    assert phi == 0.0 or abs(wrong.mean() / theory - 1) > 0.5


def test_mcse_is_the_spread_of_means():
    x = autoregressive(0.6, (2, 500, 400), seed=4)
    standard_scores = x.mean(axis=(0, 1)) / convergence.mcse(x)  # the true mean is 0
    # Sum of 400 squares: chi-squared with 400 degrees of freedom (a little more, since MCSE is an estimate).
    assert abs((standard_scores**2).sum() - 400) < 4 * np.sqrt(800)
    naive = x.mean(axis=(0, 1)) / (x.std(axis=(0, 1)) / np.sqrt(1000))
    assert abs((naive**2).sum() - 400) > 4 * np.sqrt(800)


def test_chains_that_disagree_have_a_large_rhat():
    x = autoregressive(0.0, (2, 200, 3), seed=5)
    assert (convergence.rhat(x) < 1.02).all()
    x[1] += 3.0
    assert (convergence.rhat(x) > 1.5).all()
    assert (convergence.ess_bulk(x) < 10).all()


def test_chains_of_different_spread_have_a_large_rhat():
    x = autoregressive(0.0, (2, 500, 3), seed=6)
    x[1] *= 10.0
    assert (convergence.rhat(x) > 1.2).all()


def test_chains_that_stand_still_apart():
    x = np.zeros((2, 50))
    x[1] = 1.0
    assert convergence.rhat(x) == np.inf
    assert convergence.ess_bulk(x) < 5


def test_one_chain_that_drifts():
    x = np.linspace(0.0, 5.0, 100)[None] + autoregressive(0.0, (1, 100), seed=7)
    assert convergence.rhat(x) > 1.3
    assert convergence.rhat(autoregressive(0.0, (1, 1000), seed=8)) < 1.02


@pytest.mark.parametrize("measure", ["rhat", "ess_bulk", "ess_tail", "mcse"])
def test_nothing_to_measure(measure):
    function = getattr(convergence, measure)
    x = autoregressive(0.0, (2, 100, 4), seed=9)
    x[:, :, 0] = 0.1  # a constant is never full ESS
    x[1, 3, 1] = np.nan
    x[1, 3, 2] = np.inf
    with np.testing.assert_no_warnings():
        result = function(x)
    assert np.isnan(result[:3]).all()
    assert np.isfinite(result[3])
    assert np.isnan(function(np.ones((1, 1))))
    assert np.isnan(function(x[:, :3])).all()
    with pytest.raises(OptionError, match="1 dimensions"):
        function(np.ones(5))
