"""Parts of pair counts for training and hold-out."""

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
    shares, seed = fractions_of_one(fractions), whole_seed(seed)
    if by == "pair":
        return _split_pairs(counts, shares, seed)
    if by not in ("document", "basket"):
        raise OptionError(f"by is {by!r}; it must be 'document', 'basket' or 'pair'")
    if counts.source is None:
        raise OptionError(
            f"these counts do not hold the {by}s they came from, so whole {by}s cannot be held out; "
            "count the text itself, or split by='pair'"
        )
    return split_documents(counts, shares, seed)


def _split_pairs(counts: PairCounts, shares: tuple[float, ...], seed: int) -> tuple[PairCounts, ...]:
    """Send each sample to a part on its own: of each pair, multinomial counts."""
    word = np.repeat(np.arange(counts.num_words, dtype=np.int32), np.diff(counts.by_word.indptr))
    context, left_pos, left_neg = (
        counts.by_word.other,
        counts.by_word.n_pos.copy(),
        counts.by_word.n_neg.copy(),
    )
    parts = []
    for part, share in enumerate(shares):
        rest = math.fsum(shares[part:])
        probability = 1.0 if part == len(shares) - 1 else share / rest
        key = rng.make_key(seed, rng.SPLIT, chain=part)
        n_pos, n_neg = np.zeros_like(left_pos), np.zeros_like(left_neg)
        thin(key, word, context, left_pos, n_pos, 0, probability)
        thin(key, word, context, left_neg, n_neg, 1, probability)
        left_pos -= n_pos
        left_neg -= n_neg
        kept = np.flatnonzero(n_pos + n_neg)
        if not len(kept):
            raise InputError(
                f"part {part + 1} of {len(shares)} got none of {counts.num_observations} samples; "
                "give it a larger fraction or split more counts"
            )
        made = {
            "by": "pair",
            "fractions": list(shares),
            "seed": seed,
            "part": part,
            "of": counts.fingerprint,
        }
        parts.append(
            from_sorted(
                word[kept],
                context[kept],
                n_pos[kept],
                n_neg[kept],
                words=counts.words,
                contexts=counts.contexts,
                groups=counts.groups,
                recipe={**counts.recipe, "split": made},
            )
        )
    return tuple(parts)


def split_documents(
    counts: PairCounts,
    fractions: Sequence[float] = (0.7, 0.15, 0.15),
    seed: int = 0,
    *,
    units: npt.ArrayLike | None = None,
    memory: int | None = None,
    threads: int | None = None,
) -> tuple[PairCounts, ...]:
    """Share out the documents (or baskets) at random and count each part by itself.

    Every part has the whole's vocabulary and rows, and a document's negative samples are those it had in the
    whole; so the parts add up to it.

    Parameters
    ----------
    counts : PairCounts
        Counts that know their documents (of `count` or `count_baskets`).
    fractions : sequence of float, optional
        The share of documents of each part; they add up to 1.
    seed : int, optional
        Of the assignment.
    units : array_like of int, optional
        What each document is of, such as the number of its author: documents of one unit stay together, and
        it is units that are shared out.
    memory, threads : int, optional
        As in `count_corpus`.
    """
    corpus = counts.source
    if corpus is None:
        raise OptionError("these counts do not know their documents; split them by pair instead")
    shares, seed = fractions_of_one(fractions), whole_seed(seed)
    _check_ids(corpus, counts)
    groups = tuple(counts.recipe.get("groups", ()))
    of_baskets = corpus.options.get("window", 2) is None
    split = {"by": "basket" if of_baskets else "document", "fractions": list(shares), "seed": seed}
    parts = []
    for part, documents in enumerate(_shared_out(corpus, shares, seed, _units(corpus, units))):
        chosen = corpus.select(documents, memory=parse_memory(memory))
        made = {"split": {**split, "part": part, "of": counts.fingerprint}}
        recipe = {**counts.recipe, **_sizes(chosen, counts.num_contexts), **made}
        recipe.pop("word_types", None)  # those outside the vocabulary are not known any more
        try:
            parts.append(
                count_corpus(chosen, counts.contexts, groups, recipe=recipe, memory=memory, threads=threads)
            )
        except InputError as error:
            size = f"{len(documents)} {split['by']}s"
            raise OptionError(
                f"part {part + 1} of the split, {size}: {error}; give it a larger fraction"
            ) from None
    return tuple(parts)


def _sizes(corpus: EncodedCorpus, num_words: int) -> dict[str, int]:
    """Return what a recipe says of the size of the documents."""
    inside = corpus.tokens[corpus.tokens >= 0]
    return {
        "documents": corpus.num_documents,
        "tokens": len(corpus.tokens),
        "tokens_in_vocabulary": len(inside),
        "words_not_found": int((np.bincount(inside, minlength=num_words) == 0).sum()),
    }


def _check_ids(corpus: EncodedCorpus, counts: PairCounts) -> None:
    """Raise if the documents, which may come from a damaged folder, name rows that are not there."""
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
    """Return the unit of each document: itself, if none are given."""
    if units is None:
        return corpus.numbers
    given = np.asarray(units, dtype=np.int64)
    if given.shape != corpus.numbers.shape:
        raise OptionError(
            f"units has {given.size} entries for {corpus.num_documents} documents; give one each"
        )
    return given


def _shared_out(corpus: EncodedCorpus, shares: Sequence[float], seed: int, units: Int64) -> Iterator[Int64]:
    """Yield the documents of each part: those with words, their units in an order drawn by number."""
    documents = np.flatnonzero(np.diff(corpus.bounds) > 0)
    numbers, unit_of = np.unique(units[documents], return_inverse=True)
    key = rng.make_key(seed, rng.SPLIT)
    drawn = np.array([int(rng.bits(key, int(number), 0)[0]) for number in numbers], dtype=np.uint64)
    place = np.empty(len(numbers), dtype=np.int64)
    place[np.argsort(drawn, kind="stable")] = np.arange(len(numbers))
    edges = np.rint(np.cumsum(shares) * len(numbers)).astype(np.int64)
    for first, last in zip([0, *edges[:-1]], edges, strict=True):
        yield documents[(place[unit_of] >= first) & (place[unit_of] < last)]
