"""A K x K Gaussian per row: against a plain twin, at the bound's stationary point, below the evidence."""

import math
from copy import copy

import numpy as np
import pytest
from scipy import integrate
from scipy.special import expit, log_expit

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import from_pairs
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.blockvi import method as blockvi
from bayesvec.inference.blockvi.ascent import BlockAscent, best_change
from bayesvec.inference.contract import Problem
from bayesvec.inference.variational import is_free
from bayesvec.kernels.variational import expected_omega
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior, RowPrior, spherical
from bayesvec.simulation.pairs import simulate
from evidence import agrees, moments

ONE = Threads(1)


def some_counts(num_words=4, num_contexts=3, most=40, seed=0):
    """Few cells, unbalanced, one of them empty."""
    generator = np.random.default_rng(seed)
    n = generator.integers(1, most, size=(num_words, num_contexts))
    if n.size > 1:
        n[0, 0] = 0
    n_pos = generator.binomial(n, expit(generator.normal(size=n.shape)))
    word, context = np.indices(n.shape).reshape(2, -1)
    names = [[f"{letter}{i}" for i in range(size)] for letter, size in zip("wc", n.shape, strict=True)]
    return from_pairs(
        word,
        context,
        n_pos=n_pos.ravel(),
        n_neg=(n - n_pos).ravel(),
        words=names[0],
        contexts=names[1],
    )


def cells(counts):
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    return word, counts.by_word.other, counts.by_word.n_pos, counts.by_word.n_neg


def plain_bound(counts, prior, means, covariances):
    """The bound written out: means (R, K) and (C, K), covariances (R, K, K) and (C, K, K)."""
    word, context, n_pos, n_neg = cells(counts)
    n = n_pos + n_neg
    rho, alpha = (
        np.einsum("ik,il->ikl", mean, mean) + covariance
        for mean, covariance in zip(means, covariances, strict=True)
    )
    xi = np.sqrt(np.einsum("pkl,pkl->p", rho[word], alpha[context]))
    eta = np.einsum("pk,pk->p", means[0][word], means[1][context])
    value = np.sum((n_pos - n / 2) * eta - n * np.logaddexp(xi / 2, -xi / 2))
    for mean, covariance, side in zip(means, covariances, (prior.rho, prior.alpha), strict=True):
        value += side.log_density(mean)
        variances = np.diagonal(covariance, axis1=1, axis2=2)
        value -= 0.5 * np.sum(side.precision_rows(*mean.shape) * variances)
        free = np.any(variances > 0, axis=1)
        size = free.sum() * mean.shape[1]
        value += 0.5 * (np.linalg.slogdet(covariance[free])[1].sum() + size * (1 + math.log(2 * math.pi)))
    return value


def plain_rows(side, prior, means, covariances, which, bug=None):
    """Update the rows of one side, row by row and pair by pair."""
    mean, covariance = means[which].copy(), covariances[which].copy()
    other_mean, other_covariance = means[1 - which], covariances[1 - which]
    for row in range(len(mean)):
        precision = np.diag(prior.precision_rows(*mean.shape)[row]).astype(float)
        shift = prior.shift_rows(*mean.shape)[row].astype(float)
        own = np.outer(mean[row], mean[row]) + covariance[row]
        for pair in range(side.indptr[row], side.indptr[row + 1]):
            v = side.other[pair]
            n = side.n_pos[pair] + side.n_neg[pair]
            moment = np.outer(other_mean[v], other_mean[v])
            if bug != "vectors for moments":
                moment = moment + other_covariance[v]
            xi = math.sqrt(np.sum(own * moment))
            omega = n / (2 * xi) * math.tanh(xi / (1 if bug == "omega" else 2))
            precision += omega * moment
            shift += (side.n_pos[pair] - n / 2 + (0.5 if bug == "kappa" else 0)) * other_mean[v]
        covariance[row] = np.linalg.inv(precision)
        mean[row] = covariance[row] @ shift
    return mean, covariance


def covariances_of(root, dim):
    """Covariances from packed factors of the precisions; zero for a row without one."""
    out = np.zeros((len(root), dim, dim))
    for row, packed in enumerate(root):
        if packed[0]:
            upper = np.zeros((dim, dim))
            upper[np.triu_indices(dim)] = packed
            out[row] = np.linalg.inv(upper.T @ upper)
    return out


def gaussians(ascent):
    means = [rows.mean.copy() for rows in ascent.rows]
    return means, [covariances_of(rows.root.astype(float), ascent.dim) for rows in ascent.rows]


