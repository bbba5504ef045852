"""Samples of House speeches and the rest, and the quantities on which their posteriors are compared."""

from collections.abc import Mapping, Sequence

import numpy as np

from bayesvec._types import Float32, Float64, Int64
from bayesvec.counts.pairs import PairCounts, from_sorted
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.estimates.per_draw import each_draw, logistic
from bayesvec.posterior.posterior import Posterior

QUANTITIES = {
    "cosine": "cosine",
    "centred": "centred cosine",
    "contexts": "through contexts",
    "contexts_centred": "through contexts, centred",
    "log_odds": "log odds",
}
QUARTERS = 4  # of a large sample, that are the medium ones


def speeches(words: int | None, vocab: int, seed: int) -> PairCounts:
    """Return the pairs of House speeches, of all or of random ones, with the default options of counting."""
    from bayesvec.datasets.congress import congress_speeches
    from bayesvec.text.count import count

    documents = congress_speeches(max_words=words, seed=seed).documents
    return count(documents=documents, vocab=vocab, seed=seed, progress=False)


def samples_and_rest(
    counts: PairCounts, sizes: Sequence[int], numbers: Sequence[int], seed: int
) -> tuple[dict[int, list[PairCounts]], PairCounts]:
    """Return samples of whole documents, disjoint within each size, and all documents that are in none.

    The large samples are cut out of the whole, the medium ones are their quarters, and the small ones are cut out
    of those.

    Parameters
    ----------
    counts : PairCounts
        The whole, with its documents.
    sizes : sequence of int
        About how many words the small, medium and large samples have.
    numbers : sequence of int
        How many samples of each size.
    seed : int
        Of the assignment of documents.
    """
    small, medium, large = sizes
    share = large / counts.recipe["tokens"]
    *wholes, rest = counts.split(
        "document", fractions=[share] * numbers[2] + [1.0 - numbers[2] * share], seed=seed
    )
    quarters = [
        part
        for whole in wholes
        for part in whole.split("document", fractions=[1 / QUARTERS] * QUARTERS, seed=seed)
    ]
    inside = small / medium
    smalls = [
        part.split("document", fractions=[inside, 1.0 - inside], seed=seed)[0]
        for part in quarters[: numbers[0]]
    ]
    return {small: smalls, medium: quarters[: numbers[1]], large: wholes}, rest


def simulate_like(counts: PairCounts, rho: Float32, alpha: Float32, seed: int) -> PairCounts:
    """Return counts with as many samples of each pair as ``counts``, their signs drawn from the model.

    Parameters
    ----------
    counts : PairCounts
        The counts to imitate.
    rho, alpha : ndarray, shapes (V, K) and (C, K)
        The true vectors.
    seed : int
        Of the draws.
    """
    side = counts.by_word
    word = np.repeat(np.arange(counts.num_words, dtype=np.int32), np.diff(side.indptr))
    n = side.n_pos + side.n_neg
    probability = logistic(np.einsum("pk,pk->p", rho[word], alpha[side.other]).astype(np.float64))
    positive = np.random.default_rng(seed).binomial(n, probability).astype(n.dtype)
    return from_sorted(
        word,
        np.array(side.other),
        positive,
        n - positive,
        words=counts.words,
        contexts=counts.contexts,
        groups=None,
        recipe={"simulated": True},
    )


def measure(rho: Float32, alpha: Float32, weight: Float64, pairs: int) -> Mapping[str, Float64]:
    r"""Return the quantities of one draw for random pairs.

    The similarity of two words through the contexts is their cosine under the metric :math:`\alpha^\top D \alpha`,
    which does not change when the vectors become :math:`(\rho A, \alpha A^{-\top})`.

    Parameters
    ----------
    rho, alpha : ndarray, shapes (V, K) and (C, K)
        The vectors.
    weight : ndarray, shape (C,)
        Weights D of the contexts, which sum to 1.
    pairs : int
        How many pairs.
    """
    one, other = random_pairs(len(rho), None, pairs, seed=0)
    x, y = rho.astype(np.float64), alpha.astype(np.float64)
    middle, mean = x - x.mean(axis=0), y - weight @ y
    word, context = random_pairs(len(rho), len(alpha), pairs, seed=0)
    return {
        "cosine": _cosines(x, one, other),
        "centred": _cosines(middle, one, other),
        "contexts": _cosines(x @ _root(y, weight), one, other),
        "contexts_centred": _cosines(middle @ _root(mean, weight), one, other),
        "log_odds": np.einsum("pk,pk->p", x[word], y[context]),
    }


def _root(y: Float64, weight: Float64) -> Float64:
    """Return the Cholesky factor of y^T D y, (K, K)."""
    return np.asarray(np.linalg.cholesky((y * weight[:, None]).T @ y), dtype=np.float64)


def _cosines(x: Float64, one: Int64, other: Int64) -> Float64:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(np.einsum("pk,pk->p", unit[one], unit[other]))


def quantities(post: Posterior, weight: Float64, pairs: int) -> dict[str, Float32]:
    """Return the draws of all quantities, each (chain, draw, pair)."""
    draws = post.draws
    shape = draws.num_chains, draws.num_draws, -1
    sides = zip(each_draw(draws, "rho"), each_draw(draws, "alpha"), strict=True)
    rows = [measure(rho, alpha, weight, pairs) for rho, alpha in sides]
    return {
        name: np.array([row[name] for row in rows], dtype=np.float32).reshape(shape) for name in QUANTITIES
    }
