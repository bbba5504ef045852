"""Rows moved by Hamiltonian dynamics: against plain NumPy, and against the exact conditional by quadrature."""

import numpy as np
import pytest
from one_row import CASES, exact_moments, make_row, pad, unbalanced
from scipy.special import expit

from bayesvec.inference.sides import MORE_STEPS, STEPS
from bayesvec.kernels import rng
from bayesvec.kernels.hamiltonian import (
    Shapes,
    find_shapes,
    make_path,
    make_rotation,
    move_rows,
    root_size,
)
from bayesvec.kernels.row_work import make_work
from bayesvec.kernels.rows import NORMALS, NORMALS_STEP, SEGMENT
from bayesvec.kernels.vector import padded
from evidence import agrees, moments

MOVED = {name: case for name, case in CASES.items() if case["count"] >= case["dim"]}
ORDER = np.zeros(1, dtype=np.int64)


def empty_shapes(dim, steps=STEPS):
    """The shape of one row, to be found."""
    return Shapes(ORDER, np.empty((1, root_size(dim)), dtype=np.float32), np.empty(1), np.array([steps]))


def reference(side, other, x, steps=STEPS):
    """Q of the row at a reference, as the kernels take it: the row at ``x``, the other side as it is."""
    dim = len(x)
    shapes = empty_shapes(dim, steps)
    assert find_shapes(0, 1, side, pad(x), other, make_work(dim), shapes) == -1
    return shapes


def rotation_of(dim, seed=5):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0].copy()


def move(side, shapes, rows, other, relax, key, *, rotation=None, tails=0.0):
    """Move the row once; return the log likelihood of its pairs after it."""
    dim = side.precision.shape[1]
    turn = make_rotation(np.eye(dim) if rotation is None else rotation)
    work = make_work(dim)
    path = make_path(dim, len(work.panel))
    likelihood = np.full(1, np.nan)
    move_rows(0, 1, ORDER, side, tails, shapes, turn, rows, other, relax, key, work, path, likelihood)
    return likelihood[0]


def upper(shapes, dim):
    """U as a matrix."""
    width, blocks, entry = padded(dim), [], 0
    for first in range(0, width, 8):
        size = 8 * (width - first)
        block = shapes.root[0, entry : entry + size].reshape(8, width - first)
        blocks.append(np.pad(block, ((0, 0), (first, 0))))
        entry += size
    return np.linalg.inv(np.concatenate(blocks)[:dim, :dim].astype(np.float64))


def prior_density(side, x, tails=0.0):
    """Log density of a row under its prior, relative to that at zero, and its gradient, in plain NumPy."""
    if not tails:
        return x @ side.shift[0] - 0.5 * x @ (side.precision[0] * x), side.shift[0] - side.precision[0] * x
    distance, power = x @ (side.precision[0] * x), 0.5 * (tails + len(x))
    return -power * np.log1p(distance / tails), -2 * power / (tails + distance) * side.precision[0] * x


def density(side, other, x, tails=0.0):
    """Log density of a row and its gradient, in plain NumPy."""
    a, n = other[:, : len(x)].astype(np.float64), side.weight * side.n
    eta = a @ x
    value = eta @ side.kappa - n @ np.logaddexp(eta / 2, -eta / 2)
    gradient = a.T @ (side.kappa - n * (expit(eta) - 0.5))
    own, slope = prior_density(side, x, tails)
    return value + own, gradient + slope


def twin(side, other, shapes, x, key, relax, *, rotation=None, steps=None, bug=None, tails=0.0):
    """The end of the path from ``x`` and the log of the probability to accept it, in plain NumPy."""
    dim = len(x)
    steps = steps or int(shapes.steps[0])
    root = upper(shapes, dim) @ (np.eye(dim) if rotation is None else rotation).T  # root^T root is O Q O^T
    angle = np.arccos(-relax * shapes.fraction[0]) / steps
    kick = np.tan(angle / 2)
    if bug == "kick":
        kick = 0.5 * angle  # Strang's splitting: as exact after the correction, but not for a Gaussian
    momentum = np.empty(dim)
    rng.fill_normals(key, 0, NORMALS, momentum)
    value, gradient = density(side, other, x, tails)
    change = 0.5 * momentum @ momentum - value
    for _ in range(steps):
        momentum = momentum + kick * np.linalg.solve(root.T, gradient)
        step = np.sin(angle) * momentum
        x = x + np.linalg.solve(root, step)
        value, gradient = density(side, other, x, tails)
        momentum = np.cos(angle) * momentum + kick * (np.linalg.solve(root.T, gradient) + step)
    return x, change + value - 0.5 * momentum @ momentum


