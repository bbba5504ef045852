"""Rows moved by Hamiltonian dynamics: against plain NumPy, and against the exact conditional by quadrature."""

import numpy as np
import pytest
from one_row import CASES, ONE_ROW, exact_moments, make_row, pad, unbalanced
from scipy.special import expit

from bayesvec.kernels import rng
from bayesvec.kernels.hamiltonian import FULL, STEPS, curvatures, make_path, move_rows
from bayesvec.kernels.logistic import link_single
from bayesvec.kernels.rows import NORMALS, NORMALS_STEP, SEGMENT, make_work
from evidence import agrees, moments

MOVED = {name: case for name, case in CASES.items() if case["count"] >= case["dim"]}


def codes(side, other, x):
    """The curvature of each pair at the vector ``x``, as the kernels take it."""
    out = np.empty(len(side.other), dtype=np.uint8)
    curvatures(0, 1, side, pad(x), other, make_work(len(x)), out)
    return out


def density(side, other, x):
    """Log density of a row and its gradient, in plain NumPy."""
    a, n = other[:, : len(x)].astype(np.float64), side.weight * side.n
    eta = a @ x
    value = eta @ side.kappa - n @ np.logaddexp(eta / 2, -eta / 2)
    value += x @ side.shift[0] - 0.5 * x @ (side.precision[0] * x)
    gradient = a.T @ (side.kappa - n * (expit(eta) - 0.5)) + side.shift[0] - side.precision[0] * x
    return value, gradient


def twin(side, other, curvature, x, key, relax, *, steps=STEPS, bug=None):
    """The end of the path from ``x`` and the log of the probability to accept it, in plain NumPy."""
    dim = len(x)
    a = other[:, :dim].astype(np.float64)
    data = (a.T * (curvature / FULL * side.weight * side.n)) @ a
    precision = np.diag(side.precision[0]) + data
    lower = np.linalg.cholesky(precision)
    angle = np.arccos(-relax * np.trace(data) / np.trace(precision)) / steps
    kick = np.sin(angle) / (1 + np.cos(angle))
    if bug == "kick":
        kick = 0.5 * angle  # Strang's splitting: as exact after the correction, but not for a Gaussian
    momentum = np.empty(dim)
    rng.fill_normals(key, 0, NORMALS, momentum)
    value, gradient = density(side, other, x)
    change = 0.5 * momentum @ momentum - value
    for _ in range(steps):
        momentum = momentum + kick * np.linalg.solve(lower, gradient)
        step = np.sin(angle) * momentum
        x = x + np.linalg.solve(lower.T, step)
        value, gradient = density(side, other, x)
        momentum = np.cos(angle) * momentum + kick * (np.linalg.solve(lower, gradient) + step)
    return x, change + value - 0.5 * momentum @ momentum


@pytest.mark.parametrize("relax", [0.0, 0.9])
@pytest.mark.parametrize("dim", [1, 2, 5, 8, 20, 64, 100])
def test_equals_its_numpy_twin(dim, relax):
    side, other = make_row(3 * dim + 4, dim, seed=dim, largest=8, mean=0.1, weight=0.7)
    curvature = codes(side, other, 0.2 * np.random.default_rng(9).normal(size=dim))
    rows, work = pad(np.zeros(dim)), make_work(dim)
    path, moved = make_path(dim, len(work.panel)), 0
    for number in range(20):
        key, start = rng.make_key(1, rng.RHO, sweep=number), rows[0, :dim].copy()
        assert move_rows(0, 1, ONE_ROW, side, curvature, rows, other, relax, key, work, path) == -1
        end, change = twin(side, other, curvature, start.astype(np.float64), key, relax)
        wanted = np.log(rng.uniforms(key, 0, NORMALS + NORMALS_STEP)[0])
        assert abs(wanted - change) > 1e-3  # or rounding could decide
        expected = end if wanted < change else start
        moved += wanted < change
        np.testing.assert_allclose(rows[0, :dim], expected, rtol=1e-4, atol=1e-4)
    assert moved > 0


def test_a_gaussian_keeps_its_energy_whatever_its_mean():
    side, other = make_row(12, 4, seed=3, precision=2.0, mean=0.8)
    flat = side._replace(n=np.zeros_like(side.n))  # a likelihood that is linear in the logits
    key, curvature = rng.make_key(1, rng.RHO), np.ones(12, dtype=np.uint8)
    _, change = twin(flat, other, curvature, np.array([3.0, -1.0, 0.5, 2.0]), key, 0.0)
    assert abs(change) < 1e-9
    _, change = twin(flat, other, curvature, np.array([3.0, -1.0, 0.5, 2.0]), key, 0.0, bug="kick")
    assert abs(change) > 0.01


def test_curvatures_are_those_of_the_logistic():
    side, other = make_row(300, 7, seed=1)
    x = np.random.default_rng(2).normal(size=7) * 2
    s = expit(other[:, :7].astype(np.float64) @ x.astype(np.float32))
    exact = np.maximum(1, np.round(FULL * s * (1 - s)))
    assert np.abs(codes(side, other, x) - exact).max() <= 1  # halves may be rounded either way
    assert codes(side, other, 1e4 * x).min() == 1


