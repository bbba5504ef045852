"""Splits by sample and by document: parts add up, are random, and keep what they should."""

from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import bayesvec as bv
import naive_counts as naive
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.counts.store import open_counts
from bayesvec.errors import InputError, OptionError
from bayesvec.simulation.pairs import simulate
from count_tools import check_sides, dense, plain_count, small, texts, zipf_documents

LEVEL = 1e-4


@pytest.fixture(scope="module")
def world() -> PairCounts:
    return simulate(vocab=40, dim=3, pairs=400_000, zipf=True, seed=9)[0]


def test_parts_add_up_to_the_whole(world: PairCounts) -> None:
    parts = world.split(by="pair", fractions=(0.7, 0.15, 0.15), seed=3)
    np.testing.assert_array_equal(sum(dense(part) for part in parts), dense(world))
    for part in parts:
        assert (part.words, part.contexts) == (world.words, world.contexts)
        assert part.by_word.n_pos.dtype == np.int32
    assert [part.recipe["split"]["part"] for part in parts] == [0, 1, 2]
    (whole,) = world.split(by="pair", fractions=[1.0])
    assert whole.fingerprint == world.fingerprint


def split_p_value(world: PairCounts, parts: tuple[PairCounts, ...], fractions: tuple[float, ...]) -> float:
    """Chi-square of the parts' counts against shares of each cell with enough samples."""
    whole = dense(world)
    large = whole >= 100
    found = np.array([dense(part)[large] for part in parts])
    expected = np.outer(fractions, whole[large])
    statistic = ((found - expected) ** 2 / expected).sum()
    freedom = large.sum() * (len(parts) - 1)
    return float(2 * min(stats.chi2.sf(statistic, freedom), stats.chi2.cdf(statistic, freedom)))


def test_each_sample_is_assigned_at_random(world: PairCounts) -> None:
    fractions = (0.6, 0.3, 0.1)
    parts = world.split(by="pair", fractions=fractions, seed=1)
    assert split_p_value(world, parts, fractions) > LEVEL
    assert split_p_value(world, parts, (0.62, 0.28, 0.1)) < LEVEL
    # small cells too: together they are many
    whole = dense(world)
    few = (whole > 0) & (whole <= 5)
    found = [int(dense(part)[few].sum()) for part in parts]
    assert stats.chisquare(found, whole[few].sum() * np.array(fractions)).pvalue > LEVEL
    # the twin with a bug: a part takes its fraction of what is left, not of the whole
    wrong = (0.6, 0.3 * 0.4, 1 - 0.6 - 0.3 * 0.4)
    assert split_p_value(world, parts, wrong) < LEVEL


