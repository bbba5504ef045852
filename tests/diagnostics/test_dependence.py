"""The weight of a sample: near 1 where documents are independent pairs, less where they repeat themselves."""

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.diagnostics import dependence
from bayesvec.diagnostics.clusters import find_clusters
from bayesvec.diagnostics.dependence import can_estimate, estimate_weight, sample_documents
from bayesvec.errors import OptionError
from bayesvec.priors import spherical

PLAIN = {"window": 1, "negatives": 2, "subsample": None, "progress": False}
PRIOR = spherical(4.0)


def documents(count, repeats, vocab=20, seed=0):
    """Sentences of two words that attract each other or not; a document is one of them, ``repeats`` times."""
    rng = np.random.default_rng(seed)
    first, step = rng.integers(0, vocab, count), rng.choice([1, 2, 5, 7], count, p=[0.6, 0.2, 0.1, 0.1])
    return [" \n\n ".join([f"w{a} w{(a + b) % vocab}"] * repeats) for a, b in zip(first, step, strict=True)]


def drawn(counts, dim=3):
    post = bv.fit(counts, dim, prior=PRIOR, chains=1, draws=1, warmup=60, weight=1.0, progress=False)
    return post.rho[0, 0], post.alpha[0, 0]


@pytest.fixture(scope="module")
def single():
    return bv.count(documents=documents(3000, 1), **PLAIN)


def test_pairs_of_their_own_weigh_as_much_as_they_are(single):
    # every document has one positive and two negative samples of each of its words: it varies less than at random
    assert 0.9 <= estimate_weight(sample_documents(single), *drawn(single), PRIOR) <= 1.4


def test_documents_that_repeat_themselves_weigh_less(single):
    counts = bv.count(documents=documents(3000, 4), **PLAIN)
    once, repeated = (
        estimate_weight(sample_documents(each), *drawn(each), PRIOR) for each in (single, counts)
    )
    assert repeated < 0.6 * once


def twin(counts, rho, alpha):
    """The same in plain NumPy, over all documents and rows."""
    clusters = find_clusters(counts)
    word, context = counts.by_word.rows()[clusters.pair], counts.by_word.other[clusters.pair]
    s = 1 / (1 + np.exp(-np.sum(rho[word].astype(float) * alpha[context], axis=1)))
    n = clusters.n_pos + clusters.n_neg
    expected = found = 0.0
    for rows, others, vectors in ((word, context, alpha.astype(float)), (context, word, rho.astype(float))):
        for row in np.unique(rows):
            here = rows == row
            x = vectors[others[here]]
            h = (x.T * (n * s * (1 - s))[here]) @ x
            j = np.zeros_like(h)
            for cluster in np.unique(clusters.cluster[here]):
                of = here & (clusters.cluster == cluster)
                g = (clusters.n_pos - n * s)[of] @ vectors[others[of]]
                j += np.outer(g, g)
            a = np.linalg.inv(h + 4.0 * np.eye(len(h)))
            expected, found = expected + np.trace(a @ h), found + np.trace(a @ j)
    return expected / found


def test_it_equals_its_numpy_twin():
    counts = bv.count(documents=documents(150, 3), **PLAIN)
    place = drawn(counts)
    assert estimate_weight(sample_documents(counts), *place, PRIOR) == pytest.approx(
        twin(counts, *place), abs=0.0051
    )


def test_a_part_of_the_documents_gives_about_the_same(single, monkeypatch):
    counts = bv.count(documents=documents(3000, 3), **PLAIN)
    place = drawn(counts)
    whole = estimate_weight(sample_documents(counts), *place, PRIOR)
    monkeypatch.setattr(dependence, "TOKENS", 6000)
    monkeypatch.setattr(dependence, "ROWS", 10)
    assert estimate_weight(sample_documents(counts), *place, PRIOR) == pytest.approx(whole, abs=0.1)


def test_few_documents_or_none_are_not_weighed():
    assert not can_estimate(bv.simulate(vocab=5, dim=2, pairs=50, seed=1)[0])
    counts = bv.count(documents=documents(19, 1), **PLAIN)
    assert not can_estimate(counts)
    post = bv.fit(counts, 2, draws=2, warmup=2, chains=1, progress=False)
    assert (post.draws.settings.weight, post.draws.settings.weight_from) == (1.0, "")


def test_one_long_document_is_cut_into_segments():
    texts = documents(3000, 4)
    apart, whole = (bv.count(documents=each, **PLAIN) for each in (texts, [" . ".join(texts)]))
    assert can_estimate(whole)
    assert not can_estimate(bv.count(documents=[" ".join(texts)[:20_000]], **PLAIN))
    place = drawn(apart)
    # whole repetitions are in one segment, as they are in one document
    expected = estimate_weight(sample_documents(apart), *place, PRIOR)
    found = estimate_weight(sample_documents(whole), *place, PRIOR)
    assert found == pytest.approx(expected, abs=0.15)
    assert found < 0.7


