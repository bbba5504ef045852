"""Intervals of few draws hold what they promise: a new draw falls in them with their probability."""

import warnings

import numpy as np
import pytest
from scipy import stats

from bayesvec.errors import FewDrawsWarning
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import quantiles, shortest, tails
from evidence import ERROR_RATE

REPEATS = 40_000
SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "skewed": lambda rng, size: rng.gamma(2.0, size=size),
    "uniform": lambda rng, size: rng.uniform(size=size),
}


def hits(shape, number, level, rule=quantiles):
    """Return how often a new draw falls in the interval of ``number`` others, and its standard error."""
    rng = np.random.default_rng([number, int(1000 * level)])
    draws, new = SHAPES[shape](rng, (REPEATS, number)), SHAPES[shape](rng, REPEATS)
    low, high = rule(draws, tails(level), axis=(1,))
    inside = (low <= new) & (new <= high)
    return inside.mean(), inside.std() / np.sqrt(REPEATS)


CASES = [(shape, number, 0.9) for shape in SHAPES for number in (19, 25, 40, 100)]
CASES += [("normal", 10, 0.5), ("normal", 10, 0.8), ("skewed", 399, 0.99)]


def within(rate, error, level):
    """Whether a rate is the promised one: not below it, and above by interpolation between two draws at most."""
    limit = stats.norm.isf(ERROR_RATE / (2 * len(CASES))) * error
    return level - limit <= rate <= level + 0.012 + limit


@pytest.mark.parametrize(("shape", "number", "level"), CASES)
def test_a_new_draw_falls_in_the_interval_with_its_probability(shape, number, level):
    assert within(*hits(shape, number, level), level)


def test_the_common_rule_is_too_narrow():
    """The planted bug: numpy's own quantiles, which are right for many draws only."""
    assert not within(*hits("normal", 19, 0.9, np.quantile), 0.9)
    assert not within(*hits("normal", 40, 0.9, np.quantile), 0.9)


def test_too_few_draws_give_their_range_and_a_warning():
    draws = np.arange(10.0)[None]
    rate, error = hits("normal", 10, 0.9)
    assert abs(rate - 9 / 11) < 4 * error
    with pytest.warns(FewDrawsWarning, match=r"10 draws .* 90% .* range.* probability 0\.82; take 100"):
        assert Estimate(draws).interval(0.9) == (0.0, 9.0)
    with pytest.warns(FewDrawsWarning, match="50% interval of 10 draws is rough"):
        Estimate(draws).interval(0.5)
    with pytest.warns(FewDrawsWarning):
        assert Estimate(draws).hdi(0.9) == (0.0, 9.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Estimate(np.zeros((1, 100))).interval()  # enough
        Estimate([[1.0]]).interval()  # a point has no interval


def test_the_shortest_interval_counts_a_new_draw():
    draws = np.array([0.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 30.0, 40.0])  # 9 draws: 5 gaps of 10 hold half
    assert shortest(draws, 0.5) == (10.0, 15.0)
    assert shortest(draws, 0.99) == (0.0, 40.0)


def test_quantiles_of_many_draws_are_the_usual_ones():
    draws = np.random.default_rng(0).normal(size=(4, 2000))
    np.testing.assert_allclose(
        quantiles(draws, (0.05, 0.95)), np.quantile(draws, (0.05, 0.95)), atol=2e-3 * draws.std()
    )
