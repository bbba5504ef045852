"""The paper's real data, split for training and hold-out: by pair as the paper does it, and honestly."""

from functools import lru_cache
from typing import Any

from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import InputError
from bayesvec.paper.cells import NoData

HELD_OUT = 0.15
TRAINED = 0.7  # the rest is the paper's validation part, which nothing here needs
POOL_WORDS = 2_100_000  # of House speeches: enough for 10^7 samples to train on
POOL_WORDS_QUICK = 60_000

MOVIELENS = """\
MovieLens 100K (Harper & Konstan 2015): movies with at least 50 ratings, V = 603"""
CONGRESS = f"""\
Speeches of the US House, 2001 to 2020, not the paper's Congresses (its text is the daily edition of Gentzkow,
Shapiro & Taddy 2018), prepared as its authors did: lower case, letters and spaces only, Snowball stems but
for stopwords, the 5,000 most common stems, window 2 over positions, one negative sample for each positive one
from the unigram frequency, no subsampling. Speeches are taken at random until there are {POOL_WORDS:,} words"""


def movielens(recipe: str, seed: int) -> PairCounts:
    """Return MovieLens 100K by one of the paper's two recipes."""
    try:
        return _movielens(recipe, seed)
    except InputError as error:
        raise NoData(str(error)) from None


@lru_cache(maxsize=2)
def _movielens(recipe: str, seed: int) -> PairCounts:
    from bayesvec.datasets import movielens

    return movielens(recipe=recipe, seed=seed)


def congress(
    words: int, vocab: int, seed: int, *, group: str | None = None, parties: tuple[str, ...] | None = None
) -> PairCounts:
    """Return the pairs of random House speeches of about so many words; of some parties, by party or by year."""
    try:
        return _congress(words, vocab, seed, group, parties)
    except InputError as error:
        raise NoData(str(error)) from None


@lru_cache(maxsize=1)
def _congress(
    words: int, vocab: int, seed: int, group: str | None, parties: tuple[str, ...] | None
) -> PairCounts:
    from bayesvec.datasets import congress

    return congress(max_words=words, vocab=vocab, seed=seed, group=group, parties=parties, progress=False)


def congress_as_spoken(words: int | None, vocab: int, subsample: float, group: str, seed: int) -> PairCounts:
    """Return the pairs of speeches of both parties by year or party, words neither stemmed nor stripped."""
    from bayesvec.datasets import congress_speeches
    from bayesvec.text.count import count

    try:
        speeches = congress_speeches(parties=("D", "R"), max_words=words, seed=seed)
    except InputError as error:
        raise NoData(str(error)) from None
    return count(
        documents=speeches.documents,
        groups=getattr(speeches, group).tolist(),
        vocab=vocab,
        window=2,
        negatives=1,
        subsample=subsample,
        seed=seed,
        progress=False,
    )


def thinned(counts: PairCounts, samples: int, seed: int) -> PairCounts:
    """Return about so many of the samples, chosen at random; all if there are no more."""
    share = samples / counts.num_observations
    return counts if share >= 1.0 else counts.split("pair", fractions=(share, 1.0 - share), seed=seed)[0]


def parts(counts: PairCounts, share: float, split: str, seed: int, units: Any = None) -> tuple[Any, Any]:
    """Return a training set and what is held out.

    Parameters
    ----------
    counts : PairCounts
        The whole.
    share : float
        How much of the whole is trained on, at most 0.7; what is held out is the same 15% for all shares.
    split : {"pair", "document", "user"}
        Each sample goes its own way; or whole documents do; or whole users, ``units`` being theirs.
    seed : int
        Of the assignment.
    units : array_like of int, optional
        The user of each document.
    """
    fractions = (HELD_OUT, share, 1.0 - HELD_OUT - share)
    if split == "user":
        from bayesvec.counts.split import split_documents

        test, train, _ = split_documents(counts, fractions, seed, units=units)
    else:
        test, train, _ = counts.split(split, fractions=fractions, seed=seed)
    return train, test
