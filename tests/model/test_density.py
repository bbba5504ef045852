"""The model against a plain NumPy twin, against finite differences, and at the edges of floating point."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayesvec import from_pairs
from bayesvec._parallel import Threads
from bayesvec.errors import OptionError
from bayesvec.kernels import logistic
from bayesvec.model import density as model_module
from bayesvec.model.density import Model
from bayesvec.priors import Prior, RowPrior, spherical

DIM = 3


def world(num_words=9, num_contexts=6, pairs=25, seed=0):
    """Unbalanced counts over more words than contexts; word 2 and context 4 have no data."""
    rng = np.random.default_rng(seed)
    word = rng.integers(num_words, size=pairs)
    context = rng.integers(num_contexts, size=pairs)
    kept = (word != 2) & (context != 4)
    return from_pairs(
        word[kept],
        context[kept],
        n_pos=rng.integers(1, 40, size=kept.sum()),
        n_neg=rng.integers(0, 6, size=kept.sum()),
        words=[f"w{i}" for i in range(num_words)],
        contexts=[f"c{i}" for i in range(num_contexts)],
    )


def place(counts, dim=DIM, scale=0.8, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(0, scale, (counts.num_words, dim)), rng.normal(0, scale, (counts.num_contexts, dim))


def informative(counts, dim=DIM, seed=2):
    """A prior with a mean and a precision for each row and axis, and another on the other side."""
    rng = np.random.default_rng(seed)
    size = (counts.num_words, dim)
    return Prior(RowPrior(rng.gamma(3.0, size=size), rng.normal(size=size)), RowPrior(2.5))


@pytest.fixture(params=[spherical(3.7), informative(world())], ids=["spherical", "informative"])
def model(request):
    return Model(world(), request.param)


def entries(counts):
    side = counts.by_word
    word = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    return word, side.other, side.n_pos.astype(float), side.n_neg.astype(float)


def twin_likelihood(counts, rho, alpha):
    w, v, n_pos, n_neg = entries(counts)
    eta = np.einsum("ij,ij->i", rho[w], alpha[v])
    return -np.sum(n_pos * np.logaddexp(0, -eta) + n_neg * np.logaddexp(0, eta))


def twin_posterior(model, rho, alpha):
    total = twin_likelihood(model.counts, rho, alpha)
    for prior, x in ((model.prior.rho, rho), (model.prior.alpha, alpha)):
        precision, mean = (np.broadcast_to(table, x.shape) for table in (prior.precision, prior.mean))
        total += np.sum(0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (x - mean) ** 2)
    return total


def twin_gradient(model, rho, alpha, kappa_shift=0.0):
    """The gradient by gather and scatter; ``kappa_shift`` is for planting a bug."""
    w, v, n_pos, n_neg = entries(model.counts)
    eta = np.einsum("ij,ij->i", rho[w], alpha[v])
    residual = n_pos + kappa_shift - (n_pos + n_neg) / (1 + np.exp(-eta))
    to_rho, to_alpha = np.zeros_like(rho), np.zeros_like(alpha)
    np.add.at(to_rho, w, residual[:, None] * alpha[v])
    np.add.at(to_alpha, v, residual[:, None] * rho[w])
    to_rho -= model.prior.rho.precision * (rho - model.prior.rho.mean)
    to_alpha -= model.prior.alpha.precision * (alpha - model.prior.alpha.mean)
    return to_rho, to_alpha


def differences(function, rho, alpha, step=1e-5):
    """Central differences of ``function(rho, alpha)`` along every coordinate, one row for each."""
    split = rho.size
    theta = np.concatenate([rho.ravel(), alpha.ravel()])
    rows = []
    for i in range(len(theta)):
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[i] += sign * step
            ends.append(function(moved[:split].reshape(rho.shape), moved[split:].reshape(alpha.shape)))
        rows.append((ends[0] - ends[1]) / (2 * step))
    return np.array(rows)


def flat(gradient):
    return np.concatenate([gradient.rho.ravel(), gradient.alpha.ravel()])


def test_value_against_twin(model):
    rho, alpha = place(model.counts)
    assert_allclose(model.log_likelihood(rho, alpha), twin_likelihood(model.counts, rho, alpha), rtol=1e-13)
    assert_allclose(model.log_posterior(rho, alpha), twin_posterior(model, rho, alpha), rtol=1e-13)
    assert_allclose(
        model.log_prior(rho, alpha),
        model.log_posterior(rho, alpha) - model.log_likelihood(rho, alpha),
        rtol=1e-11,
    )


@pytest.mark.parametrize("dim", [1, 3, 4, 17, 33])
def test_gradient_against_twin(dim):
    counts = world(40, 70, 3000)  # rows longer than a block, and of every length modulo 4
    ours = Model(counts, spherical(0.6))
    rho, alpha = place(counts, dim, scale=0.5)
    value, to_rho, to_alpha = ours.gradient(rho, alpha)
    twin_rho, twin_alpha = twin_gradient(ours, rho, alpha)
    assert_allclose(value, ours.log_posterior(rho, alpha), rtol=1e-14)
    assert_allclose(to_rho, twin_rho, rtol=1e-11, atol=1e-10)
    assert_allclose(to_alpha, twin_alpha, rtol=1e-11, atol=1e-10)


def test_gradient_against_finite_differences(model):
    rho, alpha = place(model.counts)
    numeric = differences(model.log_posterior, rho, alpha)
    assert_allclose(flat(model.gradient(rho, alpha)), numeric, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize(
    "bug",
    [
        lambda m, rho, alpha: twin_gradient(m, rho, alpha, kappa_shift=0.5),
        lambda m, rho, alpha: twin_gradient(Model(m.counts, spherical(1.0)), rho, alpha),
    ],
    ids=["kappa off by a half", "wrong lambda"],
)
def test_finite_differences_see_a_wrong_gradient(model, bug):
    rho, alpha = place(model.counts)
    numeric = differences(model.log_posterior, rho, alpha)
    wrong = np.concatenate([side.ravel() for side in bug(model, rho, alpha)])
    with pytest.raises(AssertionError):
        assert_allclose(wrong, numeric, rtol=1e-7, atol=1e-6)


def test_a_weight_multiplies_the_likelihood_and_its_derivatives(model):
    light = Model(replace(model.counts, weight=0.3), model.prior)
    rho, alpha = place(model.counts)
    whole, part = model.likelihood_gradient(rho, alpha), light.likelihood_gradient(rho, alpha)
    assert_allclose(part.value, 0.3 * whole.value)
    assert_allclose(part.rho, 0.3 * whole.rho)
    assert_allclose(part.alpha, 0.3 * whole.alpha)
    assert_allclose(light.log_likelihood(rho, alpha), part.value)
    one, other = model.curvature(rho, alpha), light.curvature(rho, alpha)
    assert_allclose(other.weight, 0.3 * one.weight)
    assert_allclose(other.residual, 0.3 * one.residual)
    assert light.log_prior(rho, alpha) == model.log_prior(rho, alpha)


def test_likelihood_gradient_leaves_the_prior_out(model):
    rho, alpha = place(model.counts)
    value, to_rho, to_alpha = model.likelihood_gradient(rho, alpha)
    assert_allclose(value, model.log_likelihood(rho, alpha), rtol=1e-14)
    assert_allclose(to_rho + model.prior.rho.gradient(rho), model.gradient(rho, alpha).rho, rtol=1e-13)
    assert not np.any(to_rho[2])
    assert not np.any(to_alpha[4])


def numeric_hessian(model, rho, alpha):
    return differences(lambda r, a: flat(model.gradient(r, a)), rho, alpha)


def test_hessian_against_finite_differences(model):
    rho, alpha = place(model.counts)
    matrix = model.curvature(rho, alpha).matrix().toarray()
    assert_array_equal(matrix, matrix.T)
    assert_allclose(matrix, numeric_hessian(model, rho, alpha), rtol=1e-6, atol=1e-6)


def test_finite_differences_see_the_appendix_formula(model):
    """The paper's appendix has -n+ (I s + s' rho alpha^T) for the block of a pair; it must not pass."""
    rho, alpha = place(model.counts)
    w, v, n_pos, n_neg = entries(model.counts)
    numeric = numeric_hessian(model, rho, alpha)
    split = rho.size
    for i in range(3):
        row, column = slice(w[i] * DIM, (w[i] + 1) * DIM), slice(split + v[i] * DIM, split + (v[i] + 1) * DIM)
        ours = model.curvature(rho, alpha).pair_blocks(w[i], v[i])[0]
        assert_allclose(ours, numeric[row, column], rtol=1e-6, atol=1e-6)
        s = 1 / (1 + np.exp(-rho[w[i]] @ alpha[v[i]]))
        outer = np.outer(alpha[v[i]], rho[w[i]])
        n = n_pos[i] + n_neg[i]
        for wrong in (
            -n_pos[i] * (s * np.eye(DIM) + s * (1 - s) * outer.T),
            (n_pos[i] - n * s) * np.eye(DIM) - n * s * (1 - s) * outer.T,
        ):
            with pytest.raises(AssertionError):
                assert_allclose(wrong, numeric[row, column], rtol=1e-6, atol=1e-6)


def test_hessian_blocks_are_those_of_the_matrix():
    counts = world(12, 9, 90)
    ours = Model(counts, informative(counts))
    curvature = ours.curvature(*place(counts))
    matrix = curvature.matrix().toarray().reshape(21, DIM, 21, DIM).transpose(0, 2, 1, 3)
    assert_array_equal(curvature.rho_blocks([7, 2, 7]), matrix[[7, 2, 7], [7, 2, 7]])
    assert_array_equal(curvature.alpha_blocks([8, 4]), matrix[[20, 16], [20, 16]])
    word, context = np.divmod(np.arange(12 * 9), 9)
    assert_array_equal(curvature.pair_blocks(word, context), matrix[word, 12 + context])
    assert_array_equal(curvature.pair_blocks(2, 3), np.zeros((1, DIM, DIM)))
    assert_allclose(curvature.rho_blocks([2])[0], -np.diag(ours.prior.rho.precision[2]))


def test_hessian_product_against_the_matrix():
    counts = world(40, 70, 3000)
    ours = Model(counts, informative(counts))
    rho, alpha = place(counts)
    d_rho, d_alpha = place(counts, seed=5)
    curvature = ours.curvature(rho, alpha)
    product = np.concatenate([side.ravel() for side in curvature.product(d_rho, d_alpha)])
    direction = np.concatenate([d_rho.ravel(), d_alpha.ravel()])
    assert_allclose(product, curvature.matrix() @ direction, rtol=1e-10, atol=1e-10)


def test_rotations_lie_in_the_null_space_at_a_balanced_stationary_point():
    """The gradient turns with the rows, so H (rho A, alpha A) = gradient A for antisymmetric A."""
    ours = Model(world(), spherical(2.0))
    rho, alpha = place(ours.counts)
    turn = np.array([[0, 1.0, -2.0], [-1.0, 0, 0.5], [2.0, -0.5, 0]])
    gradient = ours.gradient(rho, alpha)
    out_rho, out_alpha = ours.curvature(rho, alpha).product(rho @ turn, alpha @ turn)
    assert_allclose(out_rho, gradient.rho @ turn, atol=1e-11)
    assert_allclose(out_alpha, gradient.alpha @ turn, atol=1e-11)


def single(n_pos, n_neg):
    return from_pairs([0], [0], n_pos=[n_pos], n_neg=[n_neg], words=["w"], contexts=["c"])


@pytest.mark.parametrize("eta", [-700.0, -350.0, -40.0, -1e-3, 0.0, 1e-9, 0.5, 37.0, 350.0, 700.0])
def test_far_from_zero(eta):
    """At |eta| = 700 the value is n |eta| or n exp(-|eta|), both to full relative precision."""
    rho, alpha = np.array([[eta]]), np.array([[1.0]])
    for n_pos, n_neg in ((5, 0), (0, 7), (5, 7)):
        ours = Model(single(n_pos, n_neg), spherical(1.0))
        value, to_rho, _ = ours.likelihood_gradient(rho, alpha)
        exact = -n_pos * np.logaddexp(0, -eta) - n_neg * np.logaddexp(0, eta)
        up, down = np.exp(-np.logaddexp(0, -eta)), np.exp(-np.logaddexp(0, eta))
        # exp(x) of a rounded x = 700 is good to 700 roundings at best: that is the twin's error
        assert_allclose(value, exact, rtol=2e-13)
        assert_allclose(to_rho, n_pos * down - n_neg * up, rtol=2e-13)
        curvature = ours.curvature(rho, alpha)
        assert_allclose(curvature.weight, (n_pos + n_neg) * up * down, rtol=4e-13)
        assert_allclose(curvature.residual, n_pos * down - n_neg * up, rtol=2e-13)


def test_plain_arithmetic_matches_the_library():
    y = np.concatenate([-np.logspace(-300, np.log10(708), 20_001), [0.0, -np.log(2) / 2, -708.0]])
    ours = np.array([logistic.exp_negative(x) for x in y])
    assert_allclose(ours, np.exp(y), rtol=4.5e-16)
    assert_allclose([logistic.log1p_unit(e) for e in ours], np.log1p(ours), rtol=7e-16)
    assert logistic.exp_negative(-1e6) < 1e-300


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_seen(bad):
    ours = Model(world(), spherical(1.0))
    rho, alpha = place(ours.counts)
    rho[0, 1] = bad
    assert not np.isfinite(ours.log_posterior(rho, alpha))
    assert not np.isfinite(ours.gradient(rho, alpha).value)
    assert not np.all(np.isfinite(ours.gradient(rho, alpha).rho[0]))
    assert np.isnan(logistic.exp_negative(np.nan))
    seen = ours.counts.by_word.other[: ours.counts.by_word.indptr[1]]
    to_alpha = ours.likelihood_gradient(rho, alpha).alpha
    assert len(seen)
    assert not np.any(np.all(np.isfinite(to_alpha[seen]), axis=1))


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(model_module, "WORTH_SHARING", 0)
    counts = world(200, 150, 20_000)
    rho, alpha = place(counts, 7)
    d_rho, d_alpha = place(counts, 7, seed=5)

    def everything(threads):
        ours = Model(counts, spherical(1.3), threads=threads)
        curvature = ours.curvature(rho, alpha)
        return [
            ours.log_likelihood(rho, alpha),
            *ours.gradient(rho, alpha),
            *curvature.product(d_rho, d_alpha),
            curvature.rho_blocks(),
            curvature.alpha_blocks(),
        ]

    with Threads(2) as two, Threads(5) as five:
        for ours, other, another in zip(*map(everything, (Threads(1), two, five)), strict=True):
            assert_array_equal(ours, other)
            assert_array_equal(ours, another)


def test_inputs_are_unchanged_and_may_be_read_only():
    ours = Model(world(), spherical(1.0))
    rho, alpha = place(ours.counts)
    before = rho.copy(), alpha.copy()
    value = ours.gradient(rho, alpha).value
    for array in (rho, alpha):
        array.flags.writeable = False
    assert ours.gradient(rho, alpha).value == value
    assert ours.gradient(np.asfortranarray(rho), alpha).value == value
    assert_array_equal(rho, before[0])
    assert_array_equal(alpha, before[1])


@pytest.mark.parametrize(
    ("rho", "alpha"), [((6, 3), (9, 3)), ((9, 3), (6, 2)), ((9,), (6,)), ((8, 3), (6, 3))]
)
def test_shapes_that_do_not_fit(rho, alpha):
    with pytest.raises(OptionError, match=r"need \(9, K\) and \(6, K\)"):
        Model(world(), spherical(1.0)).gradient(np.zeros(rho), np.zeros(alpha))


def test_rows_that_do_not_exist():
    curvature = Model(world(), spherical(1.0)).curvature(*place(world()))
    with pytest.raises(OptionError, match="rows holds 9; it must be from 0 to 8"):
        curvature.rho_blocks([0, 9])
    with pytest.raises(OptionError, match="rows holds bool"):
        curvature.rho_blocks(np.arange(9) == 2)
    assert curvature.alpha_blocks([]).shape == (0, DIM, DIM)
    with pytest.raises(OptionError, match="context holds -1"):
        curvature.pair_blocks([0], [-1])
    with pytest.raises(OptionError, match="2 entries and context 1"):
        curvature.pair_blocks([0, 1], [0])
