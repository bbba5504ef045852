"""Simulated worlds against the truth they were drawn from."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.simulation.documents import simulate_documents
from bayesvec.simulation.pairs import Truth, simulate
from count_tools import plain_count

# One test of the whole file fails by chance with a probability below 1e-3 (fixed seeds, about 50 p-values).
LEVEL = 1e-3 / 50

WORLDS = {
    "uniform": {"vocab": 40, "dim": 3, "pairs": 2_000_000},
    "zipf": {"vocab": 40, "dim": 3, "pairs": 2_000_000, "zipf": True},
    "zipf, other constants": {"vocab": 30, "dim": 3, "pairs": 2_000_000, "zipf": True, "a": 1.5, "b": 0.5},
    "own contexts": {"vocab": 30, "dim": 3, "pairs": 2_000_000, "zipf": True, "contexts": 20, "epsilon": 2.0},
    "without diagonal": {"vocab": 30, "dim": 3, "pairs": 2_000_000, "exclude_diagonal": True},
    "zipf without diagonal": {
        "vocab": 30,
        "dim": 3,
        "pairs": 2_000_000,
        "zipf": True,
        "exclude_diagonal": True,
    },
}


def dense(counts: PairCounts) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Positives and negatives as matrices (words, contexts)."""
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    positives, negatives = (np.zeros((counts.num_words, counts.num_contexts), np.int64) for _ in range(2))
    positives[word, counts.by_word.other] = counts.by_word.n_pos
    negatives[word, counts.by_word.other] = counts.by_word.n_neg
    return positives, negatives


def pair_p_value(n: npt.NDArray[np.int64], probability: npt.NDArray[np.float64]) -> float:
    """Chi-square test that the counts ``n`` are multinomial; expected counts are all large here."""
    kept = probability > 0
    assert n[~kept].sum() == 0
    expected = n.sum() * probability[kept]
    assert expected.min() > 10
    statistic = ((n[kept] - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, kept.sum() - 1))


def sign_p_value(
    positives: npt.NDArray[np.int64], negatives: npt.NDArray[np.int64], p: npt.NDArray[np.float64]
) -> float:
    """Two-sided test of the sum of squared standardised errors of the positives given the totals."""
    n = positives + negatives
    seen = n > 0
    variance = (n * p * (1 - p))[seen]
    squares = ((positives - n * p)[seen]) ** 2 / variance
    # Of a binomial's squared z: mean 1, variance 2 + (1 - 6 p (1 - p)) / (n p (1 - p)).
    q = (p * (1 - p))[seen]
    sd = np.sqrt((2 + (1 - 6 * q) / variance).sum())
    return float(2 * stats.norm.sf(abs((squares - 1).sum() / sd)))


def draw(name: str) -> tuple[PairCounts, Truth]:
    return simulate(**WORLDS[name], seed=11)


@pytest.mark.parametrize("name", WORLDS)
def test_counts_follow_the_truth(name: str) -> None:
    counts, truth = draw(name)
    positives, negatives = dense(counts)
    assert counts.num_observations == WORLDS[name]["pairs"]
    assert pair_p_value(positives + negatives, truth.pair_probability()) > LEVEL
    assert sign_p_value(positives, negatives, truth.cooccurrence()) > LEVEL


def test_word_and_context_swapped_is_seen() -> None:
    counts, truth = draw("zipf")
    positives, negatives = dense(counts)
    assert sign_p_value(positives.T, negatives.T, truth.cooccurrence()) < LEVEL


def test_wrong_sign_scale_or_law_is_seen() -> None:
    counts, truth = draw("zipf")
    positives, negatives = dense(counts)
    assert sign_p_value(negatives, positives, truth.cooccurrence()) < LEVEL
    longer = 1 / (1 + np.exp(-1.1 * truth.rho @ truth.alpha.T))
    assert sign_p_value(positives, negatives, longer) < LEVEL
    assert pair_p_value(positives + negatives, draw("uniform")[1].pair_probability()) < LEVEL
    uneven = truth.pair_probability() * np.linspace(0.97, 1.03, 40)
    assert pair_p_value(positives + negatives, uneven / uneven.sum()) < LEVEL
    # the expectation is met too well by rounded expected counts: the two-sided test sees that as well
    n = positives + negatives
    exact = np.rint(n * truth.cooccurrence()).astype(np.int64)
    assert sign_p_value(exact, n - exact, truth.cooccurrence()) < LEVEL


def test_zipf_marginals_are_those_of_the_paper() -> None:
    counts, truth = simulate(vocab=50, pairs=500_000, zipf=True, seed=5)
    positives, negatives = dense(counts)
    weight = np.array([1 / (rank + 2.7) for rank in range(1, 51)])
    weight /= weight.sum()
    np.testing.assert_allclose(truth.word_probability, weight, rtol=1e-12)
    for axis in (0, 1):
        n = (positives + negatives).sum(axis=axis)
        assert stats.chisquare(n, n.sum() * weight).pvalue > LEVEL
        off = np.array([1 / (rank + 2.7) for rank in range(50)])  # ranks from 0
        assert stats.chisquare(n, n.sum() * off / off.sum()).pvalue < LEVEL


