import numpy as np
import pytest
from scipy import stats

from bayesvec.counts import pairs as counts
from bayesvec.diagnostics import measures as diagnostics
from bayesvec.diagnostics.check import check
from bayesvec.errors import InputError, NumericalError, OptionError
from bayesvec.posterior.posterior import Posterior
from fake_draws import FakeDraws, autoregressive

# random_pairs


@pytest.mark.parametrize(
    ("rows", "other", "count"), [(50, None, 40), (7, None, 15), (30, 20, 100), (3, 4, 12)]
)
def test_random_pairs_are_different_and_possible(rows, other, count):
    first, second = diagnostics.random_pairs(rows, other, count, seed=1)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(first) == count
    assert first.min() >= 0
    if other is None:
        assert (first < second).all()
        assert second.max() < rows
    else:
        assert first.max() < rows
        assert second.max() < other


def test_random_pairs_are_all_pairs_where_these_are_few():
    first, second = diagnostics.random_pairs(4, None, 100, seed=0)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {
        (a, b) for b in range(4) for a in range(b)
    }


def test_random_pairs_are_fixed_by_the_seed():
    once, again, other = (np.array(diagnostics.random_pairs(1000, None, 50, seed=seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_random_pairs_are_uniform():
    first, second = diagnostics.random_pairs(100_000, None, 2000, seed=2)
    # Of a uniform pair a < b, the larger is distributed as the square root of a uniform, a/b as a uniform.
    assert stats.kstest((second / 100_000) ** 2, "uniform").pvalue > 1e-3
    assert stats.kstest(first / second, "uniform").pvalue > 1e-3
    assert stats.kstest(second / 100_000, "uniform").pvalue < 1e-3  # what a wrong triangle would give


# rmse_co


def test_rmse_co_by_hand(monkeypatch):
    generator = np.random.default_rng(0)
    rho, alpha, rho2, alpha2 = (generator.normal(size=(rows, 3)) for rows in (5, 4, 5, 4))
    p, q = (1 / (1 + np.exp(-a @ b.T)) for a, b in ((rho, alpha), (rho2, alpha2)))
    by_hand = np.sqrt(((p - q) ** 2).mean())
    assert diagnostics.rmse_co(rho, alpha, rho2, alpha2) == pytest.approx(by_hand, rel=1e-12)
    monkeypatch.setattr(diagnostics, "_BLOCK_VALUES", 8)
    assert diagnostics.rmse_co(rho, alpha, rho2, alpha2) == pytest.approx(by_hand, rel=1e-12)


def test_rmse_co_does_not_see_linear_maps():
    generator = np.random.default_rng(1)
    rho, alpha, a = (
        generator.normal(size=(6, 3)),
        generator.normal(size=(5, 3)),
        generator.normal(size=(3, 3)),
    )
    assert diagnostics.rmse_co(rho, alpha, rho @ a, alpha @ np.linalg.inv(a).T) < 1e-12
    assert diagnostics.rmse_co(rho, alpha, rho @ a, alpha @ a) > 0.01
    with pytest.raises(OptionError, match="6 x 5 and 5 x 6"):
        diagnostics.rmse_co(rho, alpha, alpha, rho)


# coverage


def coverage_error(scale):
    """Standard score of the coverage of 2000 intervals of draws ``scale`` times as wide as they should be."""
    generator = np.random.default_rng(7)
    mean = generator.normal(size=2000)
    truth = mean + generator.normal(size=2000)  # given the data, truth is normal around mean
    draws = mean + scale * generator.normal(size=(2, 2000, 2000))
    return (diagnostics.coverage(draws, truth, 0.9) - 0.9) / np.sqrt(0.9 * 0.1 / 2000)


def test_coverage_of_right_draws():
    assert abs(coverage_error(1.0)) < stats.norm.ppf(1 - 1e-3)


def test_coverage_sees_draws_that_are_too_narrow():
    assert coverage_error(0.9) < -stats.norm.ppf(1 - 1e-3)


def test_coverage_by_hand():
    draws = np.arange(101.0).reshape(1, 101, 1).repeat(3, axis=2)
    assert diagnostics.coverage(draws, [5.0, 4.9, 50.0], 0.9) == pytest.approx(2 / 3)
    with pytest.raises(OptionError, match="true values"):
        diagnostics.coverage(draws, [1.0], 0.9)
    with pytest.raises(NumericalError, match="finite"):
        diagnostics.coverage(draws, [np.nan, 1.0, 1.0], 0.9)


# hold-out scores


@pytest.fixture
def world():
    generator = np.random.default_rng(3)
    rho, alpha = generator.normal(size=(2, 10, 5, 3)), generator.normal(size=(2, 10, 4, 3))
    held = counts.from_pairs(
        [0, 0, 3, 4],
        [1, 3, 2, 0],
        n_pos=[2, 0, 5, 1],
        n_neg=[1, 4, 0, 1],
        words=[f"w{i}" for i in range(5)],
        contexts=[f"c{i}" for i in range(4)],
    )
    return FakeDraws(rho, alpha), held


def score_by_hand(probability):
    """Log likelihood per observation, given p(positive) of the four pairs of `world`."""
    p = probability[[0, 0, 3, 4], [1, 3, 2, 0]]
    return (np.array([2, 0, 5, 1]) @ np.log(p) + np.array([1, 4, 0, 1]) @ np.log(1 - p)) / 14


def test_scores_by_hand(world):
    draws, held = world
    probability = 1 / (1 + np.exp(-np.einsum("cdik,cdjk->cdij", draws.rho.astype(float), draws.alpha)))
    score = Posterior(draws).score(held)
    assert score.predictive == pytest.approx(score_by_hand(probability.mean(axis=(0, 1))), rel=1e-6)
    rho, alpha = draws.mean("rho"), draws.mean("alpha")
    at_mean = score_by_hand(1 / (1 + np.exp(-rho @ alpha.T)))
    assert score.posterior_mean == pytest.approx(at_mean, rel=1e-9)
    assert diagnostics.log_score(rho, alpha, held) == pytest.approx(at_mean, rel=1e-9)
    assert (score.observations, score.pairs) == (14, 4)
    assert score.to_dict()["predictive"] == score.predictive
    assert f"{score.predictive:.6f}" in str(score)


def test_score_of_many_pairs_in_parts():
    generator = np.random.default_rng(4)
    rho, alpha = generator.normal(size=(1, 5, 300, 20)), generator.normal(size=(1, 5, 200, 20))
    word, context = np.divmod(np.arange(60_000), 200)
    n_pos = generator.integers(0, 3, size=60_000)
    names = {"words": [f"w{i}" for i in range(300)], "contexts": [f"c{i}" for i in range(200)]}
    held = counts.from_pairs(word, context, n_pos=n_pos, n_neg=3 - n_pos, **names)
    eta = np.einsum("drk,dck->drc", rho[0].astype(np.float32), alpha[0].astype(np.float32)).reshape(5, -1)
    p = (1 / (1 + np.exp(-eta.astype(float)))).mean(axis=0)
    by_hand = (n_pos @ np.log(p) + (3 - n_pos) @ np.log(1 - p)) / 180_000
    assert Posterior(FakeDraws(rho, alpha)).score(held).predictive == pytest.approx(by_hand, rel=1e-6)


def test_score_matches_words_by_name(world):
    draws, held = world
    swapped = counts.from_pairs(
        [1, 1, 0, 2],
        [2, 0, 1, 3],
        n_pos=[2, 0, 5, 1],
        n_neg=[1, 4, 0, 1],
        words=["w3", "w0", "w4"],
        contexts=["c3", "c2", "c1", "c0"],
    )
    assert Posterior(draws).score(swapped).predictive == pytest.approx(
        Posterior(draws).score(held).predictive
    )
    unknown = counts.from_pairs([0], [0], n_pos=[1], n_neg=[0], words=["w9"], contexts=["c0"])
    with pytest.raises(InputError, match="1 words that the run does not, such as 'w9'"):
        Posterior(draws).score(unknown)


def test_certain_probabilities_score_finitely():
    held = counts.from_pairs([0], [0], n_pos=[3], n_neg=[0], words=["w0"], contexts=["c0"])
    draws = FakeDraws(np.full((1, 4, 1, 1), 40.0), np.full((1, 4, 1, 1), 40.0))
    assert Posterior(draws).score(held).predictive == 0.0
    assert diagnostics.log_score([[40.0]], [[-40.0]], held) == -1600.0


def test_score_of_unidentified_and_of_partial_runs(world):
    draws, held = world
    draws.manifest["settings"]["identify"] = "none"
    score = Posterior(draws).score(held)
    assert score.posterior_mean is None
    assert score.predictive is not None
    del draws.manifest["arrays"]["alpha"]
    assert Posterior(draws).score(held).predictive is None


# check


def ar_draws(phi, draws=1500, seed=0, **options):
    return FakeDraws(
        1.0 + autoregressive(phi, (2, draws, 12, 4), seed),
        autoregressive(phi, (2, draws, 9, 4), seed + 1),
        **options,
    )


def test_a_long_run_is_long_enough():
    result = Posterior(ar_draws(0.3)).check()
    assert result.ok
    assert result.verdict.startswith("long enough: worst ESS")
    kinds = {diagnosis.kind: diagnosis for diagnosis in result.diagnoses}
    assert [kinds[kind].count for kind in ("cosines", "co-occurrence probabilities", "log posterior")] == [
        66,
        100,
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
    assert "go on with: bayesvec fit --resume --draws" in result.verdict
    assert result.verdict.endswith("--out my/run")
    wanted = int(result.verdict.split("--draws ")[1].split()[0])
    worst = min(diagnosis.smallest_ess for diagnosis in result.diagnoses)
    assert wanted >= 300 * 400 / worst
    assert str(result).splitlines()[-1] == result.verdict


def test_chains_in_different_places_are_seen():
    draws = ar_draws(0.0)
    draws.rho[1] = 1 - draws.rho[1][:, ::-1]
    result = check(draws)
    assert not result.ok
    assert "worst R-hat" in result.verdict


def test_an_unfinished_run_is_told_to_finish():
    draws = ar_draws(0.0, draws=100, settings={"draws": 2000})
    draws.finished = False
    assert check(draws).verdict.endswith("it is not finished, go on with: bayesvec fit --resume --out run")


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


def with_outcome(folder, draws, **outcome):
    """Give draws a run folder in which a method has told of its long work."""
    from bayesvec import _atomic as files

    (folder / "state").mkdir()
    files.write_json(folder / "state" / "outcome.json", outcome)
    draws.path = folder
    return draws


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
    assert result.verdict.startswith("not converged: not converged, iterations 9; begin a new run")


def test_an_approximation_is_never_trusted_for_its_ess(tmp_path):
    draws = ar_draws(0.0, draws=3000, settings={"method": "mfvi"})
    assert check(draws).ok  # what R-hat and ESS say of independent draws
    outcome = {"kind": "approximation", "summary": {"converged": True, "elbo": -12.0}, "caveat": "too narrow"}
    result = check(with_outcome(tmp_path, draws, **outcome))
    assert not result.ok
    assert not result.diagnoses
    for part in ("approximation (mfvi)", "R-hat and ESS say nothing", "too narrow", f"GIBBS_RUN {tmp_path}"):
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
    assert "begin a new run with --draws" in verdict
    assert "--resume" not in verdict


def test_parameters_are_checked_when_asked_and_anchors_not_counted():
    draws = ar_draws(0.5, draws=200, settings={"identify": "fixed"})
    draws.alpha[:, :, :4] = draws.alpha[:1, :1, :4]  # four anchors of nine contexts
    plain = {diagnosis.kind for diagnosis in check(draws).diagnoses}
    found = {each.kind: each for each in check(draws, parameters=True).diagnoses}
    assert set(found) - plain == {"coordinates of rho", "coordinates of alpha"}
    assert found["coordinates of rho"].count == 12 * 4
    assert found["coordinates of alpha"].count == 5 * 4
    ess = diagnostics.ess_bulk(draws.alpha[:, :, 4:].astype(np.float64)).ravel()
    assert found["coordinates of alpha"].ess == pytest.approx(ess.min())
    assert found["coordinates of alpha"].ess_median == pytest.approx(np.median(ess))
    row, axis = divmod(int(np.argmin(ess)), 4)
    assert found["coordinates of alpha"].worst == f"alpha(c{row + 4}, axis {axis})"


def test_parameters_of_raw_draws_are_refused():
    with pytest.raises(OptionError, match="rotated against each other"):
        check(ar_draws(0.5, draws=50, settings={"identify": "none"}), parameters=True)


def test_the_map_is_scored_beside_the_posterior(world, tmp_path):
    draws, held = world
    point = FakeDraws(draws.rho[:1, :1], draws.alpha[:1, :1], settings={"method": "map"})
    with pytest.raises(OptionError, match="must be a run of method map"):
        Posterior(draws).score(held, map=Posterior(FakeDraws(draws.rho, draws.alpha)))
    with_outcome(tmp_path, point, kind="point")
    score = Posterior(draws).score(held, map=Posterior(point))
    expected = diagnostics.log_score(draws.rho[0, 0], draws.alpha[0, 0], held)
    assert score.map == pytest.approx(expected, rel=1e-6)
    assert score.posterior_mean == Posterior(draws).score(held).posterior_mean
    assert f"MAP: {score.map:.6f}" in str(score)
    alone = Posterior(point).score(held)
    assert (alone.map, alone.posterior_mean, alone.predictive) == (score.map, None, None)


def test_check_is_json():
    import json

    result = check(ar_draws(0.5, draws=100)).to_dict()
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["diagnoses"][0]["kind"] == "cosines"


def test_check_is_the_same_every_time():
    draws = FakeDraws(autoregressive(0.2, (2, 50, 80, 3), 1), autoregressive(0.2, (2, 50, 80, 3), 2))
    assert check(draws) == check(draws)
    assert check(draws) != check(draws, seed=1)
