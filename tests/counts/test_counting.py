import hashlib
import json
import os
from collections import Counter
from dataclasses import replace
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
from bayesvec.counts.store import open_counts
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import counting as kernels
from bayesvec.kernels import rng
from bayesvec.text.tokens import make_tokenizer

ERROR_RATE = 1e-4  # of a right program failing one statistical test; seeds are fixed


def zipf_documents(num_documents, *, types=60, longest=40, seed=0):
    """Documents of words drawn by Zipf's law, some empty, as lists of words."""
    generator = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, types + 1)
    sizes = generator.integers(0, longest, num_documents)
    return [[f"w{t}" for t in generator.choice(types, size, p=share / share.sum())] for size in sizes]


def texts(documents):
    return [" ".join(document) for document in documents]


def drawer(counts, power=1.0):
    """Map a uniform to a context by the alias table of the counts' frequencies."""
    frequency = counts.source.frequency
    weight = np.where(frequency > 0, (frequency / frequency.max()) ** power, 0.0)
    share, alias = kernels.alias_table(weight)

    def draw(u):
        place = u * len(share)
        cell = int(place)
        return counts.contexts[cell if place - cell < share[cell] else alias[cell]]

    return draw


def check_sides(counts):
    """The two sides hold the same pairs."""
    by_word, by_context = counts.by_word, counts.by_context
    word = np.repeat(np.arange(counts.num_words), np.diff(by_word.indptr))
    context = np.repeat(np.arange(counts.num_contexts), np.diff(by_context.indptr))
    order = counts.permutation
    np.testing.assert_array_equal(by_word.other[order], context)
    np.testing.assert_array_equal(word[order], by_context.other)
    np.testing.assert_array_equal(by_word.n_pos[order], by_context.n_pos)
    np.testing.assert_array_equal(by_word.n_neg[order], by_context.n_neg)
    for indptr, other in ((by_word.indptr, by_word.other), (by_context.indptr, by_context.other)):
        inside = np.setdiff1d(np.arange(1, len(other)), indptr)
        assert np.all(other[inside] > other[inside - 1])


# The naive twin


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
    counts = bv.count(documents=texts(documents), vocab=25, threads=2, **options)
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


def test_a_basket_pairs_all_places_and_nothing_else():
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
            bv.count(documents=texts(documents), vocab=vocab, tokenizer="whitespace", **options)
        return
    counts = bv.count(documents=texts(documents), vocab=vocab, tokenizer="whitespace", **options)
    assert naive.as_counters(counts)[0] == positive
    assert naive.as_counters(counts) == naive.count(documents, kept, drawer(counts), **options)


def test_the_pairs_of_real_text_equal_those_of_numpy():
    folder = os.environ.get("BAYESVEC_DATA")
    if not folder or not (file := Path(folder) / "sotu" / "sotu_1790_2024.parquet").exists():
        pytest.skip("BAYESVEC_DATA does not name a folder with sotu/sotu_1790_2024.parquet")
    texts_read = pyarrow.parquet.read_table(file)["text"].to_pylist()[::4]
    counts = bv.count(documents=texts_read, vocab=2000, window=2)
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


def test_windows_do_not_cross_documents_and_keep_the_place_of_unknown_words():
    counts = bv.count(documents=["a b x a", "c a"], vocabulary=["a", "b", "c"], window=1, negatives=0)
    assert naive.as_counters(counts)[0] == Counter(
        {("a", "b"): 1, ("b", "a"): 1, ("c", "a"): 1, ("a", "c"): 1}
    )
    closed = bv.count(
        documents=["a b x a", "c a"],
        vocabulary=["a", "b", "c"],
        window=1,
        negatives=0,
        window_over="vocabulary",
    )
    assert naive.as_counters(closed)[0] == Counter(
        {("a", "b"): 2, ("b", "a"): 2, ("c", "a"): 1, ("a", "c"): 1}
    )


# The same whatever the workers and the memory


