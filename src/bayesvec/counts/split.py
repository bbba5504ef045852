"""Parts of pair counts for training and hold-out."""

import math
from collections.abc import Sequence

import numpy as np

from bayesvec._types import Int32
from bayesvec._validate import fractions_of_one, whole_seed
from bayesvec.counts.pairs import PairCounts, from_sorted
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.compiled import compiled

_LEAF = 32  # samples that are sent to a part one by one
_GAMMA_BLOCKS = 256  # blocks kept for one gamma variate: 128 tries, each of which succeeds 19 times in 20


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
    from bayesvec.counts.documents import split_documents

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
        _thin(key, word, context, left_pos, n_pos, 0, probability)
        _thin(key, word, context, left_neg, n_neg, 1, probability)
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


@compiled
def _thin(
    key: rng.Key, word: Int32, context: Int32, n: Int32, out: Int32, sign: int, probability: float
) -> None:
    """Keep each of the ``n`` samples of every pair with ``probability``; addressed by pair and sign."""
    for i in range(len(n)):
        if n[i] > 0:
            out[i] = binomial(n[i], probability, rng.at_sweep(key, context[i]), word[i], sign << 31)


@compiled
def binomial(n: int, probability: float, key: rng.Key, row: int, first_block: int) -> int:
    r"""Return a binomial variate at an address, in about :math:`\log_2 n` steps.

    The middle one of n uniforms is a beta variate; it tells on which side of ``probability`` half of the
    uniforms lie, and the other half is split again (Relles 1972; Devroye 1986, section X.4.3).
    """
    successes = 0
    block = first_block
    while n > _LEAF:
        middle = (n + 1) // 2
        below = rng.gamma(float(middle), key, row, block)
        above = rng.gamma(float(n + 1 - middle), key, row, block + _GAMMA_BLOCKS)
        block += 2 * _GAMMA_BLOCKS
        cut = below / (below + above)
        if cut <= probability:
            successes += middle
            n -= middle
            probability = (probability - cut) / (1.0 - cut)
        else:
            n = middle - 1
            probability = probability / cut
    for i in range(0, n, 2):
        u, v = rng.uniforms(key, row, block + i // 2)
        successes += u < probability
        if i + 1 < n:
            successes += v < probability
    return successes
