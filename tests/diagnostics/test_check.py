import re

import numpy as np
import pytest

from bayesvec.diagnostics import quantities as quantities_module
from bayesvec.diagnostics.check import check
from bayesvec.diagnostics.diagnosis import diagnose
from bayesvec.diagnostics.quantities import Quantities
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.posterior.posterior import Posterior
from bayesvec.storage.reader import open_draws
from fake_draws import FakeDraws, autoregressive, with_outcome, write_run


def ar_draws(phi, draws=1500, seed=0, **options):
    return FakeDraws(
        1.0 + autoregressive(phi, (2, draws, 12, 4), seed),
        autoregressive(phi, (2, draws, 9, 4), seed + 1),
        **options,
    )


def test_a_long_run_is_long_enough():
    result = Posterior(ar_draws(0.3)).check()
    assert result.ok
    assert result.verdict.startswith("long enough: all quantities that were checked pass (worst: ESS")
    assert result.shortfall == ""
    kinds = {diagnosis.kind: diagnosis for diagnosis in result.diagnoses}
    assert [kinds[kind].count for kind in ("cosines", "co-occurrence probabilities", "log posterior")] == [
        66,
        108,
        1,
    ]


def test_the_figures_are_those_of_the_quantities():
    draws = ar_draws(0.6, draws=200)
    post = Posterior(draws)
    cosines = check(draws).diagnoses[0]
    all_pairs = [post.similarity(f"w{a}", f"w{b}") for b in range(12) for a in range(b)]
    assert cosines.ess == pytest.approx(min(each.ess for each in all_pairs))
    assert cosines.ess_tail == pytest.approx(min(each.ess_tail for each in all_pairs))
    assert cosines.rhat == pytest.approx(max(each.rhat for each in all_pairs))
    assert cosines.ess_median == pytest.approx(np.median([each.ess for each in all_pairs]))
    assert cosines.worst == min(all_pairs, key=lambda each: each.ess).label


def test_a_short_run_is_told_how_to_go_on():
    result = check(ar_draws(0.9, draws=300, path="my/run"))
    assert not result.ok
    assert result.verdict.startswith("not long enough: worst ESS")
    assert "of 400 wanted" in result.verdict
    assert "resume it with: bayesvec fit --resume --draws" in result.verdict
    assert result.verdict.endswith("--out my/run")
    wanted = int(result.verdict.split("--draws ")[1].split()[0])
    assert wanted >= 300 * 400 / min(diagnosis.reached for diagnosis in result.diagnoses)
    assert str(result).splitlines()[-1] == result.verdict


def test_chains_in_different_places_are_seen():
    draws = ar_draws(0.0)
    draws.rho[1] = 1 - draws.rho[1][:, ::-1]
    result = check(draws)
    assert not result.ok
    assert "worst R-hat" in result.verdict


def test_an_unfinished_run_is_told_to_finish():
    draws = ar_draws(0.0, draws=100, settings={"draws": 2000})
    assert check(draws).verdict.endswith(
        "it is not finished; resume it with: bayesvec fit --resume --out run"
    )


def test_constants_are_never_long_enough():
    draws = FakeDraws(
        np.ones((2, 100, 4, 2)) * np.arange(1, 5)[:, None] ** np.arange(2), np.ones((2, 100, 4, 2))
    )
    result = check(draws)
    assert not result.ok
    assert not result.diagnoses
    assert "never vary" in result.verdict


def test_too_few_draws_and_a_map():
    draws = ar_draws(0.0, draws=2)
    assert "2 draws of each chain are too few" in check(draws).verdict


def test_a_map_is_one_point(tmp_path):
    draws = FakeDraws(np.ones((1, 1, 3, 2)), np.ones((1, 1, 3, 2)), settings={"method": "map"})
    summary = {"converged": True, "iterations": 7, "gradient_norm": 1.5e-4}
    result = check(with_outcome(tmp_path, draws, kind="point", summary=summary))
    assert result.ok
    assert result.verdict == "nothing to check: map gives one point, without uncertainty"
    assert str(result).splitlines()[:2] == [
        "1 chain of 1 draw",
        "converged, iterations 7, gradient norm 0.00015",
    ]


