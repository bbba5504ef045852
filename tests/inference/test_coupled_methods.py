"""MAP, NUTS, MFVI, blockvi and Laplace under priors that couple rows, against dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayesvec._parallel import Threads
from bayesvec.inference.blockvi.ascent import BlockAscent, _unpacked
from bayesvec.inference.laplace.factor import factorise
from bayesvec.inference.laplace.solver import Elimination
from bayesvec.inference.laplace.space import Space
from bayesvec.inference.nuts.target import Target
from bayesvec.inference.variational import is_free
from bayesvec.kernels import rng as addressed
from bayesvec.model.balance import _largest_coupled, balanced, zero_is_the_mode
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.model.map import find_map
from bayesvec.priors import Prior, RowPrior
from joint import sparse_counts

ROWS, CONTEXTS, DIM = 6, 5, 2
ONE = Threads(1)
ANCHORS = Anchors(np.array([0, 3]), np.array([[1.0, -0.4], [0.3, 0.9]]))


def coupling(rows, seed):
    generator = np.random.default_rng(seed)
    half = np.triu(generator.normal(size=(rows, rows)) * (generator.random((rows, rows)) < 0.6), 1)
    return half + half.T + np.diag(np.abs(half + half.T).sum(1))


def make_prior(mean=0.0, precision=1.0):
    generator = np.random.default_rng(3)
    return Prior(
        RowPrior(
            precision * generator.gamma(2.0, size=(ROWS, 1)),
            mean * generator.normal(size=(ROWS, DIM)),
            coupling(ROWS, 1),
        ),
        RowPrior(precision, mean * generator.normal(size=(CONTEXTS, DIM)), coupling(CONTEXTS, 2)),
    )


@pytest.fixture
def counts():
    return sparse_counts([f"w{i}" for i in range(ROWS)], CONTEXTS, most=60)


def place(seed=4):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(ROWS, DIM)), generator.normal(size=(CONTEXTS, DIM))


@pytest.mark.parametrize("mean", [0.0, 1.0])
@pytest.mark.parametrize("anchors", [None, ANCHORS])
def test_the_compiled_target_is_the_model(counts, mean, anchors):
    prior = make_prior(mean)
    target = Target(counts, prior, DIM, anchors=anchors)
    rho, alpha = place()
    if anchors is not None:
        alpha[anchors.rows] = anchors.values
    value, slope = target.function()(np.concatenate([rho.ravel(), alpha[target.free].ravel()]))
    expected = Model(counts, prior).gradient(rho, alpha)
    assert_allclose(value, expected.value, rtol=1e-12)
    assert_allclose(
        slope, np.concatenate([expected.rho.ravel(), expected.alpha[target.free].ravel()]), rtol=1e-9
    )


def test_the_whole_hessian_is_that_of_products(counts):
    curvature = Model(counts, make_prior(1.0)).curvature(*place())
    whole = curvature.matrix().toarray()
    d_rho, d_alpha = place(7)
    product = np.concatenate([side.ravel() for side in curvature.product(d_rho, d_alpha)])
    assert_allclose(whole @ np.concatenate([d_rho.ravel(), d_alpha.ravel()]), product, rtol=1e-10)
    assert_allclose(whole, whole.T)


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_the_mode_is_one(counts, mean):
    prior = make_prior(mean, precision=0.2)
    found = find_map(counts, prior, DIM, tolerance=1e-6)
    assert found.converged
    assert np.any(found.rho)
    slope = Model(counts, prior).gradient(found.rho, found.alpha)
    assert np.abs(slope.rho).max() < 1e-4
    if not mean:
        forms = prior.rho.form(found.rho), prior.alpha.form(found.alpha)
        assert_allclose(*forms, atol=1e-5)
        assert_allclose(forms[0], np.diag(np.diag(forms[0])), atol=1e-5)


def test_balanced_factors_have_the_same_product():
    prior = make_prior()
    rho, alpha = place()
    x, y = balanced(rho, alpha, prior)
    assert_allclose(x @ y.T, rho @ alpha.T, rtol=1e-10)
    assert_allclose(prior.rho.form(x), prior.alpha.form(y), atol=1e-10)
    assert prior.log_density(x, y) > prior.log_density(rho, alpha)
    flat = np.array(rho)
    flat[:, 1] = 0.0  # an empty axis
    x, y = balanced(flat, alpha, prior)
    assert_allclose(x @ y.T, flat @ alpha.T, atol=1e-10)


def dense_largest(counts, prior):
    side = counts.by_word
    kappa = np.zeros((counts.num_words, counts.num_contexts))
    kappa[np.repeat(np.arange(counts.num_words), np.diff(side.indptr)), side.other] = (
        side.n_pos - side.n_neg
    ) * 0.5
    roots = [
        np.linalg.cholesky(
            np.linalg.inv(np.diag(np.broadcast_to(p.precision[:, 0], rows)) + p.coupling.toarray())
        )
        for p, rows in ((prior.rho, counts.num_words), (prior.alpha, counts.num_contexts))
    ]
    return np.linalg.norm(roots[0].T @ kappa @ roots[1], 2), kappa


@pytest.mark.parametrize("small", [True, False])
def test_when_zero_is_the_mode(counts, small, monkeypatch):
    if not small:
        monkeypatch.setattr("bayesvec.model.balance.SMALL", 0)
    prior = make_prior(precision=1.0)
    largest, kappa = dense_largest(counts, prior)
    assert_allclose(_largest_coupled(kappa, prior), largest**2, rtol=1e-6)
    for factor in (0.98, 1.02):
        scaled = Prior(
            *(
                RowPrior(p.precision * largest * factor, coupling=p.coupling * (largest * factor))
                for p in (prior.rho, prior.alpha)
            )
        )
        assert zero_is_the_mode(counts, scaled) is (factor > 1.0)


@pytest.mark.parametrize("anchors", [None, ANCHORS])
def test_laplace_solves_with_the_whole_hessian(counts, anchors):
    # a mean breaks the rotations, so that the Hessian has an inverse; a large precision makes it definite
    prior = make_prior(1.0, precision=600.0)
    rho, alpha = place()
    if anchors is not None:
        alpha[anchors.rows] = anchors.values
    curvature = Model(counts, prior).curvature(rho, alpha)
    space = Space(rho, alpha, prior, anchors)
    free = np.concatenate([np.ones(ROWS, bool), ~space.fixed]).repeat(DIM)
    inverse = np.linalg.inv(-curvature.matrix().toarray()[np.ix_(free, free)])
    factor = factorise(curvature, space)
    d_rho, d_alpha = place(8)
    d_alpha[space.fixed] = 0.0
    right = np.concatenate([d_rho.ravel(), d_alpha.ravel()])[free]
    found = np.concatenate([side.ravel() for side in factor.solve(d_rho, d_alpha)])[free]
    assert_allclose(found, inverse @ right, rtol=1e-8, atol=1e-12)
    elimination = Elimination(curvature, space)
    reduced, shift = elimination.reduce(d_rho[:, :, None], d_alpha[:, :, None])
    solved = elimination.complete(elimination.conjugate_gradients(reduced, 1e-12).x, shift)
    assert_allclose(solved[:, :, 0].ravel()[free], inverse @ right, rtol=1e-7, atol=1e-10)
    size = int(free.sum())
    whitened = []
    for unit in np.eye(size):
        noise = unit[: ROWS * DIM].reshape(ROWS, DIM), unit[ROWS * DIM :].reshape(-1, DIM)
        whitened.append(np.concatenate([side.ravel() for side in factor.whiten(*noise)])[free])
    assert_allclose(np.array(whitened).T @ np.array(whitened), inverse, rtol=1e-7, atol=1e-10)


def expected_bound(counts, prior, ascent):
    """The bound less the likelihood's, from the moments and the dense precision of the prior."""
    total = 0.0
    sides = (prior.rho, ascent.rows[0]), (prior.alpha, ascent.rows[1])
    for side, rows in sides:
        size = len(rows.mean)
        gap = rows.mean - side.mean_rows(size, DIM)
        moment = _unpacked(rows.moment, DIM)
        for k in range(DIM):
            precision = np.diag(np.broadcast_to(side.precision, (size, DIM))[:, k]) + side.coupling.toarray()
            variance = moment[:, k, k] - rows.mean[:, k] ** 2
            quadratic = gap[:, k] @ precision @ gap[:, k] + np.diag(precision) @ variance
            total += 0.5 * (np.linalg.slogdet(precision)[1] - size * np.log(2 * np.pi) - quadratic)
    return total


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_blockvi_climbs_and_every_row_is_at_its_best(counts, mean):
    prior = make_prior(mean, precision=0.5)
    ascent = BlockAscent(counts, prior, np.concatenate(place()), is_free(counts, None), ONE)
    bounds, converged = ascent.run(3000, 1e-9, lambda text: None)
    assert converged
    assert np.all(np.diff(bounds[2:]) > -1e-5)
    told = ascent._constant + sum(float(rows.prior.sum()) for rows in ascent.rows)
    entropy_constant = 0.5 * (ROWS + CONTEXTS) * DIM * (1 + np.log(2 * np.pi))
    assert_allclose(told - entropy_constant, expected_bound(counts, prior, ascent), rtol=1e-5)
    for which in (0, 1):
        check_rows(counts, prior, ascent, which)


