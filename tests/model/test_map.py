"""The mode: reached, balanced, zero when it must be, no worse than a reference, the same on any threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse.linalg import ArpackError

import bayesvec as bv
from bayesvec import from_pairs
from bayesvec.errors import NumericalError, OptionError
from bayesvec.model import balance
from bayesvec.model import density as model_module
from bayesvec.model.balance import balanced, has_balanced_mode, zero_is_the_mode
from bayesvec.model.density import Model
from bayesvec.model.map import find_map
from bayesvec.priors import Prior, RowPrior, spherical


def world(num_words=30, num_contexts=20, dim=3, samples=40_000, seed=0, skew=1.0):
    """Counts drawn from known vectors, words and contexts of falling frequency; the last word has no data."""
    rng = np.random.default_rng(seed)
    rho, alpha = rng.normal(size=(num_words, dim)), rng.normal(size=(num_contexts, dim))
    rate = np.outer(1 / (1 + np.arange(num_words)) ** skew, 1 / (1 + np.arange(num_contexts)) ** skew)
    rate[-1] = 0.0
    n = rng.poisson(samples * rate / rate.sum())
    n_pos = rng.binomial(n, 1 / (1 + np.exp(-(rho @ alpha.T) / np.sqrt(dim))))
    word, context = np.nonzero(n)
    return from_pairs(
        word,
        context,
        n_pos=n_pos[word, context],
        n_neg=(n - n_pos)[word, context],
        words=[f"w{i}" for i in range(num_words)],
        contexts=[f"c{i}" for i in range(num_contexts)],
    )


def dense(counts):
    side = counts.by_word
    word = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    n_pos, n_neg = np.zeros((2, counts.num_words, counts.num_contexts))
    n_pos[word, side.other], n_neg[word, side.other] = side.n_pos, side.n_neg
    return n_pos, n_neg


def residuals(counts, rho, alpha):
    n_pos, n_neg = dense(counts)
    return n_pos - (n_pos + n_neg) / (1 + np.exp(-rho @ alpha.T))


def reference(counts, prior, first):
    """SciPy's L-BFGS at its own settings on a plain NumPy density, from the same place."""
    n_pos, n_neg = dense(counts)
    split, dim = counts.num_words, first[0].shape[1]

    def negative(flat):
        theta = flat.reshape(-1, dim)
        rho, alpha = theta[:split], theta[split:]
        eta = rho @ alpha.T
        value = -np.sum(n_pos * np.logaddexp(0, -eta) + n_neg * np.logaddexp(0, eta))
        r = n_pos - (n_pos + n_neg) / (1 + np.exp(-eta))
        slope = np.concatenate([r @ alpha + prior.rho.gradient(rho), r.T @ rho + prior.alpha.gradient(alpha)])
        return -(value + prior.log_density(rho, alpha)), -slope.ravel()

    return -minimize(negative, np.concatenate(first).ravel(), jac=True, method="L-BFGS-B").fun


@pytest.mark.parametrize("precision", [0.3, 1.0, 6.0])
def test_converged_and_no_worse_than_the_reference(precision):
    counts, prior = world(), spherical(precision)
    found = find_map(counts, prior, 3, seed=4, tolerance=1e-5)
    assert found.converged
    assert found.scaled_gradient <= 1e-5
    gradient = Model(counts, prior).gradient(found.rho, found.alpha)
    assert found.log_posterior == gradient.value
    assert_allclose(found.gradient_norm, np.hypot(*map(np.linalg.norm, gradient[1:])))
    assert found.gradient_norm < 1e-2
    rng = np.random.default_rng(1)
    first = rng.normal(0, 0.1, found.rho.shape), rng.normal(0, 0.1, found.alpha.shape)
    ours = find_map(counts, prior, 3, init=first)
    expected = reference(counts, prior, first)
    assert ours.converged
    # the reference stops at a relative change of 2e-9
    assert ours.log_posterior >= expected - 1e-9 * abs(expected)
    assert_allclose(ours.log_posterior, expected, rtol=1e-7)


