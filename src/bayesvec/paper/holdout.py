"""Hold-out scores with their standard errors: the computation that the experiments share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.clusters import Clusters, find_clusters, ratio_error
from bayesvec.diagnostics.holdout import MEAN, MODE, PREDICTIVE, average, log_probabilities
from bayesvec.paper.cells import Settings
from bayesvec.paper.experiment import Values
from bayesvec.paper.fits import COVARIANCE, DEFAULTS, fit_variant, mixing
from bayesvec.paper.records import pack, unpack
from bayesvec.paper.workspace import Workspace
from bayesvec.posterior.posterior import Posterior

KINDS = (MEAN, PREDICTIVE, MODE)
Z95 = 1.96  # half the width of a 95% interval, in standard errors


def fit_and_score(
    train: PairCounts,
    test: PairCounts,
    settings: Settings,
    workspace: Workspace,
    units: npt.ArrayLike | None = None,
) -> dict[str, Any]:
    """Fit one part by the variant of a cell and score the other.

    Returns
    -------
    dict
        What `score_run` returns; the sizes of both parts; R-hat and ESS of some cosines, if there are chains; the
        precision of the prior, if it was learned; the weight, if it was estimated; the summary of the method.
    """
    post = fit_variant(train, settings, workspace)
    learned = {"learned_precision": _precision(post)} if settings["prior_precision"] == "learn" else {}
    if post.draws.settings.weight_from:
        learned["weight"] = post.draws.settings.weight
    return {
        **post.draws.outcome.summary,
        "trained": train.num_observations,
        "held_out": test.num_observations,
        "distinct_pairs": train.num_pairs,
        **learned,
        **mixing(post),
        **score_run(post, test, units),
    }


def score_run(post: Posterior, test: PairCounts, units: npt.ArrayLike | None = None) -> dict[str, Any]:
    """Return the log likelihood per held-out sample, ``posterior_mean``, ``predictive`` or ``map`` as available.

    ``clusters`` has what standard errors of scores and of their differences are computed from: the samples and
    the log likelihood of each cluster of documents, users (``units``) or, in a split by pair, words.
    """
    logs = log_probabilities(post.draws, test)
    clusters = find_clusters(test, units)
    return scores_of(test, logs, clusters, clusters.kind if units is None else "user")


def scores_of(test: PairCounts, logs: Mapping[str, Float64], clusters: Clusters, kind: str) -> dict[str, Any]:
    """Return the scores of a record, with their ``clusters``, from `log_probabilities`."""
    held: dict[str, Any] = {"kind": kind, "units": clusters.units, "samples": pack(clusters.sizes, 0)}
    held |= {name: pack(clusters.sums(both), 3) for name, both in logs.items()}
    return {**{name: average(test, both) for name, both in logs.items()}, "clusters": held}


def _precision(post: Posterior) -> float:
    """Return the learned precision: the geometric mean of both sides', which is what the data determine."""
    names, given = post.draws.scale_names, post.draws.settings.prior_precision
    if isinstance(given, float):  # a short Gibbs run learned it
        return given
    return float(np.exp(np.mean([np.log(post.draws.stats(name)).mean() for name in names])))


@dataclass(frozen=True)
class Estimate:
    """A score or a difference of scores, with its standard error (NaN if the record has none)."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4f}" if math.isnan(self.error) else f"{self.value:.4f} ({self.error:.4f})"

    @property
    def signed(self) -> str:
        """The text of a difference."""
        return f"{self.value:+.4f}" if math.isnan(self.error) else f"{self.value:+.4f} ({self.error:.4f})"

    @property
    def sign(self) -> int | None:
        """1 or -1 if the 95% interval is on one side of 0, 0 if it holds 0, None without a standard error."""
        if math.isnan(self.error):
            return None
        low, high = self.interval
        return 1 if low > 0.0 else -1 if high < 0.0 else 0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval."""
        return self.value - Z95 * self.error, self.value + Z95 * self.error


def estimate(values: Values, kind: str) -> Estimate | None:
    """Return one score of a record, None if it has no such score."""
    if values.get(kind) is None:
        return None
    held = values.get("clusters", {})
    if kind not in held:
        return Estimate(values[kind], math.nan)
    return Estimate(values[kind], ratio_error(unpack(held[kind]), unpack(held["samples"])))


def difference(one: Values, kind: str, other: Values, other_kind: str) -> Estimate | None:
    """Return the first score minus the second; its standard error is of pairs, if both scored the same samples."""
    if one.get(kind) is None or other.get(other_kind) is None:
        return None
    first, second = one.get("clusters", {}), other.get("clusters", {})
    value = one[kind] - other[other_kind]
    if kind not in first or other_kind not in second or first["samples"] != second["samples"]:
        return Estimate(value, math.nan)
    sums = unpack(first[kind]) - unpack(second[other_kind])
    return Estimate(value, ratio_error(sums, unpack(first["samples"])))


def precision_of(settings: Mapping[str, Any]) -> str:
    """Return the words for the precision of a cell in the label of a row; none for the paper's."""
    given = settings["prior_precision"]
    if isinstance(given, float):
        return "" if given == 1.0 else f", precision {given:g}"
    words = {"learn": "learned precision", COVARIANCE: "covariance", DEFAULTS: "covariance, weighted"}
    return f", {words[given]}"
