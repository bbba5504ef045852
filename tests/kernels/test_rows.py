"""The row update against its equations in plain NumPy, and against the exact conditional by quadrature."""

import numpy as np
import pytest
from one_row import CASES, ONE_ROW, exact_moments, fixed, make_row, pad, pairs_of_a_row, unbalanced

from bayesvec.inference.sides import make_side
from bayesvec.kernels import rng
from bayesvec.kernels.polyagamma import fill_polyagamma
from bayesvec.kernels.polyagamma_tables import load_tables
from bayesvec.kernels.row_densities import fill_likelihoods, log_prior_rows
from bayesvec.kernels.row_work import make_work
from bayesvec.kernels.rows import SEGMENT, data_fraction, redraw_rows
from bayesvec.priors import RowPrior
from evidence import agrees, moments

TABLES = load_tables()
NORMALS = 1 << 31  # the block at which a row's normals begin


def twin(side, other, x, key, *, relax=0.0, bug=None):
    """The update in plain NumPy, with the same omega and the same normals."""
    dim = len(x)
    a = other[:, :dim].astype(np.float64)
    omega = np.empty(len(a), dtype=np.float32)
    fill_polyagamma(side.n, (a @ x).astype(np.float32), key, 0, 0, TABLES, omega)
    precision = np.diag(side.precision[0]) + (a.T * omega) @ a
    right = side.shift[0] + a.T @ side.kappa
    noise = np.empty(dim)
    rng.fill_normals(key, 0, NORMALS, noise)
    lower = np.linalg.cholesky(precision)
    spread = np.linalg.solve(lower if bug == "transposed" else lower.T, noise)
    mean = np.linalg.solve(precision, right)
    beyond = relax * (1 - side.precision[0].sum() / np.trace(precision))
    less = 1.0 if bug == "noise" else np.sqrt(1 - beyond**2)
    return mean - beyond * (x - mean) + less * spread


@pytest.mark.parametrize("relax", [0.0, 0.8])
@pytest.mark.parametrize("dim", [1, 2, 5, 8, 20, 64, 100])
def test_equals_its_numpy_twin(dim, relax):
    side, other = make_row(3 * dim + 4, dim, seed=dim, mean=0.3)
    key = rng.make_key(1, rng.RHO)
    start = np.random.default_rng(9).normal(size=dim).astype(np.float32)
    rows = pad(start)
    assert redraw_rows(0, 1, ONE_ROW, side, rows, other, 1, False, relax, key, TABLES, make_work(dim)) == -1
    expected = twin(side, other, start, key, relax=relax)
    np.testing.assert_allclose(rows[0, :dim], expected, rtol=2e-4, atol=2e-4)
    if dim > 1:
        wrong = twin(side, other, start, key, relax=relax, bug="transposed")
        assert np.abs(rows[0, :dim] - wrong).max() > 2e-3


def twin_of_few(side, other, x, key):
    """The update of a row with fewer pairs than axes, in plain NumPy with the same random numbers."""
    dim, count = len(x), len(side.n)
    a = other[:, :dim].astype(np.float64)
    omega = np.empty(count, dtype=np.float32)
    fill_polyagamma(side.n, (a @ x).astype(np.float32), key, 0, 0, TABLES, omega)
    noise = np.empty(dim + count)
    rng.fill_normals(key, 0, NORMALS, noise)
    precision = side.precision[0]
    u = side.shift[0] / precision + noise[:dim] / np.sqrt(precision)
    s = a * np.sqrt(omega.astype(np.float64))[:, None]
    right = side.kappa / np.sqrt(omega.astype(np.float64)) - s @ u - noise[dim:]
    w = np.linalg.solve(np.eye(count) + (s / precision) @ s.T, right)
    return u + (s.T @ w) / precision


