"""Standard errors of hold-out scores, over held-out documents or users instead of samples.

The samples of one document are not independent. Given the fit, a score is the ratio of two sums over independent
clusters, log likelihood over samples, and its standard error is that of a ratio (Cochran 1977, sec. 6.3):

    score = sum_g L_g / sum_g n_g,        se^2 = G / (G - 1) sum_g (L_g - score n_g)^2 / (sum_g n_g)^2

The difference of two scores of the same samples is such a ratio too, of L_g - L'_g.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesvec._types import Array, Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.windows import count_corpus
from bayesvec.errors import InputError

MOST = 200  # clusters; more documents than this are put together in turn


@dataclass(frozen=True, eq=False)
class Clusters:
    """Held-out samples by cluster; a pair of words has an entry for each cluster in which it occurs.

    Attributes
    ----------
    kind : {"document", "word"}
        What a cluster consists of.
    units : int
        How many documents, users or words there are.
    cluster, pair : ndarray of int64
        The cluster of each entry, and its pair among those held out.
    n_pos, n_neg : ndarray of int
        Its samples.
    """

    kind: str
    units: int
    cluster: Int64
    pair: Int64
    n_pos: Array
    n_neg: Array

    @property
    def sizes(self) -> Float64:
        """The number of samples of each cluster."""
        return self._total((self.n_pos + self.n_neg).astype(np.float64))

    def sums(self, logs: Float64) -> Float64:
        """Return the log likelihood of each cluster, given the `log_probabilities` of an estimate."""
        return self._total(log_likelihoods(self.n_pos, self.n_neg, logs[:, self.pair]))

    def _total(self, values: Float64) -> Float64:
        found = np.zeros(int(self.cluster.max()) + 1)
        np.add.at(found, self.cluster, values)
        return found


def find_clusters(holdout: PairCounts, units: npt.ArrayLike | None = None, *, most: int = MOST) -> Clusters:
    """Return the clusters of a hold-out: documents if it holds them, otherwise words.

    Parameters
    ----------
    holdout : PairCounts
        The counts held out.
    units : array_like of int, optional
        The unit of each document of the whole corpus, such as its author; by default the document.
    most : int
        The largest number of clusters.
    """
    side, corpus = holdout.by_word, holdout.source
    if corpus is None:
        word = side.rows().astype(np.int64)
        _, cluster = np.unique(word % most, return_inverse=True)
        everything = np.arange(holdout.num_pairs)
        return Clusters("word", len(np.unique(word)), cluster, everything, side.n_pos, side.n_neg)
    given = corpus.numbers if units is None else np.asarray(units, dtype=np.int64)[corpus.numbers]
    names, unit_of = np.unique(given, return_inverse=True)
    keys = side.rows().astype(np.int64) * holdout.num_contexts + side.other
    groups = tuple(holdout.recipe.get("groups", ()))
    parts: list[tuple[Array, ...]] = []
    for documents in (np.flatnonzero(unit_of % most == number) for number in range(min(most, len(names)))):
        try:
            counted = count_corpus(corpus.select(documents), holdout.contexts, groups, threads=1)
        except InputError:  # documents of one word have no pairs
            continue
        own = counted.by_word
        pair = np.searchsorted(keys, own.rows().astype(np.int64) * holdout.num_contexts + own.other)
        parts.append((np.full(len(pair), len(parts)), pair, own.n_pos, own.n_neg))
    return Clusters("document", len(names), *(np.concatenate(column) for column in zip(*parts, strict=True)))


def log_likelihoods(n_pos: Array, n_neg: Array, logs: Float64) -> Float64:
    """Return the log likelihood of each pair; where there are no samples of a sign, its probability may be 0."""
    with np.errstate(invalid="ignore"):  # 0 * -inf, which is replaced
        positive = np.where(n_pos > 0, n_pos * logs[0], 0.0)
        return positive + np.where(n_neg > 0, n_neg * logs[1], 0.0)


def ratio_error(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> float:
    """Return the standard error of ``sum(sums) / sum(sizes)`` over clusters; NaN for a single one."""
    total, size = np.asarray(sums, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    if len(total) < 2:
        return math.nan
    residual = total - total.sum() / size.sum() * size
    return float(np.sqrt(len(total) / (len(total) - 1) * np.sum(residual**2)) / size.sum())
