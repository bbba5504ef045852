"""Questions over all words give the same bits on one thread or on several."""

import numpy as np
import pytest

from bayesvec.errors import NumericalError
from bayesvec.estimates import per_draw
from fake_draws import FakeDraws


@pytest.fixture(scope="module")
def draws():
    return FakeDraws(np.random.default_rng(1).normal(size=(2, 25, 40, 6)), shard_draws=4)


def answers(draws):
    rows, every = np.array([3, 7]), np.arange(40)
    near = per_draw.nearest(draws, rows, np.array([1.0, -0.5]), 5, among=every)
    placed = per_draw.signs_with_sum(draws, rows, np.array([1.0, -1.0]), among=np.setdiff1d(every, rows))
    return [*near, *placed, per_draw.ranks(draws, 3, np.array([1, 5]), among=every)]


def test_threads_change_no_bit(draws, monkeypatch):
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(per_draw, "default_threads", lambda threads=threads: threads)
        found.append(answers(draws))
    for one, two, five in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, five)


def test_several_sums_at_once_are_those_one_by_one(draws):
    sums = [(np.array([3]), np.ones(1)), (np.array([8, 1, 5]), np.array([-1.0, 1.0, 1.0]))]
    some = np.arange(2, 33)
    for found, (rows, weights) in zip(
        per_draw.nearest_to_each(draws, sums, 4, among=some), sums, strict=True
    ):
        for one, other in zip(found, per_draw.nearest(draws, rows, weights, 4, among=some), strict=True):
            np.testing.assert_array_equal(one, other)


def test_signs_are_those_of_the_draws(draws):
    rows, others = np.array([3, 7]), np.array([0, 1, 20])
    placed = per_draw.signs_with_sum(draws, rows, np.array([1.0, -1.0]), among=others)
    values = per_draw.cosines_with_sum(draws, rows, np.array([1.0, -1.0]), others)
    np.testing.assert_allclose(placed.mean, values.mean(axis=(0, 1)), atol=1e-6)
    np.testing.assert_array_equal(placed.above, (values > 0).mean(axis=(0, 1)))


def test_a_zero_vector_is_refused_by_name():
    rho = np.random.default_rng(1).normal(size=(1, 8, 5, 3))
    rho[0, 4, 2] = 0.0
    with pytest.raises(NumericalError, match="the vector of 'w2' is zero"):
        per_draw.nearest(FakeDraws(rho), np.array([2]), np.ones(1), 2, among=np.arange(5))
    near = per_draw.nearest(FakeDraws(rho), np.array([0]), np.ones(1), 2, among=np.arange(5))
    assert near.mean[2] == -np.inf
