"""Worlds from any prior, and simulation-based calibration of the priors that couple rows or learn their precision."""

from functools import partial

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.diagnostics import calibration as trials
from bayesvec.diagnostics.worlds import draw_world_of
from bayesvec.errors import OptionError
from bayesvec.priors import Learned
from evidence import agrees

SIZE = {"vocab": 3, "dim": 2, "pairs": 150}
LEARNED = Learned(shape=6.0, rate=3.0)  # narrow enough for worlds that a short chain can fit


def grouped(counts, group_precision=4.0):
    return bv.priors.grouped(counts, precision=2.0, group_precision=group_precision)


def dynamic(counts, last=6.0):
    times = {"0": 0.0, "1": 1.0, "2": last}  # two gaps of different lengths
    return bv.priors.dynamic(counts, precision=2.0, drift_precision=4.0, order=times)


def graph(counts, strength=4.0):
    return bv.priors.graph(counts, edges=[("w0", "w1"), ("w1", "w2")], precision=1.0, strength=strength)


def learned(counts, hyperprior=LEARNED):
    return bv.priors.spherical(hyperprior)


PRIORS = {
    "grouped": (grouped, 2),
    "dynamic": (dynamic, 3),
    "graph": (graph, None),
    "learned": (learned, None),
}


def test_vectors_are_drawn_from_the_prior():
    worlds = [draw_world_of(number, grouped, slices=2, seed=3, **SIZE)[0] for number in range(400)]
    names = worlds[0].counts.words
    assert [name for name in names if name.endswith("@shared")] == ["w0@shared", "w1@shared", "w2@shared"]
    rho = np.array([world.truth.rho for world in worlds])  # (world, row, K)
    shared, group = rho[:, names.index("w1@shared")], rho[:, names.index("w1@1")]
    found = np.hstack([shared**2, (group - shared) ** 2, shared * (group - shared)])
    assert agrees(found, np.repeat([1 / 2.0, 1 / 4.0, 0.0], 2))
    assert not agrees(found, np.repeat([1 / 2.0, 1 / 2.0, 0.0], 2))
    lengths = np.diff(worlds[0].counts.by_word.indptr)
    assert not lengths[names.index("w1@shared")]


def test_learned_scales_are_drawn_from_their_hyperprior():
    worlds = [draw_world_of(number, learned, seed=3, **SIZE)[0] for number in range(500)]
    squares = np.array([np.mean(world.truth.rho**2) for world in worlds])[:, None]
    assert agrees(squares, [LEARNED.rate / (LEARNED.shape - 1)])  # E[1 / tau]
    assert not agrees(squares, [1.0 / LEARNED.start])  # as if the scale were its starting value


def test_a_world_is_a_function_of_seed_and_number():
    one, again, other = (draw_world_of(number, dynamic, slices=3, seed=3, **SIZE)[0] for number in (2, 2, 4))
    np.testing.assert_array_equal(one.truth.rho, again.truth.rho)
    np.testing.assert_array_equal(one.counts.by_word.n_pos, again.counts.by_word.n_pos)
    assert one.seed == again.seed != other.seed


def test_calibrate_takes_priors(bayesvec):
    tiny = ("--vocab", 3, "--dim", 2, "--pairs", 60, "--worlds", 4, "--draws", 19, "--thin", 1, "--quiet")
    status, out, err = bayesvec(
        "calibrate", *tiny, "--prior", "grouped", "--slices", 2, "--group-precision", 5
    )
    assert status in (0, 1), err
    assert "the grouped prior" in out
    status, out, err = bayesvec("calibrate", *tiny, "--prior-precision", "learn")
    assert status in (0, 1), err
    assert "prior precision learned" in out
    with pytest.raises(OptionError, match="slices is 2; give it with a prior over slices"):
        bv.calibrate(slices=2)
    with pytest.raises(OptionError, match="'learn', which gibbs can do"):
        bv.calibrate("blockvi", prior_precision="learn")


def calibrated(name, worlds=150):
    make, slices = PRIORS[name]
    given = {
        "worlds": worlds,
        "slices": slices,
        "prior": make,
        "draws": 39,
        "warmup": 100,
        "thin": 15,
        **SIZE,
    }
    return bv.calibrate(**given, quantities=8, error_rate=1e-4, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIORS)
def test_gibbs_is_calibrated_under_every_prior(name):
    result = calibrated(name)
    assert result.ok, str(result)


# each prior with one thing wrong: the fit ties groups together, takes the gaps for equal, misses the links, or has
# another hyperprior
WRONG = {
    "grouped": partial(grouped, group_precision=200.0),
    "dynamic": partial(dynamic, last=1.01),
    "graph": partial(graph, strength=0.01),
    "learned": partial(learned, hyperprior=Learned(shape=60.0, rate=3.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIORS)
def test_a_wrong_prior_is_seen(name, monkeypatch):
    """The planted bug: worlds of one prior, fitted under another."""

    def spoiled(number, make, **given):
        _, wrong = draw_world_of(number, WRONG[name], **given)
        return draw_world_of(number, make, **given)[0], wrong

    monkeypatch.setattr(trials, "draw_world_of", spoiled)
    result = calibrated(name)
    assert not result.ok, str(result)
