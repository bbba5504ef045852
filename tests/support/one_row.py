"""One row with its pairs: a logistic regression whose conditional is known by quadrature."""

import numpy as np

from bayesvec.counts.pairs import Side
from bayesvec.inference.sides import make_side
from bayesvec.kernels.vector import padded
from bayesvec.priors import RowPrior
from evidence import moments

ONE_ROW = np.zeros(1, dtype=np.int64)

# lambda other than 1, unbalanced counts, a mean, more and fewer pairs than axes
CASES = {
    "one axis": {"count": 3, "dim": 1, "precision": 0.5},
    "one axis, tight prior": {"count": 1, "dim": 1, "precision": 20.0, "mean": 0.5},
    "two axes": {"count": 5, "dim": 2, "precision": 2.0, "mean": -0.2},
    "two axes, one pair": {"count": 1, "dim": 2, "precision": 0.5, "largest": 5},
    "one axis, weight 0.3": {"count": 3, "dim": 1, "precision": 0.5, "weight": 0.3},
    "two axes, weight 0.6": {
        "count": 5,
        "dim": 2,
        "precision": 2.0,
        "mean": -0.2,
        "largest": 3,
        "weight": 0.6,
    },
}


def fixed(array):
    """An array that cannot be written to, as in all counts: compiled code is of its own for each kind."""
    array.setflags(write=False)
    return array


def pairs_of_a_row(n_pos, n_neg):
    """The pairs of one row, each with a context of its own."""
    ends, contexts = np.array([0, len(n_pos)]), np.arange(len(n_pos), dtype=np.int32)
    return Side(fixed(ends), fixed(contexts), *(np.asarray(n, dtype=np.int32) for n in (n_pos, n_neg)))


def make_row(count, dim, seed=0, largest=30, precision=1.5, mean=0.0, weight=1.0):
    """One row with ``count`` pairs over as many contexts."""
    generator = np.random.default_rng(seed)
    side = pairs_of_a_row(*(generator.integers(least, largest, size=count) for least in (0, 1)))
    other = np.zeros((count, padded(dim)), dtype=np.float32)
    other[:, :dim] = generator.normal(size=(count, dim)) / np.sqrt(dim)
    return make_side(side, RowPrior(precision, mean), dim, np.zeros(1, dtype=bool), weight), other


def pad(x):
    out = np.zeros((1, padded(len(x))), dtype=np.float32)
    out[0, : len(x)] = x
    return out


def exact_moments(side, other, dim):
    """First and second moments of the row's conditional, by quadrature on a grid around its mode."""
    a = other[:, :dim].astype(np.float64)
    precision = side.precision[0]
    mean = side.shift[0] / precision
    n = side.weight * side.n.astype(np.float64)

    def log_density(x):
        eta = x @ a.T
        likelihood = eta @ side.kappa.astype(np.float64) - np.logaddexp(eta / 2, -eta / 2) @ n
        return likelihood - 0.5 * ((x - mean) ** 2 @ precision)

    mode = np.zeros(dim)
    for _ in range(200):
        eta = a @ mode
        s = 1 / (1 + np.exp(-eta))
        hessian = np.diag(precision) + (a.T * (n * s * (1 - s))) @ a
        gradient = a.T @ (side.kappa - n * (s - 0.5)) - precision * (mode - mean)
        mode = mode + np.linalg.solve(hessian, gradient)
    axis = np.linspace(-9, 9, 401)
    grid = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), -1).reshape(-1, dim)
    grid = mode + grid @ np.linalg.inv(np.linalg.cholesky(hessian))
    log_weight = log_density(grid)
    weight = np.exp(log_weight - log_weight.max())
    return weight @ moments(grid) / weight.sum()


def unbalanced():
    """The case of the design: one coefficient, n = 1000, n+ = 5."""
    side = pairs_of_a_row([5], [995])
    return make_side(side, RowPrior(0.5), 1, np.zeros(1, dtype=bool)), pad(np.ones(1))
