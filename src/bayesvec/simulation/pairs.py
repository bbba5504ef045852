"""Pair counts simulated from known vectors, as in the paper's simulation study."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bayesvec import __version__
from bayesvec._types import Float64, Int32, Int64
from bayesvec._validate import positive, whole, whole_seed
from bayesvec.counts.pairs import PairCounts, from_sorted
from bayesvec.counts.store import open_counts, read_extra, save_counts
from bayesvec.errors import InputError, OptionError

# The purpose of a random stream; with the seed and the row it is the address of the stream.
RHO, ALPHA, _TOTALS, _ROW, DOCUMENTS = range(1, 6)

_TRUTH_ARRAYS = ("rho", "alpha", "word_probability", "context_probability")

_BLOCK = 1 << 16  # pairs drawn at a time, which limits the memory for their vectors


@dataclass(frozen=True, eq=False)
class Truth:
    """The true vectors and probabilities of simulated counts.

    Attributes
    ----------
    rho, alpha : ndarray of float64
        The true vectors, (words, K) and (contexts, K).
    word_probability, context_probability : ndarray of float64
        Probability of each word and of each context in a pair (before ``exclude_diagonal``).
    words, contexts : tuple of str
        Names of the rows.
    recipe : Mapping
        The options and the seed.
    """

    rho: Float64
    alpha: Float64
    word_probability: Float64
    context_probability: Float64
    words: tuple[str, ...]
    contexts: tuple[str, ...]
    recipe: Mapping[str, Any]

    def cooccurrence(self) -> Float64:
        """Return the probability that a pair is positive, s(rho_w . alpha_v): (words, contexts)."""
        return np.asarray(expit(self.rho @ self.alpha.T))

    def pair_probability(self) -> Float64:
        """Return the probability that a sample, positive or negative, is of each pair: (words, contexts)."""
        joint = np.outer(self.word_probability, self.context_probability)
        if self.recipe["exclude_diagonal"]:
            np.fill_diagonal(joint, 0.0)
        return np.asarray(joint / joint.sum())

    def similarity(self) -> Float64:
        """Return the cosines between the word vectors: (words, words)."""
        unit = self.rho / np.linalg.norm(self.rho, axis=1, keepdims=True)
        return np.asarray(unit @ unit.T)


def save_simulated(
    counts: PairCounts, truth: Truth, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write counts to a folder, as `PairCounts.save` does, together with their truth for `open_truth`."""
    arrays = {f"truth.{name}": getattr(truth, name) for name in _TRUTH_ARRAYS}
    save_counts(counts, path, force=force, extra=arrays)


def open_truth(path: str | os.PathLike[str]) -> Truth:
    """Read the truth from a counts folder written by `bayesvec simulate`."""
    extra = read_extra(path)
    missing = [name for name in _TRUTH_ARRAYS if f"truth.{name}" not in extra]
    if missing:
        raise InputError(
            f"{path} holds counts without a truth; only `bayesvec simulate` writes one", file=str(path)
        )
    counts = open_counts(path)
    arrays = {name: np.array(extra[f"truth.{name}"]) for name in _TRUTH_ARRAYS}
    return Truth(**arrays, words=counts.words, contexts=counts.contexts, recipe=counts.recipe)


