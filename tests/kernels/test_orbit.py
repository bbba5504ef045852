import numba
import numpy as np
import pytest
from scipy import stats

from bayesvec.kernels import rng
from bayesvec.kernels.orbit import (
    draw_change,
    draw_gig,
    fill_rotation,
    shear_along_orbit,
)
from bayesvec.kernels.products import cross, multiplied
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


@pytest.mark.long
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


def move_along_orbit(rho, alpha, key, precision=1.0):
    """Both sides moved along the orbit under a spherical prior, as the sampler moves them."""
    forms = [precision * cross(rows, rows) for rows in (rho, alpha)]
    changes = draw_change(*forms, 0.5 * (len(rho) - len(alpha)), key)
    return [multiplied(rows, change) for rows, change in zip((rho, alpha), changes, strict=True)]


def test_products_stay_what_they_are():
    generator = np.random.default_rng(0)
    rho, alpha = (generator.normal(size=(rows, 5)).astype(np.float32) for rows in (7, 11))
    moved = move_along_orbit(rho, alpha, KEY, precision=2.0)
    np.testing.assert_allclose(moved[0] @ moved[1].T, rho @ alpha.T, atol=1e-5)
    assert np.abs(moved[0] - rho).max() > 0.1
    assert moved[0].dtype == moved[1].dtype == np.float32


def test_rows_of_zeros_are_left():
    rho, alpha = np.zeros((3, 8), dtype=np.float32), np.ones((4, 8), dtype=np.float32)
    moved = move_along_orbit(rho, alpha, KEY)
    assert np.all(moved[0] == 0.0)
    assert np.all(np.isfinite(moved[1]))


def test_one_change_is_the_inverse_transpose_of_the_other():
    forms = [np.cov(np.random.default_rng(i).normal(size=(6, 40))) * 40 for i in range(2)]
    change, inverse = draw_change(*forms, 0.0, KEY)
    np.testing.assert_allclose(change.T @ inverse, np.eye(6), atol=1e-10)


def prior_of(rows, seed, dim=3):
    """Precision and mean of each coordinate, (rows, K)."""
    generator = np.random.default_rng(seed)
    return generator.uniform(0.5, 3.0, size=(rows, dim)), generator.normal(size=(rows, dim))


def moments_after_shears(wrong=1.0, count=6000):
    """Standardised coordinates of prior draws that were sheared: each, its square, and products of neighbours."""
    priors = [prior_of(rows, seed) for rows, seed in ((3, 1), (5, 2))]
    given = [(wrong * precision, precision * mean) for precision, mean in priors]
    generator = np.random.default_rng(3)
    found = []
    for number in range(count):
        start = [mean + generator.normal(size=mean.shape) / np.sqrt(precision) for precision, mean in priors]
        key = rng.make_key(3, rng.ORBIT, sweep=number)
        moved = shear_along_orbit(*(x.astype(np.float32) for x in start), *given, key)
        sides = zip(moved, priors, strict=True)
        z = np.concatenate([((x - mean) * np.sqrt(precision)).ravel() for x, (precision, mean) in sides])
        found.append(np.concatenate([z, z**2 - 1.0, z[1:] * z[:-1]]))
    return np.array(found)


def test_shears_leave_a_prior_with_means_invariant():
    found = moments_after_shears()
    assert agrees(found, np.zeros(found.shape[1]))


def test_shears_with_a_wrong_precision_are_seen():
    found = moments_after_shears(wrong=1.3)
    assert not agrees(found, np.zeros(found.shape[1]))


def test_shears_keep_the_products():
    generator = np.random.default_rng(0)
    rho, alpha = (generator.normal(size=(rows, 3)).astype(np.float32) for rows in (3, 5))
    given = [(precision, precision * mean) for precision, mean in (prior_of(3, 1), prior_of(5, 2))]
    moved = shear_along_orbit(rho, alpha, *given, KEY)
    np.testing.assert_allclose(moved[0] @ moved[1].T, rho @ alpha.T, atol=1e-5)
    assert np.abs(moved[0] - rho).max() > 0.1


def test_one_move_leaves_little_of_where_it_started():
    """Of many axes: cosines between rows after a move hardly depend on those before it."""
    generator = np.random.default_rng(4)
    base = [generator.normal(size=(60, 20)).astype(np.float32) for _ in range(2)]
    before, after = [], []
    for number in range(300):
        stretch = np.diag(np.exp(0.3 * generator.normal(size=20))).astype(np.float32)
        rho, alpha = base[0] @ stretch, base[1] @ np.linalg.inv(stretch)
        key = rng.make_key(3, rng.ORBIT, sweep=number)
        moved = move_along_orbit(rho, alpha, key)[0]
        for rows, kept in ((rho, before), (moved, after)):
            unit = rows[:2] / np.linalg.norm(rows[:2], axis=1, keepdims=True)
            kept.append(float(unit[0] @ unit[1]))
    assert abs(np.corrcoef(before, after)[0, 1]) < 4 / np.sqrt(300)