@pytest.mark.parametrize("exclude", [False, True])
def test_sparse_and_dense_rows_are_both_right(exclude: bool) -> None:
    """Frequent words are drawn context by context, rare ones pair by pair; blocks of both are met here."""
    counts, truth = simulate(vocab=800, dim=2, pairs=400_000, zipf=True, exclude_diagonal=exclude, seed=3)
    positives, negatives = dense(counts)
    n = positives + negatives
    totals = n.sum(axis=1)
    assert (totals < 800).any()
    assert (totals >= 800).any()
    assert not exclude or np.trace(n) == 0
    for rows in (totals >= 800, totals < 800):
        probability = truth.pair_probability()[rows]
        # contexts in 80 groups of 10 give large expected counts; given the rows' totals
        found = n[rows].reshape(rows.sum(), 80, 10).sum(axis=2).sum(axis=0)
        share = (totals[rows] / probability.sum(axis=1)) @ probability
        expected = share.reshape(80, 10).sum(axis=1)
        assert stats.chisquare(found, expected).pvalue > LEVEL
        assert stats.chisquare(found, np.roll(expected, 1)).pvalue < LEVEL
        assert sign_p_value(positives[rows], negatives[rows], truth.cooccurrence()[rows]) > LEVEL
        assert sign_p_value(positives[rows], negatives[rows], np.full_like(probability, 0.5)) < LEVEL
    assert stats.chisquare(totals, totals.sum() * truth.pair_probability().sum(axis=1)).pvalue > LEVEL


@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_vectors_have_the_variance_of_the_paper(epsilon: float) -> None:
    _, truth = simulate(vocab=10_000, dim=7, pairs=1, epsilon=epsilon)
    for vectors in (truth.rho, truth.alpha):
        assert vectors.dtype == np.float64
        scaled = vectors.ravel() / (epsilon / np.sqrt(7))
        assert stats.kstest(scaled, "norm").pvalue > LEVEL
        assert stats.kstest(scaled * 1.05, "norm").pvalue < LEVEL
    joint = np.corrcoef(truth.rho.ravel(), truth.alpha.ravel())[0, 1]
    assert abs(joint) * np.sqrt(truth.rho.size) < stats.norm.isf(LEVEL / 2)


def test_the_seed_decides_and_the_number_of_pairs_does_not_move_the_truth() -> None:
    first, truth = simulate(vocab=20, pairs=1000, zipf=True, seed=7)
    again, same = simulate(vocab=20, pairs=1000, zipf=True, seed=7)
    assert first.fingerprint == again.fingerprint
    np.testing.assert_array_equal(truth.rho, same.rho)
    larger, still = simulate(vocab=20, pairs=5000, seed=7)
    np.testing.assert_array_equal(truth.rho, still.rho)
    np.testing.assert_array_equal(truth.alpha, still.alpha)
    assert larger.num_observations == 5000
    other, differs = simulate(vocab=20, pairs=1000, zipf=True, seed=8)
    assert other.fingerprint != first.fingerprint
    assert not np.array_equal(truth.rho, differs.rho)


def test_a_billion_pairs_are_counted_exactly() -> None:
    counts, _ = simulate(vocab=200, pairs=10**9, zipf=True)
    assert counts.num_observations == 10**9
    assert counts.num_pairs == 200 * 200


def test_numbers_of_any_type(tmp_path: Path) -> None:
    counts, _ = simulate(np.int64(4), pairs=1e3, seed=np.int32(2), epsilon=np.float32(1), zipf=np.True_)  # type: ignore[arg-type]
    counts.save(tmp_path / "c")
    assert counts.fingerprint == simulate(4, pairs=1000, seed=2, zipf=True)[0].fingerprint
    (part, _) = counts.split(by="pair", fractions=np.array([0.5, 0.5]), seed=np.int64(1))  # type: ignore[arg-type]
    part.save(tmp_path / "d")


def test_names() -> None:
    counts, truth = simulate(vocab=3, pairs=100)
    assert counts.words == counts.contexts == truth.words == ("w0", "w1", "w2")
    counts, truth = simulate(vocab=3, contexts=2, pairs=100)
    assert counts.contexts == truth.contexts == ("c0", "c1")
    assert counts.recipe["contexts"] == 2


