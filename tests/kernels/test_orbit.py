import numba
import numpy as np
import pytest
from scipy import stats

from bayesvec.kernels import rng
from bayesvec.kernels.orbit import draw_change, draw_gig, fill_rotation, move_along_orbit
from evidence import ERROR_RATE, agrees

KEY = rng.make_key(3, rng.ORBIT)
GIG = [
    (0.0, 1.0, 1.0),
    (0.0, 500.0, 400.0),
    (-2.5, 3.0, 0.01),
    (50.0, 0.1, 0.1),
    (-2000.0, 5e3, 7e3),
    (0.5, 1e-6, 1e-6),
]


@numba.njit
def many_gig(power, a, b, key, count):
    out = np.empty(count)
    for i in range(count):
        out[i] = draw_gig(power, a, b, key, i)
    return out


def gig_distribution(power, a, b):
    return stats.geninvgauss(power, np.sqrt(a * b), scale=np.sqrt(b / a))


@pytest.mark.parametrize(("power", "a", "b"), GIG)
def test_gig_has_its_distribution(power, a, b):
    draws = many_gig(power, a, b, KEY, 20_000)
    assert stats.kstest(draws, gig_distribution(power, a, b).cdf).pvalue > ERROR_RATE / len(GIG)


def test_gig_with_a_wrong_power_is_seen():
    draws = many_gig(1.0, 1.0, 1.0, KEY, 20_000)
    assert stats.kstest(draws, gig_distribution(0.9, 1.0, 1.0).cdf).pvalue < ERROR_RATE / len(GIG)


def rotations(count, dim, diagonal_sign=None):
    out, wide = np.empty((count, dim, dim)), np.empty((dim, 4))
    for i in range(count):
        fill_rotation(KEY, i, wide)
        out[i] = wide[:, :dim]
        if diagonal_sign:
            out[i] *= np.sign(np.diag(out[i]))[:, None]
    return out


def haar_moments(matrices):
    """Entries, their squares and fourth powers, and the trace: means 0, 1/K, 3/(K (K + 2)), 0."""
    flat = matrices.reshape(len(matrices), -1)
    return np.hstack([flat, flat**2, flat**4, np.trace(matrices, axis1=1, axis2=2)[:, None]])


def test_rotations_are_orthogonal_and_uniform():
    dim = 3
    matrices = rotations(4000, dim)
    np.testing.assert_allclose(
        matrices @ matrices.transpose(0, 2, 1), np.eye(dim)[None] + 0 * matrices, atol=1e-12
    )
    expected = np.repeat([0.0, 1 / dim, 3 / (dim * (dim + 2)), 0.0], [dim**2, dim**2, dim**2, 1])
    assert agrees(haar_moments(matrices), expected)
    assert not agrees(haar_moments(rotations(4000, dim, diagonal_sign=True)), expected)


def test_products_stay_what_they_are():
    generator = np.random.default_rng(0)
    rho, alpha = (generator.normal(size=(rows, 5)).astype(np.float32) for rows in (7, 11))
    moved = move_along_orbit(rho, alpha, np.full((7, 5), 2.0), np.full((11, 5), 2.0), KEY)
    np.testing.assert_allclose(moved[0] @ moved[1].T, rho @ alpha.T, atol=1e-5)
    assert np.abs(moved[0] - rho).max() > 0.1
    assert moved[0].dtype == moved[1].dtype == np.float32


def test_rows_of_zeros_are_left():
    rho, alpha = np.zeros((3, 8), dtype=np.float32), np.ones((4, 8), dtype=np.float32)
    moved = move_along_orbit(rho, alpha, np.ones((3, 8)), np.ones((4, 8)), KEY)
    assert np.all(moved[0] == 0.0)
    assert np.all(np.isfinite(moved[1]))


def test_one_change_is_the_inverse_transpose_of_the_other():
    forms = [np.cov(np.random.default_rng(i).normal(size=(6, 40))) * 40 for i in range(2)]
    change, inverse = draw_change(*forms, 0.0, KEY)
    np.testing.assert_allclose(change.T @ inverse, np.eye(6), atol=1e-10)
