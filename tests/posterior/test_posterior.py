import json
import unicodedata

import numpy as np
import pytest

from bayesvec.counts.names import closest
from bayesvec.errors import NumericalError, OptionError, RunError, UnknownWordError
from bayesvec.estimates import convergence
from bayesvec.estimates import per_draw as streams
from bayesvec.estimates.table import Table
from bayesvec.posterior.posterior import Posterior, open_posterior
from fake_draws import FakeDraws, write_run

WORDS = ("king", "queen", "tax@D", "tax@R", "Law", "naïve café")
CONTEXTS = ("of", "the", "and", "on")


@pytest.fixture
def draws():
    generator = np.random.default_rng(5)
    return FakeDraws(
        generator.normal(size=(2, 40, 6, 3)),
        generator.normal(size=(2, 40, 4, 3)),
        words=WORDS,
        contexts=CONTEXTS,
    )


def cosine_by_hand(rho, i, j):
    a, b = rho[:, :, i].astype(float), rho[:, :, j].astype(float)
    return (a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1))


def test_cosine_of_known_vectors():
    rho = [[[[1, 0], [1, 1], [0, 2]], [[3, 0], [-1, 0], [3, 4]]]]  # 1 chain, 2 draws, 3 words
    post = Posterior(FakeDraws(rho))
    np.testing.assert_allclose(post.similarity("w0", "w1").draws, [[np.sqrt(0.5), -1.0]], rtol=1e-12)
    np.testing.assert_allclose(post.similarity("w0", "w2").draws, [[0.0, 0.6]], rtol=1e-12)


def test_cosines_lie_in_their_range():
    vectors = np.random.default_rng(0).normal(size=(1, 500, 1, 50))
    post = Posterior(FakeDraws(np.concatenate([vectors, 3 * vectors], axis=2)))
    values = post.similarity("w0", "w1").draws
    assert (values <= 1.0).all()
    np.testing.assert_allclose(values, 1.0, atol=1e-6)


def test_similarity_of_every_pair(draws):
    post = Posterior(draws)
    estimate = post.similarity("tax@D", "naïve café")
    decomposed = unicodedata.normalize("NFD", "naïve café")
    np.testing.assert_array_equal(post.similarity("tax@D", decomposed).draws, estimate.draws)
    assert decomposed in post
    assert estimate.label == "cosine(tax@D, naïve café)"
    np.testing.assert_allclose(estimate.draws, cosine_by_hand(draws.rho, 2, 5), rtol=1e-12)
    several = post.similarity("queen", ["king", "Law"])
    np.testing.assert_allclose(several[1].draws, cosine_by_hand(draws.rho, 1, 4), rtol=1e-12)
    pairs = post.similarities([("king", "queen"), ("Law", "king")])
    assert [each.label for each in pairs] == ["cosine(king, queen)", "cosine(Law, king)"]
    difference = pairs[0] - pairs[1]
    assert difference.mean == pytest.approx(pairs[0].mean - pairs[1].mean)


def test_similarity_reads_only_its_rows(draws):
    Posterior(draws).similarity("queen", ["Law", "tax@R"])
    assert {(name, tuple(rows)) for name, rows, _ in draws.reads} == {("rho", (1, 3, 4))}


def test_cooccurrence(draws):
    post = Posterior(draws)
    estimate = post.cooccurrence("queen", "and")
    eta = (draws.rho[:, :, 1].astype(float) * draws.alpha[:, :, 2]).sum(-1)
    np.testing.assert_allclose(estimate.draws, 1 / (1 + np.exp(-eta)), rtol=1e-12)
    assert estimate.label == "cooccurrence(queen, and)"
    both = post.cooccurrence("queen", ["of", "and"])
    np.testing.assert_array_equal(both[1].draws, estimate.draws)


def test_extreme_cooccurrence_does_not_overflow():
    post = Posterior(FakeDraws([[[[40.0]]]], [[[[-20.0], [20.0]]]]))
    np.testing.assert_allclose(post.cooccurrence("w0", "c0").draws, np.exp(-800.0))
    assert post.cooccurrence("w0", "c1").mean == 1.0


@pytest.mark.parametrize("block_bytes", [1, 2000, streams.BLOCK_BYTES])
def test_blocks_of_draws_change_nothing(draws, monkeypatch, block_bytes):
    monkeypatch.setattr(streams, "BLOCK_BYTES", block_bytes)
    post = Posterior(draws)
    np.testing.assert_array_equal(
        post.similarity("king", "queen").draws, streams.cosines(draws, np.array([0]), np.array([1]))[:, :, 0]
    )
    np.testing.assert_allclose(
        post.similarity("king", "queen").draws, cosine_by_hand(draws.rho, 0, 1), rtol=1e-12
    )
    eta = (draws.rho[:, :, 0].astype(float) * draws.alpha[:, :, 1]).sum(-1)
    np.testing.assert_allclose(post.cooccurrence("king", "the").draws, 1 / (1 + np.exp(-eta)), rtol=1e-12)


