"""The mixed blocks of the Hessian times eight directions, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayesvec.kernels.mixed import WIDTH, mixed_rows
from joint import sparse_counts


def setup(dim, seed=0):
    counts = sparse_counts([*"abcdef"], contexts=30, seed=seed)
    rng = np.random.default_rng(seed)
    residual, weight = rng.normal(size=(2, counts.num_pairs))
    x, y = rng.normal(size=(counts.num_words, dim)), rng.normal(size=(counts.num_contexts, dim))
    return counts.by_word, residual, weight, x, y, rng.normal(size=(counts.num_contexts, dim, WIDTH))


def twin(side, residual, weight, x, y, direction, bug=False):
    r"""Sum over pairs of :math:`w (\rho_w^\top d_v) \alpha_v - r d_v`, written out."""
    out = np.zeros((len(x), *direction.shape[1:]))
    for w in range(len(x)):
        for i in range(side.indptr[w], side.indptr[w + 1]):
            v = side.other[i]
            along = x[w] @ direction[v]  # (WIDTH,)
            out[w] += weight[i] * np.outer(y[v], along) - (-1 if bug else 1) * residual[i] * direction[v]
    return out


@pytest.mark.parametrize("dim", [1, 2, 5, 20, 65])
def test_equals_its_numpy_twin(dim):
    side, residual, weight, x, y, direction = setup(dim)
    out = np.full((len(x), dim * WIDTH), np.nan)
    flat = direction.reshape(len(y), -1)
    mixed_rows(0, len(x), side.indptr, side.other, residual, weight, x, y, flat, out)
    expected = twin(side, residual, weight, x, y, direction)
    assert_allclose(out.reshape(expected.shape), expected, rtol=1e-12, atol=1e-12)
    assert np.abs(twin(side, residual, weight, x, y, direction, bug=True) - expected).max() > 1e-3


def test_only_the_rows_asked_for_are_written():
    side, residual, weight, x, y, direction = setup(3)
    out = np.full((len(x), 3 * WIDTH), np.nan)
    mixed_rows(2, 4, side.indptr, side.other, residual, weight, x, y, direction.reshape(len(y), -1), out)
    assert_array_equal(np.isfinite(out).all(axis=1), (np.arange(len(x)) >= 2) & (np.arange(len(x)) < 4))
