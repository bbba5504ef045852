r"""How much the samples of a document depend on each other, and the weight that makes up for it.

The likelihood takes every pair of words in a window as a new observation. But windows overlap and a document keeps to
its subject, so that the score of a row varies more between documents than the information says: with
:math:`g_d = \sum (n^+ - n \sigma(\eta)) \alpha_v` over the pairs of document d,

.. math:: J = \sum_d g_d g_d^\top \quad\text{exceeds}\quad H = \sum n \sigma'(\eta) \alpha_v \alpha_v^\top .

A composite likelihood is calibrated by raising it to the power :math:`\dim / \mathrm{tr}(H^{-1} J)` (Ribatet, Cooley
& Davison 2012, "Bayesian inference from composite likelihoods", sec. 3.1). Here it is
:math:`\sum \mathrm{tr}(A H) / \sum \mathrm{tr}(A J)` over rows of both sides, where :math:`A = (H + \Lambda)^{-1}` is
the covariance of a row given the others, so that directions in which the prior decides count less.
"""

import math

import numpy as np
from scipy.sparse import csr_array

from bayesvec._types import Array, Float64
from bayesvec._validate import LEAST_WEIGHT
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.windows import count_corpus
from bayesvec.diagnostics.clusters import find_clusters
from bayesvec.errors import InputError
from bayesvec.priors import Prior

LEAST_DOCUMENTS = 20  # from which it is estimated
TOKENS = 300_000  # of random documents that are looked at
ROWS = 500  # of each side, evenly spaced
DIGITS = 2


def can_estimate(counts: PairCounts) -> bool:
    """Whether counts hold enough documents to see how much the samples of one depend on each other."""
    return counts.source is not None and counts.source.num_documents >= LEAST_DOCUMENTS


def estimate_weight(counts: PairCounts, rho: Array, alpha: Array, prior: Prior) -> float:
    """Return the power of the likelihood that calibrates it, from `LEAST_WEIGHT` to 1.

    Parameters
    ----------
    counts : PairCounts
        Counts that hold their documents.
    rho, alpha : ndarray, shapes (R, K) and (C, K)
        A draw from the posterior. (At the mode residuals are too small.)
    prior : Prior
        The prior of both sides, at the scales of the draw.
    """
    sample, share = _sample(counts)
    clusters = find_clusters(sample)
    x, y = rho.astype(np.float64), alpha.astype(np.float64)
    word, context = sample.by_word.rows()[clusters.pair], sample.by_word.other[clusters.pair]
    n = (clusters.n_pos + clusters.n_neg).astype(np.float64)
    probability = 1.0 / (1.0 + np.exp(-np.einsum("pk,pk->p", x[word], y[context])))
    residual, information = clusters.n_pos - n * probability, n * probability * (1.0 - probability)
    expected, found = 0.0, 0.0
    for rows, others, vectors, own, size in (
        (word, context, y, prior.rho, len(x)),
        (context, word, x, prior.alpha, len(y)),
    ):
        entries = _Entries(rows, others, clusters.cluster, residual, information)
        traces = _traces(entries, vectors, own.precision_rows(size, x.shape[1]), share)
        expected, found = expected + traces[0], found + traces[1]
    weight = expected / found if found > 0.0 else 1.0
    return min(1.0, max(LEAST_WEIGHT, round(weight, DIGITS)))


def _sample(counts: PairCounts) -> tuple[PairCounts, float]:
    """Return the counts of random documents, all if they are short enough, and their share of the whole."""
    corpus = counts.source
    assert corpus is not None
    sizes = np.diff(corpus.bounds)
    order = np.random.default_rng(0).permutation(corpus.num_documents)
    enough = int(np.searchsorted(np.cumsum(sizes[order]), TOKENS)) + 1
    chosen = np.sort(order[: max(enough, LEAST_DOCUMENTS)])
    groups = tuple(counts.recipe.get("groups", ()))
    try:
        sample = count_corpus(corpus.select(chosen), counts.contexts, groups, recipe=counts.recipe, threads=1)
    except InputError:  # no window of theirs has two words
        return counts, 1.0
    return sample, sample.num_observations / counts.num_observations


class _Entries:
    """Samples by cluster and pair, in the order of one side's rows."""

    def __init__(
        self, rows: Array, others: Array, cluster: Array, residual: Float64, information: Float64
    ) -> None:
        order = np.argsort(rows, kind="stable")
        self.present, starts = np.unique(rows[order], return_index=True)
        self.bounds = np.append(starts, len(rows))
        self.others, self.cluster = others[order], cluster[order]
        self.residual, self.information = residual[order], information[order]


def _traces(entries: _Entries, vectors: Float64, precision: Float64, share: float) -> tuple[float, float]:
    """Return the sums of tr(A H) and tr(A J) over some rows of one side."""
    expected, found = 0.0, 0.0
    clusters = int(entries.cluster.max()) + 1
    for place in range(0, len(entries.present), math.ceil(len(entries.present) / ROWS)):
        part = slice(entries.bounds[place], entries.bounds[place + 1])
        x = vectors[entries.others[part]]  # (entries, K)
        information = (x * entries.information[part, None]).T @ x
        which = entries.cluster[part], np.arange(len(x))
        scores = csr_array((entries.residual[part], which), shape=(clusters, len(x))) @ x  # (clusters, K)
        inverse = np.linalg.inv(information / share + np.diag(precision[entries.present[place]]))
        expected += float(np.sum(inverse * information))
        found += float(np.sum((scores @ inverse) * scores))
    return expected, found
