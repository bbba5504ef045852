import json
import math

import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, measure_together
from fake_draws import autoregressive

DRAWS = 0.4 + 0.05 * autoregressive(0.2, (2, 500), seed=1)


def test_summaries():
    e = Estimate(DRAWS, "cosine(a, b)")
    assert e.mean == pytest.approx(DRAWS.mean(), abs=1e-15)
    assert e.sd == pytest.approx(DRAWS.std(ddof=1), abs=1e-15)
    assert e.interval() == pytest.approx(np.quantile(DRAWS, [0.05, 0.95], method="weibull"))
    assert e.interval(0.5) == pytest.approx(np.quantile(DRAWS, [0.25, 0.75], method="weibull"))
    assert e.ess == pytest.approx(array_stats.ess(DRAWS))
    assert e.ess_tail == pytest.approx(array_stats.ess(DRAWS, method="tail", prob=0.05))
    assert e.rhat == pytest.approx(array_stats.rhat(DRAWS))
    assert e.mcse == pytest.approx(array_stats.mcse(DRAWS))


def test_measured_together_is_measured_one_by_one():
    def estimates():
        return [Estimate(draws) for draws in (DRAWS, DRAWS**2, np.full_like(DRAWS, 0.3))]

    together = estimates()
    measure_together(together)
    for found, expected in zip(together, estimates(), strict=True):
        assert {"_measures", "mcse"} <= vars(found).keys()
        for name in ("rhat", "ess", "ess_tail", "mcse"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12, nan_ok=True)
    apart = [Estimate(DRAWS), Estimate(DRAWS[:1])]  # of different runs
    measure_together(apart)
    assert "_measures" not in vars(apart[0])


def test_probability_above_counts_draws():
    e = Estimate([[1.0, 2.0], [3.0, 4.0]])
    assert e.probability_above(2.0) == 0.5  # strictly above
    assert e.probability_above(0.0) == 1.0
    assert e.probability_above(9.0) == 0.0


def test_a_sentence_says_why_an_interval_cannot_be_trusted_yet():
    draws = np.random.default_rng(0).normal(size=(2, 400))
    slow = np.cumsum(np.random.default_rng(1).normal(size=(1, 400)), axis=1)
    assert Estimate(draws).sentence().endswith(f"ESS {Estimate(draws).ess:.0f}")
    assert Estimate(draws + np.array([[0.0], [3.0]])).sentence().endswith(" (the chains disagree)")
    assert Estimate(draws[:, :30]).sentence().endswith(" (few effective draws)")
    assert Estimate(slow).sentence().endswith(" (not converged)")
    assert Estimate(np.tile(slow, (2, 1))).sentence().endswith(" (not converged)")
    assert not Estimate(np.ones((2, 400))).sentence().endswith(")")


def test_sentence():
    e = Estimate([[0.40, 0.42, 0.30, 0.48, 0.41], [0.39, 0.43, 0.36, 0.44, 0.47]], "cosine(immigrant, crime)")
    low, high = e.draws.min(), e.draws.max()  # ten draws have no quantiles farther out
    expected = (
        f"cosine(immigrant, crime) = 0.41, 90% interval {low:.2f} to {high:.2f}, R-hat {e.rhat:.2f}, ESS"
    )
    assert str(e).startswith(expected)
    assert "50% interval" in e.sentence(0.5)
    assert repr(e) == f"<Estimate {e}>"


def test_small_numbers_keep_their_digits():
    e = Estimate(1e-5 * (1 + 0.1 * autoregressive(0.0, (2, 50), seed=2)), "p")
    assert "0.000010" in str(e)


def test_difference_is_draw_by_draw():
    other = Estimate(DRAWS - 0.01, "cosine(c, d)", "run")
    difference = Estimate(DRAWS, "cosine(a, b)", "run") - other
    np.testing.assert_allclose(difference.draws, 0.01, atol=1e-15)
    assert difference.label == "cosine(a, b) - cosine(c, d)"
    assert difference.run == "run"
    shifted = other - 0.1
    assert shifted.mean == pytest.approx(other.mean - 0.1)
    with pytest.raises(TypeError):
        other - "x"


def test_difference_of_runs_is_refused():
    with pytest.raises(OptionError, match="different runs"):
        Estimate(DRAWS, "a", "one") - Estimate(DRAWS, "b", "two")
    with pytest.raises(OptionError, match="different runs"):
        Estimate(DRAWS, "a", "one") - Estimate(DRAWS[:, :3], "b", "one")


def test_constant_and_short_draws():
    constant = Estimate(np.ones((2, 100)), "one")
    assert math.isnan(constant.ess)
    assert math.isnan(constant.rhat)
    assert str(constant) == "one = 1, 90% interval 1 to 1, R-hat n/a, ESS n/a"
    single = Estimate([[0.25]], "map")
    assert math.isnan(single.sd)
    assert single.to_dict()["sd"] is None
    assert all(map(math.isnan, single.interval()))  # one point says nothing of how sure it is
    assert single.to_dict()["low"] is None
    assert str(single) == "map = 0.25, one point: no interval"


def test_dictionary_is_json():
    summary = Estimate(np.ones((2, 10)), "x").to_dict(0.8)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["level"] == 0.8
    assert summary["ess"] is None
    assert (summary["chains"], summary["draws"]) == (2, 10)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 90.0, math.nan])
def test_impossible_levels(level):
    with pytest.raises(OptionError, match="level"):
        Estimate(DRAWS).interval(level)


@pytest.mark.parametrize("draws", [[1.0, 2.0], [[]], [[[1.0]]]])
def test_draws_of_a_wrong_shape(draws):
    with pytest.raises(OptionError, match="shape"):
        Estimate(draws)


