"""One vector per word: centred, and as spread out as the draws."""

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.errors import OptionError
from bayesvec.vectors.point import point_vectors


@pytest.fixture(scope="module")
def post():
    counts, _ = bv.simulate(vocab=30, dim=3, pairs=4000, seed=3)
    return bv.fit(counts, dim=3, draws=40, warmup=20, seed=1, progress=False)


@pytest.mark.parametrize("side", ["rho", "alpha"])
def test_the_point_estimate_has_the_spread_of_the_draws(post, side):
    draws = np.asarray(getattr(post, side)[:], np.float64).reshape(-1, 30, 3)
    mean = draws.mean(axis=0)
    mean -= mean.mean(axis=0)
    found = point_vectors(post.draws, side).values
    centred = draws - draws.mean(axis=1, keepdims=True)
    spread = np.square(centred).sum(axis=1).mean(axis=0)
    # the average over the rows varies from draw to draw too, by about one row's share of the variance
    np.testing.assert_allclose(np.square(found).sum(axis=0), spread, rtol=0.1)
    assert (np.square(mean).sum(axis=0) < 0.9 * spread).all()  # which the means do not have
    # along each axis, the centred means times one number above 1
    stretch = found / mean
    np.testing.assert_allclose(stretch, np.tile(np.median(stretch, axis=0), (30, 1)), rtol=1e-3)
    assert (np.median(stretch, axis=0) > 1.01).all()


def test_centred_and_mean(post):
    mean = post.mean_vectors()[0]
    np.testing.assert_allclose(point_vectors(post.draws, what="mean").values, mean, rtol=1e-6)
    centred = point_vectors(post.draws, what="centred").values
    np.testing.assert_allclose(centred, mean - mean.mean(axis=0), atol=1e-6)


def test_one_draw_is_centred_only():
    counts, _ = bv.simulate(vocab=30, dim=3, pairs=4000, seed=3)
    mode = bv.fit(counts, dim=3, method="map", progress=False)
    point, centred = (point_vectors(mode.draws, what=what).values for what in ("point", "centred"))
    np.testing.assert_array_equal(point, centred)


def test_a_mode_of_zero_stays_zero():
    counts = bv.from_pairs([0, 1], [1, 0], n_pos=[1, 1], n_neg=[1, 1], words=["a", "b"], contexts=["a", "b"])
    mode = bv.fit(counts, dim=2, method="map", prior_precision=10.0, progress=False)
    assert np.abs(point_vectors(mode.draws).values).max() <= 1e-6


def test_unknown_kinds_are_refused(post):
    with pytest.raises(OptionError, match="what is 'best'"):
        post.to_keyedvectors(what="best")