def neighbors_by_hand(rho, row, n):
    """Posterior mean cosine of each other word, and how often fewer than n words are strictly nearer."""
    num_words = rho.shape[2]
    cosines = np.stack([cosine_by_hand(rho, row, j) for j in range(num_words)], axis=-1).reshape(
        -1, num_words
    )
    cosines[:, row] = -np.inf
    nearer = (cosines[:, None, :] > cosines[:, :, None]).sum(axis=-1)
    order = sorted(set(range(num_words)) - {row}, key=lambda j: -cosines[:, j].mean())[:n]
    return order, cosines[:, order].mean(axis=0), (nearer < n).mean(axis=0)[order]


@pytest.mark.parametrize("n", [1, 3, 5])
def test_neighbors_by_hand(draws, n):
    table = Posterior(draws).neighbors("queen", n)
    rows, means, shares = neighbors_by_hand(draws.rho, 1, n)
    assert table["word"] == [WORDS[i] for i in rows]
    np.testing.assert_allclose(table["mean"], means, rtol=1e-10)
    np.testing.assert_allclose(table["probability"], shares)
    first = Posterior(draws).similarity("queen", table[0].word)
    assert (table[0].low, table[0].high) == first.interval()
    assert (table[0].rhat, table[0].ess) == (first.rhat, first.ess)


def test_neighbors_with_ties():
    # w1 and w2 always are equally near, w3 is nearer in one of two draws, w4 is opposite.
    rho = [[[[1, 0], [1, 1], [1, 1], [1, 0], [-1, 0]], [[1, 0], [1, 1], [1, 1], [0, 1], [-1, 0]]]]
    table = Posterior(FakeDraws(rho)).neighbors("w0", n=1)
    assert [(row.word, row.probability) for row in table] == [("w1", 0.5)]  # the earlier row first
    table = Posterior(FakeDraws(rho)).neighbors("w0", n=2)
    assert [(row.word, row.probability) for row in table] == [("w1", 1.0), ("w2", 1.0)]
    table = Posterior(FakeDraws(rho)).neighbors("w0", n=4)
    assert [(row.word, row.probability) for row in table][2:] == [("w3", 1.0), ("w4", 1.0)]


def test_neighbors_do_not_depend_on_how_draws_are_stored(draws):
    before = Posterior(draws).neighbors("king", 4).rows
    for shard_draws in (1, 7, 100):
        draws.shard_draws = shard_draws
        assert Posterior(draws).neighbors("king", 4).rows == before


def test_a_word_at_zero():
    rho = np.random.default_rng(1).normal(size=(1, 6, 4, 2))
    rho[0, 2, 3] = 0.0
    post = Posterior(FakeDraws(rho, words=["a", "b", "c", "zero"]))
    with pytest.raises(NumericalError, match="'zero' is zero"):
        post.similarity("a", "zero")
    with pytest.raises(NumericalError, match="'zero' is zero"):
        post.neighbors("zero", 2)
    assert "zero" not in post.neighbors("a", 2)["word"]


def test_unknown_words(draws):
    post = Posterior(draws)
    with pytest.raises(
        UnknownWordError, match="'quen' is not in the vocabulary; the closest is 'queen'"
    ) as caught:
        post.similarity("king", "quen")
    assert caught.value.closest == ("queen",)
    with pytest.raises(UnknownWordError, match="'Law'"):
        post.neighbors("law")
    with pytest.raises(UnknownWordError, match="'tax@D', 'tax@R'"):
        post.neighbors("tax")
    with pytest.raises(UnknownWordError, match="among the contexts; none is spelled like it"):
        post.cooccurrence("king", "zzzz")
    with pytest.raises(OptionError, match="not a word"):
        post.similarity("king", [3])


def test_closest_to_a_word_in_a_slice_are_words_of_the_slice():
    names = tuple(f"{word}@{year}" for word in ("harbor", "street") for year in range(2001, 2007))
    assert closest("harbr@2003", names) == ("harbor@2003",)
    assert "harbor@2001" in closest("harbor@1999", names)  # no such slice


def test_closest_words_are_found_among_many():
    generator = np.random.default_rng(0)
    letters = generator.integers(97, 123, size=(100_000, 8)).astype(np.uint8)
    names = (*(bytes(row).decode() for row in letters), "immigrant")
    assert closest("imigrant", names)[0] == "immigrant"


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda post: post.similarity("king", "king"), "two different words; got 'king' twice"),
        (lambda post: post.similarity("king", []), "empty"),
        (lambda post: post.similarities([("king",)]), "not a pair"),
        (lambda post: post.similarities(["king"]), "not a pair"),
        (lambda post: post.cooccurrence("king", []), "empty"),
        (lambda post: post.neighbors("king", 0), "n is 0; .* from 1 to 5"),
        (lambda post: post.neighbors("king", 6), "n is 6; .* from 1 to 5"),
        (lambda post: post.neighbors("king", 2, level=2.0), "level is 2"),
    ],
)
def test_questions_that_make_no_sense(draws, question, message):
    with pytest.raises(OptionError, match=message):
        question(Posterior(draws))


