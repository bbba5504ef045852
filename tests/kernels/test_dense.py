import numpy as np
import pytest

from bayesvec.kernels.dense import add_gram, factor, fold_gram, solve_factor
from bayesvec.kernels.vector import padded

DIMS = [1, 2, 5, 8, 9, 16, 20, 31, 50, 100, 129]


def positive_definite(dim, seed=0):
    x = np.random.default_rng(seed).normal(size=(2 * dim + 3, dim))
    return x.T @ x + np.eye(dim)


def augmented(matrix, right):
    dim = len(matrix)
    out = np.zeros((padded(dim), padded(dim + 1)))
    out[:dim, :dim] = np.triu(matrix)
    out[:dim, dim] = right
    return out


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("count", [1, 7, 40])
def test_gram_is_the_product_added(dim, count):
    generator = np.random.default_rng(dim)
    panel = np.zeros((40, padded(dim)), dtype=np.float32)
    panel[:, :dim] = generator.normal(size=(40, dim))
    before = np.triu(generator.normal(size=(padded(dim), padded(dim + 1))))
    gram = before.copy()
    add_gram(panel, count, dim, gram)
    fold_gram(dim, gram)
    used = panel[:count, :dim].astype(np.float64)
    expected = before[:dim, :dim] + used.T @ used
    np.testing.assert_allclose(np.triu(gram[:dim, :dim]), np.triu(expected), atol=1e-6 * count)
    np.testing.assert_array_equal(gram[:dim, dim], before[:dim, dim])


@pytest.mark.parametrize("dim", DIMS)
def test_factor_and_solve_match_numpy(dim):
    matrix = positive_definite(dim)
    right = np.random.default_rng(1).normal(size=dim)
    held = augmented(matrix, right)
    assert factor(held, dim, held.shape[1])
    lower = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(np.triu(held[:dim, :dim]), lower.T, atol=1e-9)
    np.testing.assert_allclose(held[:dim, dim], np.linalg.solve(lower, right), atol=1e-9)
    x = np.full(padded(dim + 1), np.nan)
    solve_factor(held, dim, held[:dim, dim].copy(), x)
    np.testing.assert_allclose(x[:dim], np.linalg.solve(matrix, right), atol=1e-9)
    assert np.all(x[dim:] == 0.0)


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
@pytest.mark.parametrize("where", [0, 7, 11])
def test_factor_reports_what_is_not_positive_definite(bad, where):
    held = augmented(np.eye(12), np.zeros(12))
    held[where, where] = bad
    assert not factor(held, 12, held.shape[1])
