"""The neighbours that a word gains and loses between two slices, against a plain count over draws."""

import json

import numpy as np
import pytest

from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.plots import plot_drift, plot_neighbor_changes
from bayesvec.posterior.posterior import Posterior, open_posterior
from fake_draws import FakeDraws, write_run

WORDS = ("tax", "law", "dog", "cat", "war", "sea")
SLICES = ("D", "R")


@pytest.fixture
def rho():
    rng = np.random.default_rng(0)
    rho = rng.normal(size=(2, 60, 12, 3))  # rows tax@D, tax@R, law@D, ...
    rho[:, :, 2] = rho[:, :, 0] + 0.1 * rng.normal(size=(2, 60, 3))  # law is near tax at D only
    rho[:, :, 5] = rho[:, :, 1] + 0.1 * rng.normal(size=(2, 60, 3))  # dog is near tax at R only
    return rho


def names():
    return [f"{word}@{name}" for word in WORDS for name in SLICES], list(SLICES) * len(WORDS)


def posterior(rho):
    words, groups = names()
    return Posterior(FakeDraws(rho, rho, words=words, groups=groups))


def top(rho, side, n):
    """Whether each word is among the n nearest to tax in each draw, by sorting."""
    unit = rho[:, :, side::2] / np.linalg.norm(rho[:, :, side::2], axis=-1, keepdims=True)
    nearness = np.einsum("cdwk,cdk->cdw", unit, unit[:, :, 0])
    nearness[:, :, 0] = -np.inf
    order = np.argsort(-nearness, axis=-1)[..., :n]
    found = np.zeros(nearness.shape, dtype=bool)
    np.put_along_axis(found, order, True, axis=-1)
    return found


@pytest.mark.parametrize("n", [1, 2, 3])
def test_probabilities_are_those_of_sorting_each_draw(rho, n):
    changes = posterior(rho).neighbor_changes("tax", "D", "R", n)
    before, after = top(rho.astype(np.float32), 0, n), top(rho.astype(np.float32), 1, n)
    for row in changes.table:
        i = WORDS.index(row.word)
        assert row.gained == pytest.approx((after & ~before)[..., i].mean())
        assert row.lost == pytest.approx((before & ~after)[..., i].mean())
    assert changes.table[0].word == "dog"
    assert changes.table[len(changes.table) - 1].word == "law"
    assert (changes.first, changes.last, changes.n) == ("D", "R", n)


def test_differences_are_those_of_similarities(rho):
    post = posterior(rho)
    row = next(row for row in post.neighbor_changes("tax", "D", "R", 2).table if row.word == "dog")
    difference = post.similarity("tax", "dog", at="R") - post.similarity("tax", "dog", at="D")
    assert (row.low, row.high) == difference.interval()
    assert row.change == pytest.approx(row.last - row.first)
    assert row.probability == (difference > 0).probability


def test_a_swap_of_slices_swaps_gained_and_lost(rho):
    one = posterior(rho).neighbor_changes("tax", "D", "R", 2).table
    other = {row.word: row for row in posterior(rho).neighbor_changes("tax", "R", "D", 2).table}
    for row in one:
        assert (other[row.word].gained, other[row.word].lost) == (row.lost, row.gained)


def test_refusals(rho):
    post = posterior(rho)
    with pytest.raises(UnknownWordError, match="'taxx@D'"):
        post.neighbor_changes("taxx")
    with pytest.raises(OptionError, match="n is 9; 'tax' has 5 other words"):
        post.neighbor_changes("tax", n=9)
    point = posterior(rho[:1, :1])
    assert all(np.isnan([row.gained, row.lost]).all() for row in point.neighbor_changes("tax", n=2).table)


def test_command_and_plots(bayesvec, rho, tmp_path):
    words, groups = names()
    run = write_run(tmp_path / "run", rho, rho, words=words, groups=groups)
    changes = open_posterior(run).neighbor_changes("tax", n=2)
    status, out, _ = bayesvec("differ", run, "--word", "tax", "-n", 2)
    assert (status, out) == (0, f"{changes}\n")
    assert json.loads(bayesvec("drift", run, "--word", "tax", "-n", 2, "--json")[1]) == changes.to_dict()
    assert bayesvec("drift", run, "--word", "tax", "norm(tax)")[0] == 2
    assert bayesvec("differ", run, "-n", 3) == bayesvec("drift", run, "-n", 3)
    texts = [text.get_text() for text in plot_neighbor_changes(changes).texts]
    assert {"P(gained)", "P(lost)"} <= set(texts)


def test_by_cosine_states_that_every_interval_excludes_zero(rho):
    post = posterior(rho)
    answer = post.drift(by="cosine", n=3)
    assert any("above 0 in every draw" in note for note in answer.notes)
    assert all(row.low > 0 for row in answer.table)
    assert not post.drift(n=3).notes
    assert plot_drift(answer).get_xlim()[0] == 0.0
