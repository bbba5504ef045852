"""The paper's real data, split for training and hold-out: by pair, as in the paper, and by document or user."""

from functools import lru_cache
from typing import Any

from bayesvec._types import Int64
from bayesvec.counts.pairs import PairCounts

HELD_OUT = 0.15
TRAINED = 0.7  # the rest is the paper's validation set, which is not used here
CONGRESS_WORDS = 2_100_000  # of House speeches: enough for 10^7 training samples
QUICK_CONGRESS_WORDS = 60_000
MOVIES = 603  # with at least 50 ratings


@lru_cache(maxsize=2)
def movielens(recipe: str, seed: int) -> PairCounts:
    """Return MovieLens 100K by one of the paper's two recipes."""
    from bayesvec.datasets import movielens

    return movielens(recipe=recipe, seed=seed)


def movielens_users(recipe: str, seed: int) -> Int64:
    """Return the user of each basket of `movielens`."""
    from bayesvec.datasets.movielens import users_of_baskets

    return users_of_baskets(recipe=recipe, seed=seed)


@lru_cache(maxsize=1)
def house(words: int, vocab: int, seed: int, counting: tuple[tuple[str, Any], ...]) -> PairCounts:
    """Return the pairs of random House speeches with about so many words, counted as a user would."""
    from bayesvec.datasets.congress import congress_speeches
    from bayesvec.text.count import count

    speeches = congress_speeches(max_words=words, seed=seed)
    return count(documents=speeches.documents, vocab=vocab, seed=seed, progress=False, **dict(counting))


@lru_cache(maxsize=1)
def python_docs(vocab: int, seed: int, counting: tuple[tuple[str, Any], ...]) -> PairCounts:
    """Return the pairs of Python's documentation."""
    from bayesvec.datasets import python_docs
    from bayesvec.text.count import count

    return count(documents=python_docs(), vocab=vocab, seed=seed, progress=False, **dict(counting))


@lru_cache(maxsize=1)
def congress(
    words: int, vocab: int, seed: int, *, group: str | None = None, parties: tuple[str, ...] | None = None
) -> PairCounts:
    """Return the pairs of random House speeches with about so many words, of some parties, by party or year."""
    from bayesvec.datasets import congress

    return congress(max_words=words, vocab=vocab, seed=seed, group=group, parties=parties, progress=False)


def thinned(counts: PairCounts, samples: int, seed: int) -> PairCounts:
    """Return about so many random samples; all of them if there are no more."""
    share = samples / counts.num_observations
    return counts if share >= 1.0 else counts.split("pair", fractions=(share, 1.0 - share), seed=seed)[0]


def train_and_test(
    counts: PairCounts, share: float, split: str, seed: int, units: Any = None
) -> tuple[Any, Any]:
    """Return a training set and a hold-out set.

    Parameters
    ----------
    counts : PairCounts
        The whole.
    share : float
        The fraction to train on, at most 0.85; the same 15% are held out for all fractions.
    split : {"pair", "document", "user"}
        Assign single samples, whole documents, or whole users, given by ``units``.
    seed : int
        Of the assignment.
    units : array_like of int, optional
        The user of each document.
    """
    left = 1.0 - HELD_OUT - share
    fractions = (HELD_OUT, share, left) if left > 1e-9 else (HELD_OUT, 1.0 - HELD_OUT)
    if split == "user":
        from bayesvec.counts.split import split_documents

        test, train, *_ = split_documents(counts, fractions, seed, units=units)
    else:
        test, train, *_ = counts.split(split, fractions=fractions, seed=seed)
    return train, test