def test_too_few_segments_and_baskets_are_not_weighed():
    words = " ".join(documents(3000, 1)).split()
    nearly = [" ".join(words[i * 500 : i * 500 + 540]) for i in range(11)]  # one segment each
    assert not can_estimate(bv.count(documents=nearly, **PLAIN))
    book = bv.count(documents=[" ".join(words * 4), "w1 w2 w3"], **PLAIN)
    assert can_estimate(book)
    assert np.diff(dependence._segments(book.source).bounds).min() >= dependence.LEAST_SEGMENT
    baskets = bv.count_baskets(baskets=[words[i::12] for i in range(12)], progress=False)
    assert not can_estimate(baskets)


def test_few_documents_are_cut_within_their_groups(capsys):
    texts = documents(3000, 4)
    halves = [" . ".join(texts[:1500]), " . ".join(texts[1500:])]
    counts = bv.count(documents=halves, groups=["a", "b"], **PLAIN)
    post = bv.fit(counts, 2, draws=2, warmup=2, chains=1)
    assert post.draws.settings.weight < 0.8
    assert post.draws.settings.weight_from == "segments of the text"
    assert "estimated from the segments of the text: 0." in capsys.readouterr().err


def test_it_is_estimated_stored_used_and_resumed(tmp_path, capsys):
    counts = bv.count(documents=documents(200, 3), **PLAIN)
    given = {"draws": 3, "warmup": 5, "chains": 1, "out": tmp_path / "run"}
    post = bv.fit(counts, 2, **given)
    settings = post.draws.settings
    assert 0.25 < settings.weight < 0.9
    assert settings.weight_from == "documents"
    assert f"estimated from the documents: {settings.weight:g} (1 would count" in capsys.readouterr().err
    again = bv.fit(counts, 2, **given | {"draws": 6}, resume=True, progress=False)
    np.testing.assert_array_equal(again.rho[:, :3], post.rho[:])
    whole = bv.fit(counts, 2, draws=6, warmup=5, chains=1, weight=settings.weight, threads=1, progress=False)
    np.testing.assert_array_equal(whole.rho[:], again.rho[:])
    assert whole.draws.settings.weight_from == ""
    plain = bv.fit(counts, 2, draws=6, warmup=5, chains=1, weight=1.0, progress=False)
    assert not np.array_equal(plain.rho[:], again.rho[:])


def test_the_smallest_weight_is_said_to_be_so(capsys):
    counts = bv.count(documents=documents(200, 12), **PLAIN)
    post = bv.fit(counts, 2, draws=2, warmup=2, chains=1)
    assert post.draws.settings.weight == 0.25
    assert "0.25, the smallest allowed (the documents ask for 0." in capsys.readouterr().err


@pytest.mark.long
def test_rows_that_a_prior_adds_do_not_matter():
    texts = documents(300, 4)
    counts = bv.count(documents=texts, groups=[f"g{i % 2}" for i in range(300)], **PLAIN)
    given = {"draws": 2, "warmup": 2, "chains": 1, "progress": False}
    for prior in (bv.priors.grouped(counts), bv.priors.covariance(2)):
        assert bv.fit(counts, 2, prior=prior, **given).draws.settings.weight < 0.8


@pytest.mark.parametrize(
    "method", ["map", "laplace", pytest.param("mfvi", marks=pytest.mark.long), "blockvi"]
)
def test_half_of_twice_the_data_is_the_data(method):
    counts = bv.simulate(vocab=8, dim=2, pairs=400, seed=1)[0]
    twice = bv.from_pairs(
        counts.by_word.rows(),
        counts.by_word.other,
        n_pos=2 * counts.by_word.n_pos,
        n_neg=2 * counts.by_word.n_neg,
        words=counts.words,
        contexts=counts.contexts,
    )
    given = {"method": method, "prior_precision": 2.0, "draws": 3, "progress": False}
    if method == "laplace":
        given["identify"] = "fixed"
    one, half, whole = (
        bv.fit(data, 2, weight=weight, **given).rho[:]
        for data, weight in ((counts, 1.0), (twice, 0.5), (twice, 1.0))
    )
    np.testing.assert_allclose(half, one, rtol=1e-4, atol=1e-5)
    assert np.abs(whole - one).max() > 0.01


@pytest.mark.parametrize("weight", [0.1, 1.5, "some", float("nan"), -1])
def test_wrong_weights_are_refused(single, weight):
    with pytest.raises(OptionError, match=r"weight is .*; it must be a .*number.* from 0.25 to 1, or auto"):
        bv.fit(single, 2, weight=weight)


def test_the_command_line(bayesvec, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(documents(100, 1)))
    small = ("--dim", 2, "--draws", 3, "--warmup", 3, "--out", tmp_path / "run", "--json")
    status, _, err = bayesvec("fit", text, "--weight", "half", *small)
    assert status == 2
    assert "weight is half" in err
    status, out, _ = bayesvec("fit", text, "--weight", "0.5", *small)
    assert status == 0
    assert '"weight": 0.5' in out
    assert bayesvec("fit", "--resume", "--weight", "0.5", "--out", tmp_path / "run")[0] == 0
    assert bayesvec("fit", "--resume", "--weight", "0.6", "--out", tmp_path / "run")[0] == 2
    assert bayesvec("fit", "--resume", "--weight", "auto", "--out", tmp_path / "run")[0] == 0
