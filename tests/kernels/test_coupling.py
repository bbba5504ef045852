"""The shift of a coupled row's conditional, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from bayesvec.inference.sides import make_coupling
from bayesvec.kernels.coupling import couple_rows
from bayesvec.kernels.vector import padded_rows

ROWS = 7


def setup(dim, seed=0):
    """A symmetric coupling of both signs, one row of it empty; rows, and the shift without neighbours."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(ROWS, ROWS)) * (rng.random((ROWS, ROWS)) < 0.5), 1)
    half[3], half[:, 3] = 0.0, 0.0
    return half + half.T, padded_rows(rng.normal(size=(ROWS, dim))), rng.normal(size=(ROWS, dim))


@pytest.mark.parametrize("dim", [1, 5, 20])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_equals_its_numpy_twin(dim, share):
    matrix, rows, base = setup(dim)
    order = np.array([6, 0, 3, 2])
    out = np.full_like(base, np.nan)
    couple_rows(1, len(order), order, make_coupling(csr_array(matrix)), share, rows, base, out)
    expected = base - share * matrix @ rows[:, :dim].astype(np.float64)
    assert_allclose(out[order[1:]], expected[order[1:]], rtol=1e-12)
    assert_array_equal(np.isnan(out[[1, 4, 5, 6]]), np.ones((4, dim), dtype=bool))  # rows not asked for
    assert_array_equal(out[3], base[3])
    assert np.abs(out[0] - (2 * base - expected)[0]).max() > 1e-3  # the planted bug: the sign of C