def test_the_counts_do_not_depend_on_threads_memory_or_chunks(monkeypatch, tmp_path):
    documents = zipf_documents(400, types=300, seed=3)
    file = tmp_path / "text.txt"
    file.write_text("\n".join(texts(documents)))
    options = {"vocab": 200, "negatives": 2, "subsample": 0.01, "window_over": "vocabulary", "seed": 5}
    reference = bv.count(file, threads=1, **options)
    check_sides(reference)
    for threads in (2, 3):
        assert bv.count(file, threads=threads, **options).fingerprint == reference.fingerprint
    monkeypatch.setattr(memory, "SMALLEST", 1)
    monkeypatch.setattr(pairs, "_THINNED_AT_ONCE", 1000)
    for limit in (30_000, 3_000, 100):
        bounded = bv.count(file, threads=2, memory=limit, **options)
        assert bounded.fingerprint == reference.fingerprint
        check_sides(bounded)
        assert bounded.recipe == reference.recipe
    assert isinstance(bounded.by_word.other.base, np.memmap)
    np.testing.assert_array_equal(bounded.source.tokens, reference.source.tokens)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_is_named(monkeypatch):
    full = lambda: open("/dev/full", "r+b", buffering=0)  # noqa: E731, SIM115
    monkeypatch.setattr(memory, "_temporary_file", full)
    grown = memory.GrowingArray(np.int32, 10)
    with pytest.raises(InputError, match="No space left on device; make room, set TMPDIR"):
        grown.append(np.arange(10))
    with pytest.raises(InputError, match="temporary files in"):
        memory.empty_array(10, np.int32, in_file=True)


def test_each_kind_of_bucket_gives_the_same_pairs(monkeypatch):
    monkeypatch.setattr(pairs, "_LONGEST_LIST", 1)
    documents = zipf_documents(400, types=1500, seed=4)
    counts = bv.count(documents=texts(documents), vocab=800, threads=1)
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


# Negative samples


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
    counts = bv.count(documents=texts(documents), negatives=3, negative_power=power, seed=6)
    p = negative_p_values(counts, power)
    assert p.min() * len(p) > ERROR_RATE
    wrong = negative_p_values(counts, power + 0.1)
    assert wrong[0] < ERROR_RATE


def test_words_that_do_not_occur_are_never_drawn():
    counts = bv.count(
        documents=["a b a b"] * 50, vocabulary=["zebra", "a", "b"], negatives=5, negative_power=0.0
    )
    assert counts.contexts == ("zebra", "a", "b")
    assert counts.by_context.indptr[1] == 0
    assert counts.recipe["words_not_found"] == 1


def test_another_seed_draws_other_negatives_and_the_same_positives():
    documents = texts(zipf_documents(50, seed=6))
    one, other = (naive.as_counters(bv.count(documents=documents, seed=seed)) for seed in (0, 1))
    assert one[0] == other[0]
    assert one[1] != other[1]


def test_subsampling_keeps_the_share_it_should():
    size = 200_000
    tokens = np.tile(np.arange(3, dtype=np.int32), size)
    frequency = np.array([900, 90, 10], dtype=np.int64)
    keep = pairs._keep_probability(frequency, 0.05)
    np.testing.assert_allclose(keep, [np.sqrt(0.05 / 0.9), np.sqrt(0.05 / 0.09), 1.0])
    bounds, number = np.array([0, len(tokens)]), np.array([9])
    kept, _ = kernels.thin(tokens, bounds, number, 0, 1, keep, rng.make_key(1, rng.SUBSAMPLE), True)
    share = np.bincount(kept) / size
    z = (share - keep)[:2] / np.sqrt(keep * (1 - keep) / size)[:2]
    bound = stats.norm.isf(ERROR_RATE / 4)
    assert np.abs(z).max() < bound
    assert share[2] == 1.0
    wrong = 0.05 / np.array([0.9, 0.09])  # the square root forgotten
    assert np.all(np.abs(share[:2] - wrong) / np.sqrt(wrong * (1 - wrong) / size) > bound)


# Groups


