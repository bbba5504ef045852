"""Hold-out scores: the log likelihood of pairs that were not fitted, per observation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads, default_threads
from bayesvec._progress import progress as show_progress
from bayesvec._types import Float64, Int64
from bayesvec.counts.names import Names
from bayesvec.diagnostics.clusters import Clusters, find_clusters, log_likelihoods, ratio_error
from bayesvec.errors import InputError, OptionError
from bayesvec.estimates.per_draw import each_draw
from bayesvec.estimates.texts import plain
from bayesvec.storage.kinds import POINT

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.storage.reader import Draws

MEAN, PREDICTIVE, MODE = "posterior_mean", "predictive", "map"  # the estimates that are scored
_CACHED = 1 << 18  # values gathered at a time, which stay in cache


@dataclass(frozen=True)
class Score:
    """Log likelihood of held-out observations, averaged over them; larger (nearer to zero) is better.

    Attributes
    ----------
    posterior_mean : float or None
        At the posterior mean of the vectors (the paper's); None for a run with ``identify="none"``, whose
        draws are not aligned, so that their mean is meaningless.
    predictive : float or None
        Of each pair's probability averaged over the draws; None if no draws are kept or the run is a point.
    observations : int
        How many samples were held out.
    pairs : int
        How many distinct pairs these are.
    map : float or None
        At the MAP, if one is given or the run is one.
    errors : dict
        The standard error of each of these that is not None, by name; empty if there is one cluster only.
    over : str
        What the standard errors are over: "148 documents" if the hold-out holds its documents, otherwise words.
    """

    posterior_mean: float | None
    predictive: float | None
    observations: int
    pairs: int
    map: float | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    over: str = ""

    def __str__(self) -> str:
        titles = {MEAN: "posterior mean", MODE: "MAP", PREDICTIVE: "posterior predictive"}
        lines = []
        for name, title in titles.items():
            if (value := getattr(self, name)) is not None:
                error = f" (standard error {self.errors[name]:.6f})" if name in self.errors else ""
                lines.append(f"{title}: {value:.6f}{error}")
        lines += [f"standard errors are over {self.over}"] if self.errors else []
        head = f"log likelihood of an observation, {self.observations:,} held out in {self.pairs:,} pairs"
        return "\n".join([head, *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return plain(asdict(self))


def log_score(
    rho: npt.ArrayLike,
    alpha: npt.ArrayLike,
    holdout: "PairCounts",
    rows: tuple[Int64, Int64] | None = None,
) -> float:
    """Return the log likelihood of ``holdout`` at one embedding (a MAP, a posterior mean), per observation.

    Parameters
    ----------
    rho, alpha : array_like, (R, K) and (C, K)
        The embedding.
    holdout : PairCounts
        Pairs that were not fitted.
    rows : pair of ndarray of int64, optional
        Rows of the word and of the context of each pair; by default those of ``holdout``.
    """
    side = holdout.by_word
    return average(holdout, _logs_at(rho, alpha, *(rows or (side.rows(), side.other))))


def _logs_at(rho: npt.ArrayLike, alpha: npt.ArrayLike, words: Int64, contexts: Int64) -> Float64:
    """Return the log probabilities of a positive and of a negative sample of each pair, (2, pair)."""
    x, y = np.asarray(rho), np.asarray(alpha)
    eta = np.empty(len(words))
    step = max(1, 2 * _CACHED // x.shape[1])
    for first in range(0, len(words), step):
        part = slice(first, first + step)
        eta[part] = np.einsum("pk,pk->p", x[words[part]], y[contexts[part]])
    return np.stack([-np.logaddexp(0.0, -eta), -np.logaddexp(0.0, eta)])


def score(
    draws: "Draws",
    holdout: "PairCounts",
    *,
    map: "Draws | None" = None,
    at: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    progress: bool = False,
) -> Score:
    """Score held-out pairs; see `Posterior.score`. ``at`` is a MAP with the rows of ``draws``."""
    for run in (draws, map):
        if run is not None:
            _check_unseen(run, holdout)
    logs = log_probabilities(draws, holdout, progress=progress)
    if map is not None and not is_point(draws):
        if not is_point(map):
            method = map.settings.method
            raise OptionError(
                f"{map.path} was made with method {method}; the MAP must be a run of method map"
            )
        logs |= log_probabilities(map, holdout)
    elif at is not None and not is_point(draws):
        logs[MODE] = _logs_at(*at, *_matched_pairs(draws, holdout))
    scores = {name: average(holdout, both) for name, both in logs.items()}
    errors, over = _errors(find_clusters(holdout), logs)
    return Score(
        scores.get(MEAN),
        scores.get(PREDICTIVE),
        holdout.num_observations,
        holdout.num_pairs,
        map=scores.get(MODE),
        errors=errors,
        over=over,
    )


def _errors(clusters: Clusters, logs: Mapping[str, Float64]) -> tuple[dict[str, float], str]:
    """Return the standard errors of the scores, and over what; nothing for a single cluster."""
    sizes = clusters.sizes
    if len(sizes) < 2:
        return {}, ""
    return {
        name: ratio_error(clusters.sums(both), sizes) for name, both in logs.items()
    }, f"{clusters.units:,} {clusters.kind}s"


def log_probabilities(
    draws: "Draws", holdout: "PairCounts", *, progress: bool = False
) -> dict[str, Float64]:  # (2, pair) each
    """Return the log probabilities of a positive and of a negative sample of each held-out pair, by estimate.

    The estimates are ``"map"`` for a point, otherwise ``"posterior_mean"`` and ``"predictive"``, those that the
    run has.
    """
    rows = _matched_pairs(draws, holdout)
    if is_point(draws):
        return {MODE: _logs_at(draws.mean("rho"), draws.mean("alpha"), *rows)}
    found = {}
    if draws.settings.identify != "none":
        found[MEAN] = _logs_at(draws.mean("rho"), draws.mean("alpha"), *rows)
    if {"rho", "alpha"} <= draws.manifest["arrays"].keys():
        with np.errstate(divide="ignore"):
            found[PREDICTIVE] = np.log(_predictive(draws, *rows, progress=progress))
    return found


def _check_unseen(draws: "Draws", holdout: "PairCounts") -> None:
    """Raise if a run was fitted to the counts that ``holdout`` is a part of."""
    fitted = draws.manifest.get("counts", {}).get("fingerprint")
    split = holdout.recipe.get("split")
    if fitted is not None and split is not None and split.get("of") == fitted:
        raise OptionError(
            f"{draws.path} was fitted to the counts that these were split from, so it has seen them; fit the part "
            "for training, and score that run"
        )


def is_point(draws: "Draws") -> bool:
    """Whether a run is one point, such as a MAP."""
    return draws.outcome.kind == POINT


def _matched_pairs(draws: "Draws", holdout: "PairCounts") -> tuple[Int64, Int64]:
    """Return the rows in ``draws`` of the word and of the context of each pair held out."""
    side = holdout.by_word
    to_row = _matched(holdout.words, draws.words, "word")
    to_column = _matched(holdout.contexts, draws.contexts, "context")
    return to_row[side.rows()], to_column[side.other]


def _predictive(draws: "Draws", words: Int64, contexts: Int64, *, progress: bool) -> Float64:  # (2, pair)
    """Return the probabilities of a positive and of a negative sample of each pair, averaged over the draws."""
    total = np.zeros((2, len(words)))
    count = draws.num_chains * draws.num_draws
    step = max(1, _CACHED // draws.dim)
    parts = [(a, min(a + step, len(words))) for a in range(0, len(words), step)]
    sides = zip(each_draw(draws, "rho"), each_draw(draws, "alpha"), strict=True)
    with Threads(default_threads()) as threads, show_progress("scoring", count, enabled=progress) as advance:
        for rho, alpha in sides:

            def add(first: int, last: int, _: int, rho: Any = rho, alpha: Any = alpha) -> None:
                part = slice(first, last)
                eta = np.einsum("pk,pk->p", rho[words[part]], alpha[contexts[part]])
                small = np.exp(-np.abs(eta, dtype=np.float64))
                likely = 1.0 / (1.0 + small)
                unlikely = small * likely  # not 1 - likely, which is zero too soon
                total[0, part] += np.where(eta >= 0, likely, unlikely)
                total[1, part] += np.where(eta >= 0, unlikely, likely)

            threads.run(add, parts)
            advance(1, "")
    return total / count


def average(holdout: "PairCounts", logs: Float64) -> float:
    """Return the log likelihood per observation, given the `log_probabilities` of an estimate."""
    side = holdout.by_word
    return float(log_likelihoods(side.n_pos, side.n_neg, logs).sum()) / holdout.num_observations


def _matched(names: tuple[str, ...], known: tuple[str, ...], what: str) -> Int64:
    """Return the row in ``known`` of each of ``names``."""
    if names == known:
        return np.arange(len(names))
    lookup = Names(known)
    unknown = [name for name in names if name not in lookup]
    if unknown:
        raise InputError(
            f"the hold-out has {len(unknown)} {what}s that the run does not, such as {unknown[0]!r}; "
            "count it with the run's vocabulary or split it off the run's counts"
        )
    return lookup.rows(names)
