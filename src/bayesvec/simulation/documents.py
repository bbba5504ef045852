"""Documents simulated from a known embedding, so that counting can be tested against its expectation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesvec import __version__
from bayesvec._types import Float64, Int64
from bayesvec._validate import positive, whole, whole_seed
from bayesvec.simulation.pairs import (
    ALPHA,
    DOCUMENTS,
    RHO,
    draw_vectors,
    frequencies,
    generator,
    number_names,
)


@dataclass(frozen=True, eq=False)
class TextTruth:
    """The Markov chain over words from which simulated documents were drawn.

    Attributes
    ----------
    rho, alpha : ndarray of float64
        The true vectors, both (words, K).
    start : ndarray of float64
        Distribution of a document's first word, (words,).
    transition : ndarray of float64
        Distribution of the next word given a word, (words, words).
    words : tuple of str
        Names of the rows.
    recipe : Mapping
        The options and the seed.
    """

    rho: Float64
    alpha: Float64
    start: Float64
    transition: Float64
    words: tuple[str, ...]
    recipe: Mapping[str, Any]

    def word_probability(self) -> Float64:
        """Return the expected fraction of positions that each word takes."""
        return np.asarray(self._positions().mean(axis=0))

    def expected_positives(self, window: int) -> Float64:
        r"""Return the expected number of positive samples of each (word, context) pair: (words, words).

        The words at positions :math:`i` and :math:`i + d` of a document are :math:`a, b` with probability
        :math:`(p_0 T^i)_a (T^d)_{ab}`. Two positions at most ``window`` apart give two positive samples, (a, b) and
        (b, a).
        """
        positions = self._positions()
        ahead = np.zeros_like(self.transition)
        step = np.eye(len(self.words))
        for distance in range(1, min(window, len(positions) - 1) + 1):
            step = step @ self.transition
            ahead += positions[: len(positions) - distance].sum(axis=0)[:, None] * step
        return np.asarray(self.recipe["documents"] * (ahead + ahead.T))

    def _positions(self) -> Float64:
        """Return the distribution of the word at each position of a document: (length, words)."""
        at = [self.start]
        for _ in range(self.recipe["length"] - 1):
            at.append(at[-1] @ self.transition)
        return np.array(at)


def simulate_documents(
    documents: int = 1000,
    length: int = 20,
    *,
    vocab: int = 50,
    dim: int = 5,
    zipf: bool = False,
    seed: int = 0,
    epsilon: float = 1.0,
    a: float = 1.0,
    b: float = 2.7,
) -> tuple[list[str], TextTruth]:
    r"""Draw documents from a known embedding, so that counting can be tested against its expectation.

    A document is a Markov chain: the first word is drawn from :math:`p(w)` and word :math:`v` follows
    :math:`w` with probability proportional to :math:`p(v) \exp(\rho_w^\top \alpha_v)`, where p is uniform
    or Zipf-Mandelbrot. Word order matters (the chain is not reversible).

    Parameters
    ----------
    documents, length : int
        Number of documents, and of words in each.
    vocab, dim, zipf, seed, epsilon, a, b
        As in `simulate`.

    Returns
    -------
    list of str
        The documents, words separated by spaces.
    TextTruth
        The chain they were drawn from; ``expected_positives(window)`` is the expectation of `count`.
    """
    documents, length = whole("documents", documents, 1), whole("length", length, 1)
    vocab, dim, seed = whole("vocab", vocab, 1), whole("dim", dim, 1), whole_seed(seed)
    epsilon, a, b = (positive(name, value) for name, value in (("epsilon", epsilon), ("a", a), ("b", b)))
    rho, alpha = (draw_vectors(side, seed, vocab, dim, epsilon) for side in (RHO, ALPHA))
    start = frequencies(vocab, zipf, a, b)
    transition = start * np.exp(rho @ alpha.T)
    transition /= transition.sum(axis=1, keepdims=True)
    recipe = {
        "made_by": "simulate_documents",
        "version": __version__,
        "documents": documents,
        "length": length,
    }
    recipe |= {"vocab": vocab, "dim": dim, "zipf": zipf, "seed": seed, "epsilon": epsilon, "a": a, "b": b}
    truth = TextTruth(rho, alpha, start, transition, number_names("w", vocab), recipe)
    ids = _draw_chains(truth, documents, length, seed)
    return [" ".join([truth.words[i] for i in row]) for row in ids.tolist()], truth


def _draw_chains(truth: TextTruth, documents: int, length: int, seed: int) -> Int64:
    """Draw the word ids of all documents, one position after another: (documents, length)."""
    vocab = len(truth.words)
    random = generator(seed, DOCUMENTS)
    # Row w of the cumulative distributions is in [w, w + 1], so one search serves all documents.
    cumulative = np.cumsum(truth.transition, axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative += np.arange(vocab)[:, None]
    ids = np.empty((documents, length), dtype=np.int64)
    first = np.cumsum(truth.start)
    ids[:, 0] = np.searchsorted(first / first[-1], random.random(documents), side="right")
    for position in range(1, length):
        before = ids[:, position - 1]
        found = np.searchsorted(cumulative.ravel(), before + random.random(documents), side="right")
        ids[:, position] = np.minimum(found - vocab * before, vocab - 1)  # before + 0.999... can round up
    return ids