@pytest.mark.parametrize(
    ("count", "dim", "largest", "precision"),
    [
        (1, 2, 30, 1.5),
        (7, 9, 30, 1.5),
        (20, 64, 30, 0.1),
        (90, 100, 30, 1.5),
        (199, 200, 1000, 1.0),
        (60, 100, 10**6, 0.1),
    ],
)
def test_few_pairs_equal_their_numpy_twin(count, dim, largest, precision):
    side, other = make_row(count, dim, seed=count, largest=largest, precision=precision, mean=0.3)
    key = rng.make_key(1, rng.RHO)
    start = (np.random.default_rng(9).normal(size=dim) / np.sqrt(dim)).astype(np.float32)
    rows = pad(start)
    assert redraw_rows(0, 1, ONE_ROW, side, rows, other, 1, False, 0.8, key, TABLES, make_work(dim)) == -1
    a = other[:, :dim].astype(np.float64)
    omega = side.n * 0.2
    sd = 1 / np.sqrt(np.diag(np.diag(side.precision[0]) + (a.T * omega) @ a))
    error = np.abs(rows[0, :dim] - twin_of_few(side, other, start, key))
    assert np.all(error < np.maximum(0.02 * sd, 1e-4))


def repeat(side, other, dim, count, *, restart=False, relax=0.8):
    """Draw the row ``count`` times, each given the last."""
    rows, work = pad(np.zeros(dim)), make_work(dim)
    out, tables = np.empty((count, dim)), load_tables(side.weight)
    for i in range(count):
        at = rng.make_key(2, rng.RHO, sweep=i)
        assert redraw_rows(0, 1, ONE_ROW, side, rows, other, 1, restart, relax, at, tables, work) == -1
        out[i] = rows[0, :dim]
    return out


def repeat_twin(side, other, dim, count, bug):
    x, out = np.zeros(dim), np.empty((count, dim))
    for i in range(count):
        x = out[i] = twin(side, other, x, rng.make_key(2, rng.RHO, sweep=i), relax=0.8, bug=bug)
    return out


@pytest.mark.parametrize("relax", [0.0, 0.8])
@pytest.mark.parametrize("name", CASES)
def test_matches_quadrature(name, relax):
    options = CASES[name]
    side, other = make_row(seed=4, **options)
    expected = exact_moments(side, other, options["dim"])
    draws = repeat(side, other, options["dim"], 30_000, relax=relax)
    assert agrees(moments(draws), expected)


def test_matches_quadrature_when_unbalanced_but_not_when_restarted():
    side, other = unbalanced()
    expected = exact_moments(side, other, 1)
    np.testing.assert_allclose(expected[0], -4.9, atol=0.5)
    assert agrees(moments(repeat(side, other, 1, 40_000)), expected)
    assert not agrees(moments(repeat(side, other, 1, 40_000, restart=True, relax=0.0)), expected)


@pytest.mark.parametrize(
    "bug",
    [
        "lambda",
        "kappa",
        "n",
        "weight",
        *(pytest.param(bug, marks=pytest.mark.long) for bug in ("transposed", "noise")),
    ],
)
def test_planted_bugs_are_seen(bug):
    options = CASES["two axes, weight 0.6" if bug == "weight" else "two axes"]
    side, other = make_row(seed=4, **options)
    expected = exact_moments(side, other, 2)
    if bug == "lambda":
        draws = repeat(side._replace(precision=side.precision * 1.2), other, 2, 30_000)
    elif bug == "kappa":
        draws = repeat(side._replace(kappa=side.kappa + np.float32(0.5)), other, 2, 30_000)
    elif bug == "weight":  # forgotten in omega
        draws = repeat(side._replace(weight=1.0), other, 2, 30_000)
    elif bug == "n":
        draws = repeat(side._replace(n=side.n + np.int32(1)), other, 2, 30_000)
    else:
        draws = repeat_twin(side, other, 2, 30_000, bug)
    assert not agrees(moments(draws), expected)


