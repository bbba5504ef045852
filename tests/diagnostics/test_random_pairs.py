import numpy as np
import pytest
from scipy import stats

from bayesvec.diagnostics.random_pairs import random_pairs


@pytest.mark.parametrize(
    ("rows", "other", "count"), [(50, None, 40), (7, None, 15), (30, 20, 100), (3, 4, 12)]
)
def test_random_pairs_are_different_and_possible(rows, other, count):
    first, second = random_pairs(rows, other, count, seed=1)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(first) == count
    assert first.min() >= 0
    if other is None:
        assert (first < second).all()
        assert second.max() < rows
    else:
        assert first.max() < rows
        assert second.max() < other


def test_random_pairs_are_all_pairs_where_these_are_few():
    first, second = random_pairs(4, None, 100, seed=0)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {
        (a, b) for b in range(4) for a in range(b)
    }


def test_random_pairs_are_fixed_by_the_seed():
    once, again, other = (np.array(random_pairs(1000, None, 50, seed=seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_random_pairs_are_uniform():
    first, second = random_pairs(100_000, None, 2000, seed=2)
    # Of a uniform pair a < b, the larger is distributed as the square root of a uniform, a/b as a uniform.
    assert stats.kstest((second / 100_000) ** 2, "uniform").pvalue > 1e-3
    assert stats.kstest(first / second, "uniform").pvalue > 1e-3
    assert stats.kstest(second / 100_000, "uniform").pvalue < 1e-3  # what a wrong triangle would give
