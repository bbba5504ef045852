"""The rules of an automatic run: when warm-up ends, how to thin, when to stop."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bayesvec.diagnostics import length
from bayesvec.diagnostics.check import check
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ess_bulk, rhat
from bayesvec.storage.settings import Settings
from fake_draws import FakeDraws, autoregressive

AUTO = {"draws": "auto", "warmup": "auto", "thin": "auto", "max_draws": 2000, "max_size": "2GB", "chains": 2}


def traces(phi, sweeps=100, pairs=60, seed=0):
    """Log posterior and cosines of two chains, stationary from the start."""
    return autoregressive(phi, (2, sweeps, 1 + pairs), seed)


def draws(phi, count, *, apart=0.0, seed=0):
    rho = 1.0 + autoregressive(phi, (2, count, 12, 4), seed)
    rho[1, :, ::2] += apart
    return FakeDraws(rho, autoregressive(phi, (2, count, 9, 4), seed + 1), settings={"chains": 2})


def test_what_is_given_is_kept_and_the_rest_is_chosen():
    whole = Settings(**length.planned(**AUTO))
    assert (whole.draws, whole.warmup, whole.thin) == (200, 60, 1)
    assert whole.rules.warming
    assert whole.sweeps == 60  # draws come when the end of warm-up is decided
    given = Settings(**length.planned(**AUTO | {"draws": 30, "warmup": 7}))
    assert (given.draws, given.warmup, given.auto, given.sweeps) == (30, 7, {}, 37)
    half = Settings(**length.planned(**AUTO | {"draws": 30}))
    assert (half.rules.draws, half.rules.warmup, half.rules.thin) == (False, True, False)
    assert Settings(**length.planned(**AUTO | {"chains": 8})).draws == 100
    assert Settings(**length.planned(**AUTO | {"max_draws": 30})).draws == 30
    with pytest.raises(OptionError, match="warmup is 'some'; it must be a whole number, or auto"):
        length.planned(**AUTO | {"warmup": "some"})


def test_warm_up_ends_when_the_chains_have_forgotten_their_start():
    settled = traces(0.3)
    assert length.is_warm(settled, 2)
    level = settled.copy()
    level[:, :, 0] += np.linspace(0.0, 20.0, 100)  # the log posterior still rises
    assert not length.is_warm(level, 2)
    assert length.is_warm(
        level, 2 * 6**2
    )  # by 5 over the two halves, which is less than its standard deviation
    assert not length.is_warm(level, 2 * 4**2)
    drifting = settled.copy()
    drifting[0, :, 1:20] += np.linspace(0.0, 8.0, 100)[:, None]  # a third of the cosines
    assert not length.is_warm(drifting, 1000)
    early = settled.copy()
    early[:, :50] += 50.0  # the first half does not count
    assert length.is_warm(early, 2)


def test_a_slow_log_posterior_does_not_make_warm_up_longer():
    slow = traces(0.3, sweeps=50)
    slow[:, :, 0] = 30.0 * autoregressive(0.9, (2, 50, 1), 3)[:, :, 0]  # stationary, with sd 30
    assert rhat(slow[:, 25:, :1])[0] > length.WARM_RHAT
    assert length.is_warm(slow, 2 * 30**2)
    slow[0, :, 0] += 120.0  # the chains are four standard deviations apart
    assert not length.is_warm(slow, 2 * 30**2)


def test_the_spread_of_the_log_posterior_counts_where_it_is_more_than_that_of_normal_coordinates():
    found = traces(0.3, sweeps=50)
    found[:, :, 0] = 30.0 * autoregressive(0.0, (2, 50, 1), 5)[:, :, 0]
    found[0, :, 0] += 25.0  # less than its standard deviation
    assert rhat(found[:, 25:, :1])[0] > length.WARM_RHAT
    assert length.is_warm(found, 2)
    found[0, :, 0] += 60.0
    assert not length.is_warm(found, 2)


def test_warm_up_does_not_end_before_slow_cosines_can_be_seen():
    """So that the thinning, which is decided at its end, is not that of chains that look fast for a while."""
    for sweeps, phi in ((50, 0.9), (100, 0.95), (200, 0.98)):
        assert not any(length.is_warm(traces(phi, sweeps=sweeps, seed=seed), 10**6) for seed in range(20))


def test_thinning_grows_with_the_autocorrelation_and_with_what_is_stored():
    assert length.thinning(traces(0.0), most=500) == 1
    slow = length.thinning(traces(0.95, sweeps=4000), most=500)
    time = (1 + 0.95) / (1 - 0.95)  # 39
    assert 400 * time / 1000 < slow < 3 * 400 * time / 1000
    assert 2.5 * slow < length.thinning(traces(0.95, sweeps=4000), most=100) < 5 * slow


@pytest.mark.parametrize(("phi", "most"), [(0.3, 250), (0.6, 250), (0.6, 300), (0.9, 400)])
def test_thinned_draws_are_worth_enough_for_quantities_twice_as_slow(phi, most):
    """Also where nearly every stored draw has to be worth an independent one."""
    thin = length.thinning(traces(phi, sweeps=4000), most=most)
    time = length.HEADROOM * (1 + phi) / (1 - phi)
    slow = (time - 1) / (time + 1)  # the coefficient of such a quantity

    def worth(sweeps):
        draws = autoregressive(slow, (2, most * sweeps, 200), 7)[:, ::sweeps]
        return np.median(ess_bulk(draws))

    assert worth(thin) > 400
    assert worth(thin // 2) < 400  # which half as many sweeps would not be


def test_chains_that_disagree_are_not_thinned_for_it():
    apart = traces(0.0)
    apart[1, :, 1:] += 4.0
    assert length.thinning(apart, most=500) == length.thinning(traces(0.0), most=500)


def test_a_run_grows_until_check_passes():
    enough = draws(0.0, 600)
    assert check(enough).ok
    assert length.more_draws(enough, 2000) is None
    short = draws(0.9, 200)
    assert length.more_draws(short, 2000) == 300  # no more than half as many again
    assert length.more_draws(short, 250) == 250
    assert length.more_draws(short, 200) is None
    nearly = draws(0.3, 300)
    assert not check(nearly).ok
    assert 370 <= length.more_draws(nearly, 2000) <= 450


def test_a_run_says_why_it_goes_on():
    short, settings = draws(0.9, 200), Settings(draws=200, warmup=50)
    why = length.reason(settings, replace(settings, draws=400), short)
    assert re.fullmatch(
        r"200 draws of each chain are not enough: \d+\.\d% of 66 cosines pass \(95% wanted\); .*; going on to 400",
        why,
    )
    longer = length.reason(settings, replace(settings, warmup=100), short)
    assert longer == "the chains do not agree yet: warm-up is extended to 100 sweeps"
    last = Settings(draws=200, warmup=length.MAX_WARMUP, auto={"warming": True})
    ended = replace(last, auto={"warming": False})
    assert length.reason(last, ended, short) == "warm-up ends at its limit of 800 sweeps"
    assert length.reason(settings, replace(settings, thin=3), short) == ""


def test_chains_that_disagree_are_not_run_for_ever():
    apart = draws(0.0, 800, apart=4.0)
    found = check(apart)
    assert found.disagreement
    assert found.verdict.startswith(
        "the chains found different solutions: each has settled, but they disagree on"
    )
    assert "--draws" not in found.verdict
    assert length.more_draws(apart, 2000) is None
    assert length.more_draws(draws(0.0, 200, apart=4.0), 2000) is not None  # it is early yet
    slow = check(draws(0.99, 800))
    assert not slow.disagreement
    assert slow.verdict.startswith("not long enough")


def test_a_size_that_holds_too_few_draws_is_refused():
    settings = Settings(**length.planned(**AUTO | {"max_size": "1GB"}))
    assert length.draws_that_fit(settings, 10**6) == 500
    with pytest.raises(OptionError, match=r"holds 50 draws of each chain; .* --max-size 2GB or more"):
        length.draws_that_fit(settings, 10**7)
