"""Documents held out: counts of some documents beside counts of the others."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bayesvec.counts import PairCounts
from bayesvec.counts_split import check_fractions
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.text.corpus import EncodedCorpus
from bayesvec.text.memory import parse_memory
from bayesvec.text.pairs import count_corpus

Int64 = npt.NDArray[np.int64]


def split_documents(
    counts: PairCounts,
    fractions: Sequence[float] = (0.7, 0.15, 0.15),
    seed: int = 0,
    *,
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
    memory, threads : int, optional
        As in `count_corpus`.
    """
    corpus = counts.source
    if corpus is None:
        raise OptionError("these counts do not know their documents; split them by pair instead")
    shares = check_fractions(fractions)
    groups = tuple(counts.recipe.get("groups", ()))
    parts = []
    for part, documents in enumerate(_shared_out(corpus, shares, seed)):
        recipe = {
            **counts.recipe,
            "split": {"by": "document", "fractions": list(shares), "seed": int(seed), "part": part},
        }
        try:
            parts.append(
                count_corpus(
                    corpus.select(documents, memory=parse_memory(memory)),
                    counts.contexts,
                    groups,
                    recipe=recipe,
                    memory=memory,
                    threads=threads,
                )
            )
        except InputError as error:
            size = len(documents)
            raise OptionError(f"part {part + 1} of the split, {size} documents: {error}") from None
    return tuple(parts)


def _shared_out(corpus: EncodedCorpus, shares: Sequence[float], seed: int) -> Iterator[Int64]:
    """Yield the documents of each part: those with words, in an order drawn by the number of each."""
    documents = np.flatnonzero(np.diff(corpus.bounds) > 0)
    key = rng.make_key(seed, rng.SPLIT)
    drawn = [int(rng.bits(key, int(number), 0)[0]) for number in corpus.numbers[documents]]
    shuffled = documents[np.argsort(np.array(drawn, dtype=np.uint64), kind="stable")]
    edges = np.rint(np.cumsum(shares) * len(documents)).astype(np.int64)
    for first, last in zip([0, *edges[:-1]], edges, strict=True):
        yield np.sort(shuffled[first:last])