@pytest.mark.parametrize("n", [20, 200])
def test_signs_parts_and_cells_are_split_independently(n: int) -> None:
    word, context = np.divmod(np.arange(6400), 80)
    names = [f"w{i}" for i in range(80)]
    both = np.full(6400, n)
    counts = from_pairs(word, context, n_pos=both, n_neg=both, words=names, contexts=names)
    first, second, _ = (
        dense(part).astype(float) for part in counts.split(by="pair", fractions=(0.3, 0.3, 0.4))
    )
    second_given_first = second - (n - first) * 0.3 / 0.7

    def correlation_is_seen(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> bool:
        r = np.corrcoef(x.ravel(), y.ravel())[0, 1]
        return bool(abs(r) * np.sqrt(x.size) > stats.norm.isf(LEVEL / 2))

    assert not correlation_is_seen(first[0], first[1])
    assert not correlation_is_seen(first, second_given_first)
    assert not correlation_is_seen(first[0, :-1], first[0, 1:])
    assert not correlation_is_seen(first[0, :, :-1], first[0, :, 1:])
    upper = np.triu_indices(80, 1)
    assert not correlation_is_seen(first[0][upper], first[0].T[upper])
    # the twins: what shared random numbers, and the dependence left in, would look like
    assert correlation_is_seen(first[0], first[0] + 2 * first[1])
    assert correlation_is_seen(first, second)


def test_a_split_is_addressed(world: PairCounts) -> None:
    """A cell's parts depend on the seed and the cell, not on what else there is."""
    parts = world.split(by="pair", seed=5)
    again = world.split(by="pair", seed=5)
    assert [part.fingerprint for part in parts] == [part.fingerprint for part in again]
    assert world.split(by="pair", seed=6)[0].fingerprint != parts[0].fingerprint
    word = np.repeat(np.arange(world.num_words), np.diff(world.by_word.indptr))
    kept = np.arange(world.num_pairs) % 3 == 1
    fewer = from_pairs(
        word[kept],
        world.by_word.other[kept],
        n_pos=world.by_word.n_pos[kept],
        n_neg=world.by_word.n_neg[kept],
        words=world.words,
        contexts=world.contexts,
    )
    seen = dense(fewer).sum(axis=0) > 0
    for part, smaller in zip(parts, fewer.split(by="pair", seed=5), strict=True):
        np.testing.assert_array_equal(dense(smaller)[:, seen], dense(part)[:, seen])


@pytest.mark.parametrize("fractions", [(0.5, 0.6), (1.5, -0.5), (), (0.5, 0.5, 0.0), (float("nan"), 0.5)])
def test_bad_fractions(fractions: tuple[float, ...]) -> None:
    with pytest.raises(OptionError, match="must be positive and add up to 1"):
        small().split(by="pair", fractions=fractions)


def test_bad_splits() -> None:
    with pytest.raises(OptionError, match="by is 'word'"):
        small().split(by="word")
    for by in ("document", "basket"):
        with pytest.raises(OptionError, match=f"do not hold the {by}s"):
            small().split(by=by)
    one = from_pairs([0], [0], n_pos=[1], n_neg=[0], words=["a"], contexts=["b"])
    with pytest.raises(InputError, match="got none of 1 samples"):
        one.split(by="pair", fractions=(0.5, 0.5))
    with pytest.raises(OptionError, match="seed is -1"):
        small().split(by="pair", seed=-1)


@pytest.mark.parametrize("grouped", [False, True])
def test_parts_are_counted_from_their_own_documents_and_add_up(tmp_path, grouped):
    documents = zipf_documents(101, seed=8)
    groups = [str(2000 + number % 4) for number in range(101)] if grouped else None
    options = {"vocab": 30, "subsample": 0.05, "negatives": 2, "seed": 3}
    whole = plain_count(documents=texts(documents), groups=groups, **options)
    parts = whole.split(by="document", fractions=(0.7, 0.15, 0.15), seed=1)
    total = [Counter(), Counter()]
    seen = []
    unthinned = plain_count(documents=texts(documents), groups=groups, vocab=30)
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
    whole = plain_count(documents=["a b c", "b a d e", "a b", "c d"], vocab=4)
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
    counts = plain_count(documents=["a b c", "b a d"])
    tokens = counts.source.tokens.copy()
    tokens[1] = 10**6
    damaged = replace(counts, source=replace(counts.source, tokens=tokens))
    with pytest.raises(InputError, match="damaged"):
        damaged.split(by="document", fractions=(0.5, 0.5))


def test_a_part_without_pairs_is_reported():
    counts = plain_count(documents=["a b", "b a"])
    with pytest.raises(OptionError, match="part 2"):
        counts.split(by="document", fractions=(0.9, 0.1))


def test_selected_documents_keep_their_numbers():
    whole = plain_count(documents=["a b", "c d e", "", "f a"], groups=["x", "y", "x", "z"]).source
    part = whole.select(np.array([3, 1]))
    assert part.numbers.tolist() == [3, 1]
    assert part.bounds.tolist() == [0, 2, 5]
    assert part.tokens.tolist() == [*whole.tokens[5:7], *whole.tokens[2:5]]
    assert part.group_of.tolist() == [2, 1]
    again = EncodedCorpus(**part.arrays(), options=part.options)
    assert again.arrays().keys() == part.arrays().keys()
    in_file = whole.select(np.array([3, 1]), memory=1)
    assert in_file.tokens.tolist() == part.tokens.tolist()
