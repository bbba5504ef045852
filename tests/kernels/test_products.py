"""Products over rows: right, and with the same bits however the rows are shared out."""

import numpy as np
import pytest

from bayesvec.kernels.products import cross, in_units, integer_cross, largest, multiplied, units


def rows_of(count, dim, seed=1):
    """Rows with axes of very different sizes and a few large entries."""
    generator = np.random.default_rng(seed)
    sizes = 10.0 ** generator.uniform(-4, 3, size=dim)
    return (generator.standard_t(3, size=(count, dim)) * sizes).astype(np.float32)


def assert_close(found, x, y):
    """Assert that errors are within six standard deviations of what rounding to units of 1 gives."""
    norms = [np.linalg.norm(each, axis=0) for each in (x, y)]
    sizes = [units(largest(each), len(each)) / norm for each, norm in zip((x, y), norms, strict=True)]
    scaled = (found - x.T @ y) / np.outer(*norms)
    assert np.all(np.abs(scaled) < 6 * np.sqrt((sizes[0][:, None] ** 2 + sizes[1] ** 2) / 12))


def in_pieces(x, y, edges):
    unit_x = units(np.max([largest(part) for part in np.split(x, edges)], axis=0), len(x))
    unit_y = unit_x if y is None else units(largest(y), len(y))
    pieces = zip(np.split(x, edges), [None] * 9 if y is None else np.split(y, edges), strict=False)
    return in_units(sum(integer_cross(a, b, unit_x, unit_y) for a, b in pieces), unit_x, unit_y)


@pytest.mark.parametrize("dim", [1, 4, 7, 50])
def test_sums_are_right_and_do_not_depend_on_how_rows_are_cut(dim):
    x, y = rows_of(5000, dim), rows_of(5000, dim, seed=2).astype(np.float64)
    assert_close(cross(x, y), x.astype(np.float64), y)
    gram = in_pieces(x, None, [])
    np.testing.assert_array_equal(gram, gram.T)
    for edges in ([1], [17, 4999], [1024, 2048, 3333]):
        assert in_pieces(x, y, edges).tobytes() == cross(x, y).tobytes()
        assert in_pieces(x, None, edges).tobytes() == gram.tobytes()
        reverse = in_pieces(x[::-1], y[::-1], edges)
        assert reverse.tobytes() == cross(x, y).tobytes()


def test_plain_sums_do_depend_on_how_rows_are_cut():
    """The test above could fail: BLAS adds up in the order of rows."""
    x = rows_of(5000, 50).astype(np.float64)
    parts = [part.T @ part for part in np.split(x, [17, 4999])]
    assert sum(parts).tobytes() != (x.T @ x).tobytes()


def test_rows_have_weights():
    x, weights = rows_of(3000, 5), np.random.default_rng(3).uniform(0.1, 10.0, size=3000)
    unit = units(largest(x, weights), 3000)
    found = in_units(integer_cross(x, None, unit, unit, weights), unit, unit)
    heavy = x * weights[:, None]
    assert_close(found, heavy, heavy)


def test_zeros_and_no_rows():
    for rows in (np.zeros((3, 2), np.float32), np.zeros((0, 2), np.float32)):
        np.testing.assert_array_equal(cross(rows, rows), np.zeros((2, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 6, 51])
def test_a_row_times_a_matrix_does_not_depend_on_the_others(dim, dtype):
    rows, matrix = rows_of(200, dim).astype(dtype), np.random.default_rng(4).normal(size=(dim, dim))
    whole = multiplied(rows, matrix)
    assert whole.dtype == dtype
    np.testing.assert_allclose(whole, rows @ matrix, rtol=1e-5, atol=1e-5 * np.abs(rows).max())
    for first, last in ((0, 1), (3, 20), (199, 200)):
        given = rows[first:last].copy()
        given.flags.writeable = False
        assert multiplied(given, matrix).tobytes() == whole[first:last].tobytes()