def test_groups_make_rows_of_words_and_share_the_contexts():
    documents = zipf_documents(150, types=30, seed=7)
    groups = [["D", "R", "I"][number % 3 if number < 140 else 0] for number in range(150)]
    counts = bv.count(documents=texts(documents), groups=groups, vocab=20, negatives=2)
    check_sides(counts)
    occurring = {
        (word, group)
        for document, group in zip(documents, groups, strict=True)
        for word in document
        if word in counts.contexts
    }
    order = [(w, g) for w in counts.contexts for g in ("D", "I", "R") if (w, g) in occurring]
    assert counts.words == tuple(f"{w}@{g}" for w, g in order)
    assert counts.groups == tuple(g for _, g in order)
    expected = naive.count(documents, set(counts.contexts), drawer(counts), negatives=2, groups=groups)
    assert naive.as_counters(counts) == expected
    plain = naive.as_counters(bv.count(documents=texts(documents), vocab=20, negatives=2))
    for grouped, ungrouped in zip(naive.as_counters(counts), plain, strict=True):
        added = Counter()
        for (word, context), n in grouped.items():
            added[word.split("@")[0], context] += n
        assert added == ungrouped


@pytest.mark.parametrize("groups", [[2001.0, 2002], [np.float32(2001), np.int64(2002)], ["2001", 2002.0]])
def test_whole_numbers_name_groups_without_a_point(groups):
    assert set(bv.count(documents=["a b", "b a"], groups=groups).groups) == {"2001", "2002"}
    assert set(bv.count_baskets([["a", "b"], ["b", "a"]], groups=groups).groups) == {"2001", "2002"}


@pytest.mark.parametrize(
    "groups",
    [
        ["a"],
        ["a", "b", "c"],
        ["a", None],
        ["a", "b@c"],
        ["a", ""],
        ["a", " "],
        ["a", float("nan")],
        ["a", ["b"]],
        ["a", "b", None],
    ],
)
def test_groups_that_do_not_fit_are_refused(groups):
    with pytest.raises(InputError, match="group"):
        bv.count(documents=["x y", "y z"], groups=groups)
    with pytest.raises(InputError, match="group"):
        bv.count_baskets([["x", "y"], ["y", "z"]], groups=groups)


# Holding out documents


@pytest.mark.parametrize("grouped", [False, True])
def test_parts_are_counted_from_their_own_documents_and_add_up(tmp_path, grouped):
    documents = zipf_documents(101, seed=8)
    groups = [str(2000 + number % 4) for number in range(101)] if grouped else None
    options = {"vocab": 30, "subsample": 0.05, "negatives": 2, "seed": 3}
    whole = bv.count(documents=texts(documents), groups=groups, **options)
    parts = whole.split(by="document", fractions=(0.7, 0.15, 0.15), seed=1)
    total = [Counter(), Counter()]
    seen = []
    unthinned = bv.count(documents=texts(documents), groups=groups, vocab=30)
    pieces = unthinned.split(by="document", fractions=(0.7, 0.15, 0.15), seed=1)
    for part, piece in zip(parts, pieces, strict=True):
        check_sides(part)
        assert (part.words, part.contexts, part.groups) == (whole.words, whole.contexts, whole.groups)
        numbers = part.source.numbers.tolist()
        seen.extend(numbers)
        for sums, counter in zip(total, naive.as_counters(part), strict=True):
            sums.update(counter)
        positive, _ = naive.count(
            [documents[number] for number in numbers],
            set(whole.contexts),
            None,
            negatives=0,
            groups=groups and [groups[number] for number in numbers],
        )
        assert naive.as_counters(piece)[0] == positive
    assert tuple(total) == naive.as_counters(whole)
    full = [number for number, document in enumerate(documents) if document]
    assert sorted(seen) == full
    sizes = [part.source.num_documents for part in parts]
    assert sizes == np.diff(np.rint(np.array([0, 0.7, 0.85, 1]) * len(full))).astype(int).tolist()

    whole.save(tmp_path / "counts")
    again = open_counts(tmp_path / "counts").split(by="document", fractions=(0.7, 0.15, 0.15), seed=1)
    assert [part.fingerprint for part in again] == [part.fingerprint for part in parts]
    other = whole.split(by="document", fractions=(0.7, 0.15, 0.15), seed=2)
    assert other[0].source.numbers.tolist() != parts[0].source.numbers.tolist()