def test_the_mode_is_balanced():
    counts = world()
    rows = np.linspace(0.5, 3.0, 30)[:, None]
    for prior in (spherical(2.0), Prior(RowPrior(0.4), RowPrior(5.0)), Prior(RowPrior(rows), RowPrior(2.0))):
        found = find_map(counts, prior, 3, tolerance=1e-6)
        model = Model(counts, prior)
        left = found.rho.T @ (prior.rho.precision * found.rho)
        right = found.alpha.T @ (prior.alpha.precision * found.alpha)
        assert_allclose(left, right, atol=1e-10)
        assert_allclose(left, np.diag(np.diag(left)), atol=1e-10)
        assert np.all(np.diff(np.diag(left)) < 0)
        assert_allclose(found.rho[-1], 0.0, atol=1e-6)  # no data
        # the same likelihood with other scales is a worse posterior
        for factor in (0.9, 1.1):
            assert model.log_posterior(found.rho * factor, found.alpha / factor) < found.log_posterior - 0.1


def test_balance_comes_from_the_optimum_not_from_the_last_step(monkeypatch):
    monkeypatch.setattr("bayesvec.model.map.balanced", lambda rho, alpha, prior: (rho, alpha))
    found = find_map(world(), spherical(2.0), 3, tolerance=1e-7)
    assert_allclose(found.rho.T @ found.rho, found.alpha.T @ found.alpha, atol=1e-4)
    early = find_map(world(), spherical(2.0), 3, max_iterations=8)
    with pytest.raises(AssertionError):
        assert_allclose(early.rho.T @ early.rho, early.alpha.T @ early.alpha, atol=1e-2)


def test_balancing_keeps_the_product_and_raises_the_prior():
    rng = np.random.default_rng(0)
    prior = Prior(RowPrior(rng.gamma(2.0, size=(7, 1))), RowPrior(3.0))
    for words, contexts, dim in ((7, 9, 3), (7, 2, 4), (7, 7, 7)):
        rho, alpha = rng.normal(size=(words, dim)), rng.normal(size=(contexts, dim))
        x, y = balanced(rho, alpha, prior)
        assert_allclose(x @ y.T, rho @ alpha.T, atol=1e-12)
        assert_allclose(x.T @ (prior.rho.precision * x), 3.0 * y.T @ y, atol=1e-12)
        assert prior.log_density(x, y) > prior.log_density(rho, alpha)
        for again, before in zip(balanced(x, y, prior), (x, y), strict=True):
            assert_allclose(again, before, atol=1e-12)
    with pytest.raises(OptionError, match="isotropic"):
        balanced(rho, alpha, Prior(RowPrior(1.0, 0.5), RowPrior(1.0)))


@pytest.mark.parametrize("swapped", [False, True])
def test_factors_are_balanced_under_precisions_that_differ_between_axes(swapped):
    rng = np.random.default_rng(1)
    rho, alpha = rng.normal(size=(7, 3)), rng.normal(size=(9, 3))
    of_words, of_contexts = np.array([[2.0, 0.5, 1.0]]), np.array([[1.0, 3.0, 0.2]])
    rows = rng.gamma(2.0, size=(7, 1))
    prior = Prior(RowPrior(rows * of_words), RowPrior(of_contexts))
    assert has_balanced_mode(prior)
    x, y = balanced(rho, alpha, prior)
    if swapped:  # the same factors on other axes: a planted bug
        x, y = x[:, [1, 0, 2]], y[:, [1, 0, 2]]
    assert_allclose(x @ y.T, rho @ alpha.T, atol=1e-12)

    def negative(flat):
        other = np.eye(3) + flat.reshape(3, 3)
        return -prior.log_density(x @ other, y @ np.linalg.inv(other).T)

    best = min(
        minimize(negative, start, method="BFGS").fun
        for start in (np.zeros(9), rng.normal(size=9), -np.ones(9) / 7)
    )
    assert (abs(best - negative(np.zeros(9))) < 1e-6) is not swapped


def test_no_balance_is_known_where_rows_differ_in_their_axes():
    uneven = np.ones((4, 2))
    uneven[0, 0] = 2.0
    assert not has_balanced_mode(Prior(RowPrior(uneven), RowPrior(1.0)))
    assert not has_balanced_mode(Prior(RowPrior([[1.0, 2.0]], 0.1), RowPrior(1.0)))


@pytest.mark.parametrize("moved", [True, False])
def test_the_search_moves_along_the_orbit_under_precisions_that_differ_between_axes(moved, monkeypatch):
    """Without the move it needs more than a thousand iterations."""
    if not moved:
        monkeypatch.setattr("bayesvec.model.map.has_balanced_mode", lambda prior: False)
    precisions = [0.1 * np.geomspace(1.0, 16.0, 4)]
    prior = Prior(RowPrior(precisions), RowPrior(precisions))
    found = find_map(world(60, 50, dim=4, samples=400_000), prior, 4, max_iterations=500)
    assert found.converged is moved