@pytest.mark.parametrize("steps", [STEPS, MORE_STEPS])
@pytest.mark.parametrize("relax", [0.0, 0.9])
@pytest.mark.parametrize(
    ("dim", "tails"),
    [(1, 0.0), (2, 4.0), (5, 0.0), (8, 3.0), (20, 0.0), (20, 6.0), (64, 0.0), (100, 0.0), (100, 90.0)],
)
def test_equals_its_numpy_twin(dim, tails, relax, steps):
    side, other = make_row(3 * dim + 4, dim, seed=dim, largest=8, mean=0.0 if tails else 0.1, weight=0.7)
    shapes, rotation = (
        reference(side, other, 0.2 * np.random.default_rng(9).normal(size=dim), steps),
        rotation_of(dim),
    )
    shapes = shapes._replace(root=shapes.root / np.float32(1.2))  # rotated at random Q would be too small
    rows, moved = pad(np.zeros(dim)), 0
    for number in range(20):
        key, start = rng.make_key(1, rng.RHO, sweep=number), rows[0, :dim].copy()
        given = {"rotation": rotation, "tails": tails}
        likelihood = move(side, shapes, rows, other, relax, key, **given)
        end, change = twin(side, other, shapes, start.astype(np.float64), key, relax, **given)
        wanted = np.log(rng.uniforms(key, 0, NORMALS + NORMALS_STEP)[0])
        assert abs(wanted - change) > 1e-3  # or rounding could decide
        moved += wanted < change
        np.testing.assert_allclose(rows[0, :dim], end if wanted < change else start, rtol=1e-4, atol=1e-4)
        x = rows[0, :dim].astype(np.float64)
        exact = density(side, other, x, tails)[0] - prior_density(side, x, tails)[0]
        np.testing.assert_allclose(likelihood, exact, rtol=1e-5)
    assert moved > 0


