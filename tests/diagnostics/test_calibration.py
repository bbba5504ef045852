"""Simulation-based calibration: worlds from the prior, ranks, a test that keeps its error rate and sees bugs."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from bayesvec.diagnostics import sbc as calibration
from bayesvec.diagnostics.sbc import (
    COSINE,
    PROBABILITY,
    STRENGTH,
    Ranks,
    choose_functionals,
    draw_world,
    judge,
    rank,
    sbc_ranks,
)
from bayesvec.errors import OptionError
from evidence import agrees
from run_tools import thinned_gibbs

SMALL = {"vocab": 5, "dim": 2, "pairs": 60, "prior_precision": 1.5}


def gibbs_method(precision):
    return thinned_gibbs(precision, 2, warmup=40, draws=31, thin=6)


def test_worlds_are_drawn_from_the_prior_and_the_likelihood():
    worlds = [draw_world(number, **SMALL, seed=4) for number in range(400)]
    vectors = np.array([np.concatenate([w.truth.rho.ravel(), w.truth.alpha.ravel()]) for w in worlds])
    assert agrees(np.hstack([vectors, vectors**2]), np.repeat([0.0, 1 / 1.5], vectors.shape[1]))
    assert not agrees(np.hstack([vectors, vectors**2]), np.repeat([0.0, 1.0], vectors.shape[1]))
    standard = []  # of the positives, given the vectors
    for counts, truth, _ in worlds:
        assert counts.num_observations == 60
        side = counts.by_word
        word = np.repeat(np.arange(5), np.diff(side.indptr))
        p = expit(np.einsum("ik,ik->i", truth.rho[word], truth.alpha[side.other]))
        n = side.n_pos + side.n_neg
        standard.append((side.n_pos - n * p).sum() / np.sqrt((n * p * (1 - p)).sum()))
    assert stats.kstest(standard, "norm").pvalue > 1e-4
    assert len({w.seed for w in worlds}) == len({w.truth.rho[0, 0] for w in worlds}) == 400


def test_a_world_is_a_function_of_seed_and_number():
    one, again, other = (draw_world(number, **SMALL, seed=4) for number in (3, 3, 2))
    assert one.seed == again.seed != other.seed
    np.testing.assert_array_equal(one.truth.rho, again.truth.rho)
    np.testing.assert_array_equal(one.counts.by_word.n_pos, again.counts.by_word.n_pos)


def test_functionals_are_cosines_and_probabilities():
    chosen = choose_functionals(6, 4, 7, seed=1)
    generator = np.random.default_rng(0)
    rho, alpha = generator.normal(size=(3, 6, 2)), generator.normal(size=(3, 4, 2))
    found = chosen(rho, alpha)
    assert found.shape == (3, 14)
    assert chosen.kinds == (COSINE,) * 7 + (PROBABILITY,) * 7
    a, b = rho[1, chosen.first[2]], rho[1, chosen.second[2]]
    assert found[1, 2] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert found[2, 9] == pytest.approx(expit(rho[2, chosen.word[2]] @ alpha[2, chosen.context[2]]))
    pooled = choose_functionals(6, 4, 7, seed=1, pooled=True)
    assert pooled.kinds == (*chosen.kinds, STRENGTH, STRENGTH)
    more = pooled(rho, alpha)
    np.testing.assert_array_equal(more[:, :14], found)
    np.testing.assert_allclose(more[:, 14], (found[:, :7] ** 2).mean(axis=1))
    np.testing.assert_allclose(more[:, 15], ((found[:, 7:] - 0.5) ** 2).mean(axis=1))


def test_rank_counts_the_draws_below():
    assert rank([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]], [1.5, 4.0]).tolist() == [2, 0]


def uniform_ranks(generator, worlds=100, size=31, quantities=10):
    """Ranks that depend on each other within a world, as real ones do."""
    shared = generator.normal(size=(worlds, 1, 1))
    own = generator.normal(size=(worlds, size + 1, 2 * quantities))
    values = (
        0.6 * shared
        + own * np.linspace(0.5, 2, 2 * quantities)
        + generator.normal(size=(worlds, size + 1, 1))
    )
    ranks = (values[:, 1:] < values[:, :1]).sum(axis=1)
    return Ranks(ranks, size, (COSINE,) * quantities + (PROBABILITY,) * quantities)


def test_a_right_method_is_rejected_no_more_often_than_stated():
    generator = np.random.default_rng(1)
    rejected = sum(not judge(uniform_ranks(generator), error_rate=0.1).uniform for _ in range(400))
    assert stats.binomtest(rejected, 400, 0.1, alternative="greater").pvalue > 1e-3
    assert rejected > 2  # and it is no test that never rejects


@pytest.mark.parametrize(
    ("bend", "test"),
    [
        (lambda u: 0.5 + 1.12 * (u - 0.5), "spread of"),  # intervals too narrow
        (lambda u: 0.5 + 0.88 * (u - 0.5), "spread of"),  # too wide
        (lambda u: u**1.5, "location of"),  # shifted
    ],
)
def test_bent_ranks_are_rejected(bend, test):
    right = uniform_ranks(np.random.default_rng(2), worlds=400, size=63)
    assert judge(right, error_rate=0.001).uniform
    values = np.clip(np.round(bend(right.values / 63) * 63), 0, 63).astype(int)
    verdict = judge(Ranks(values, 63, right.kinds), error_rate=0.001)
    assert not verdict.uniform
    assert min(verdict.tests, key=verdict.tests.get).startswith(test)


def test_one_bad_quantity_among_good_ones_is_seen():
    right = uniform_ranks(np.random.default_rng(3), worlds=400, size=63)
    values = right.values.copy()
    values[:, 4] = np.random.default_rng(4).choice([10, 20, 43, 53], size=400)  # mean and spread about right
    verdict = judge(Ranks(values, 63, right.kinds), error_rate=0.001)
    assert not verdict.uniform
    assert min(verdict.tests, key=verdict.tests.get) == "shape"


def test_coverage_counts_truths_inside():
    ranks = Ranks(np.array([[0, 5], [1, 9], [9, 19], [19, 18]]), 19, (COSINE, PROBABILITY))
    assert ranks.coverage(0.9) == {COSINE: 0.5, PROBABILITY: 0.75}
    uniform = Ranks(np.arange(20)[:, None], 19, (COSINE,))
    assert uniform.coverage(0.9) == {COSINE: 0.9}


# a wrong prior shows in half of the worlds
@pytest.mark.long
@pytest.mark.parametrize(("factor", "right", "worlds"), [(1.0, True, 120), (2.0, False, 60)])
@pytest.mark.usefixtures("_no_log_posterior")
def test_gibbs_is_calibrated_and_a_wrong_prior_is_not(factor, right, worlds):
    told = []
    ranks = sbc_ranks(
        gibbs_method(SMALL["prior_precision"] * factor),
        worlds=worlds,
        count=6,
        seed=7,
        report=told.append,
        **SMALL,
    )
    assert told == list(range(1, worlds + 1))
    assert ranks.values.shape == (worlds, 12)
    assert judge(ranks, error_rate=0.01).uniform == right


def test_the_same_on_any_number_of_threads():
    one, two = (
        sbc_ranks(gibbs_method(1.5), worlds=9, count=4, threads=threads, **SMALL) for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)


def test_what_cannot_be_is_refused():
    with pytest.raises(OptionError, match="worlds is 1"):
        sbc_ranks(gibbs_method(1.0), worlds=1, **SMALL)
    with pytest.raises(OptionError, match="prior_precision is 0"):
        draw_world(0, vocab=3, dim=2, pairs=10, prior_precision=0.0)
    with pytest.raises(OptionError, match="error_rate is 1"):
        judge(uniform_ranks(np.random.default_rng(0)), error_rate=1.0)
    sizes = iter([3, 4])
    with pytest.raises(OptionError, match=r"\[3, 4\] draws in different worlds"):
        sbc_ranks(lambda c, s: (np.ones((n := next(sizes), 5, 2)), np.ones((n, 5, 2))), worlds=2, **SMALL)
    assert calibration.EXPECTED_IN_BIN > 5  # or the chi-square distribution would not hold
