r"""How much the samples of a document depend on each other, and the weight that makes up for it.

The likelihood takes every pair of words in a window as a new observation. But windows overlap and a document keeps to
its subject, so that the score of a row varies more between documents than the information says: with
:math:`g_d = \sum (n^+ - n \sigma(\eta)) \alpha_v` over the pairs of document d (or of documents put together at
random, which has the same expectation),

.. math:: J = \sum_d g_d g_d^\top \quad\text{exceeds}\quad H = \sum n \sigma'(\eta) \alpha_v \alpha_v^\top .

A composite likelihood is calibrated by raising it to the power :math:`\dim / \mathrm{tr}(H^{-1} J)` (Ribatet, Cooley
& Davison 2012, "Bayesian inference from composite likelihoods", sec. 3.1). Here it is
:math:`\sum \mathrm{tr}(A H) / \sum \mathrm{tr}(A J)` over rows of both sides, where :math:`A = (H + \Lambda)^{-1}` is
the covariance of a row given the others, so that directions in which the prior decides count less.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayesvec._types import Array, Float64
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.windows import count_corpus
from bayesvec.diagnostics.clusters import Clusters, find_clusters
from bayesvec.errors import InputError
from bayesvec.priors import Prior

LEAST_DOCUMENTS = 20  # from which it is estimated; fewer, if they are long, are cut into segments
SEGMENTS = 50  # into which few documents are cut
LEAST_SEGMENT = 500  # tokens of a segment, well beyond the reach of a window
TOKENS = 300_000  # of random documents that are looked at
ROWS = 500  # of each side, evenly spaced


def can_estimate(counts: PairCounts) -> bool:
    """Whether counts hold enough documents to see how much the samples of one depend on each other."""
    corpus = counts.source
    if corpus is None:
        return False
    if corpus.num_documents >= LEAST_DOCUMENTS:
        return True
    # a basket is one window, which cannot be cut
    return corpus.options.get("window") is not None and _segments(corpus).num_documents >= LEAST_DOCUMENTS


def unit_name(counts: PairCounts) -> str:
    """Return what the weight is estimated from, in words."""
    assert counts.source is not None
    return "documents" if counts.source.num_documents >= LEAST_DOCUMENTS else "segments of the text"


class Sample(NamedTuple):
    """The samples of random documents, by cluster and pair."""

    words: Array  # (entries,)
    contexts: Array  # (entries,)
    clusters: Clusters
    share: float  # of all samples


def sample_documents(counts: PairCounts) -> Sample | None:
    """Return the samples of random documents, of all if they are short enough; None if no window has two words."""
    try:
        part, share = _count_some(counts)
    except InputError:
        return None
    clusters = find_clusters(part)
    return Sample(part.by_word.rows()[clusters.pair], part.by_word.other[clusters.pair], clusters, share)


def estimate_weight(sample: Sample | None, rho: Array, alpha: Array, prior: Prior) -> float:
    """Return the power of the likelihood that calibrates it; about 1 if samples are independent.

    Parameters
    ----------
    sample : Sample or None
        Samples of documents; None has weight 1.
    rho, alpha : ndarray, shapes (R, K) and (C, K)
        A draw from the posterior. (At the mode residuals are too small.) Rows beyond those of the counts, which a
        prior adds, have no data and no share.
    prior : Prior
        The prior of both sides, at the scales of the draw.
    """
    if sample is None:
        return 1.0
    words, contexts, clusters, share = sample
    x, y = rho.astype(np.float64), alpha.astype(np.float64)
    sides = (
        _Side(words, contexts, x, y, prior.rho.precision_rows(*x.shape)),
        _Side(contexts, words, y, x, prior.alpha.precision_rows(*y.shape)),
    )
    expected, found = np.sum([_traces(side, clusters, share) for side in sides], axis=0)
    return float(expected / found) if found > 0.0 else 1.0


def _count_some(counts: PairCounts) -> tuple[PairCounts, float]:
    """Return the counts of random documents, all if they are short enough, and their share of the whole."""
    assert counts.source is not None
    corpus = counts.source if counts.source.num_documents >= LEAST_DOCUMENTS else _segments(counts.source)
    sizes = np.diff(corpus.bounds)
    order = np.random.default_rng(0).permutation(corpus.num_documents)
    enough = int(np.searchsorted(np.cumsum(sizes[order]), TOKENS)) + 1
    chosen = np.sort(order[: max(enough, LEAST_DOCUMENTS)])
    groups = tuple(counts.recipe.get("groups", ()))
    sample = count_corpus(corpus.select(chosen), counts.contexts, groups, recipe=counts.recipe, threads=1)
    return sample, sample.num_observations / counts.num_observations


def _segments(corpus: EncodedCorpus) -> EncodedCorpus:
    """Return documents cut into segments; those that are too short for one are left out.

    Segments have negative samples of their own, drawn as those of the documents are.
    """
    length = max(LEAST_SEGMENT, len(corpus.tokens) // SEGMENTS)
    sizes = np.diff(corpus.bounds)
    long = corpus.select(np.flatnonzero(sizes >= LEAST_SEGMENT))
    pieces = np.maximum(1, np.diff(long.bounds) // length)  # (documents,)
    ends = [
        np.linspace(first, last, count + 1).astype(np.int64)[1:]
        for first, last, count in zip(long.bounds[:-1], long.bounds[1:], pieces, strict=True)
    ]
    return replace(
        long,
        bounds=np.concatenate([long.bounds[:1], *ends]),
        numbers=np.arange(pieces.sum()),
        group_of=None if long.group_of is None else np.repeat(long.group_of, pieces),
    )


class _Side(NamedTuple):
    """One side of the samples of each cluster and pair."""

    rows: Array  # (entries,)
    others: Array  # (entries,) rows of the other side
    own: Float64  # (rows, K)
    vectors: Float64  # (others, K)
    precision: Float64  # (rows, K) of the prior


def _traces(side: _Side, clusters: Clusters, share: float) -> tuple[float, float]:
    """Return the sums of tr(A H) and tr(A J) over some rows of one side."""
    order = np.argsort(side.rows, kind="stable")
    present, starts = np.unique(side.rows[order], return_index=True)
    bounds = np.append(starts, len(order))
    expected, found, count = 0.0, 0.0, int(clusters.cluster.max()) + 1
    for place in range(0, len(present), math.ceil(len(present) / ROWS)):
        row, part = present[place], order[bounds[place] : bounds[place + 1]]
        x = side.vectors[side.others[part]]  # (entries, K)
        n = (clusters.n_pos[part] + clusters.n_neg[part]).astype(np.float64)
        probability = 1.0 / (1.0 + np.exp(-(x @ side.own[row])))
        residual, weight = clusters.n_pos[part] - n * probability, n * probability * (1.0 - probability)
        information = (x * weight[:, None]).T @ x
        which = clusters.cluster[part], np.arange(len(x))
        scores = csr_array((residual, which), shape=(count, len(x))) @ x  # (clusters, K)
        inverse = np.linalg.inv(information / share + np.diag(side.precision[row]))
        expected += float(np.sum(inverse * information))
        found += float(np.sum((scores @ inverse) * scores))
    return expected, found