def check_rows(counts, prior, ascent, which):
    """Each row's mean solves its own equations given all others."""
    side = (counts.by_word, counts.by_context)[which]
    own, other = ascent.rows[which], ascent.rows[1 - which]
    row_prior = (prior.rho, prior.alpha)[which]
    size = len(own.mean)
    precision = row_prior.precision_rows(size, DIM)
    shift = row_prior.shift_rows(size, DIM) - row_prior.neighbours @ own.mean
    own_moment, other_moment = _unpacked(own.moment, DIM), _unpacked(other.moment, DIM)
    for row in range(size):
        q, b = np.diag(precision[row]).astype(float), np.array(shift[row])
        for entry in range(side.indptr[row], side.indptr[row + 1]):
            n = side.n_pos[entry] + side.n_neg[entry]
            xi = np.sqrt(np.trace(own_moment[row] @ other_moment[side.other[entry]]))
            q += n * np.tanh(xi / 2) / (2 * xi) * other_moment[side.other[entry]]
            b += (side.n_pos[entry] - n / 2) * other.mean[side.other[entry]]
        # the other side moved a little after this row did
        assert_allclose(own.mean[row], np.linalg.solve(q, b), atol=3e-3)


def test_a_forgotten_neighbour_would_be_seen_in_blockvi(counts):
    prior = make_prior(1.0, precision=0.5)
    ascent = BlockAscent(counts, prior, np.concatenate(place()), is_free(counts, None), ONE)
    ascent._neighbours = (None, None)
    ascent.run(500, 1e-9, lambda text: None)
    with pytest.raises(AssertionError):
        check_rows(counts, prior, ascent, 0)


def test_purposes_of_random_numbers_differ():
    purposes = [addressed.RHO, addressed.ALPHA, addressed.ORBIT, addressed.QUESTION, addressed.SCALES]
    assert len(set(purposes)) == len(purposes)
