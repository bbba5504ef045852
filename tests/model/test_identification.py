import numpy as np
import pytest

from bayesvec.counts.pairs import from_pairs
from bayesvec.errors import OptionError
from bayesvec.model.density import Model
from bayesvec.model.identification import Anchors, align, choose_anchors, settle_reference, to_gauge
from bayesvec.priors import spherical

GENERATOR = np.random.default_rng(0)


def embedding(num_words=9, num_contexts=12, dim=4, seed=1):
    generator = np.random.default_rng(seed)
    return generator.normal(size=(num_words, dim)), generator.normal(size=(num_contexts, dim))


def rotation(dim, seed=2):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]


def some_counts(num_words=9, num_contexts=12):
    n_pos, n_neg = np.random.default_rng(3).integers(0, 5, size=(2, num_words * num_contexts))
    word, context = np.indices((num_words, num_contexts)).reshape(2, -1)
    words, contexts = [f"w{i}" for i in range(num_words)], [f"c{i}" for i in range(num_contexts)]
    return from_pairs(word, context, n_pos=n_pos, n_neg=n_neg, words=words, contexts=contexts)


def test_a_rotated_draw_comes_back():
    rho, alpha = embedding()
    reference = settle_reference([(rho, alpha)])
    orthogonal = rotation(4)
    for sides in ((rho, alpha), (rho @ orthogonal, alpha @ orthogonal), (-rho, -alpha)):
        aligned = align(*sides, reference)
        np.testing.assert_allclose(aligned[0], reference.rho, atol=1e-12)
        np.testing.assert_allclose(aligned[1], reference.alpha, atol=1e-12)


def test_alignment_rotates_both_sides_together_and_keeps_products():
    reference = settle_reference([embedding(seed=5)])
    rho, alpha = embedding(seed=6)
    new_rho, new_alpha = align(rho, alpha, reference)
    np.testing.assert_allclose(new_rho @ new_alpha.T, rho @ alpha.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(new_rho, axis=1), np.linalg.norm(rho, axis=1))
    distance = np.sum((new_rho - reference.rho) ** 2) + np.sum((new_alpha - reference.alpha) ** 2)
    for seed in range(20):  # no other rotation comes closer
        other = rotation(4, seed)
        further = np.sum((rho @ other - reference.rho) ** 2) + np.sum((alpha @ other - reference.alpha) ** 2)
        assert further >= distance


def test_the_reference_is_the_mean_of_aligned_draws():
    rho, alpha = embedding(seed=7)
    states = [(rho @ rotation(4, i), alpha @ rotation(4, i)) for i in range(6)]
    reference = settle_reference(states)
    np.testing.assert_allclose(reference.rho @ reference.alpha.T, rho @ alpha.T, atol=1e-10)
    stacked = np.vstack(reference)
    gram = stacked.T @ stacked
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)  # principal axes
    assert np.all(np.diff(np.diag(gram)) <= 0)


def test_fewer_rows_than_axes():
    rho, alpha = embedding(num_words=2, num_contexts=3, dim=8)
    reference = settle_reference([(rho, alpha), (rho @ rotation(8), alpha @ rotation(8))])
    assert reference.rho.shape == (2, 8)
    aligned = align(rho, alpha, reference)
    np.testing.assert_allclose(aligned[0] @ aligned[1].T, rho @ alpha.T, atol=1e-10)


def test_axes_that_the_prior_distinguishes_are_not_rotated():
    rho, alpha = embedding(dim=5)
    axes = (np.array([1, 3]), np.array([4]))  # 0 and 2 stay as they are
    free = np.eye(5)
    free[np.ix_([1, 3], [1, 3])] = rotation(2)
    free[4, 4] = -1.0
    reference = settle_reference([(rho, alpha), (rho @ free, alpha @ free)], axes=axes)
    np.testing.assert_allclose(reference.rho[:, [0, 2]], rho[:, [0, 2]])
    np.testing.assert_allclose(reference.rho @ reference.alpha.T, rho @ alpha.T, atol=1e-12)
    for sides in ((rho, alpha), (rho @ free, alpha @ free)):
        aligned = align(*sides, reference, axes)
        np.testing.assert_allclose(aligned[0], reference.rho, atol=1e-12)
        np.testing.assert_allclose(aligned[1], reference.alpha, atol=1e-12)
    kept = align(rho, alpha, reference, ())
    np.testing.assert_array_equal(kept[0], rho)


