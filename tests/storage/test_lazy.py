import numpy as np
import pytest

from bayesvec.storage.lazy import LazyArray
from fake_draws import FakeDraws

RHO = np.random.default_rng(0).normal(size=(2, 7, 6, 3)).astype(np.float32)
MASK = np.array([True, False, True, False, False, True])

KEYS = [
    ...,
    0,
    -1,
    (1, 3),
    (slice(None), slice(2, 5)),
    (slice(None), slice(None, None, -1)),
    (slice(None), slice(6, 1, -2)),
    (slice(None), slice(5, 2)),
    (..., 0),
    (..., [2, 0, 2], slice(None)),
    (0, ..., MASK, 1),
    (slice(None), slice(None), 4),
    (slice(None), slice(None), np.int64(-2)),
    (slice(None), slice(None), slice(1, 6, 2), slice(None, 2)),
    (0, [1, -1], [5, 2]),
    (slice(None), np.array([6, 0])),
    ([0, 1], [2, 3], [4, 5], [0, 1]),
    (np.array([True, False]), 0),
    (slice(None), slice(None), []),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexes_as_numpy_does(key):
    lazy = LazyArray(FakeDraws(RHO), "rho", 6)
    expected = (
        RHO[tuple(np.array(k, dtype=int) if isinstance(k, list) else k for k in key)]
        if isinstance(key, tuple)
        else RHO[key]
    )
    result = lazy[key]
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, expected)


def test_looks_like_an_array():
    lazy = LazyArray(FakeDraws(RHO), "rho", 6)
    assert lazy.shape == RHO.shape
    assert (lazy.ndim, lazy.size, lazy.nbytes, len(lazy)) == (4, RHO.size, RHO.nbytes, 2)
    np.testing.assert_array_equal(np.asarray(lazy), RHO)
    assert np.asarray(lazy, dtype=np.float64).dtype == np.float64
    assert "read when indexed" in repr(lazy)
    with pytest.raises(ValueError, match="copy"):
        np.array(lazy, copy=False)


def test_reads_only_what_is_asked_for():
    draws = FakeDraws(RHO)
    lazy = LazyArray(draws, "rho", 6)
    assert not draws.reads
    lazy[:, [2, 4], [5, 1]]
    lazy[:, :, 3]
    lazy[0, 1:3]
    rows = [(rows, (part.start, part.stop)) for _, rows, part in draws.reads]
    assert rows == [([1, 5], (2, 5)), ([3], (0, 7)), (None, (1, 3))]


@pytest.mark.parametrize(
    "key",
    [2, (0, 7), (0, 0, -7), (0, 0, 0, 3), (0, 0, 0, 0, 0), (None, 0), (..., 0, ...), "w", 1.5, (0, 0, [9])],
)
def test_impossible_indices(key):
    with pytest.raises(IndexError):
        LazyArray(FakeDraws(RHO), "rho", 6)[key]