def test_zero_is_the_mode_under_precisions_that_differ_between_axes():
    counts = world()
    ratios = np.array([[3.0, 1.0, 2.0]])
    edge = find_edge(counts)
    for factor, expected in ((0.99, False), (1.01, True)):
        prior = Prior(RowPrior(factor * edge * ratios), RowPrior(factor * edge * ratios))
        assert zero_is_the_mode(counts, prior) is expected
        assert bool(np.any(find_map(counts, prior, 3, max_iterations=300).rho)) is not expected


def find_edge(counts):
    """The spherical precision above which the mode is zero: the largest singular value of kappa."""
    kappa = np.zeros((counts.num_words, counts.num_contexts))
    side = counts.by_word
    kappa[side.rows(), side.other] = 0.5 * (side.n_pos - side.n_neg.astype(float))
    return np.linalg.norm(kappa, 2)


def test_a_start_at_zero_is_refused_under_every_prior_of_mean_zero():
    prior = Prior(RowPrior([[0.5, 2.0, 8.0]]), RowPrior([[0.5, 2.0, 8.0]]))
    with pytest.raises(OptionError, match="init is zero"):
        find_map(world(), prior, 3, init=(np.zeros((30, 3)), np.zeros((20, 3))))


def test_a_full_rank_mode_is_certified_global():
    """A mode under lambda is global if no singular value of the residuals is above lambda."""
    counts, precision = world(num_words=15, num_contexts=12, samples=3000), 4.0
    found = find_map(counts, spherical(precision), 12, tolerance=1e-7)
    spectrum = np.linalg.svd(residuals(counts, found.rho, found.alpha), compute_uv=False)
    strength = np.diag(found.rho.T @ found.rho)
    rank = int(np.sum(strength > 1e-6))
    assert 0 < rank < 12
    assert spectrum.max() < precision * (1 + 1e-5)
    assert_allclose(spectrum[:rank], precision, rtol=1e-5)
    # a mode of lower rank than the data ask for is not certified
    low = find_map(counts, spherical(precision), 1, tolerance=1e-7)
    assert np.linalg.norm(residuals(counts, low.rho, low.alpha), 2) > precision * 1.05


@pytest.mark.parametrize("size", [(30, 20), (90, 70)], ids=["dense", "sparse"])
def test_zero_exactly_where_it_is_the_mode(size):
    counts = world(*size, samples=600)
    n_pos, n_neg = dense(counts)
    edge = np.linalg.norm((n_pos - n_neg) / 2, 2)
    above = find_map(counts, spherical(edge * 1.001), 3)
    assert not np.any(above.rho)
    assert not np.any(above.alpha)
    assert above.converged
    assert above.log_posterior == Model(counts, spherical(edge * 1.001)).log_posterior(above.rho, above.alpha)
    below = find_map(counts, spherical(edge * 0.97), 3, tolerance=1e-6)
    assert np.any(below.rho) or np.any(below.alpha)
    model = Model(counts, spherical(edge * 0.97))
    assert below.log_posterior > model.log_posterior(0 * below.rho, 0 * below.alpha) + 1e-6
    ratio = 3.0
    assert zero_is_the_mode(counts, Prior(RowPrior(edge * 1.001 * ratio), RowPrior(edge / ratio)))
    assert not zero_is_the_mode(counts, Prior(RowPrior(edge * 0.999 * ratio), RowPrior(edge / ratio)))


def test_zero_for_counted_text_whose_rows_add_up_to_zero():
    documents, _ = bv.simulate_documents(60, 30, vocab=300, epsilon=3.0)
    counts = bv.count(documents=documents, negatives=1, progress=False)
    n_pos, n_neg = dense(counts)
    assert n_pos.size > balance.SMALL
    assert_array_equal(n_pos.sum(axis=1), n_neg.sum(axis=1))
    edge = np.linalg.norm((n_pos - n_neg) / 2, 2)
    assert zero_is_the_mode(counts, spherical(edge * 1.001))
    assert not zero_is_the_mode(counts, spherical(edge * 0.999))
    assert zero_is_the_mode(
        counts, spherical(4.0 ** np.ceil(np.log2(edge) / 2))
    )  # sums are zero to the last bit