@pytest.mark.parametrize("dim", [1, 2, 7, 50])
def test_shapes_are_the_curvature_at_the_reference(dim):
    side, other = make_row(4 * dim + 200, dim, seed=dim, weight=0.6)
    x = np.random.default_rng(1).normal(size=dim)
    shapes, a = reference(side, other, x), other[:, :dim].astype(np.float64)
    s = expit(a @ x.astype(np.float32))
    weight = 0.6 * side.n * s * (1 - s)
    data = (a.T * weight) @ a
    expected = data + np.diag(side.precision[0])
    root = upper(shapes, dim)
    np.testing.assert_allclose(root.T @ root, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_allclose(shapes.fraction[0], np.trace(data) / np.trace(expected), rtol=1e-5)


def test_a_gaussian_keeps_its_energy_whatever_its_mean():
    side, other = make_row(12, 4, seed=3, precision=2.0, mean=0.8)
    flat = side._replace(n=np.zeros_like(side.n))  # a likelihood that is linear in the logits
    key, start = rng.make_key(1, rng.RHO), np.array([3.0, -1.0, 0.5, 2.0])
    shapes = reference(flat, other, np.zeros(4))
    assert abs(twin(flat, other, shapes, start, key, 0.0)[1]) < 1e-6
    assert abs(twin(flat, other, shapes, start, key, 0.0, bug="kick")[1]) > 0.01


def repeat(side, other, dim, count, *, relax=0.9, at=0.3, start=0.0, scale=1.0, accept=True, tails=0.0):
    """Move the row ``count`` times, with Q at a point that is not the mode, rotated and scaled."""
    rows, rotation = pad(np.full(dim, start)), rotation_of(dim)
    shapes = reference(side, other, np.full(dim, at))
    shapes = shapes._replace(root=shapes.root / np.float32(scale))
    work, turn = make_work(dim), make_rotation(rotation)
    path, out, x = make_path(dim, len(work.panel)), np.empty((count, dim)), np.full(dim, start)
    likelihood = np.empty(1)
    for i in range(count):
        sweep = rng.make_key(2, rng.RHO, sweep=i)
        if accept:
            move_rows(
                0, 1, ORDER, side, tails, shapes, turn, rows, other, relax, sweep, work, path, likelihood
            )
            out[i] = rows[0, :dim]
        else:
            x = out[i] = twin(side, other, shapes, x, sweep, relax, rotation=rotation)[0]
    return out


@pytest.mark.parametrize("relax", [0.0, 0.9])
@pytest.mark.parametrize("name", MOVED)
def test_matches_quadrature(name, relax):
    side, other = make_row(seed=4, **MOVED[name])
    expected = exact_moments(side, other, MOVED[name]["dim"])
    assert agrees(moments(repeat(side, other, MOVED[name]["dim"], 30_000, relax=relax)), expected)


def test_matches_quadrature_with_a_q_that_is_far_too_small():
    side, other = make_row(seed=4, **CASES["two axes"])
    assert agrees(moments(repeat(side, other, 2, 30_000, scale=0.6)), exact_moments(side, other, 2))


def test_matches_quadrature_with_heavy_tails():
    side, other = make_row(3, 2, seed=4, precision=4.0, largest=6)
    line = np.linspace(-14.0, 14.0, 1401)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    eta = grid @ other[:, :2].T.astype(np.float64)
    logs = eta @ side.kappa - np.logaddexp(eta / 2, -eta / 2) @ (side.weight * side.n)
    logs -= 0.5 * (9.0 + 2) * np.log1p(grid**2 @ side.precision[0] / 9.0)
    weight = np.exp(logs - logs.max())
    expected = weight @ moments(grid) / weight.sum()
    assert agrees(moments(repeat(side, other, 2, 30_000, tails=9.0)), expected)
    assert not agrees(moments(repeat(side, other, 2, 30_000)), expected)  # its Gaussian is another


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
    accept = bug != "always accepted"  # by the NumPy twin, and so wrong that fewer moves show it
    draws = repeat(spoiled, other, 2, 30_000 if accept else 5_000, scale=0.6, accept=accept)
    assert not agrees(moments(draws), expected)


def test_rows_of_many_segments_are_moved_as_one():
    side, other = make_row(SEGMENT + 1000, 3, seed=6, largest=4, precision=1.0)
    rows, key, shapes = pad(np.zeros(3)), rng.make_key(1, rng.RHO), reference(side, other, np.zeros(3))
    move(side, shapes, rows, other, 0.9, key)
    end, change = twin(side, other, shapes, np.zeros(3), key, 0.9)
    assert np.log(rng.uniforms(key, 0, NORMALS + NORMALS_STEP)[0]) < change
    np.testing.assert_allclose(rows[0, :3], end, rtol=1e-3, atol=1e-4)


def test_a_reference_that_breaks_down_is_named():
    side, other = make_row(6, 2, seed=1)
    broken = side._replace(precision=np.full_like(side.precision, np.nan))
    shapes = empty_shapes(2)
    assert find_shapes(0, 1, broken, pad(np.ones(2)), other, make_work(2), shapes) == 0


def test_a_path_that_leaves_the_numbers_is_rejected():
    side, other = make_row(6, 2, seed=1)
    shapes, rows = reference(side, other, np.ones(2)), pad(np.ones(2))
    move(
        side._replace(kappa=np.full_like(side.kappa, 3e38)),
        shapes,
        rows,
        other,
        0.9,
        rng.make_key(0, rng.RHO),
    )
    np.testing.assert_array_equal(rows, pad(np.ones(2)))


def test_most_paths_are_accepted_and_more_than_with_one_step():
    side, other = make_row(400, 20, seed=8, largest=6, precision=10.0)
    shapes, rates = reference(side, other, np.zeros(20)), {}
    for steps in (1, 3):
        x, total = np.zeros(20), 0.0
        for number in range(300):
            key = rng.make_key(4, rng.RHO, sweep=number)
            end, change = twin(side, other, shapes, x, key, 0.9, steps=steps)
            total += np.exp(min(0.0, change))
            x = end if np.log(rng.uniforms(key, 0, NORMALS + NORMALS_STEP)[0]) < change else x
        rates[steps] = total / 300
    assert rates[3] > 0.8
    assert rates[3] > rates[1]
