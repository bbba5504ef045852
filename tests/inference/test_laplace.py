"""Laplace: the covariance is the inverse Hessian of what is free, draws have it, and what is no mode is refused."""

import json
from copy import copy
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayesvec as bv
from bayesvec import from_pairs, simulate
from bayesvec._parallel import Threads
from bayesvec.errors import NumericalError, OptionError, UnknownWordError
from bayesvec.inference.contract import Problem
from bayesvec.inference.laplace import factor as laplace_factor
from bayesvec.inference.laplace import method as laplace
from bayesvec.inference.laplace.covariance import RowsCovariance, laplace_covariance
from bayesvec.inference.laplace.factor import factorise
from bayesvec.inference.laplace.solver import Elimination
from bayesvec.inference.laplace.space import Space, reach_mode
from bayesvec.inference.map.method import find_map
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors, choose_anchors
from bayesvec.priors import Prior, RowPrior, spherical
from evidence import agrees, moments

DIM = 3
PRIOR = spherical(2.0)
FREE, ANCHORED = "free", "anchored"


@pytest.fixture(scope="module")
def counts():
    """A small world, unbalanced: ten words, eight contexts of their own."""
    return simulate(10, DIM, pairs=4000, contexts=8, zipf=True, seed=3)[0]


@pytest.fixture(scope="module")
def found(counts):
    return find_map(counts, PRIOR, DIM, threads=1)


def anchors_of(found, case):
    return choose_anchors(found.alpha) if case == ANCHORED else None


def negative_log_posterior(counts, prior, theta):
    """Plain NumPy, for one place (rows, K) in any precision."""
    side, split = counts.by_word, counts.num_words
    word = np.repeat(np.arange(split), np.diff(side.indptr))
    eta = np.sum(theta[:split][word] * theta[split:][side.other], axis=1)
    value = np.sum(side.n_pos * np.logaddexp(0, -eta) + side.n_neg * np.logaddexp(0, eta))
    for rows, row_prior in ((theta[:split], prior.rho), (theta[split:], prior.alpha)):
        value += 0.5 * np.sum(row_prior.precision * (rows - row_prior.mean) ** 2)
    return value


def finite_differences(counts, prior, rho, alpha, step=1e-3):
    """Hessian of the negative log posterior by central differences in extended precision."""
    theta = np.concatenate([rho, alpha]).astype(np.longdouble)
    size = theta.size
    hessian = np.empty((size, size))

    def at(*moves):
        moved = theta.copy().ravel()
        for index, amount in moves:
            moved[index] += amount
        return negative_log_posterior(counts, prior, moved.reshape(theta.shape))

    for i in range(size):
        for j in range(i + 1):
            corners = at((i, step), (j, step)) - at((i, step), (j, -step))
            corners += at((i, -step), (j, -step)) - at((i, -step), (j, step))
            hessian[i, j] = hessian[j, i] = corners / (4 * step**2)
    return hessian


def free_mask(counts, dim, anchors):
    mask = np.ones((counts.num_words + counts.num_contexts, dim), dtype=bool)
    if anchors is not None:
        mask[counts.num_words + anchors.rows] = False
    return mask.ravel()


def dense_covariance(hessian, mask):
    """The pseudo-inverse over the free parameters, zero elsewhere; the flat directions are far below the rest."""
    out = np.zeros_like(hessian)
    values, vectors = np.linalg.eigh(hessian[np.ix_(mask, mask)])
    kept = values > 1e-2
    assert np.abs(values[~kept]).max(initial=0.0) < 1e-3
    out[np.ix_(mask, mask)] = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return out


def hessian_at(counts, prior, rho, alpha):
    return -Model(counts, prior).curvature(rho, alpha).matrix().toarray()


def factor_covariance(problem):
    """Covariance that the draws have by construction: the change for each unit of noise, squared."""
    words, free, dim = len(problem.rho), len(problem.factor.free), problem.rho.shape[1]
    columns = []
    for unit in np.eye((words + free) * dim):
        noise = unit.reshape(-1, dim)
        columns.append(
            np.concatenate(problem.space.project(*problem.factor.whiten(noise[:words], noise[words:])))
        )
    flat = np.stack(columns).reshape(len(columns), -1)
    return flat.T @ flat