def test_zero_where_lanczos_iteration_fails(monkeypatch):
    def fails(*_, **__):
        raise ArpackError(-9)

    monkeypatch.setattr("scipy.sparse.linalg.svds", fails)
    monkeypatch.setattr(balance, "SMALL", 0)
    test_zero_exactly_where_it_is_the_mode((30, 20))


def test_the_climb_itself_finds_the_zero(monkeypatch):
    monkeypatch.setattr("bayesvec.model.map.zero_is_the_mode", lambda counts, prior: False)
    counts = world(samples=600)
    found = find_map(counts, spherical(40.0), 3, tolerance=1e-7)
    assert zero_is_the_mode(counts, spherical(40.0))
    assert np.abs(found.rho).max() < 1e-6


def test_starts_agree_and_the_best_is_kept():
    counts, prior = world(), spherical(1.0)
    found = find_map(counts, prior, 3, starts=3, tolerance=1e-6)
    assert len(found.start_values) == 3
    assert len(set(found.start_values)) > 1
    assert found.log_posterior == max(found.start_values)
    assert_allclose(found.start_values, found.log_posterior, rtol=1e-12)
    other = find_map(counts, prior, 3, seed=9, tolerance=1e-6)
    assert_allclose(other.rho, found.rho, atol=1e-4)
    assert_allclose(other.alpha, found.alpha, atol=1e-4)


def test_seed_and_threads(monkeypatch):
    monkeypatch.setattr(model_module, "WORTH_SHARING", 0)
    counts, prior = world(), spherical(1.0)
    one, two = (find_map(counts, prior, 3, seed=7, threads=threads) for threads in (1, 2))
    assert_array_equal(one.rho, two.rho)
    assert_array_equal(one.alpha, two.alpha)
    assert one.log_posterior == two.log_posterior
    assert np.any(find_map(counts, prior, 3, seed=8, threads=1).rho != one.rho)


def test_prior_with_mean_and_axes():
    counts = world()
    rng = np.random.default_rng(3)
    mean = rng.normal(size=(30, 3))
    prior = Prior(RowPrior(rng.gamma(3.0, size=(30, 3)), mean), RowPrior([[1.0, 2.0, 4.0]]))
    found = find_map(counts, prior, 3, tolerance=1e-6)
    assert found.converged
    assert_allclose(found.rho[-1], mean[-1], atol=1e-6)  # no data: the prior's mean
    rng = np.random.default_rng(1)
    first = rng.normal(size=found.rho.shape), rng.normal(size=found.alpha.shape)
    expected = reference(counts, prior, first)
    ours = find_map(counts, prior, 3, init=first)
    assert ours.log_posterior >= expected - 1e-9 * abs(expected)


def test_few_rows_and_many_axes():
    found = find_map(world(num_words=4, num_contexts=2), spherical(1.0), 5)
    assert found.converged
    assert found.rho.shape == (4, 5)
    assert_allclose(found.rho[:, 2:], 0, atol=1e-3)


def test_a_short_run_stops_and_reports_it():
    calls = []
    found = find_map(
        world(),
        spherical(1.0),
        3,
        max_iterations=60,
        tolerance=1e-12,
        callback=lambda *now: calls.append(now),
    )
    assert not found.converged
    assert [now[0] for now in calls] == list(range(1, found.iterations + 1))
    assert 50 < found.iterations <= 60
    assert found.evaluations >= found.iterations
    values = [now[1] for now in calls]
    assert np.all(np.diff(values) >= -1e-9)
    assert found.log_posterior >= values[-1] - 1e-9
    assert find_map(world(), spherical(1.0), 3, max_iterations=5).iterations == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "dim is 0"),
        ({"starts": 0}, "starts is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"tolerance": np.nan}, "tolerance is nan"),
        ({"init": (np.ones((30, 2)), np.ones((20, 2)))}, "2 coordinates; dim is 3"),
        ({"init": (np.ones((29, 3)), np.ones((20, 3)))}, r"need \(30, K\)"),
        ({"init": (np.full((30, 3), np.nan), np.ones((20, 3)))}, "not finite"),
        ({"init": (np.zeros((30, 3)), np.zeros((20, 3)))}, "init is zero"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        find_map(world(), spherical(1.0), **{"dim": 3, **options})


def test_overflow_is_an_error():
    huge = np.full((30, 3), 1e200), np.full((20, 3), 1e200)
    with pytest.raises(NumericalError, match="log posterior is"):
        find_map(world(), spherical(1.0), 3, init=huge)