def simulate(
    vocab: int = 100,
    dim: int = 5,
    *,
    pairs: int = 50_000,
    zipf: bool = False,
    seed: int = 0,
    contexts: int | None = None,
    epsilon: float = 1.0,
    exclude_diagonal: bool = False,
    a: float = 1.0,
    b: float = 2.7,
) -> tuple[PairCounts, Truth]:
    r"""Draw pair counts from a known embedding, as in the paper's simulation study.

    The vectors are :math:`\rho_w, \alpha_v \sim N(0, \varepsilon^2 / K)`; each of ``pairs`` samples is of a
    pair :math:`(w, v)` drawn uniformly, or with :math:`p(w) \propto 1 / (\mathrm{rank}(w)^a + b)` and the
    same for :math:`v` (Zipf-Mandelbrot), and is positive with probability
    :math:`\sigma(\rho_w^\top \alpha_v)`. The samples of a pair are drawn together: the counts of the pairs are
    multinomial and the positives among them binomial, which is the same distribution.

    Parameters
    ----------
    vocab : int
        Number of words, named w0, w1, ... by rank.
    dim : int
        Dimension K of the vectors.
    pairs : int
        Number of samples, positive and negative: the paper's N.
    zipf : bool
        Draw words and contexts from the Zipf-Mandelbrot law instead of uniformly.
    seed : int
        The vectors depend only on seed, vocab, dim, contexts and (by scale) epsilon.
    contexts : int, optional
        Number of contexts, named c0, c1, ...; by default the contexts are the words themselves.
    epsilon : float
        Signal-to-noise ratio.
    exclude_diagonal : bool
        Never pair a word with itself: redraw such a pair.
    a, b : float
        Constants of the Zipf-Mandelbrot law.

    Returns
    -------
    PairCounts
        The counts; ``num_observations`` is exactly ``pairs``.
    Truth
        The vectors and probabilities they were drawn from.
    """
    vocab, dim, pairs = whole("vocab", vocab, 1), whole("dim", dim, 1), whole("pairs", pairs, 1, 2**63 - 1)
    contexts = None if contexts is None else whole("contexts", contexts, 1)
    epsilon, a, b = (positive(name, value) for name, value in (("epsilon", epsilon), ("a", a), ("b", b)))
    seed = whole_seed(seed)
    if exclude_diagonal and contexts is not None:
        raise OptionError(
            "exclude_diagonal does not go with contexts: separate contexts are not words; leave one out"
        )
    if exclude_diagonal and vocab < 2:
        raise OptionError("exclude_diagonal needs at least 2 words; vocab is 1")
    num_contexts = vocab if contexts is None else contexts
    recipe = {
        "made_by": "simulate",
        "version": __version__,
        "vocab": vocab,
        "dim": dim,
        "pairs": pairs,
        "zipf": bool(zipf),
        "seed": seed,
        "contexts": contexts,
        "epsilon": epsilon,
        "exclude_diagonal": bool(exclude_diagonal),
        "a": a,
        "b": b,
    }
    words = number_names("w", vocab)
    truth = Truth(
        rho=draw_vectors(RHO, seed, vocab, dim, epsilon),
        alpha=draw_vectors(ALPHA, seed, num_contexts, dim, epsilon),
        word_probability=frequencies(vocab, zipf, a, b),
        context_probability=frequencies(num_contexts, zipf, a, b),
        words=words,
        contexts=words if contexts is None else number_names("c", num_contexts),
        recipe=recipe,
    )
    return draw_counts(truth, pairs, seed), truth


def draw_counts(truth: Truth, pairs: int, seed: int) -> PairCounts:
    """Draw the number of pairs of each word, then of each (word, context), then the positives among them."""
    p_word, p_context = truth.word_probability, truth.context_probability
    exclude = bool(truth.recipe["exclude_diagonal"])
    weight = p_word * (1.0 - p_context) if exclude else p_word
    totals = generator(seed, _TOTALS).multinomial(pairs, weight / weight.sum())
    blocks: list[Int32] = []
    for first, last, sparse in _blocks(totals, len(p_context)):
        random = generator(seed, _ROW, first)
        draw = _draw_sparse if sparse else _draw_dense
        word, context, n = draw(random, first, totals[first:last], p_context, exclude)
        if len(n) and n.max() >= 2**31:
            raise OptionError(
                f"a pair was drawn {n.max()} times; at most {2**31 - 1} are allowed; "
                "use fewer pairs or a larger vocab"
            )
        n_pos = random.binomial(n, expit(_dot(truth.rho[first:last], truth.alpha, word - first, context)))
        blocks.append(np.stack([word, context, n_pos, n - n_pos]).astype(np.int32))
    drawn = np.concatenate(blocks, axis=1)  # (4, num_pairs)
    return from_sorted(*drawn, words=truth.words, contexts=truth.contexts, groups=None, recipe=truth.recipe)


