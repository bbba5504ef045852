"""Small counts and documents for tests, and checks that both sides of counts agree."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import bayesvec as bv
from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.kernels import counting as kernels

# counted as in the paper, every token kept: what pairs there are can be seen at a glance
plain_count = partial(bv.count, window=2, negatives=1, negative_power=1.0, subsample=None)


def small(**options: Any) -> PairCounts:
    return from_pairs(
        [1, 0, 1, 2, 1],
        [0, 1, 0, 1, 1],
        n_pos=[3, 0, 2, 1, 0],
        n_neg=[0, 4, 1, 1, 0],
        words=["cat", "dog", "eel"],
        contexts=["runs", "swims"],
        **options,
    )


def dense(counts: PairCounts) -> npt.NDArray[np.int64]:
    """Positives and negatives, (2, words, contexts), read from both sides and compared."""
    out = np.zeros((2, counts.num_words, counts.num_contexts), dtype=np.int64)
    by_context = np.zeros((2, counts.num_contexts, counts.num_words), dtype=np.int64)
    for side, target in ((counts.by_word, out), (counts.by_context, by_context)):
        row = np.repeat(np.arange(target.shape[1]), np.diff(side.indptr))
        target[0, row, side.other] = side.n_pos
        target[1, row, side.other] = side.n_neg
    np.testing.assert_array_equal(out, by_context.transpose(0, 2, 1))
    return out


def assert_same(one: PairCounts, two: PairCounts) -> None:
    assert (one.words, one.contexts, one.groups) == (two.words, two.contexts, two.groups)
    assert one.recipe == two.recipe
    for a, b in zip(
        (*one.by_word, *one.by_context, one.permutation),
        (*two.by_word, *two.by_context, two.permutation),
        strict=True,
    ):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


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


def every_pair(words, contexts, *, positives=(1, 9), negatives=(1, 9), seed=0, **options):
    """Counts of which every pair is seen, with uniform numbers of samples from (lowest, highest + 1)."""
    generator = np.random.default_rng(seed)
    word, context = np.divmod(np.arange(len(words) * len(contexts)), len(contexts))
    return from_pairs(
        word,
        context,
        n_pos=generator.integers(*positives, word.size),
        n_neg=generator.integers(*negatives, word.size),
        words=words,
        contexts=contexts,
        **options,
    )


def grouped_counts(slices):
    """Counts of four words in each slice."""
    rows = [f"{word}@{group}" for word in "abcd" for group in slices]
    return every_pair(rows, list("abcd"), seed=1, groups=[group for _ in "abcd" for group in slices])
