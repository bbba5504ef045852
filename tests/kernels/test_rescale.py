"""Rows rescaled along their own direction: the length has the exact conditional, by quadrature."""

import numpy as np
import pytest
from one_row import make_row, pad
from scipy.special import expit

from bayesvec.kernels import rng
from bayesvec.kernels.rescale import rescale_rows
from bayesvec.kernels.row_work import make_work
from evidence import agrees

ORDER = np.zeros(1, dtype=np.int64)


def log_density(side, other, x, tails, log_scale, power):
    """Log density of the log of the scale, in plain NumPy."""
    eta = np.exp(log_scale) * (other[:, : len(x)].astype(np.float64) @ x)
    likelihood = eta @ side.kappa - side.weight * side.n @ np.logaddexp(eta / 2, -eta / 2)
    distance = np.exp(2 * log_scale) * (x @ (side.precision[0] * x))
    return power * log_scale - 0.5 * (tails + len(x)) * np.log1p(distance / tails) + likelihood


def statistics(logs):
    return np.column_stack([logs, logs**2, expit(logs)])


def lengths(side, other, x, tails, count):
    """Logs of the length over that of ``x``, one row rescaled again and again."""
    rows, work, found, likelihood = pad(x), make_work(len(x)), np.empty(count), np.empty(1)
    eta = np.empty(len(side.other), dtype=np.float32)
    for number in range(count):
        key = rng.make_key(3, rng.WORD_SCALES, sweep=number)
        rescale_rows(0, 1, ORDER, side, tails, rows, other, key, work, eta, likelihood)
        found[number] = np.log(np.linalg.norm(rows[0]) / np.linalg.norm(x))
    a = other[:, : len(x)].astype(np.float64) @ rows[0, : len(x)]
    exact = a @ side.kappa - side.weight * side.n @ np.logaddexp(a / 2, -a / 2)
    np.testing.assert_allclose(likelihood[0], exact, rtol=1e-5)
    return found


@pytest.mark.parametrize(("dim", "count", "tails"), [(1, 3, 6.0), (2, 5, 4.0), (7, 300, 9.0)])
def test_matches_quadrature(dim, count, tails):
    side, other = make_row(count, dim, seed=2, largest=4, precision=2.0, weight=0.8)
    x = np.random.default_rng(1).normal(size=dim)
    grid = np.linspace(-8.0, 4.0, 4001)
    drawn = statistics(lengths(side, other, x, tails, 20_000))
    for power, right in ((dim, True), (dim - 1, False)):  # the second forgets a part of the Jacobian
        logs = np.array([log_density(side, other, x, tails, each, power) for each in grid])
        weight = np.exp(logs - logs.max())
        assert agrees(drawn, weight @ statistics(grid) / weight.sum()) == right


def test_a_row_of_zeros_stays():
    side, other = make_row(3, 2, seed=2)
    rows, likelihood = pad(np.zeros(2)), np.full(1, np.nan)
    key, eta = rng.make_key(3, rng.WORD_SCALES), np.empty(3, dtype=np.float32)
    rescale_rows(0, 1, ORDER, side, 5.0, rows, other, key, make_work(2), eta, likelihood)
    assert not rows.any()