def _dot(rho: Float64, alpha: Float64, word: Int64, context: Int64) -> Float64:
    """Return rho_w . alpha_v of each pair: by a matrix product if most are needed, else one by one."""
    if len(rho) * len(alpha) <= 8 * len(word):
        return np.asarray((rho @ alpha.T)[word, context])
    return np.asarray(np.einsum("pk,pk->p", rho[word], alpha[context]))


def _blocks(totals: Int64, num_contexts: int) -> Iterator[tuple[int, int, bool]]:
    """Yield runs of consecutive words that are all sparse (fewer pairs than contexts) or all dense.

    A run has at most ``_BLOCK`` pairs or cells, or is one word.
    """
    sparse = totals < num_contexts
    cost = np.where(sparse, totals, num_contexts)
    first, size = 0, 0
    for word in range(len(totals)):
        if word > first and (sparse[word] != sparse[first] or size + cost[word] > _BLOCK):
            yield first, word, bool(sparse[first])
            first, size = word, 0
        size += cost[word]
    yield first, len(totals), bool(sparse[first])


def _draw_sparse(
    random: np.random.Generator, first: int, totals: Int64, probability: Float64, exclude: bool
) -> tuple[Int64, Int64, Int64]:
    """Draw the pairs of words from ``first`` on one by one; pairs of a word with itself are redrawn if excluded."""
    cumulative = np.cumsum(probability)
    cumulative /= cumulative[-1]
    word = np.repeat(np.arange(first, first + len(totals)), totals)
    context = np.searchsorted(cumulative, random.random(len(word)), side="right")
    if exclude:
        while len(again := np.flatnonzero(context == word)):
            context[again] = np.searchsorted(cumulative, random.random(len(again)), side="right")
    cell, n = np.unique(word * len(probability) + context, return_counts=True)
    return cell // len(probability), cell % len(probability), n


def _draw_dense(
    random: np.random.Generator, first: int, totals: Int64, probability: Float64, exclude: bool
) -> tuple[Int64, Int64, Int64]:
    """Draw the number of pairs of words from ``first`` on with each context."""
    if not exclude:
        n = random.multinomial(totals, probability / probability.sum())
    else:
        n = np.zeros((len(totals), len(probability)), dtype=np.int64)
        for row, total in enumerate(totals):
            rest = np.delete(probability, first + row)
            n[row] = np.insert(random.multinomial(total, rest / rest.sum()), first + row, 0)
    word, context = np.nonzero(n)
    return word + first, context, n[word, context]


def draw_vectors(side: int, seed: int, rows: int, dim: int, epsilon: float) -> Float64:
    """Draw the vectors of ``RHO`` or ``ALPHA`` with variance epsilon^2 / K: (rows, dim)."""
    return np.asarray(generator(seed, side).standard_normal((rows, dim)) * (epsilon / np.sqrt(dim)))


def frequencies(size: int, zipf: bool, a: float, b: float) -> Float64:
    """Return the uniform or the Zipf-Mandelbrot distribution over ranks 1 to ``size``."""
    weight = 1.0 / (np.arange(1, size + 1) ** float(a) + b) if zipf else np.ones(size)
    return np.asarray(weight / weight.sum())


def generator(seed: int, purpose: int, row: int = 0) -> np.random.Generator:
    """Return the random stream at an address: seed and purpose are its key, the row is part of its counter."""
    key = np.array([seed, purpose], dtype=np.uint64)
    counter = np.array([0, 0, row, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def number_names(letter: str, size: int) -> tuple[str, ...]:
    """Return the names w0, w1, ... for the letter w."""
    return tuple(f"{letter}{i}" for i in range(size))
