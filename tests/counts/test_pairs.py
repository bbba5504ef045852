"""Pair counts made from arrays: sums, checks, fingerprints, copies."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayesvec.counts.pairs import from_pairs
from bayesvec.errors import InputError
from count_tools import assert_same, dense, small


def test_repeated_pairs_are_added_up_and_empty_pairs_dropped() -> None:
    counts = small()
    np.testing.assert_array_equal(dense(counts), [[[0, 0], [5, 0], [0, 1]], [[0, 4], [1, 0], [0, 1]]])
    assert (counts.num_pairs, counts.num_words, counts.num_contexts) == (3, 3, 2)
    assert (counts.num_positives, counts.num_negatives, counts.num_observations) == (6, 6, 12)
    assert counts.by_word.other.dtype == counts.by_word.n_pos.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        counts.by_word.n_pos[0] = 1


@pytest.mark.parametrize("contexts", [50, 70_000])
def test_both_sides_agree(contexts: int) -> None:
    """The order by context is found in one pass up to 65,536 contexts and in two above."""
    random = np.random.default_rng(1)
    size = 20_000
    columns = random.integers(contexts, size=size)
    counts = from_pairs(
        random.integers(30, size=size),
        columns,
        n_pos=random.integers(3, size=size),
        n_neg=random.integers(1, 3, size=size),
        words=[f"w{i}" for i in range(30)],
        contexts=[f"c{i}" for i in range(contexts)],
    )
    word = np.repeat(np.arange(30, dtype=np.int32), np.diff(counts.by_word.indptr))
    np.testing.assert_array_equal(counts.permutation, np.argsort(counts.by_word.other, kind="stable"))
    np.testing.assert_array_equal(counts.by_context.other, word[counts.permutation])
    np.testing.assert_array_equal(counts.by_context.n_pos, counts.by_word.n_pos[counts.permutation])
    np.testing.assert_array_equal(counts.by_context.n_neg, counts.by_word.n_neg[counts.permutation])
    np.testing.assert_array_equal(np.diff(counts.by_context.indptr).sum(), counts.num_pairs)
    np.testing.assert_array_equal(
        counts.by_word.other[counts.permutation],
        np.repeat(np.arange(contexts), np.diff(counts.by_context.indptr)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": [0, 3]}, "word holds 3; it must be from 0 to 2"),
        ({"context": [0, -1]}, "context holds -1"),
        ({"n_pos": [1, -2]}, "n_pos is -2 at entry 1"),
        ({"n_neg": [0.5, 1]}, "n_neg is 0.5 at entry 0"),
        ({"n_neg": [float("nan"), 1]}, "n_neg is nan"),
        ({"n_pos": [1e300, 1]}, "n_pos is 1e\\+300"),
        ({"n_pos": [2**31, 1]}, "at most 2147483647"),
        ({"n_pos": np.array([2**63, 1], dtype=np.uint64)}, "below 2\\*\\*63"),
        ({"n_pos": [2**31 - 1, 1], "word": [0, 0], "context": [0, 0]}, "at most 2147483647"),
        ({"n_pos": ["a", "b"]}, "must hold whole numbers"),
        ({"n_pos": [[1, 2]]}, "n_pos has 2 dimensions"),
        ({"n_pos": [1]}, "2, 2, 1 and 2 entries"),
        ({"n_pos": [0, 0], "n_neg": [0, 0]}, "there are no pairs"),
        ({"words": ["a", "b", "a"]}, "words has 'a' more than once"),
        ({"words": []}, "words is empty"),
        ({"words": ["a", "", "b"]}, "words has an empty name at entry 1"),
        ({"words": ["a", 1, "b"]}, "words holds 1; it must be a sequence of strings"),
        ({"contexts": "xy"}, "contexts holds 'xy'"),
        ({"groups": ["g"]}, "groups has 1 entries for 3 words"),
    ],
)
def test_bad_pairs(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"word": [0, 1], "context": [0, 1], "n_pos": [1, 0], "n_neg": [0, 1]}
    good |= {"words": ["a", "b", "c"], "contexts": ["x", "y"]}
    from_pairs(**good)
    with pytest.raises(InputError, match=message):
        from_pairs(**(good | change))


def test_fingerprints_differ_for_different_data() -> None:
    def named(words: list[str], **options: Any) -> str:
        return from_pairs([0], [0], n_pos=[1], n_neg=[2], words=words, contexts=["c"], **options).fingerprint

    assert small().fingerprint == small(recipe={"other": 1}).fingerprint
    all_apart = [
        named(["a", "b"]),
        named(["a\0b"]),
        named(["ab"]),
        named(["a", "b"], groups=["1", "2"]),
        small().fingerprint,
        from_pairs([0], [0], n_pos=[2], n_neg=[1], words=["a", "b"], contexts=["c"]).fingerprint,
    ]
    assert len(set(all_apart)) == len(all_apart)


def test_arrays_that_do_not_fit_are_refused() -> None:
    counts = small()
    shorter = counts.by_word._replace(n_pos=counts.by_word.n_pos[:-1])
    for change in (
        {"by_word": shorter},
        {"words": ("a", "b")},
        {"groups": ("g",)},
        {"permutation": counts.permutation[:1]},
    ):
        with pytest.raises(InputError, match="do not fit together"):
            replace(counts, **change)


def test_counts_can_be_copied_and_their_recipe_not_changed() -> None:
    counts = small(recipe={"a": 1})
    assert_same(pickle.loads(pickle.dumps(counts)), counts)
    with pytest.raises(TypeError):
        counts.recipe["a"] = 2  # type: ignore[index]