def begin(counts, prior, dim, *, anchors=None, threads=ONE, seed=3):
    place = np.random.default_rng(seed).normal(size=(counts.num_words + counts.num_contexts, dim))
    return BlockAscent(counts, prior, place, is_free(counts, anchors), threads)


PRIOR = Prior(
    RowPrior(np.array([[2.0], [0.5], [1.0], [3.0]])), RowPrior(1.5, mean=np.array([[0.1], [0.0], [-0.3]]))
)


@pytest.mark.parametrize("dim", [1, 2, 5, 8, 13])
def test_an_update_is_the_plain_one(dim):
    counts = some_counts()
    ascent = begin(counts, PRIOR, dim)
    ascent.update(0)
    ascent.update(1)
    for which, side, prior in ((0, counts.by_word, PRIOR.rho), (1, counts.by_context, PRIOR.alpha)):
        before = gaussians(ascent)
        ascent.update(which)
        after = gaussians(ascent)
        mean, covariance = plain_rows(side, prior, *before, which)
        np.testing.assert_allclose(after[0][which], mean, rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(after[1][which], covariance, rtol=2e-5, atol=2e-6)
        for bug in ("vectors for moments", "omega", "kappa"):
            mean, covariance = plain_rows(side, prior, *before, which, bug)
            assert np.abs(after[0][which] - mean).max() > 1e-3


def test_the_bound_is_the_plain_one():
    counts = some_counts()
    ascent = begin(counts, PRIOR, 3)
    for which in (0, 1, 0, 1):
        ascent.update(which)
    expected = plain_bound(counts, PRIOR, *gaussians(ascent))
    assert ascent.update(0) == pytest.approx(expected, rel=1e-6)


def slopes(counts, prior, means, covariances, step=1e-4):
    """Derivatives of the plain bound: of means in units of sd, of covariances in random directions."""
    generator = np.random.default_rng(0)
    found = []
    for which in (0, 1):
        for row in range(len(means[which])):
            if not covariances[which][row].any():
                continue
            root = np.linalg.cholesky(covariances[which][row])
            dim = len(root)
            directions = [(root[:, k], np.zeros((dim, dim))) for k in range(dim)]
            for _ in range(3):
                turn = generator.normal(size=(dim, dim))
                directions.append((np.zeros(dim), root @ (turn + turn.T) @ root.T))
            for to_mean, to_covariance in directions:
                values = []
                for sign in (step, -step):
                    m, c = [[x.copy() for x in both] for both in (means, covariances)]
                    m[which][row] += sign * to_mean
                    c[which][row] += sign * to_covariance
                    values.append(plain_bound(counts, prior, m, c))
                found.append((values[0] - values[1]) / (2 * step))
    return np.array(found)


ANCHORS = Anchors(np.array([0, 2]), np.array([[1.0, -0.4], [0.3, 0.9]]))


@pytest.mark.parametrize("anchors", [None, ANCHORS])
def test_the_end_is_stationary(anchors):
    counts, prior = some_counts(), PRIOR if anchors is None else spherical(1.0)
    ascent = begin(counts, prior, 2, anchors=anchors)
    if anchors is not None:
        ascent.rows[1].mean[anchors.rows] = anchors.values
        ascent.rows[1].moment[anchors.rows] = anchors.values[:, [0, 0, 1]] * anchors.values[:, [0, 1, 1]]
    for which in [0, 1] * 500:
        ascent.update(which)
    means, covariances = gaussians(ascent)
    # a slope of 1 is worth a standard deviation; moments are float32, so slopes end at about 1e-6
    assert np.abs(slopes(counts, prior, means, covariances)).max() < 1e-4
    covariances[0] *= 1.05
    assert np.abs(slopes(counts, prior, means, covariances)).max() > 0.02


def rounding(bounds):
    """What float32 moments may do to a sum of this size."""
    return np.finfo(np.float32).eps * np.abs(bounds).max()


def test_the_bound_never_falls():
    counts, _ = simulate(vocab=30, contexts=40, dim=3, pairs=20_000, seed=2)
    found = begin(counts, spherical(3.0), 3).run(200, 1e-7, lambda _: None)
    bounds = np.array(found[0][3:])  # the first updates come from point masses
    assert found[1]
    assert np.all(np.isfinite(bounds))
    assert np.diff(bounds).min() > -rounding(bounds)
    assert bounds[-1] - bounds[0] > 1.0


def test_the_bound_falls_with_a_wrong_balance(monkeypatch):
    from bayesvec.inference.blockvi import ascent as blocks

    monkeypatch.setattr(
        blocks, "best_change", lambda rho, alpha, excess: (best_change(rho, alpha, -excess)[0], math.inf)
    )
    counts, _ = simulate(vocab=30, contexts=40, dim=3, pairs=20_000, seed=2)
    bounds = np.array(begin(counts, spherical(3.0), 3).run(20, 1e-7, lambda _: None)[0][3:])
    assert np.diff(bounds).min() < -10 * rounding(bounds)


def test_balance_does_what_it_says():
    counts, _ = simulate(vocab=30, contexts=40, dim=3, pairs=20_000, seed=2)
    prior = Prior(RowPrior(np.linspace(1.0, 4.0, 30)[:, None]), RowPrior(2.0))
    found = []
    for balanced in (False, True):
        ascent = begin(counts, prior, 3)
        ascent.update(0)
        ascent.update(1)
        if balanced:
            weighted = [
                blocks_sum(side.precision, rows) for side, rows in zip(ascent.sides, ascent.rows, strict=True)
            ]
            rise = best_change(*weighted, -10)[1]
            ascent.balance(0.0)
        found.append(ascent.update(0))
    assert rise > 1.0
    assert found[1] - found[0] == pytest.approx(rise, rel=1e-4)


def blocks_sum(precision, rows):
    """Second moments of a side, summed over its rows with their precisions."""
    dim = rows.mean.shape[1]
    total = np.zeros((dim, dim))
    total[np.triu_indices(dim)] = (precision[:, :1] * rows.moment).sum(axis=0)
    return total + total.T - np.diag(np.diag(total))


@pytest.mark.parametrize("excess", [-7, 0, 12])
def test_the_best_change_is_the_best(excess):
    generator = np.random.default_rng(1)
    a, b = (x.T @ x for x in generator.normal(size=(2, 9, 4)))

    def rise(change):
        inverse = np.linalg.inv(change)
        after = np.trace(change.T @ a @ change) + np.trace(inverse @ b @ inverse.T)
        return 0.5 * (np.trace(a) + np.trace(b) - after) + excess * np.linalg.slogdet(change)[1]

    change, promised = best_change(a, b, excess)
    assert rise(change) == pytest.approx(promised)
    for _ in range(20):
        other = change @ (np.eye(4) + 0.05 * generator.normal(size=(4, 4)))
        assert rise(other) < promised


def test_expected_omega():
    for n in (1.0, 7.0):
        for xi in (0.0, 1e-8, 9.9e-4, 1.01e-3, 0.5, 3.0, 40.0, 2000.0):
            omega, bound = expected_omega(n, xi**2)
            assert omega == pytest.approx(n / 4 if xi == 0 else n * math.tanh(xi / 2) / (2 * xi), rel=1e-9)
            assert bound == pytest.approx(-n * np.logaddexp(xi / 2, -xi / 2), rel=1e-12)
    assert expected_omega(4.0, -1e-9) == (1.0, -4 * math.log(2.0))  # rounding may leave a square below zero


def log_evidence(n_pos, n_neg, precision):
    """Of one word and one context on one axis, by quadrature."""

    def density(y, x):
        value = n_pos * log_expit(x * y) + n_neg * log_expit(-x * y) - 0.5 * precision * (x * x + y * y)
        return math.exp(value) * precision / (2 * math.pi)

    return math.log(integrate.dblquad(density, -9, 9, -9, 9, epsabs=1e-10)[0])


def test_the_bound_is_below_the_evidence():
    counts = from_pairs([0], [0], n_pos=[2], n_neg=[3], words=["w"], contexts=["c"])
    found = blockvi.BlockVI.fit(Problem(counts, spherical(1.0), 1))
    evidence = log_evidence(2, 3, 1.0)
    assert evidence - 0.5 < blockvi.BlockVI.summary(found)["elbo"] < evidence


def test_draws_have_the_means_and_covariances():
    counts = some_counts()
    found = blockvi.BlockVI.fit(Problem(counts, spherical(0.7), 3), seed=2)
    problem = blockvi.BlockVI(Problem(counts, spherical(0.7), 3), found)
    transposed = copy(problem)
    transposed.root = problem.root[:, [5, 4, 2, 3, 1, 0]]  # an order of other entries
    for planted, chosen in ((False, problem), (True, transposed)):
        state = chosen.centre(seed=4, chain=1)
        draws = np.empty((4_000, 7, 3))
        for number in range(len(draws)):
            state, _ = chosen.draw(seed=4, chain=1, number=number + 1, threads=ONE)
            draws[number] = np.concatenate(state)
        covariance = covariances_of(found["root"].astype(float), 3)
        right = []
        for row in range(7):
            second = found["mean"][row][:, None] * found["mean"][row] + covariance[row]
            expected = np.concatenate([found["mean"][row], second[np.triu_indices(3)]])
            right.append(agrees(moments(draws[:, row]), expected))
        assert not all(right) if planted else all(right)
    model = Model(counts, spherical(0.7))
    expected = model.log_posterior(*problem.draw(seed=4, chain=1, number=9, threads=ONE)[0])
    assert problem.draw(seed=4, chain=1, number=9, threads=ONE)[1].log_posterior == expected


def test_threads_and_seeds():
    counts, _ = simulate(vocab=40, dim=9, pairs=5_000, seed=1)
    prior = spherical(2.0)
    first, second = (blockvi.BlockVI.fit(Problem(counts, prior, 9), seed=5, threads=n) for n in (1, 2))
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    problem = blockvi.BlockVI(Problem(counts, prior, 9), first)
    draws = {}
    with Threads(2) as two:
        for name, threads, chain, number in (
            ("here", ONE, 0, 1),
            ("shared", two, 0, 1),
            ("chain", ONE, 1, 1),
            ("number", ONE, 0, 2),
        ):
            draws[name] = problem.draw(seed=5, chain=chain, number=number, threads=threads)
    np.testing.assert_array_equal(draws["here"][0].rho, draws["shared"][0].rho)
    np.testing.assert_array_equal(draws["here"][0].alpha, draws["shared"][0].alpha)
    assert draws["here"][1] == draws["shared"][1]
    for other in ("chain", "number"):
        assert not np.any(draws["here"][0].rho == draws[other][0].rho)


def test_anchors_stay():
    counts, truth = simulate(vocab=12, dim=2, pairs=5_000, seed=1)
    anchors = Anchors(np.array([3, 7]), truth.alpha[[3, 7]])
    found = blockvi.BlockVI.fit(Problem(counts, spherical(2.0), 2, anchors=anchors))
    problem = blockvi.BlockVI(Problem(counts, spherical(2.0), 2, anchors=anchors), found)
    one, _ = problem.draw(seed=1, chain=0, number=1, threads=ONE)
    two, _ = problem.draw(seed=1, chain=0, number=2, threads=ONE)
    for drawn in (one, two):
        np.testing.assert_array_equal(drawn.alpha[anchors.rows], anchors.values.astype(np.float32))
    free = np.delete(np.arange(12), anchors.rows)
    assert not np.any(one.alpha[free] == two.alpha[free])
    assert not np.any(one.rho == two.rho)


def test_few_data_collapse_to_the_prior():
    counts, _ = simulate(vocab=30, dim=2, pairs=60, seed=1)
    found = blockvi.BlockVI.fit(Problem(counts, spherical(20.0), 2, options=blockvi.Options(tolerance=1e-9)))
    assert np.abs(found["mean"]).max() < 0.05
    variances = np.diagonal(covariances_of(found["root"].astype(float), 2), axis1=1, axis2=2)
    np.testing.assert_allclose(variances, 1 / 20, rtol=0.05)


def test_too_few_sweeps_are_told():
    counts, _ = simulate(vocab=20, dim=2, pairs=5_000, seed=1)
    short = blockvi.BlockVI.fit(Problem(counts, spherical(2.0), 2, options=blockvi.Options(max_sweeps=2)))
    whole = blockvi.BlockVI.fit(Problem(counts, spherical(2.0), 2))
    assert not blockvi.BlockVI.summary(short)["converged"]
    assert blockvi.BlockVI.summary(whole)["converged"]
    assert blockvi.BlockVI.summary(whole)["elbo"] >= blockvi.BlockVI.summary(short)["elbo"]


def test_what_is_wrong_is_said():
    with pytest.raises(OptionError, match="max_sweeps is 0; it must be 1 or more"):
        blockvi.Options(max_sweeps=0)
    with pytest.raises(OptionError, match="tolerance is nan; it must be a positive number"):
        blockvi.Options(tolerance=math.nan)
    ascent = begin(some_counts(), PRIOR, 2)
    ascent.sides[0].precision[2:] = -1e6
    with pytest.raises(NumericalError, match="the row of 'w2' is not positive definite"):
        ascent.update(0)