def test_a_run_without_contexts():
    post = Posterior(FakeDraws(np.ones((1, 5, 3, 2))))
    with pytest.raises(RunError, match="keeps no draws of alpha"):
        post.cooccurrence("w0", "c1")


def test_attributes(draws):
    post = Posterior(draws)
    assert post.words == WORDS
    assert post.contexts == CONTEXTS
    assert post.rho.shape == (2, 40, 6, 3)
    assert post.alpha.shape == (2, 40, 4, 3)
    assert "6 words and 4 contexts in 3 dimensions" in repr(post)
    rho, alpha = post.mean_vectors()
    np.testing.assert_allclose(rho, draws.rho.mean(axis=(0, 1)), atol=1e-6)
    assert alpha.shape == (4, 3)


def test_table(draws):
    table = Posterior(draws).neighbors("queen", 3)
    lines = str(table).splitlines()
    assert lines[0].split() == ["word", "mean", "low", "high", "probability", "rhat", "ess"]
    assert len(lines) == 4
    assert len({line.rstrip()[-1] for line in lines}) >= 1
    assert len(table) == 3
    assert json.loads(json.dumps(table.to_dict(), allow_nan=False))[0]["word"] == table[0].word
    assert table.to_arrow().column_names == list(table.columns)
    assert list(table.to_pandas()["word"]) == table["word"]
    assert "<td>" in table._repr_html_()
    assert repr(table).startswith("The 3 nearest neighbours of queen")


def test_table_escapes_html():
    rho = np.random.default_rng(0).normal(size=(1, 5, 2, 2))
    table = Posterior(FakeDraws(rho, words=["a", "<b>&"])).neighbors("a", 1)
    assert isinstance(table, Table)
    assert "&lt;b&gt;&amp;" in table._repr_html_()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    generator = np.random.default_rng(6)
    rho, alpha = generator.normal(size=(2, 30, 6, 3)), generator.normal(size=(2, 30, 4, 3))
    path = tmp_path_factory.mktemp("runs") / "run"
    write_run(path, rho, alpha, words=WORDS, contexts=CONTEXTS)
    return path, rho.astype(np.float32), alpha.astype(np.float32)


def test_a_run_folder_gives_the_same_answers(folder):
    path, rho, alpha = folder
    post = open_posterior(path)
    memory = Posterior(FakeDraws(rho, alpha, words=WORDS, contexts=CONTEXTS))
    np.testing.assert_array_equal(post.rho[...], rho)
    np.testing.assert_array_equal(post.alpha[1, :, [2, 0]], alpha[1, :, [2, 0]])
    np.testing.assert_array_equal(
        post.similarity("king", "Law").draws, memory.similarity("king", "Law").draws
    )
    np.testing.assert_array_equal(
        post.cooccurrence("king", "on").draws, memory.cooccurrence("king", "on").draws
    )
    assert post.neighbors("tax@R", 4).rows == memory.neighbors("tax@R", 4).rows
    assert post.similarity("king", "Law").run == str(path)


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(RunError, match="not a run folder"):
        open_posterior(tmp_path)


def test_a_run_without_draws_yet(tmp_path):
    nothing = np.empty((2, 0, 3, 2))
    with pytest.raises(RunError, match="no draws yet"):
        open_posterior(write_run(tmp_path / "run", nothing, nothing, wanted=10))


def test_a_run_of_summaries(tmp_path):
    rho = np.random.default_rng(8).normal(size=(2, 100, 6, 3))
    post = open_posterior(write_run(tmp_path / "run", rho, rho, words=WORDS, store="summary"))
    with pytest.raises(RunError, match="keeps no draws of rho"):
        post.similarity("king", "queen")
    np.testing.assert_allclose(post.mean_vectors()[0], rho.mean(axis=(0, 1)), atol=1e-12)
    kinds = {diagnosis.kind: diagnosis for diagnosis in post.check().diagnoses}
    assert kinds["cosines"].worst == "cosine(king, queen)"  # what was watched during the run is left
    watched = cosine_by_hand(rho, 0, 1).astype(np.float32)
    assert kinds["cosines"].ess == pytest.approx(float(convergence.ess_bulk(watched)))


def test_the_names_users_type(folder):
    import bayesvec as bv

    assert isinstance(bv.open(folder[0]), bv.Posterior)
    assert isinstance(bv.open(folder[0]).similarity("king", "queen"), bv.Estimate)
    assert "open" not in bv.__all__


def test_datatree(folder):
    path, rho, _ = folder
    tree = open_posterior(path).to_datatree()
    np.testing.assert_array_equal(tree["posterior/rho"].sel(word="Law"), rho[:, :, 4])