def test_alignment_keeps_float32():
    rho, alpha = (side.astype(np.float32) for side in embedding())
    aligned = align(rho, alpha, settle_reference([(rho, alpha)]))
    assert aligned[0].dtype == aligned[1].dtype == np.float32


def test_proposition_1_the_gauge_keeps_the_likelihood():
    counts, (rho, alpha) = some_counts(), embedding()
    anchors = Anchors(np.array([1, 4, 7, 11]), GENERATOR.normal(size=(4, 4)))
    new_rho, new_alpha = to_gauge(rho, alpha, anchors)
    np.testing.assert_allclose(new_alpha[anchors.rows], anchors.values, atol=1e-12)
    model = Model(counts, spherical(1.0))
    np.testing.assert_allclose(model.log_likelihood(new_rho, new_alpha), model.log_likelihood(rho, alpha))
    assert not np.allclose(new_rho, rho)


def test_proposition_2_two_embeddings_of_one_likelihood_share_their_gauge():
    rho, alpha = embedding()
    change = GENERATOR.normal(size=(4, 4))
    anchors = Anchors(np.arange(4), np.eye(4))
    first = to_gauge(rho, alpha, anchors)
    second = to_gauge(rho @ np.linalg.inv(change).T, alpha @ change, anchors)
    np.testing.assert_allclose(first[0], second[0], atol=1e-9)
    np.testing.assert_allclose(first[1], second[1], atol=1e-9)
    other = to_gauge(rho + 0.1, alpha, anchors)  # other products, so another embedding
    assert np.abs(other[0] - first[0]).max() > 1e-3


def test_a_gauge_needs_independent_anchors():
    rho, alpha = embedding()
    alpha[3] = alpha[2]
    with pytest.raises(OptionError, match="not invertible"):
        to_gauge(rho, alpha, Anchors(np.arange(4), np.eye(4)))


@pytest.mark.parametrize(
    ("how", "rows"), [("last", [8, 9, 10, 11]), ("first", [0, 1, 2, 3]), ([5, 0, 2, 9], [5, 0, 2, 9])]
)
def test_anchor_rows(how, rows):
    alpha = embedding()[1]
    anchors = choose_anchors(alpha, how)
    assert anchors.rows.tolist() == rows
    np.testing.assert_array_equal(anchors.values, alpha[rows])


def test_qr_anchors_are_well_conditioned_and_random_ones_follow_the_seed():
    alpha = embedding(num_contexts=300)[1]
    condition = {how: np.linalg.cond(choose_anchors(alpha, how).values) for how in ("qr", "last", "first")}
    assert condition["qr"] < min(condition["last"], condition["first"])
    same, again, other = (choose_anchors(alpha, "random", seed=seed).rows.tolist() for seed in (1, 1, 2))
    assert same == again != other


@pytest.mark.parametrize(
    ("alpha", "how", "message"),
    [
        (np.zeros((12, 4)), "qr", "procrustes"),
        (np.ones((3, 4)), "qr", "dim <= 3"),
        (embedding()[1], "best", "must be one of qr, last, first, random"),
        (embedding()[1], [0, 1, 2, 2], "4 different"),
        (embedding()[1], [0, 1, 2, 12], "from 0 to 11"),
    ],
)
def test_bad_anchors_are_refused(alpha, how, message):
    with pytest.raises(OptionError, match=message):
        choose_anchors(alpha, how)
