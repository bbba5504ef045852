"""Trees of rows redrawn at once: against a dense Cholesky factor of the whole, draw by draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from bayesvec import priors
from bayesvec.counts.rows import with_rows
from bayesvec.errors import OptionError
from bayesvec.inference.contract import Problem
from bayesvec.inference.forests import make_trees
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.inference.gibbs.redraw import is_joint
from bayesvec.inference.sides import make_coupling, make_side
from bayesvec.kernels import rng
from bayesvec.kernels.dense import factor
from bayesvec.kernels.polyagamma import fill_polyagamma
from bayesvec.kernels.polyagamma_tables import load_tables
from bayesvec.kernels.row_work import make_work
from bayesvec.kernels.trees import _pass_up, fill_message, make_tree_work, redraw_trees
from bayesvec.kernels.vector import padded
from joint import sparse_counts

TABLES = load_tables()
NORMALS = 1 << 31  # the block at which a row's normals begin
KEY = rng.make_key(1, rng.RHO, sweep=3)


def walks():
    groups = [*"01234", *"03", "2"]
    names = [f"{'aaaaabbc'[i]}@{group}" for i, group in enumerate(groups)]
    counts = sparse_counts(names, contexts=30, groups=groups)
    return counts, priors.dynamic(counts, precision=1.5, drift_precision=40.0)


def stars():
    counts = sparse_counts(["a@x", "a@y", "a@z", "b@x", "b@z"], contexts=30, groups=[*"xyzxz"])
    prior = priors.grouped(counts, precision=0.5, group_precision=7.0)
    return with_rows(counts, prior.added), prior


def bushes():
    """A tree with branches, weights of both signs, a mean and another precision on each axis."""
    counts = sparse_counts([*"abcdefg"], contexts=30)
    links = np.zeros((7, 7))
    for (i, j), weight in {(0, 2): -3.0, (2, 1): 1.0, (2, 5): -0.5, (5, 6): -8.0, (3, 4): 2.0}.items():
        links[i, j] = links[j, i] = weight
    coupling = links + np.diag(np.abs(links).sum(1))
    generator = np.random.default_rng(4)
    return counts, lambda dim: priors.Prior(
        priors.RowPrior(generator.gamma(2.0, size=(7, dim)), generator.normal(size=(7, dim)), coupling),
        priors.RowPrior(1.0),
    )


def dense_draw(trees, prior, side, rows, other, dim, relax):
    """The draw by one Cholesky factor over all rows, in the order of the trees; the same normals."""
    size = len(rows)
    precision = np.kron(prior.coupling.toarray(), np.eye(dim))
    precision += np.diag(np.broadcast_to(prior.precision, (size, dim)).ravel())
    right = np.array(prior.shift_rows(size, dim))
    seen = np.zeros(size)
    for row in range(size):
        pairs = slice(side.indptr[row], side.indptr[row + 1])
        a = other[side.other[pairs], :dim].astype(np.float64)
        eta = (other[side.other[pairs], :dim] @ rows[row, :dim]).astype(np.float32)
        omega = np.zeros(len(a), dtype=np.float32)
        fill_polyagamma(side.n[pairs], eta, KEY, row, 0, TABLES, omega)
        block = slice(row * dim, (row + 1) * dim)
        precision[block, block] += (a.T * omega) @ a
        seen[row] = np.trace((a.T * omega) @ a)
        right[row] += a.T @ side.kappa[pairs]
    order = (trees.row[:, None] * dim + np.arange(dim)).ravel()
    upper = np.linalg.cholesky(precision[np.ix_(order, order)]).T
    noise = np.zeros((size, dim))
    for place, row in enumerate(trees.row.tolist()):
        rng.fill_normals(KEY, row, NORMALS, noise[place])
    mean = np.linalg.solve(upper, np.linalg.solve(upper.T, right.ravel()[order])).reshape(size, dim)
    spread = np.linalg.solve(upper, noise.ravel()).reshape(size, dim)
    out = np.empty((size, dim))
    for first, last in zip(trees.indptr[:-1], trees.indptr[1:], strict=True):
        tree, inside = trees.row[first:last], slice(first, last)
        known = prior_rows(prior, size, dim)[tree].sum()
        beyond = relax * seen[tree].sum() / (seen[tree].sum() + known)
        out[tree] = mean[inside] - beyond * (rows[tree, :dim] - mean[inside])
        out[tree] += np.sqrt(1 - beyond**2) * spread[inside]
    return out


def prior_rows(prior, size, dim):
    """Sums of the rows of the prior precision, (row, K): what holds a tree as a whole."""
    return np.broadcast_to(prior.precision, (size, dim)) + prior.coupling.toarray().sum(axis=1)[:, None]


def redrawn(make, dim, spoil=None, relax=0.8):
    counts, prior = make()
    prior = (prior(dim) if callable(prior) else prior).rho
    side = make_side(counts.by_word, prior, dim, np.zeros(counts.num_words, dtype=bool))
    trees, coupling = make_trees(prior.neighbours), make_coupling(prior.neighbours)
    generator = np.random.default_rng(0)
    other = np.zeros((30, padded(dim)), dtype=np.float32)
    other[:, :dim] = generator.normal(size=(30, dim)) / np.sqrt(dim)
    rows = np.zeros((counts.num_words, padded(dim)), dtype=np.float32)
    rows[:, :dim] = generator.normal(size=(counts.num_words, dim))
    new, largest = rows.copy(), int(np.diff(trees.indptr).max())
    broken = redraw_trees(
        0,
        len(trees.indptr) - 1,
        trees,
        coupling if spoil is None else spoil(coupling),
        side,
        new,
        other,
        1,
        relax,
        KEY,
        TABLES,
        make_work(dim),
        make_tree_work(dim, largest),
    )
    assert broken == -1
    return new[:, :dim], dense_draw(trees, prior, side, rows, other, dim, relax)


@pytest.mark.parametrize("relax", [0.0, 0.8])
@pytest.mark.parametrize("make", [walks, stars, bushes])
@pytest.mark.parametrize("dim", [1, 2, 7, 8, 13, 24, 45])
def test_a_draw_is_that_of_the_dense_factor(make, dim, relax):
    assert_allclose(*redrawn(make, dim, relax=relax), rtol=2e-4, atol=2e-5)


def test_a_wrong_weight_is_seen():
    found, expected = redrawn(walks, 7, lambda coupling: coupling._replace(weight=0.95 * coupling.weight))
    with pytest.raises(AssertionError):
        assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("dim", [1, 3, 4, 8, 12, 19, 50, 61])
def test_messages_are_inverses(dim):
    generator = np.random.default_rng(dim)
    a = generator.normal(size=(dim, dim + 3))
    matrix, b = a @ a.T + np.eye(dim), generator.normal(size=dim)
    upper = np.zeros((padded(dim), padded(dim + 1)))
    upper[:dim, :dim], upper[:dim, dim] = matrix, b
    assert factor(upper, dim, upper.shape[1])
    message = np.full_like(upper, 7.0)
    fill_message(-3.0, dim, upper, message)
    triangle = np.triu(upper[:dim, :dim])
    assert_allclose(message[:dim, :dim], -3.0 * np.linalg.inv(triangle).T, atol=1e-9)
    parent = np.zeros_like(upper)
    _pass_up(-3.0, dim, upper, message, parent)
    keep = np.triu_indices(dim)
    assert_allclose(parent[:dim, :dim][keep], -9.0 * np.linalg.inv(matrix)[keep], atol=1e-8)
    assert_allclose(parent[:dim, dim], 3.0 * np.linalg.solve(matrix, b), atol=1e-8)


def test_trees_of_a_coupling():
    prior = walks()[1]
    trees = make_trees(prior.rho.neighbours)
    assert np.diff(trees.indptr).tolist() == [5, 2, 1]
    assert sorted(trees.row.tolist()) == list(range(8))
    matrix = prior.rho.neighbours
    for first, last in zip(trees.indptr[:-1], trees.indptr[1:], strict=True):
        for node in range(first, last):
            above = trees.parent[node]
            if above < 0:
                assert node == last - 1  # a root comes last
                continue
            assert first + above > node
            entry, row = trees.entry[node], trees.row[node]
            assert matrix.indices[entry] == trees.row[first + above]
            assert matrix.indptr[row] <= entry < matrix.indptr[row + 1]
    assert_array_equal(trees.row[trees.indptr[2] :], [7])


def test_what_is_no_forest():
    ring = np.ones((3, 3)) - np.eye(3)
    assert make_trees(csr_array(ring)) is None
    assert make_trees(None) is None
    assert make_trees(csr_array((3, 3))) is None


def test_when_trees_are_redrawn():
    counts, prior = walks()
    assert gibbs.prepare(Problem(counts, priors.spherical(1.0), 2)).by_word.forest is None
    often, seldom = (gibbs.prepare(Problem(counts, prior, dim)).by_word.forest.every for dim in (2, 40))
    assert often < seldom
    every = 3
    for joint, expected in (("auto", [1, 4, 7]), ("never", []), ("always", list(range(8)))):
        options = gibbs.Options(joint=joint)
        assert [number for number in range(8) if is_joint(options, every, number)] == expected
    assert not is_joint(gibbs.Options(joint="always", restart=True), 1, 0)
    with pytest.raises(OptionError, match="joint is 'maybe'; it must be auto, always or never"):
        gibbs.Options(joint="maybe")
