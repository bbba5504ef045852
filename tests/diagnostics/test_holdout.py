import numpy as np
import pytest

from bayesvec.counts import pairs as counts
from bayesvec.diagnostics.holdout import log_score
from bayesvec.errors import InputError, OptionError
from bayesvec.posterior.posterior import Posterior
from fake_draws import FakeDraws, with_outcome


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
    assert log_score(rho, alpha, held) == pytest.approx(at_mean, rel=1e-9)
    assert (score.observations, score.pairs) == (14, 4)
    assert score.to_dict()["predictive"] == score.predictive
    assert f"{score.predictive:.6f}" in str(score)


def test_scores_have_standard_errors_over_words_or_documents(world):
    draws, held = world
    score = Posterior(draws).score(held)
    assert score.over == "3 words"
    eta = draws.mean("rho")[[0, 0, 3, 4]] * draws.mean("alpha")[[1, 3, 2, 0]]
    p = 1 / (1 + np.exp(-eta.sum(axis=1)))
    logs = np.array([2, 0, 5, 1]) * np.log(p) + np.array([1, 4, 0, 1]) * np.log(1 - p)
    sums, sizes = np.array([logs[0] + logs[1], logs[2], logs[3]]), np.array([7.0, 5.0, 2.0])
    residual = sums - sums.sum() / 14 * sizes
    assert score.errors["posterior_mean"] == pytest.approx(np.sqrt(1.5 * np.sum(residual**2)) / 14)
    assert f"(standard error {score.errors['predictive']:.6f})" in str(score)
    assert "standard errors are over 3 words" in str(score)
    assert score.to_dict()["errors"].keys() == {"posterior_mean", "predictive"}
    one = counts.from_pairs([0], [0], n_pos=[3], n_neg=[1], words=["w0"], contexts=["c0"])
    assert Posterior(draws).score(one).errors == {}


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
    assert log_score([[40.0]], [[-40.0]], held) == -1600.0


def test_score_of_unidentified_and_of_partial_runs(world):
    draws, held = world
    draws.manifest["settings"]["identify"] = "none"
    score = Posterior(draws).score(held)
    assert score.posterior_mean is None
    assert score.predictive is not None
    del draws.manifest["arrays"]["alpha"]
    assert Posterior(draws).score(held).predictive is None


def test_the_map_is_scored_beside_the_posterior(world, tmp_path):
    draws, held = world
    point = FakeDraws(draws.rho[:1, :1], draws.alpha[:1, :1], settings={"method": "map"})
    with pytest.raises(OptionError, match="must be a run of method map"):
        Posterior(draws).score(held, map=Posterior(FakeDraws(draws.rho, draws.alpha)))
    with_outcome(tmp_path, point, kind="point")
    score = Posterior(draws).score(held, map=Posterior(point))
    expected = log_score(draws.rho[0, 0], draws.alpha[0, 0], held)
    assert score.map == pytest.approx(expected, rel=1e-6)
    assert score.posterior_mean == Posterior(draws).score(held).posterior_mean
    assert f"MAP: {score.map:.6f}" in str(score)
    alone = Posterior(point).score(held)
    assert (alone.map, alone.posterior_mean, alone.predictive) == (score.map, None, None)