def test_few_pairs_and_many_pairs_agree_on_the_same_conditional():
    # The same two pairs: in 4 axes they take the route of few pairs; with rows of nothing added, the other.
    few, other = make_row(2, 4, seed=5, precision=0.8)
    extra = 3
    side = pairs_of_a_row(np.zeros(2 + extra), np.ones(2 + extra))
    many = make_side(side, RowPrior(0.8), 4, np.zeros(1, dtype=bool))
    many = many._replace(n=np.append(few.n, np.ones(extra, np.int32)).astype(np.int32))
    many = many._replace(kappa=np.append(few.kappa, np.zeros(extra)).astype(np.float32))
    padded_other = np.vstack([other, np.zeros((extra, other.shape[1]), np.float32)])
    first, second = moments(repeat(few, other, 4, 20_000)), moments(repeat(many, padded_other, 4, 20_000))
    assert agrees(first - second, 0.0)
    wrong = moments(repeat(few._replace(precision=few.precision * 1.2), other, 4, 20_000))
    assert not agrees(wrong - second, 0.0)


def test_a_row_without_data_is_drawn_from_its_prior():
    side, other = make_row(1, 3, precision=np.array([[0.5, 1.0, 4.0]]), mean=np.array([[1.0, 0.0, -2.0]]))
    empty = side._replace(indptr=fixed(np.array([0, 0])))
    draws = repeat(empty, other, 3, 20_000)
    mean = np.array([1.0, 0.0, -2.0])
    second = np.outer(mean, mean) + np.diag(1 / np.array([0.5, 1.0, 4.0]))
    expected = np.concatenate([mean, second[np.triu_indices(3)]])
    assert agrees(moments(draws), expected)
    assert not agrees(moments(draws * 1.03), expected)


@pytest.mark.parametrize(
    ("seen", "known", "share"),
    [
        (3.0, 1.0, 0.75),
        (0.0, 1.0, 0.0),
        (-1e-9, 1.0, 0.0),
        (2.0, -1e-9, 1.0),
        (0.0, 0.0, 0.0),
        (np.nan, 1.0, 0.0),
    ],
)
def test_a_share_is_one_whatever_rounding_does(seen, known, share):
    assert data_fraction(seen, known) == share


def test_fixed_rows_stay_and_huge_rows_are_left():
    side, other = make_row(3, 2)
    rows = pad(np.array([0.25, -0.5]))
    arguments = (rows, other, 1, False, 0.8, rng.make_key(0, rng.RHO), TABLES, make_work(2))
    assert redraw_rows(0, 1, ONE_ROW, side._replace(fixed=np.ones(1, dtype=bool)), *arguments) == -1
    np.testing.assert_array_equal(rows[0, :2], [0.25, -0.5])
    huge = side._replace(indptr=fixed(np.array([0, SEGMENT + 1])))
    assert redraw_rows(0, 1, ONE_ROW, huge, *arguments) == -1
    np.testing.assert_array_equal(rows[0, :2], [0.25, -0.5])


@pytest.mark.parametrize("count", [1, 20])
def test_what_is_not_finite_is_reported(count):
    side, other = make_row(count, 4)
    other[0, 0] = np.nan
    arguments = (pad(np.zeros(4)), other, 1, False, 0.8, rng.make_key(0, rng.RHO), TABLES, make_work(4))
    assert redraw_rows(0, 1, ONE_ROW, side, *arguments) == 0


def test_log_posterior_of_a_row():
    side, other = make_row(700, 6, seed=8, precision=2.0, mean=0.3)
    x = np.random.default_rng(1).normal(size=6).astype(np.float32)
    out = np.full(1, np.nan)
    fill_likelihoods(0, 1, side, pad(x), other, make_work(6), out)
    eta = other[:, :6].astype(np.float64) @ x
    n_pos = side.kappa + side.n / 2
    likelihood = n_pos @ -np.logaddexp(0, -eta) + (side.n - n_pos) @ -np.logaddexp(0, eta)
    prior = -0.5 * 2.0 * np.sum((x - 0.3) ** 2 - 0.3**2)
    np.testing.assert_allclose(out[0], likelihood, rtol=1e-6)
    known = np.full(1, -7.0)
    fill_likelihoods(0, 1, side, pad(x), other, make_work(6), known)
    assert known[0] == -7.0
    log_prior_rows(0, 1, side, pad(x), out)
    np.testing.assert_allclose(out[0], prior, rtol=1e-6)