def test_a_search_that_did_not_converge_is_told(tmp_path):
    draws = FakeDraws(np.ones((1, 1, 3, 2)), settings={"method": "map"})
    result = check(with_outcome(tmp_path, draws, kind="point", summary={"converged": False, "iterations": 9}))
    assert not result.ok
    assert result.verdict.startswith("not converged: not converged, iterations 9; start a new run")


def test_an_approximation_is_never_trusted_for_its_ess(tmp_path):
    draws = ar_draws(0.0, draws=3000, settings={"method": "mfvi"})
    assert check(draws).ok  # what R-hat and ESS say of independent draws
    outcome = {"kind": "approximation", "summary": {"converged": True, "elbo": -12.0}, "caveat": "too narrow"}
    result = check(with_outcome(tmp_path, draws, **outcome))
    assert not result.ok
    assert not result.diagnoses
    for part in ("approximation (mfvi)", "R-hat and ESS do not apply", "too narrow", f"GIBBS_RUN {tmp_path}"):
        assert part in result.verdict
    assert "long enough" not in result.verdict
    assert result.to_dict()["outcome"]["summary"] == {"converged": True, "elbo": -12.0}


def test_divergences_are_told(tmp_path):
    outcome = {"kind": "whole chains", "summary": {"divergences": 3}}
    draws = with_outcome(tmp_path, ar_draws(0.0, settings={"method": "nuts"}), **outcome)
    result = check(draws)
    assert not result.ok
    assert result.verdict.startswith("3 divergences: a part of the posterior may be missing")
    assert "divergences 3" in str(result)


def test_chains_drawn_in_one_go_are_begun_anew(tmp_path):
    draws = ar_draws(0.9, draws=300, settings={"method": "nuts"})
    verdict = check(with_outcome(tmp_path, draws, kind="whole chains", summary={"divergences": 0})).verdict
    assert "start a new run with --draws" in verdict
    assert "--resume" not in verdict


def test_parameters_are_checked_when_asked_and_anchors_not_counted():
    draws = ar_draws(0.5, draws=200, settings={"identify": "fixed"})
    draws.alpha[:, :, :4] = draws.alpha[:1, :1, :4]  # four anchors of nine contexts
    plain = {diagnosis.kind for diagnosis in check(draws).diagnoses}
    found = {each.kind: each for each in check(draws, parameters=True).diagnoses}
    assert set(found) - plain == {"coordinates of rho", "coordinates of alpha"}
    assert found["coordinates of rho"].count == 12 * 4
    assert found["coordinates of alpha"].count == 5 * 4
    ess = ess_bulk(draws.alpha[:, :, 4:].astype(np.float64)).ravel()
    assert found["coordinates of alpha"].ess == pytest.approx(ess.min())
    assert found["coordinates of alpha"].ess_median == pytest.approx(np.median(ess))
    row, axis = divmod(int(np.argmin(ess)), 4)
    assert found["coordinates of alpha"].worst == f"alpha(c{row + 4}, axis {axis})"


def test_parameters_of_raw_draws_are_refused():
    with pytest.raises(OptionError, match="not aligned"):
        check(ar_draws(0.5, draws=50, settings={"identify": "none"}), parameters=True)


def test_check_is_json():
    import json

    result = check(ar_draws(0.5, draws=100)).to_dict()
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["diagnoses"][0]["kind"] == "cosines"


def test_check_is_the_same_every_time():
    draws = FakeDraws(autoregressive(0.2, (2, 50, 80, 3), 1), autoregressive(0.2, (2, 50, 80, 3), 2))
    assert check(draws) == check(draws)
    assert check(draws) != check(draws, seed=1)