def test_a_part_can_be_split_again_and_baskets_too():
    whole = bv.count_baskets(zipf_documents(80, seed=9), vocab=20)
    train, test = whole.split(by="basket", fractions=(0.5, 0.5))
    halves = train.split(by="basket", fractions=(0.5, 0.5), seed=5)
    counters = [naive.as_counters(part) for part in (*halves, test)]
    for kind in (0, 1):
        assert sum((counter[kind] for counter in counters), Counter()) == naive.as_counters(whole)[kind]
    split = {"by": "basket", "fractions": [0.5, 0.5], "seed": 0, "part": 0, "of": whole.fingerprint}
    assert train.recipe["split"] == split


def test_the_recipe_of_a_part_is_that_of_its_documents():
    whole = bv.count(documents=["a b c", "b a d e", "a b", "c d"], vocab=4)
    parts = whole.split(by="document", fractions=(0.5, 0.5))
    assert [part.recipe["documents"] for part in parts] == [2, 2]
    assert [part.recipe["split"]["by"] for part in parts] == ["document", "document"]
    for name in ("tokens", "tokens_in_vocabulary"):
        assert sum(part.recipe[name] for part in parts) == whole.recipe[name]
    for part in parts:
        assert part.recipe["tokens"] == len(part.source.tokens)
        missing = set(range(4)) - set(part.source.tokens.tolist())
        assert part.recipe["words_not_found"] == len(missing)
        assert "word_types" not in part.recipe


def test_damaged_documents_are_not_split():
    counts = bv.count(documents=["a b c", "b a d"])
    tokens = counts.source.tokens.copy()
    tokens[1] = 10**6
    damaged = replace(counts, source=replace(counts.source, tokens=tokens))
    with pytest.raises(InputError, match="damaged"):
        damaged.split(by="document", fractions=(0.5, 0.5))


def test_a_large_power_draws_the_most_common_word():
    counts = bv.count(documents=["a a a b b c"] * 100, negative_power=1000.0)
    assert naive.as_counters(counts)[1].keys() <= {(word, "a") for word in "abc"}
    assert counts.num_negatives == counts.num_positives


def test_a_part_without_pairs_is_named():
    counts = bv.count(documents=["a b", "b a"])
    with pytest.raises(OptionError, match="part 2"):
        counts.split(by="document", fractions=(0.9, 0.1))


# What is kept with the counts, and what is refused