def test_truth_similarity() -> None:
    _, truth = simulate(vocab=4, dim=2, pairs=10)
    cosine = truth.similarity()
    by_hand = (
        truth.rho[1] @ truth.rho[2] / np.sqrt((truth.rho[1] @ truth.rho[1]) * (truth.rho[2] @ truth.rho[2]))
    )
    assert cosine.shape == (4, 4)
    assert cosine[1, 2] == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab": 0}, "vocab is 0"),
        ({"dim": 0}, "dim is 0"),
        ({"dim": 2.5}, "dim is 2.5"),
        ({"pairs": float("nan")}, "pairs is nan"),
        ({"pairs": float("inf")}, "pairs is inf"),
        ({"pairs": -1}, "pairs is -1"),
        ({"contexts": 0}, "contexts is 0"),
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"b": -1.0}, "b is -1.0"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "seed is 1.5; it must be a whole number"),
        ({"seed": 2**64}, "from 0 to 2"),
        ({"vocab": "100"}, "vocab is '100'; it must be a whole number"),
        ({"epsilon": "1"}, "epsilon is '1'; it must be a number"),
        ({"vocab": 10**30}, "from 1 to 2"),
        ({"vocab": 1, "exclude_diagonal": True}, "at least 2 words"),
        ({"contexts": 5, "exclude_diagonal": True}, "does not go with contexts"),
        ({"vocab": 2, "pairs": 10**11}, "at most 2147483647"),
    ],
)
def test_bad_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        simulate(**options)


def text_positives(documents: list[str], window: int, vocab: int) -> npt.NDArray[np.int64]:
    """Count (word, context) pairs the plain way."""
    found = np.zeros((vocab, vocab), dtype=np.int64)
    for document in documents:
        ids = [int(word[1:]) for word in document.split()]
        for i, word in enumerate(ids):
            for j in range(max(0, i - window), min(len(ids), i + window + 1)):
                if j != i:
                    found[word, ids[j]] += 1
    return found


def z_scores(found: npt.NDArray[np.int64], expected: npt.NDArray[np.float64], shares: int) -> float:
    """Largest |z| over cells, its standard error taken over ``shares`` equal shares of the documents."""
    mean = found.mean(axis=0)
    error = found.std(axis=0, ddof=1) / np.sqrt(shares)
    return float(np.abs((mean - expected / shares) / error).max())


@pytest.mark.parametrize("window", [1, 2, 10])
def test_documents_have_the_expected_pairs(window: int) -> None:
    documents, truth = simulate_documents(6000, 6, vocab=5, dim=2, zipf=True, epsilon=1.5, seed=2)
    assert len(documents) == 6000
    assert all(len(document.split()) == 6 for document in documents)
    shares = np.array([text_positives(documents[i::60], window, 5) for i in range(60)])
    limit = stats.t.isf(LEVEL / 25, df=59)
    assert z_scores(shares, truth.expected_positives(window), 60) < limit
    assert z_scores(shares, truth.expected_positives(window + 1 if window < 5 else 1), 60) > limit


def test_documents_of_two_words_have_the_joint_distribution() -> None:
    documents, truth = simulate_documents(50_000, 2, vocab=4, dim=2, epsilon=1.5, seed=4)
    ordered = np.zeros((4, 4), dtype=np.int64)
    for document in documents:
        first, second = document.split()
        ordered[int(first[1:]), int(second[1:])] += 1
    joint = truth.start[:, None] * truth.transition
    assert pair_p_value(ordered, joint) > LEVEL
    assert pair_p_value(ordered.T, joint) < LEVEL
    np.testing.assert_allclose(truth.expected_positives(1), 50_000 * (joint + joint.T))
    np.testing.assert_allclose(truth.word_probability(), (joint.sum(axis=0) + joint.sum(axis=1)) / 2)


@pytest.mark.parametrize("window", [1, 3])
def test_count_finds_the_expected_pairs(window: int) -> None:
    """The whole way from text to counts against the expectation of the chain that wrote the text."""
    documents, truth = simulate_documents(6000, 6, vocab=5, dim=2, zipf=True, epsilon=1.5, seed=6)
    parts = [
        plain_count(documents=documents[i::60], vocabulary=truth.words, window=window, seed=i, progress=False)
        for i in range(60)
    ]
    assert all(part.words == part.contexts == truth.words for part in parts)
    shares = np.array([dense(part)[0] for part in parts])
    for i in (0, 17):
        np.testing.assert_array_equal(shares[i], text_positives(documents[i::60], window, 5))
    limit = stats.t.isf(LEVEL / 25, df=59)
    assert z_scores(shares, truth.expected_positives(window), 60) < limit
    assert z_scores(shares, truth.expected_positives(window + 1), 60) > limit
    # negatives: one for each positive of the word, contexts by how often they occur in the text
    for part, documents_of_part in ((parts[0], documents[::60]), (parts[1], documents[1::60])):
        positives, negatives = dense(part)
        np.testing.assert_array_equal(negatives.sum(axis=1), positives.sum(axis=1))
        text = " ".join(documents_of_part).split()
        unigram = np.array([text.count(word) for word in truth.words]) / len(text)
        expected = negatives.sum() * unigram
        assert stats.chisquare(negatives.sum(axis=0), expected).pvalue > LEVEL
        assert stats.chisquare(negatives.sum(axis=0), negatives.sum() / 5 * np.ones(5)).pvalue < LEVEL


def test_document_options() -> None:
    with pytest.raises(OptionError, match="length is 0"):
        simulate_documents(10, 0)
    first, _ = simulate_documents(5, 4, vocab=9, seed=1)
    again, _ = simulate_documents(5, 4, vocab=9, seed=1)
    other, _ = simulate_documents(5, 4, vocab=9, seed=2)
    assert first == again != other