def test_draws_cannot_be_changed():
    mine = DRAWS.copy()
    e = Estimate(mine)
    mine[0, 0] = 9.0
    assert e.draws[0, 0] == DRAWS[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        e.draws[0, 0] = 1.0


def test_stands_where_a_number_is_expected():
    estimate = Estimate(np.array([[0.25, 0.75]]))
    assert float(estimate) == 0.5
    assert f"{float(estimate):.2f}" == "0.50"


def test_median_quantile_and_probability_below():
    estimate = Estimate([[1.0, 2.0, 3.0], [4.0, 5.0, 100.0]])
    assert estimate.median == 3.5
    assert estimate.quantile(2 / 7) == pytest.approx(2.0)  # the second of six: rank / (n + 1)
    assert estimate.quantile(0.01) == 1.0
    assert estimate.probability_below(3.0) == pytest.approx(1 / 3)
    assert np.isnan(Estimate([[1.0]]).probability_below(3.0))
    for wrong in (-0.1, 1.1, np.nan, [0.1, 0.9], "half", None):
        with pytest.raises(OptionError, match="it must be a number from 0 to 1"):
            estimate.quantile(wrong)


def test_estimates_add_up():
    one, other = (Estimate([[value, 2.0 * value]], label) for value, label in ((1.0, "a"), (2.0, "b")))
    total = sum([one, other])
    np.testing.assert_array_equal(total.draws, [[3.0, 6.0]])
    assert total.label == "a + b"


def test_the_highest_density_interval_is_the_shortest():
    draws = np.random.default_rng(0).exponential(size=(2, 20_000))
    low, high = Estimate(draws).hdi(0.9)
    assert low < 0.01
    assert high == pytest.approx(np.log(10), abs=0.05)
    assert np.isnan(Estimate([[1.0]]).hdi()).all()
    with pytest.raises(OptionError, match="level is 2"):
        Estimate(draws).hdi(2)


def test_an_estimate_is_formatted_as_its_mean():
    estimate = Estimate([[1.0, 2.0, 4.0]], "norm(a)")
    assert format(estimate, ".2f") == f"{estimate:.2f}" == "2.33"
    assert f"{estimate}" == str(estimate)


def test_arithmetic_is_draw_by_draw():
    a, b = Estimate(DRAWS, "cosine(a, b)", "run"), Estimate(2 * DRAWS, "norm(c)", "run")
    for result, values, label in (
        (2 * a, 2 * DRAWS, "2 * cosine(a, b)"),
        (np.float64(2) * a, 2 * DRAWS, "2 * cosine(a, b)"),
        (a * 0.5, DRAWS / 2, "cosine(a, b) * 0.5"),
        (a / b, DRAWS / (2 * DRAWS), "cosine(a, b) / norm(c)"),
        (a + b, 3 * DRAWS, "cosine(a, b) + norm(c)"),
        (1 - a, 1 - DRAWS, "1 - cosine(a, b)"),
        (1 + a, 1 + DRAWS, "1 + cosine(a, b)"),
        (-(a - b), DRAWS, "-(cosine(a, b) - norm(c))"),
        ((a - b) / 2, -DRAWS / 2, "(cosine(a, b) - norm(c)) / 2"),
    ):
        np.testing.assert_allclose(result.draws, values, atol=1e-15)
        assert (result.label, result.run) == (label, "run")
    with pytest.raises(TypeError):
        a * "x"
    with pytest.raises(OptionError, match="different runs"):
        a + Estimate(DRAWS, "a", "other")


def test_comparisons_are_events_with_a_probability():
    a = Estimate([[0.0, 1.0], [2.0, 3.0]], "norm(a)", "run")
    b = Estimate([[1.0, 1.0], [1.0, 1.0]], "norm(b)", "run")
    assert [(a > b).probability, (a >= b).probability, (a < b).probability, (a <= b).probability] == [
        *(0.5, 0.75, 0.25, 0.5)
    ]
    assert (a > 0.5).probability == a.probability_above(0.5)
    assert (0.5 < a).probability == 0.75  # noqa: SIM300
    assert ((a > b) & (a < 3)).probability == 0.25
    assert ((a > b) | (a < 1)).probability == 0.75
    assert (~(a > b)).probability == 0.5
    assert str(a > b) == "P(norm(a) > norm(b)) = 0.5"
    assert str(a > -1) == "P(norm(a) > -1) > 0.8"
    assert math.isnan((Estimate([[1.0]]) > 0).probability)
    assert str(Estimate([[1.0]], "x") > 0).startswith("x > 0: True at one point")
    with pytest.raises(OptionError, match=r"probability 0.50, so it is neither .* key=float"):
        bool(a > b)
    assert sorted([b, a], key=float) == [b, a]


def test_html_shows_the_interval_as_a_bar():
    from bayesvec.estimates.estimate import Quantity

    html = Estimate(DRAWS, "cosine(<b>, \x1b)", "run", Quantity("cosine", bounds=(-1.0, 1.0)))._repr_html_()
    assert html.count("<svg") == html.count("<circle") == 1
    assert "cosine(&lt;b&gt;, \\u001b) = 0.40, 90% interval" in html
    single = Estimate([[0.25]], "map")._repr_html_()
    assert "no interval" in single
    assert single.count("<path") == 1  # the tick at 0 only


def test_the_absolute_value_is_taken_draw_by_draw():
    estimate = abs(Estimate(np.array([[-1.0, 2.0, -3.0]]), "x"))
    assert estimate.mean == 2.0
    assert estimate.label == "abs(x)"