def test_the_recipe_says_how_the_counts_were_made(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("The cat sat.\n\nThe dog sat too.\n")
    counts = bv.count(file, vocab=3, seed=9, stopwords=["too"])
    recipe = json.loads(json.dumps(dict(counts.recipe)))
    assert recipe["made_by"] == "count"
    assert recipe["version"] == bv.__version__
    assert recipe["inputs"] == [{"name": str(file), "bytes": file.stat().st_size}]
    numbers = [recipe[name] for name in ("documents", "tokens", "tokens_in_vocabulary", "word_types")]
    assert numbers == [2, 7, 5, 5]
    options = recipe["options"]
    assert (options["vocab"], options["seed"], options["window"]) == (3, 9, 2)
    assert options["tokenizer"] == "words"
    assert (options["format"], options["encoding"], options["errors"]) == ("auto", "utf-8", "strict")
    digest = hashlib.sha256(b"too\n").hexdigest()
    assert options["stopwords"] == {"file": None, "sha256": digest, "words": 1}
    assert options["vocabulary"] is None
    (tmp_path / "stop.txt").write_text("too\n")
    from_file = bv.count(file, vocab=3, seed=9, stopwords=tmp_path / "stop.txt").recipe["options"]
    assert from_file["stopwords"] == {"file": str(tmp_path / "stop.txt"), "sha256": digest, "words": 1}
    of_baskets = bv.count_baskets([["a", "b"]], vocabulary=["b", "a"], errors="ignore").recipe["options"]
    assert (of_baskets["format"], of_baskets["errors"], of_baskets["vocabulary"]["words"]) == (
        "auto",
        "ignore",
        2,
    )
    with pytest.raises(TypeError):
        counts.recipe["documents"] = 5


def test_numbers_of_any_type_are_taken(tmp_path):
    options = {"vocab": np.int64(3), "window": np.int32(1), "seed": np.uint64(5), "min_count": np.int8(1)}
    counts = bv.count(documents=["a b c a"], negative_power=1, threads=np.int64(1), **options)
    assert counts.fingerprint == bv.count(documents=["a b c a"], vocab=3, window=1, seed=5).fingerprint
    counts.save(tmp_path / "counts")
    assert open_counts(tmp_path / "counts").recipe == counts.recipe


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window is 0"),
        ({"window": 1.5}, "window is 1.5; it must be a whole number"),
        ({"window": 10**20}, r"window is 1\d+; it must be from 1 to 2\*\*31 - 1"),
        ({"negatives": 2**31}, "negatives is"),
        ({"negative_power": "x"}, "negative_power is 'x'; it must be a number"),
        ({"subsample": "1e-3"}, "subsample is '1e-3'; it must be a number"),
        ({"stopwords_action": "drop"}, "--stopwords"),
        ({"stopwords": ["a"], "stopwords_action": "keep-unstemmed"}, "--stem"),
        ({"encoding": "hex"}, "encoding 'hex'"),
        ({"negatives": -1}, "negatives is -1"),
        ({"negative_power": -0.5}, "negative_power is -0.5"),
        ({"negative_power": float("nan")}, "negative_power is nan"),
        ({"subsample": 0.0}, "subsample is 0.0"),
        ({"window_over": "words"}, "positions or vocabulary"),
        ({"vocab": 0}, "vocab is 0"),
        ({"vocab": 9}, "the corpus has 3 different words"),
        ({"min_count": 0}, "min_count is 0"),
        ({"min_count": 9}, "most common has 2"),
        ({"vocab": 2, "vocabulary": ["a"]}, "do not go with it"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": ["z"]}, "none of the 1 words"),
        ({"vocabulary": ["a", "b", "a"]}, "'a' more than once"),
        ({"stem": "klingon"}, "klingon"),
        ({"stopwords": ["a"], "stopwords_action": "eat"}, "drop or keep-unstemmed"),
        ({"tokenizer": "(["}, "not a regular expression"),
        ({"tokenizer": "word"}, "words, whitespace or a regular"),
        ({"memory": "much"}, "500MB"),
        ({"memory": "1kB"}, "at least 32MB"),
        ({"threads": 0}, "threads is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"document": "page"}, "line or file"),
        ({"format": "pdf"}, "format is 'pdf'"),
        ({"errors": "surrogateescape"}, "strict, replace or ignore"),
        ({"encoding": "klingon"}, "encoding 'klingon'"),
        ({"group_column": "party"}, "text_column"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises((OptionError, InputError), match=message):
        bv.count(documents=["a b c", "a b"], **options)


def test_input_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(OptionError, match="one of the two"):
        bv.count()
    with pytest.raises(OptionError, match="one of the two"):
        bv.count("a.txt", documents=["a b"])
    with pytest.raises(OptionError, match="group_column"):
        bv.count(tmp_path, groups=["a"])
    with pytest.raises(InputError, match="one string"):
        bv.count(documents="a b c")
    with pytest.raises(InputError, match="document 2 is int"):
        bv.count(documents=["a b", 3])
    with pytest.raises(InputError, match="not a path"):
        bv.count([["a", "b"]])
    with pytest.raises(InputError, match="holds no words"):
        bv.count(documents=["...", ""])
    with pytest.raises(InputError, match="no pairs"):
        bv.count(documents=["a", "b"])
    with pytest.raises(InputError, match="basket 1 is 1; it must be a list"):
        bv.count_baskets([1, 2])
    with pytest.raises(InputError, match="basket 2 is 'ab'"):
        bv.count_baskets([["a", "b"], "ab"])
    with pytest.raises(InputError, match="no baskets"):
        bv.count_baskets([])


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500MB", 500_000_000),
        ("1GB", 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("64m", 64_000_000),
        (40_000_000, 4 * 10**7),
    ],
)
def test_memory_is_read_as_it_is_written(text, size):
    assert memory.parse_memory(text) == size
    assert memory.parse_memory(None) > 10**8


def test_the_counts_and_their_source_cannot_be_changed():
    counts = bv.count(documents=["a b c", "c b a"])
    for array in (*counts.by_word, *counts.by_context, counts.permutation, *counts.source.arrays().values()):
        assert not array.flags.writeable
