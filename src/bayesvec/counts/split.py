"""Splits of pair counts into parts for training and hold-out, by document or by sample."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bayesvec._types import Int64
from bayesvec._validate import fractions_of_one, whole_seed
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.pairs import PairCounts, from_sorted
from bayesvec.counts.spill import parse_memory
from bayesvec.counts.windows import count_corpus
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.binomial import thin


def split_counts(
    counts: PairCounts, by: str, *, fractions: Sequence[float], seed: int
) -> tuple[PairCounts, ...]:
    """Split counts into parts; see `PairCounts.split`."""
    if by == "pair":
        return _split_pairs(counts, fractions_of_one(fractions), whole_seed(seed))
    if by not in ("document", "basket"):
        raise OptionError(f"by is {by!r}; it must be 'document', 'basket' or 'pair'")
    if counts.source is None:
        raise OptionError(
            f"these counts do not hold the {by}s they came from, so whole {by}s cannot be held out; "
            "count the text itself, or split by='pair'"
        )
    return split_documents(counts, fractions, seed)


def _split_pairs(counts: PairCounts, shares: tuple[float, ...], seed: int) -> tuple[PairCounts, ...]:
    """Assign each sample to a part independently: multinomial counts for each pair."""
    word = np.repeat(np.arange(counts.num_words, dtype=np.int32), np.diff(counts.by_word.indptr))
    context = counts.by_word.other
    left = counts.by_word.n_pos.copy(), counts.by_word.n_neg.copy()
    parts = []
    for part, share in enumerate(shares):
        probability = 1.0 if part == len(shares) - 1 else share / math.fsum(shares[part:])
        key = rng.make_key(seed, rng.SPLIT, chain=part)
        taken = np.zeros_like(left[0]), np.zeros_like(left[1])
        for sign, (n, out) in enumerate(zip(left, taken, strict=True)):
            thin(key, word, context, n, out, sign, probability)
            n -= out
        kept = np.flatnonzero(taken[0] + taken[1])
        if not len(kept):
            raise InputError(
                f"part {part + 1} of {len(shares)} got none of {counts.num_observations} samples; "
                "give it a larger fraction or split more counts"
            )
        parts.append(
            from_sorted(
                *(array[kept] for array in (word, context, *taken)),
                words=counts.words,
                contexts=counts.contexts,
                groups=counts.groups,
                recipe={**counts.recipe, "split": _recipe(counts, "pair", shares, seed, part)},
            )
        )
    return tuple(parts)


def _recipe(
    counts: PairCounts, by: str, shares: Sequence[float], seed: int, part: int
) -> dict[str, str | int | list[float]]:
    """Return how a part was made."""
    return {"by": by, "fractions": list(shares), "seed": seed, "part": part, "of": counts.fingerprint}


def split_documents(
    counts: PairCounts,
    fractions: Sequence[float] = (0.7, 0.15, 0.15),
    seed: int = 0,
    *,
    units: npt.ArrayLike | None = None,
    memory: int | None = None,
    threads: int | None = None,
) -> tuple[PairCounts, ...]:
    """Assign documents (or baskets) to parts at random and count each part separately.

    Every part has the vocabulary and rows of the whole, and a document keeps its negative samples; so the parts
    add up to the whole.

    Parameters
    ----------
    counts : PairCounts
        Counts that hold their documents (made by `count` or `count_baskets`).
    fractions : sequence of float, optional
        Fraction of the documents in each part; they add up to 1.
    seed : int, optional
        Seed of the assignment.
    units : array_like of int, optional
        The unit of each document, such as its author: whole units are assigned, so that the documents of one
        unit stay together.
    memory, threads : int, optional
        As in `count_corpus`.
    """
    corpus = counts.source
    if corpus is None:
        raise OptionError("these counts do not hold their documents; split them by pair instead")
    shares, seed = fractions_of_one(fractions), whole_seed(seed)
    _check_ids(corpus, counts)
    groups = tuple(counts.recipe.get("groups", ()))
    by = "basket" if corpus.options.get("window", 2) is None else "document"
    parts = []
    for part, documents in enumerate(_assigned(corpus, shares, seed, _units(corpus, units))):
        chosen = corpus.select(documents, memory=parse_memory(memory))
        made = {"split": _recipe(counts, by, shares, seed, part)}
        recipe = {**counts.recipe, **_sizes(chosen, counts.num_contexts), **made}
        recipe.pop("word_types", None)  # the part does not know the words outside the vocabulary
        try:
            parts.append(
                count_corpus(chosen, counts.contexts, groups, recipe=recipe, memory=memory, threads=threads)
            )
        except InputError as error:
            raise OptionError(
                f"part {part + 1} of the split, {len(documents)} {by}s: {error}; give it a larger fraction"
            ) from None
    return tuple(parts)


def _sizes(corpus: EncodedCorpus, num_words: int) -> dict[str, int]:
    """Return the sizes of the corpus that a recipe records."""
    inside = corpus.tokens[corpus.tokens >= 0]
    return {
        "documents": corpus.num_documents,
        "tokens": len(corpus.tokens),
        "tokens_in_vocabulary": len(inside),
        "words_not_found": int((np.bincount(inside, minlength=num_words) == 0).sum()),
    }


def _check_ids(corpus: EncodedCorpus, counts: PairCounts) -> None:
    """Raise if the documents, which may come from a damaged folder, refer to rows that do not exist."""
    ends = corpus.bounds
    fits = ends[0] == 0 and ends[-1] == len(corpus.tokens) and np.all(np.diff(ends) >= 0)
    if len(corpus.tokens):
        fits &= corpus.tokens.min() >= -1 and corpus.tokens.max() < counts.num_contexts
    if corpus.group_of is not None and len(corpus.group_of):
        size = len(counts.recipe.get("groups", ()))
        fits &= corpus.group_of.min() >= 0 and corpus.group_of.max() < size
    if not fits:
        raise InputError("the documents kept with these counts are damaged; count the text again")


def _units(corpus: EncodedCorpus, units: npt.ArrayLike | None) -> Int64:
    """Return the unit of each document: the document itself by default."""
    if units is None:
        return corpus.numbers
    given = np.asarray(units, dtype=np.int64)
    if given.shape != corpus.numbers.shape:
        raise OptionError(
            f"units has {given.size} entries for {corpus.num_documents} documents; give one per document"
        )
    return given


def _assigned(corpus: EncodedCorpus, shares: Sequence[float], seed: int, units: Int64) -> Iterator[Int64]:
    """Yield the documents of each part: those with words, their units in an order drawn by number."""
    documents = np.flatnonzero(np.diff(corpus.bounds) > 0)
    numbers, unit_of = np.unique(units[documents], return_inverse=True)
    key = rng.make_key(seed, rng.SPLIT)
    drawn = np.array([int(rng.bits(key, int(number), 0)[0]) for number in numbers], dtype=np.uint64)
    place = np.argsort(np.argsort(drawn, kind="stable"))
    edges = np.rint(np.cumsum(shares) * len(numbers)).astype(np.int64)
    for first, last in zip([0, *edges[:-1]], edges, strict=True):
        yield documents[(place[unit_of] >= first) & (place[unit_of] < last)]