def test_a_large_vocabulary_is_judged_by_frequent_words_and_neighbours_too():
    rho = autoregressive(0.0, (2, 300, 420, 3), 3)
    rho[:, :, :210] += 3.0 * np.repeat(np.eye(3), 70, axis=0)  # three clusters among the frequent words
    draws = FakeDraws(rho, autoregressive(0.0, (2, 300, 9, 3), 4))
    kinds = {each.kind: each for each in check(draws).diagnoses}
    assert list(kinds)[:3] == ["cosines", "cosines of frequent words", "cosines of nearest neighbours"]
    assert [kinds[kind].count for kind in list(kinds)[:3]] == [200, 1000, 200]
    assert (kinds["cosines"].wanted, kinds["cosines of frequent words"].wanted) == (400, 100)
    for label in (
        name for each in kinds.values() for name in each.failing if each.kind.endswith("frequent words")
    ):
        assert all(int(word[1:]) < 200 for word in label[7:-1].split(", "))


def test_nearest_neighbours_are_those_of_the_mean_vectors():
    rho = autoregressive(0.0, (2, 50, 400, 2), 5) * 0.01
    angle = np.linspace(0.0, 2 * np.pi, 400, endpoint=False)
    rho += np.stack([np.cos(angle), np.sin(angle)], axis=1)
    draws = FakeDraws(rho, autoregressive(0.0, (2, 50, 9, 2), 6))
    first, second = quantities_module._neighbours(draws, 200, 0)
    assert len(first) == 200
    distance = np.abs(first - second)
    assert np.minimum(distance, 400 - distance).max() <= 4  # on the circle


def test_a_few_slow_quantities_do_not_fail_the_run_but_are_named():
    values = autoregressive(0.0, (2, 600, 100), 7)
    values[:, :, 17] = autoregressive(0.99, (2, 600, 1), 8)[:, :, 0]
    found = diagnose(Quantities("cosines", values, [f"q{i}" for i in range(100)]))
    assert found.ok
    assert (found.passing, found.failing) == (0.99, ("q17",))
    values[:, :, :10] = autoregressive(0.99, (2, 600, 10), 9)
    found = diagnose(Quantities("cosines", values, [f"q{i}" for i in range(100)]))
    assert not found.ok
    assert found.reached < 100
    assert found.missing > 4


def test_a_long_run_with_a_few_slow_quantities_says_which():
    rho = np.random.default_rng(2).normal(size=(60, 4)) + 0.02 * autoregressive(0.0, (2, 900, 60, 4), 3)
    rho[:, :, 7] += 0.5 * autoregressive(0.85, (2, 900, 4), 4)
    draws = FakeDraws(rho, autoregressive(0.0, (2, 900, 9, 4), 5))
    result = check(draws)
    assert result.ok
    slow = [each for each in result.diagnoses if each.failing]
    assert 0.95 <= min(each.passing for each in slow) < 1.0
    worst = min(each.smallest_ess for each in slow)
    assert re.match(
        rf"long enough: 9\d\.\d% or more of each kind pass, 95% needed \(worst: ESS {worst:.0f} of 400, ",
        result.verdict,
    )
    assert "; not passing: c" in result.verdict
    assert "w7" in result.verdict


def test_a_text_of_a_few_words_is_not_enough_whatever_its_draws():
    draws = ar_draws(0.3)
    draws.manifest["counts"] = {"recipe": {"tokens": 3}}
    result = check(draws)
    assert not result.ok
    assert result.verdict.startswith("enough draws, but only 3 tokens of text")
    draws.manifest["counts"] = {"recipe": {"tokens": 1000}}
    assert check(draws).ok


def test_the_draws_of_a_run_are_measured_once_until_it_changes(tmp_path, monkeypatch):
    rho, alpha = autoregressive(0.0, (2, 50, 12, 4), 0), autoregressive(0.0, (2, 50, 9, 4), 1)
    write_run(tmp_path / "run", rho, alpha)
    first = check(open_draws(tmp_path / "run"))
    counted = []
    real = quantities_module.measures
    monkeypatch.setattr(quantities_module, "measures", lambda values: counted.append(1) or real(values))
    assert check(open_draws(tmp_path / "run")) == first
    assert not counted
    check(open_draws(tmp_path / "run"), seed=1)  # other pairs
    assert counted
    counted.clear()
    write_run(tmp_path / "other", rho, alpha)
    (tmp_path / "run").rename(tmp_path / "gone")
    (tmp_path / "other").rename(tmp_path / "run")  # another run of the same name and length
    check(open_draws(tmp_path / "run"), seed=1)
    assert counted
