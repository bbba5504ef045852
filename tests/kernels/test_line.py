"""The likelihood along a line, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayesvec.inference.sides import make_side
from bayesvec.kernels.line import log_likelihood_rows, pair_lines
from bayesvec.kernels.row_work import make_work
from bayesvec.kernels.vector import padded_rows
from bayesvec.priors import RowPrior
from joint import sparse_counts


def setup(dim, seed=0):
    """Some rows of pairs, one of them empty and one longer than a panel, with vectors and a direction."""
    counts = sparse_counts([*"abcd"], contexts=400, seed=seed, empty="d")
    rng = np.random.default_rng(seed)
    side = make_side(counts.by_word, RowPrior(1.0), dim, np.zeros(counts.num_words, dtype=bool))
    rows, direction = (padded_rows(rng.normal(size=(counts.num_words, dim))) for _ in range(2))
    return side, rows, direction, padded_rows(rng.normal(size=(counts.num_contexts, dim)))


def twin(side, rows, other, row):
    """Logits and the log likelihood of one row's pairs in plain NumPy."""
    pairs = slice(side.indptr[row], side.indptr[row + 1])
    eta = other[side.other[pairs]].astype(np.float64) @ rows[row].astype(np.float64)
    n_pos = side.kappa[pairs] + 0.5 * side.n[pairs]
    return eta, float(np.sum(n_pos * eta - side.n[pairs] * np.logaddexp(0.0, eta)))


@pytest.mark.parametrize("dim", [1, 5, 20, 100])
def test_equals_its_numpy_twin(dim):
    side, rows, direction, other = setup(dim)
    size, pairs = len(rows), len(side.other)
    eta, slope = np.full((2, pairs), np.nan, dtype=np.float32)
    pair_lines(0, size, side, rows, direction, other, eta, slope)
    out, work = np.empty(size), make_work(dim)
    for s in (0.0, 0.3, -2.0):
        log_likelihood_rows(0, size, side, eta, slope, s, work, out)
        for row in range(size):
            moved, expected = twin(side, rows + np.float32(s) * direction, other, row)
            here = slice(side.indptr[row], side.indptr[row + 1])
            assert_allclose(eta[here] + np.float32(s) * slope[here], moved, rtol=2e-5, atol=2e-5)
            assert_allclose(out[row], expected, rtol=2e-5, atol=1e-4)
    wrong = twin(side, rows - np.float32(-2.0) * direction, other, 0)[1]  # the planted bug: the sign of s
    assert abs(out[0] - wrong) > 1.0


def test_only_the_rows_asked_for_are_written():
    side, rows, direction, other = setup(5)
    eta, slope = np.full((2, len(side.other)), np.nan, dtype=np.float32)
    pair_lines(1, 2, side, rows, direction, other, eta, slope)
    inside = np.zeros(len(eta), dtype=bool)
    inside[side.indptr[1] : side.indptr[2]] = True
    assert_array_equal(np.isfinite(eta), inside)
    out = np.full(len(rows), np.nan)
    log_likelihood_rows(1, 2, side, eta, slope, 0.5, make_work(5), out)
    assert_array_equal(np.isfinite(out), np.arange(len(rows)) == 1)
