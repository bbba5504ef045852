"""Windows: pairs equal those of a naive twin, negatives follow the frequencies, limits change nothing."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayesvec as bv
import naive_counts as naive
from bayesvec.counts import spill as memory
from bayesvec.counts import windows as pairs
from bayesvec.counts.documents import Lengths, document_bounds, spans
from bayesvec.counts.options import PairOptions
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import counting as kernels
from bayesvec.kernels import rng
from bayesvec.text.tokens import make_tokenizer
from count_tools import check_sides, drawer, plain_count, texts, zipf_documents

ERROR_RATE = 1e-4  # of a right program failing one statistical test; seeds are fixed


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": 1, "negatives": 3, "seed": 7},
        {"window": 5, "negatives": 2, "negative_power": 0.75, "seed": 2**63 + 5},
        {"window": 3, "window_over": "vocabulary"},
        {"subsample": 0.02, "seed": 3},
        {"subsample": 0.02, "window_over": "vocabulary", "negatives": 0},
        {"window": 1000},
    ],
)
def test_counts_equal_the_naive_ones(options):
    documents = zipf_documents(120, seed=1)
    counts = plain_count(documents=texts(documents), vocab=25, threads=2, **options)
    check_sides(counts)
    assert list(counts.words) == list(counts.contexts) == naive.most_common(documents, 25)
    power = options.pop("negative_power", 1.0)
    positive, negative = naive.count(documents, set(counts.words), drawer(counts, power), **options)
    assert naive.as_counters(counts) == (positive, negative)
    assert counts.num_negatives == options.get("negatives", 1) * counts.num_positives


def test_baskets_equal_the_naive_ones(tmp_path):
    baskets = zipf_documents(60, seed=2)
    counts = bv.count_baskets(baskets, vocab=25, negatives=2, negative_power=0.75, seed=4)
    check_sides(counts)
    expected = naive.count(baskets, set(counts.words), drawer(counts, 0.75), window=None, negatives=2, seed=4)
    assert naive.as_counters(counts) == expected
    file = tmp_path / "baskets.txt"
    file.write_text("\n".join(texts(baskets)))
    assert bv.count_baskets(file, vocab=25, negatives=2, negative_power=0.75, seed=4).fingerprint == (
        counts.fingerprint
    )


def test_a_basket_pairs_all_positions_and_nothing_else():
    counts = bv.count_baskets([["a", "b", "a"], [1, 2]], negatives=0)
    positive, _ = naive.as_counters(counts)
    assert positive == Counter({("a", "b"): 2, ("b", "a"): 2, ("a", "a"): 2, ("1", "2"): 1, ("2", "1"): 1})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), min_size=1, max_size=6),
    st.integers(1, 4),
    st.sampled_from(["positions", "vocabulary"]),
    st.integers(1, 3),
)
def test_small_corpora_equal_the_naive_ones(documents, window, over, vocab):
    if len(set().union(*documents)) < vocab:
        return
    kept = set(naive.most_common(documents, vocab))
    options = {"window": window, "window_over": over}
    positive, _ = naive.count(documents, kept, None, negatives=0, **options)
    if not positive:
        with pytest.raises(InputError, match="no pairs"):
            plain_count(documents=texts(documents), vocab=vocab, tokenizer="whitespace", **options)
        return
    counts = plain_count(documents=texts(documents), vocab=vocab, tokenizer="whitespace", **options)
    assert naive.as_counters(counts)[0] == positive
    assert naive.as_counters(counts) == naive.count(documents, kept, drawer(counts), **options)


def test_the_pairs_of_real_text_equal_those_of_numpy():
    folder = os.environ.get("BAYESVEC_DATA")
    if not folder or not (file := Path(folder) / "sotu" / "sotu_1790_2024.parquet").exists():
        pytest.skip("BAYESVEC_DATA does not name a folder with sotu/sotu_1790_2024.parquet")
    texts_read = pyarrow.parquet.read_table(file)["text"].to_pylist()[::4]
    counts = plain_count(documents=texts_read, vocab=2000, window=2)
    tokens, bounds = counts.source.tokens.astype(np.int64), counts.source.bounds
    cut = make_tokenizer("words").cut
    place = {word: row for row, word in enumerate(counts.words)}
    assert tokens.tolist() == [place.get(word, -1) for text in texts_read for word in cut(text)]
    document = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    table = np.zeros(2000 * 2000, dtype=np.int64)
    for apart in (1, 2):
        left, right = tokens[:-apart], tokens[apart:]
        kept = (left >= 0) & (right >= 0) & (document[:-apart] == document[apart:])
        for word, context in ((left, right), (right, left)):
            table += np.bincount(word[kept] * 2000 + context[kept], minlength=2000 * 2000)
    counted = np.zeros_like(table)
    row = np.repeat(np.arange(2000), np.diff(counts.by_word.indptr))
    counted[row * 2000 + counts.by_word.other] = counts.by_word.n_pos
    np.testing.assert_array_equal(counted, table)


def test_windows_stay_within_documents_and_unknown_words_keep_their_position():
    counts = plain_count(documents=["a b x a", "c a"], vocabulary=["a", "b", "c"], window=1, negatives=0)
    assert naive.as_counters(counts)[0] == Counter(
        {("a", "b"): 1, ("b", "a"): 1, ("c", "a"): 1, ("a", "c"): 1}
    )
    closed = plain_count(
        documents=["a b x a", "c a"],
        vocabulary=["a", "b", "c"],
        window=1,
        negatives=0,
        window_over="vocabulary",
    )
    assert naive.as_counters(closed)[0] == Counter(
        {("a", "b"): 2, ("b", "a"): 2, ("c", "a"): 1, ("a", "c"): 1}
    )


@pytest.mark.parametrize("size", [60, pytest.param(400, marks=pytest.mark.long)])
def test_the_counts_do_not_depend_on_threads_memory_or_chunks(monkeypatch, tmp_path, size):
    documents = zipf_documents(size, types=300, seed=3)
    file = tmp_path / "text.txt"
    file.write_text("\n".join(texts(documents)))
    options = {"vocab": 200, "negatives": 2, "subsample": 0.01, "window_over": "vocabulary", "seed": 5}
    reference = plain_count(file, threads=1, **options)
    check_sides(reference)
    for threads in (2, 3):
        assert plain_count(file, threads=threads, **options).fingerprint == reference.fingerprint
    monkeypatch.setattr(memory, "SMALLEST", 1)
    monkeypatch.setattr(pairs, "spans", lambda bounds, _=0: spans(bounds, 7))  # shorter than documents
    monkeypatch.setattr(pairs, "PART", 50)  # pairs, of several rows
    for limit in (30_000, 3_000, 100):
        bounded = plain_count(file, threads=2, memory=limit, **options)
        assert bounded.fingerprint == reference.fingerprint
        check_sides(bounded)
        assert bounded.recipe == reference.recipe
    assert isinstance(bounded.by_word.other.base, np.memmap)
    np.testing.assert_array_equal(bounded.source.tokens, reference.source.tokens)
    bounded.save(tmp_path / "bounded")
    reference.save(tmp_path / "reference")
    for path in (tmp_path / "reference").iterdir():
        assert (tmp_path / "bounded" / path.name).read_bytes() == path.read_bytes(), path.name


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 9))
def test_spans_cover_all_tokens_and_documents(sizes, most):
    bounds = np.cumsum([0, *sizes])
    lengths, token, document = Lengths(10**6), 0, 0
    for span in spans(bounds, most):
        assert span.token == token
        assert span.tokens_end - token <= most
        assert span.documents_end - span.document <= most
        continues = token > bounds[span.document]
        assert span.document == document - continues
        inside = np.clip(bounds[span.document : span.documents_end + 1], span.token, span.tokens_end)
        lengths.append(np.diff(inside), continues)
        token, document = span.tokens_end, span.documents_end
    assert (token, document) == (bounds[-1], len(sizes))
    joined = lengths.finish()
    assert joined.tolist() == sizes
    assert document_bounds(joined, memory=10**6).tolist() == bounds.tolist()


def test_each_kind_of_bucket_gives_the_same_pairs(monkeypatch):
    monkeypatch.setattr(pairs, "_LONGEST_LIST", 1)
    documents = zipf_documents(400, types=1500, seed=4)
    counts = plain_count(documents=texts(documents), vocab=800, threads=1)
    task = pairs._prepare(counts.source, 800, memory=10**8, threads=1)
    table, sorted_list = task.samples > 1600, task.samples * 16 <= 1600
    assert table.any()
    assert sorted_list.any()
    assert not np.all(table | sorted_list)
    assert naive.as_counters(counts) == naive.count(documents, set(counts.words), drawer(counts))
    scratch = pairs._Scratch()
    parts = [pairs._count_rows(task, row, row + 1, scratch) for row in range(800)]
    counted = zip(*(arrays for _, arrays in parts), strict=True)
    for arrays, whole in zip(counted, counts.by_word[1:], strict=True):
        np.testing.assert_array_equal(np.concatenate(arrays), whole)


@pytest.mark.parametrize("weight", [[1.0], [3.0, 0.0, 1.0], [0.0, 0.0, 2.0, 5.0], list(range(1, 400))])
def test_the_alias_table_is_the_distribution(weight):
    share, alias = kernels.alias_table(np.array(weight, dtype=np.float64))
    probability = np.zeros(len(weight))
    np.add.at(probability, np.arange(len(weight)), share / len(weight))
    np.add.at(probability, alias, (1.0 - share) / len(weight))
    np.testing.assert_allclose(probability, np.array(weight) / sum(weight), rtol=1e-12, atol=1e-15)
    assert np.all(probability[np.array(weight) == 0.0] == 0.0)


def negative_p_values(counts, power):
    """Chi-square tests: all negative contexts, and those of each word, against frequency to a power."""
    expected = counts.source.frequency.astype(float) ** power
    expected /= expected.sum()
    table = np.zeros((counts.num_words, counts.num_contexts))
    word = np.repeat(np.arange(counts.num_words), np.diff(counts.by_word.indptr))
    table[word, counts.by_word.other] = counts.by_word.n_neg
    rows = [table.sum(axis=0), *table]
    return np.array([stats.chisquare(row, row.sum() * expected).pvalue for row in rows])


@pytest.mark.parametrize("power", [1.0, 0.75, 0.0])
def test_negatives_follow_the_frequencies(power):
    documents = zipf_documents(1500, types=12, seed=5)
    counts = plain_count(documents=texts(documents), negatives=3, negative_power=power, seed=6)
    p = negative_p_values(counts, power)
    assert p.min() * len(p) > ERROR_RATE
    wrong = negative_p_values(counts, power + 0.1)
    assert wrong[0] < ERROR_RATE


def test_words_that_do_not_occur_are_never_negatives():
    counts = plain_count(
        documents=["a b a b"] * 50, vocabulary=["zebra", "a", "b"], negatives=5, negative_power=0.0
    )
    assert counts.contexts == ("zebra", "a", "b")
    assert counts.by_context.indptr[1] == 0
    assert counts.recipe["words_not_found"] == 1


def test_another_seed_draws_other_negatives_and_the_same_positives():
    documents = texts(zipf_documents(50, seed=6))
    one, other = (naive.as_counters(plain_count(documents=documents, seed=seed)) for seed in (0, 1))
    assert one[0] == other[0]
    assert one[1] != other[1]


def test_subsampling_keeps_the_right_fraction():
    size = 200_000
    tokens = np.tile(np.arange(3, dtype=np.int32), size)
    frequency = np.array([900, 90, 10], dtype=np.int64)
    keep = pairs.keep_probability(frequency, 0.05)
    np.testing.assert_allclose(keep, [np.sqrt(0.05 / 0.9), np.sqrt(0.05 / 0.09), 1.0])
    bounds, number = np.array([0, len(tokens)]), np.array([9])
    kept, _ = kernels.thin(
        tokens, bounds, number, (0, 1, 0, len(tokens)), keep, rng.make_key(1, rng.SUBSAMPLE), True
    )
    share = np.bincount(kept) / size
    z = (share - keep)[:2] / np.sqrt(keep * (1 - keep) / size)[:2]
    bound = stats.norm.isf(ERROR_RATE / 4)
    assert np.abs(z).max() < bound
    assert share[2] == 1.0
    wrong = 0.05 / np.array([0.9, 0.09])  # the square root forgotten
    assert np.all(np.abs(share[:2] - wrong) / np.sqrt(wrong * (1 - wrong) / size) > bound)


def test_the_defaults_are_those_of_word2vec():
    documents = texts(zipf_documents(300, types=2000, longest=200, seed=9))
    same = bv.count(
        documents=documents, window=5, negatives=5, negative_power=0.75, subsample=1e-3, vocab=1500, threads=1
    )
    assert bv.count(documents=documents, vocab=1500, threads=1).fingerprint == same.fingerprint


@pytest.mark.parametrize(
    ("num_words", "num_tokens", "threshold"),
    [(5000, 10**6, 1e-3), (1000, 10**4, 1e-3), (20, 10**5, 0.05), (20, 9999, None), (0, 0, None)],
)
def test_automatic_subsampling_does_not_empty_a_small_text(num_words, num_tokens, threshold):
    assert PairOptions().threshold(num_words, num_tokens) == threshold
    assert PairOptions(subsample=None).threshold(num_words, num_tokens) is None
    assert PairOptions(subsample=0.25).threshold(num_words, num_tokens) == 0.25
    with pytest.raises(OptionError, match="subsample is 'automatic'"):
        PairOptions(subsample="automatic")


def test_a_large_power_draws_the_most_common_word():
    counts = plain_count(documents=["a a a b b c"] * 100, negative_power=1000.0)
    assert naive.as_counters(counts)[1].keys() <= {(word, "a") for word in "abc"}
    assert counts.num_negatives == counts.num_positives


def test_counts_and_their_source_are_read_only():
    counts = plain_count(documents=["a b c", "c b a"])
    for array in (*counts.by_word, *counts.by_context, counts.permutation, *counts.source.arrays().values()):
        assert not array.flags.writeable