def problem_of(counts, prior, dim, anchors=None):
    approximation = laplace.Laplace.fit(Problem(counts, prior, dim, anchors=anchors), seed=0)
    return laplace.Laplace(Problem(counts, prior, dim, anchors=anchors), approximation)


def stacked_draws(problem, count, seed=5):
    state = problem.centre(seed=seed, chain=0)
    rows = []
    for number in range(1, count + 1):
        state, _ = problem.draw(seed=seed, chain=0, number=number, threads=Threads(1))
        rows.append(np.concatenate([state.rho, state.alpha]).ravel())
    return np.array(rows, dtype=np.float64)


def test_one_axis_matches_finite_differences():
    counts = from_pairs(
        [0, 0, 1], [0, 1, 0], n_pos=[9, 2, 1], n_neg=[1, 7, 6], words=["a", "b"], contexts=["x", "y"]
    )
    prior = Prior(RowPrior(0.5), RowPrior(1.5))
    problem = problem_of(counts, prior, 1)
    assert problem.space.num_flat == 0
    hessian = finite_differences(counts, prior, problem.rho, problem.alpha)
    assert_allclose(factor_covariance(problem), np.linalg.inv(hessian), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", [FREE, ANCHORED])
def test_covariance_matches_finite_differences(counts, found, case):
    anchors = anchors_of(found, case)
    problem = problem_of(counts, PRIOR, DIM, anchors)
    assert problem.space.num_flat == (3 if case == FREE else 0)
    hessian = finite_differences(counts, PRIOR, problem.rho, problem.alpha)
    expected = dense_covariance(hessian, free_mask(counts, DIM, anchors))
    assert_allclose(factor_covariance(problem), expected, atol=1e-5 * np.abs(expected).max())


def coordinates(draws, mean, covariance, claimed=None):
    """Moments of a few coordinates and random combinations, and what a ``claimed`` covariance says of them."""
    claimed = covariance if claimed is None else claimed
    random = np.random.default_rng(0)
    size = len(mean)
    mix = np.concatenate(
        [np.eye(size)[random.permutation(size)[:8]], random.normal(size=(6, size)) / np.sqrt(size)]
    )
    scale = np.sqrt(np.diag(mix @ covariance @ mix.T))
    mix = mix[scale > 1e-6] / scale[scale > 1e-6][:, None]  # anchors do not move
    wanted = mix @ claimed @ mix.T
    rows, columns = np.triu_indices(len(mix))
    return moments((draws - mean) @ mix.T), np.concatenate([np.zeros(len(mix)), wanted[rows, columns]])


def appendix_hessian(counts, prior, rho, alpha):
    """The paper's mixed blocks: - n s' rho alpha^T - n s I for each pair, no second derivative."""
    hessian = hessian_at(counts, prior, rho, alpha)
    side, (split, dim) = counts.by_word, rho.shape
    for w in range(split):
        for e in range(side.indptr[w], side.indptr[w + 1]):
            v, n = side.other[e], side.n_pos[e] + side.n_neg[e]
            s = 1 / (1 + np.exp(-rho[w] @ alpha[v]))
            block = n * s * (1 - s) * np.outer(rho[w], alpha[v]) + n * s * np.eye(dim)
            a, b = slice(w * dim, (w + 1) * dim), slice((split + v) * dim, (split + v + 1) * dim)
            hessian[a, b], hessian[b, a] = block, block.T
    return hessian


@pytest.mark.long
@pytest.mark.parametrize("case", [FREE, ANCHORED])
def test_draws_have_the_covariance(counts, found, case):
    anchors = anchors_of(found, case)
    problem = problem_of(counts, PRIOR, DIM, anchors)
    mean = np.concatenate([problem.rho, problem.alpha]).ravel()
    mask = free_mask(counts, DIM, anchors)
    hessian = hessian_at(counts, PRIOR, problem.rho, problem.alpha)
    covariance = dense_covariance(hessian, mask)
    draws = stacked_draws(problem, 4000)
    assert agrees(*coordinates(draws, mean, covariance))

    # L^T for L: the trace of the precision is the same
    factor = problem.factor
    turned = factor._replace(context=np.linalg.cholesky(factor.context.T @ factor.context))
    wrong_factor = copy(problem)
    wrong_factor.factor = turned
    assert not agrees(*coordinates(stacked_draws(wrong_factor, 4000), mean, covariance))
    # the paper's Hessian
    wrong = appendix_hessian(counts, PRIOR, problem.rho, problem.alpha)
    wrong = np.where(mask[:, None] & mask, np.linalg.pinv(wrong * np.outer(mask, mask)), 0.0)
    assert not agrees(*coordinates(draws, mean, covariance, wrong))
    if case == ANCHORED:  # a block of the covariance in place of the inverse of a block of the precision
        wrong = dense_covariance(hessian, np.ones_like(mask)) * np.outer(mask, mask)
        assert not agrees(*coordinates(draws, mean, covariance, wrong))


def test_draws_are_without_rotations(counts):
    problem = problem_of(counts, PRIOR, DIM)
    change = (
        problem._draw(1, 0, 1).rho - problem.rho,
        problem._draw(1, 0, 1).alpha - problem.alpha,
    )
    cross = problem.rho.T @ change[0] + problem.alpha.T @ change[1]
    assert np.abs(cross).max() > 0.1
    assert_allclose(cross, cross.T, atol=1e-5)


def test_anchors_stay(counts, found):
    anchors = anchors_of(found, ANCHORED)
    draws = stacked_draws(problem_of(counts, PRIOR, DIM, anchors), 3)
    alpha = draws.reshape(3, -1, DIM)[:, counts.num_words :]
    assert_array_equal(
        alpha[:, anchors.rows], np.broadcast_to(anchors.values.astype(np.float32), (3, DIM, DIM))
    )


def test_anchors_elsewhere_move_the_mode(counts, found):
    anchors = Anchors(anchors_of(found, ANCHORED).rows, 1.3 * np.eye(DIM) + 0.2)
    problem = problem_of(counts, PRIOR, DIM, anchors)
    assert_array_equal(problem.alpha[anchors.rows], anchors.values)
    _, to_rho, to_alpha = Model(counts, PRIOR).gradient(problem.rho, problem.alpha)
    to_alpha[anchors.rows] = 0.0
    assert max(np.abs(to_rho).max(), np.abs(to_alpha).max()) < 1e-5


def test_a_draw_is_a_function_of_its_address(counts):
    problem = problem_of(counts, PRIOR, DIM)
    first = problem.centre(seed=1, chain=0)
    assert_array_equal(first.rho, problem.rho.astype(np.float32))
    with Threads(2) as two:
        a, info = problem.draw(seed=1, chain=1, number=7, threads=two)
    b, again = problem.draw(seed=1, chain=1, number=7, threads=Threads(1))
    assert_array_equal(a.rho, b.rho)
    assert_array_equal(a.alpha, b.alpha)
    assert info == again
    assert info.log_posterior == pytest.approx(Model(counts, PRIOR).log_posterior(a.rho, a.alpha))
    for other in ({"seed": 2}, {"chain": 0}, {"number": 8}):
        c, _ = problem.draw(**{"seed": 1, "chain": 1, "number": 7} | other, threads=Threads(1))
        assert not np.any(c.rho == a.rho)


def test_summary_is_plain_and_threads_do_not_matter(counts):
    one, two = (
        laplace.Laplace.fit(Problem(counts, PRIOR, DIM), seed=0, threads=threads) for threads in (1, 2)
    )
    for name, array in one.items():
        assert_array_equal(array, two[name])
    told = laplace.Laplace.summary(one)
    assert all(type(value) in (int, float) for value in told.values())
    assert told["distance"] < 1e-6
    assert told["gradient_norm"] < 1e-5
    assert (told["free_parameters"], told["rotations"]) == (18 * DIM, 3)


def few_data(pairs):
    return simulate(12, DIM, pairs=pairs, seed=1)[0]


def test_zero_mode():
    """With little data the mode is zero: nothing turns, and the Hessian is the prior and kappa alone."""
    counts, prior = few_data(40), spherical(3.0)
    problem = problem_of(counts, prior, DIM)
    assert not np.any(problem.rho)
    assert problem.space.num_flat == 0
    kappa = np.zeros((12, 12))
    side = counts.by_word
    kappa[np.repeat(np.arange(12), np.diff(side.indptr)), side.other] = 0.5 * (side.n_pos - side.n_neg)
    eye = 3.0 * np.eye(12)
    expected = np.kron(np.linalg.inv(np.block([[eye, -kappa], [-kappa.T, eye]])), np.eye(DIM))
    assert_allclose(factor_covariance(problem), expected, atol=1e-10)
    first = problem.centre(seed=1, chain=0)
    assert np.all(first.rho != 0.0)  # a draw: zero is nothing to turn to


def test_mode_with_empty_axes():
    """Axes that the data do not fill turn into each other without any change; only the others are flat."""
    counts, prior, dim = few_data(300), spherical(5.0), 5
    problem = problem_of(counts, prior, dim)
    filled = int(np.sum(np.linalg.svd(np.vstack([problem.rho, problem.alpha]), compute_uv=False) > 1e-6))
    assert 0 < filled < dim - 1
    empty = dim - filled
    assert problem.space.num_flat == dim * (dim - 1) // 2 - empty * (empty - 1) // 2
    hessian = hessian_at(counts, prior, problem.rho, problem.alpha)
    expected = dense_covariance(hessian, free_mask(counts, dim, None))
    assert np.sum(np.linalg.eigvalsh(hessian) < 1e-3) == problem.space.num_flat
    assert_allclose(factor_covariance(problem), expected, atol=1e-7 * np.abs(expected).max())


def saddle():
    """Zero under much data: one pair pulls away from it."""
    word, context = np.divmod(np.arange(9), 3)
    n_pos, n_neg = np.full(9, 5), np.full(9, 5)
    n_pos[5] += 90  # word b, context z
    counts = from_pairs(
        word, context, n_pos=n_pos, n_neg=n_neg, words=["a", "b", "c"], contexts=["x", "y", "z"]
    )
    return Model(counts, spherical(1.0)).curvature(np.zeros((3, 2)), np.zeros((3, 2)))


@pytest.mark.parametrize("make", [factorise, Elimination])
def test_what_is_no_mode_is_refused(make):
    curvature = saddle()
    space = Space(curvature.rho, curvature.alpha, spherical(1.0), None)
    pull = np.ones((3, 2)), np.ones((3, 2))
    with pytest.raises(
        NumericalError, match=r"not positive definite: it is -44 .* 'b' .* 'z' .* prior precision"
    ) as e:
        make(curvature, space).solve(*pull)
    assert e.value.word == "b"


def test_too_large_names_the_remedy():
    counts, _ = simulate(700, 5, pairs=1000, seed=0)
    assert laplace_factor.LARGEST < 7000
    with pytest.raises(OptionError, match=r"7000 parameters .* 6000 .*--words"):
        laplace.Laplace.fit(Problem(counts, PRIOR, 5), seed=0)


def test_options_are_checked():
    with pytest.raises(OptionError, match="starts is 0"):
        laplace.Options(starts=0)


PRIORS = {
    FREE: PRIOR,
    ANCHORED: PRIOR,
    "by row": Prior(RowPrior(np.linspace(1, 3, 10)[:, None]), RowPrior(2.0)),
    "with a mean": Prior(RowPrior(2.0, np.array([[0.5, 0.0, -0.3]])), RowPrior(np.array([[1.0, 2.0, 3.0]]))),
}


@pytest.mark.parametrize("case", PRIORS)
def test_covariance_of_rows_matches_the_dense_inverse(counts, case):
    prior = PRIORS[case]
    found = find_map(counts, prior, DIM, threads=1)
    anchors = anchors_of(found, case)
    near = found.rho, found.alpha
    result = laplace_covariance(
        counts,
        prior,
        near,
        words=["w7", "w2"],
        contexts=["c0", "c5"],
        anchors=anchors,
        mode_tolerance=1e-8,
        tolerance=1e-5,
    )
    mode = reach_mode(Model(counts, prior), near, anchors, factorise)
    rows = np.array([7, 2, 10, 15])
    chosen = (rows[:, None] * DIM + np.arange(DIM)).ravel()
    dense = dense_covariance(hessian_at(counts, prior, mode.rho, mode.alpha), free_mask(counts, DIM, anchors))
    expected = dense[np.ix_(chosen, chosen)]
    assert_allclose(result.covariance, expected, atol=1e-8 * np.abs(expected).max())
    assert_allclose(result.mean, np.concatenate([mode.rho, mode.alpha])[rows], atol=1e-7)
    assert result.distance < 1e-8


def test_the_error_is_the_square_of_the_tolerance():
    counts, _ = simulate(40, 4, pairs=1000, seed=0)
    found = find_map(counts, spherical(4.0), 4, threads=1)
    place = found.rho, found.alpha
    tight, loose = (
        laplace_covariance(counts, spherical(4.0), place, words=["w7"], tolerance=tolerance, threads=1)
        for tolerance in (1e-10, 1e-2)
    )
    error = np.abs(loose.covariance - tight.covariance).max() / tight.covariance.max()
    assert loose.iterations < tight.iterations
    assert 1e-8 < error < 5e-4


def test_covariance_of_rows_on_any_threads():
    """Large enough for the rows to be shared."""
    counts, _ = simulate(300, 4, pairs=40_000, zipf=True, seed=0)
    found = find_map(counts, spherical(4.0), 4, threads=2)
    one, two = (
        laplace_covariance(
            counts, spherical(4.0), (found.rho, found.alpha), words=["w0", "w9"], threads=threads
        )
        for threads in (1, 2)
    )
    assert_array_equal(one.covariance, two.covariance)
    assert_array_equal(one.mean, two.mean)


def test_draws_of_rows(counts, found):
    result = laplace_covariance(counts, PRIOR, (found.rho, found.alpha), words=["w1", "w2"])
    draws = result.draws(4000, seed=2)
    assert draws.shape == (1, 4000, 2, DIM)
    assert_array_equal(result.draws(10, seed=2), draws[:, :10])
    flat, mean = draws[0].reshape(4000, -1), result.mean.ravel()
    assert agrees(*coordinates(flat, mean, result.covariance))
    halved = 0.5 * (result.covariance + np.diag(np.diag(result.covariance)))
    assert not agrees(*coordinates(flat, mean, result.covariance, halved))


def test_draws_of_all_rows_have_no_rotations(counts, found):
    result = laplace_covariance(
        counts,
        PRIOR,
        (found.rho, found.alpha),
        words=counts.words,
        contexts=counts.contexts,
        mode_tolerance=1e-6,
    )
    assert np.sum(np.linalg.eigvalsh(result.covariance) < 1e-8) == 3
    change = result.draws(1)[0, 0] - result.mean
    cross = result.mean.T @ change
    assert_allclose(cross, cross.T, atol=1e-5)


def test_draws_refuse_what_is_no_covariance():
    wrong = RowsCovariance(("a",), (), np.zeros((1, 2)), np.diag([1.0, -0.1]), 0.0, 1)
    with pytest.raises(NumericalError, match=r"-0\.1 beside 1"):
        wrong.draws(2)


def test_an_anchor_has_no_variance(counts, found):
    anchors = anchors_of(found, ANCHORED)
    chosen = [
        counts.contexts[anchors.rows[0]],
        counts.contexts[np.flatnonzero(~np.isin(range(8), anchors.rows))[0]],
    ]
    result = laplace_covariance(counts, PRIOR, (found.rho, found.alpha), contexts=chosen, anchors=anchors)
    assert not np.any(result.covariance[:DIM])
    assert np.linalg.eigvalsh(result.covariance[DIM:, DIM:])[0] > 1e-3


def test_rows_are_checked(counts, found):
    near = found.rho, found.alpha
    with pytest.raises(UnknownWordError, match="'w77'"):
        laplace_covariance(counts, PRIOR, near, words=["w77"])
    for wrong, message in (
        ({"words": "w1"}, "lists of words"),
        ({"words": []}, "at least one"),
        ({"words": ["w1", "w1"]}, "not all different"),
        ({"words": ["w1"], "tolerance": 0.0}, "tolerance is 0"),
        ({"words": ["w1"], "mode_tolerance": 1.0}, "mode_tolerance is 1"),
        ({"words": ["w1"], "max_iterations": 0}, "max_iterations is 0"),
    ):
        with pytest.raises(OptionError, match=message):
            laplace_covariance(counts, PRIOR, near, **wrong)
    with pytest.raises(NumericalError, match=r"after 2 iterations .* allow more"):
        laplace_covariance(counts, PRIOR, near, words=["w1"], max_iterations=2)


@pytest.mark.slow
@pytest.mark.parametrize("case", [FREE, ANCHORED])
def test_coverage_with_much_data(case):
    """90% intervals of the co-occurrence probabilities hold the truth in 90 +- 1.5 of 100, over 12 worlds."""
    shares, dim, prior = [], 5, spherical(5.0)
    for seed in range(12):
        counts, truth = simulate(100, dim, pairs=1_000_000, seed=seed)
        anchors = anchors_of(find_map(counts, prior, dim, seed=0), case)
        problem = problem_of(counts, prior, dim, anchors)
        states = [problem._draw(1, 0, number) for number in range(1, 501)]
        eta = np.stack([state.rho @ state.alpha.T for state in states])
        low, high = np.quantile(eta, [0.05, 0.95], axis=0)
        at = truth.rho @ truth.alpha.T
        shares.append(np.mean((low < at) & (at < high)))
    assert abs(np.mean(shares) - 0.9) < 0.015


@pytest.fixture(scope="module")
def mode_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("laplace") / "map.run"
    counts, _ = simulate(60, 4, pairs=40_000, seed=0)
    return bv.fit(counts, 4, method="map", prior_precision=4.0, out=out, progress=False)


def test_words_of_a_run(mode_run):
    """From the mode of a run, up to a rotation: what no rotation changes is the same."""
    counts, _ = simulate(60, 4, pairs=40_000, seed=0)
    found = find_map(counts, spherical(4.0), 4)
    near = found.rho, found.alpha
    expected = laplace_covariance(counts, spherical(4.0), near, words=["w3", "w9"], mode_tolerance=1e-6)
    result = mode_run.laplace_covariance(["w3", "w9"])
    assert_allclose(np.linalg.norm(result.mean, axis=1), np.linalg.norm(expected.mean, axis=1), rtol=1e-3)
    ours, theirs = (np.linalg.eigvalsh(each.covariance) for each in (result, expected))
    assert_allclose(ours, theirs, rtol=0.01)
    assert_allclose(ours.sum(), np.trace(result.covariance))


def test_words_at_the_command_line(mode_run, bayesvec, tmp_path):
    call = partial(bayesvec, "laplace", mode_run.path)
    status, out, _ = call("--words", "w3,w9", "--quiet", "--out", tmp_path / "two.npz")
    assert status == 0
    assert out.startswith("cosine(w3, w9) = ")
    expected = mode_run.laplace_covariance(["w3", "w9"])
    with np.load(tmp_path / "two.npz") as kept:
        assert_array_equal(kept["covariance"], expected.covariance)
        assert kept["words"].tolist() == ["w3", "w9"]
    answer = json.loads(call("--words", "w3,w9", "--quiet", "--json")[1])
    assert_array_equal(answer["mean"], expected.mean)
    (cosine,) = answer["cosines"]
    vectors = expected.draws(4000)[0]
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    assert cosine["mean"] == pytest.approx((unit[:, 0] * unit[:, 1]).sum(axis=-1).mean())
    for wrong in (
        ("--words", "w3,w99"),
        ("--words", "w3,w3"),
        ("--words", ""),
        ("--words", "w3", "--out", "x.txt"),
    ):
        status, out, err = call(*wrong, "--quiet")
        assert (status, out, err.count("\n")) == (2, "", 1)