def test_link_in_single_precision():
    eta = np.concatenate([np.linspace(-30, 30, 2001), [-2000.0, -87.5, 0.0, 87.5, 2000.0]]).astype(np.float32)
    generator = np.random.default_rng(0)
    n = generator.integers(1, 3000, size=len(eta)).astype(np.int32)
    n_pos = generator.binomial(n, 0.2)
    kappa = (0.7 * (n_pos - 0.5 * n)).astype(np.float32)
    residual, term = np.empty_like(eta), np.empty_like(eta)
    link_single(eta, n, kappa, 0.7, residual, term)
    exact = eta.astype(np.float64)
    slope = 0.7 * (n_pos - n * expit(exact))
    value = -0.7 * (n_pos * np.logaddexp(0, -exact) + (n - n_pos) * np.logaddexp(0, exact))
    assert np.all(np.abs(residual - slope) <= 4e-7 * n)
    np.testing.assert_allclose(term, value, rtol=2e-6, atol=1e-6)


def repeat(side, other, dim, count, *, relax=0.9, at=0.3, start=0.0, accept=True):
    """Move the row ``count`` times, with curvatures at a point that is not the mode."""
    rows, work = pad(np.full(dim, start)), make_work(dim)
    curvature, path = codes(side, other, np.full(dim, at)), make_path(dim, len(work.panel))
    key, out = rng.make_key(2, rng.RHO), np.empty((count, dim))
    x = np.full(dim, start)
    for i in range(count):
        sweep = rng.at_sweep(key, i)
        if accept:
            assert move_rows(0, 1, ONE_ROW, side, curvature, rows, other, relax, sweep, work, path) == -1
            out[i] = rows[0, :dim]
        else:
            x = out[i] = twin(side, other, curvature, x, sweep, relax)[0]
    return out


@pytest.mark.parametrize("relax", [0.0, 0.9])
@pytest.mark.parametrize("name", MOVED)
def test_matches_quadrature(name, relax):
    side, other = make_row(seed=4, **MOVED[name])
    expected = exact_moments(side, other, MOVED[name]["dim"])
    assert agrees(moments(repeat(side, other, MOVED[name]["dim"], 30_000, relax=relax)), expected)


def test_matches_quadrature_when_unbalanced():
    side, other = unbalanced()
    expected = exact_moments(side, other, 1)
    assert agrees(moments(repeat(side, other, 1, 40_000, at=-4.0, start=-4.0)), expected)


@pytest.mark.parametrize("bug", ["lambda", "kappa", "n", "always accepted", "weight"])
def test_planted_bugs_are_seen(bug):
    side, other = make_row(seed=4, **CASES["two axes, weight 0.6" if bug == "weight" else "two axes"])
    expected = exact_moments(side, other, 2)
    spoiled = {
        "lambda": lambda: side._replace(precision=side.precision * 1.2),
        "kappa": lambda: side._replace(kappa=side.kappa + np.float32(0.5)),
        "n": lambda: side._replace(n=side.n + np.int32(1)),
        "weight": lambda: side._replace(weight=1.0),
        "always accepted": lambda: side,
    }[bug]()
    draws = repeat(spoiled, other, 2, 30_000, at=1.5, accept=bug != "always accepted")
    assert not agrees(moments(draws), expected)


def test_rows_of_many_segments_are_moved_as_one():
    count = SEGMENT + 1000
    side, other = make_row(count, 3, seed=6, largest=4, precision=1.0)
    start = np.zeros(3, dtype=np.float32)
    rows, work, key = pad(start), make_work(3), rng.make_key(1, rng.RHO)
    curvature = codes(side, other, np.zeros(3))
    path = make_path(3, len(work.panel))
    assert move_rows(0, 1, ONE_ROW, side, curvature, rows, other, 0.9, key, work, path) == -1
    end, change = twin(side, other, curvature, np.zeros(3), key, 0.9)
    assert np.log(rng.uniforms(key, 0, NORMALS + NORMALS_STEP)[0]) < change
    np.testing.assert_allclose(rows[0, :3], end, rtol=1e-3, atol=1e-4)


def test_rows_that_are_fixed_stay_and_broken_ones_are_named():
    side, other = make_row(6, 2, seed=1)
    rows, work, curvature = pad(np.ones(2)), make_work(2), codes(side, other, np.ones(2))
    given = rows, other, 0.9, rng.make_key(0, rng.RHO), work, make_path(2, len(work.panel))
    fixed = side._replace(fixed=np.ones(1, dtype=bool))
    assert move_rows(0, 1, ONE_ROW, fixed, curvature, *given) == -1
    np.testing.assert_array_equal(rows, pad(np.ones(2)))
    broken = side._replace(precision=np.full_like(side.precision, np.nan))
    assert move_rows(0, 1, ONE_ROW, broken, curvature, *given) == 0


def test_a_path_that_leaves_the_numbers_is_rejected():
    side, other = make_row(6, 2, seed=1)
    side = side._replace(kappa=np.full_like(side.kappa, 3e38))
    rows, work = pad(np.ones(2)), make_work(2)
    given = rows, other, 0.9, rng.make_key(0, rng.RHO), work, make_path(2, len(work.panel))
    assert move_rows(0, 1, ONE_ROW, side, np.ones(6, dtype=np.uint8), *given) == -1
    np.testing.assert_array_equal(rows, pad(np.ones(2)))


def test_most_paths_are_accepted_and_more_than_with_one_step():
    side, other = make_row(400, 20, seed=8, largest=6, precision=10.0)
    generator = np.random.default_rng(0)
    curvature = codes(side, other, np.zeros(20))
    rates = {}
    for steps in (1, STEPS):
        x, total = np.zeros(20), 0.0
        for number in range(300):
            key = rng.make_key(4, rng.RHO, sweep=number)
            end, change = twin(side, other, curvature, x, key, 0.9, steps=steps)
            total += np.exp(min(0.0, change))
            x = end if np.log(generator.uniform()) < change else x
        rates[steps] = total / 300
    assert rates[STEPS] > 0.8
    assert rates[STEPS] > rates[1]
