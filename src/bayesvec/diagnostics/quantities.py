"""The quantities by which a run is judged: cosines, co-occurrence probabilities, and what was learned."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ESS_WANTED, RHAT_ALLOWED, ROUGH_ESS, Measures, measures
from bayesvec.estimates.labels import label
from bayesvec.estimates.per_draw import cosines, probabilities
from bayesvec.inference.state import standardised
from bayesvec.storage.layout import FREQUENT, MONITORED

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

PAIRS = 200  # of each kind
AXIS = "precision_"  # with which the names of precisions of axes begin
# Of frequent words there are more: in text they decide when a run may end, and of 200 the share that passes would
# have a standard error of 1.5% around the 95% that are wanted.
TIMES_FREQUENT = 5
# Words that occur with everything are strongly correlated with all their contexts, so they mix several times slower.
# A rough value is accepted for these, and for learned precisions.
SLOW_ESS = ROUGH_ESS
# The log posterior depends on all vectors and on the learned covariance at once, whose weak axes are slow and matter
# to no answer; so does the trace of that covariance (see docs/trust.md). They are there to show chains that
# are still far from where they will stay, for which this is enough.
LEVEL_ESS = 20
LEVEL_RHAT = 1.1
NEIGHBOURS = 5  # nearest of each of some words


@dataclass(frozen=True, eq=False)
class Quantities:
    """Draws of some labelled quantities of one kind; R-hat and ESS of each are computed once, when asked for."""

    kind: str
    values: Float64  # (chain, draw, M)
    labels: list[str]
    wanted: int = ESS_WANTED  # the ESS that each should have
    allowed: float = RHAT_ALLOWED  # the largest R-hat

    @cached_property
    def _measures(self) -> Measures:
        return measures(self.values)

    @property
    def rhats(self) -> Float64:
        """R-hat of each, NaN where all draws are equal."""
        return self._measures.rhat

    @property
    def bulk(self) -> Float64:
        """Bulk ESS of each."""
        return self._measures.ess_bulk

    @property
    def tail(self) -> Float64:
        """Tail ESS of each."""
        return self._measures.ess_tail


_HELD = 4  # runs, such as those that the explorer shows
_latest: "OrderedDict[Any, tuple[Quantities, ...]]" = OrderedDict()
_lock = Lock()


def quantities(
    draws: "Draws", *, pairs: int = PAIRS, seed: int = 0, parameters: bool = False
) -> tuple[Quantities, ...]:
    """Return the draws by which a run is judged, kind by kind; arguments as in `Posterior.check`.

    Those of the last runs are held: the end of `fit`, `check`, the report and the explorer need the same.
    """
    key = (draws.version, pairs, seed, parameters)
    with _lock:  # who asks for the same at the same time waits for it
        if key not in _latest:
            _latest[key] = tuple(_quantities(draws, pairs, seed, parameters))
            while len(_latest) > _HELD:
                _latest.popitem(last=False)
        return _latest[key]


def _quantities(draws: "Draws", pairs: int, seed: int, parameters: bool) -> Iterator[Quantities]:
    stored = draws.manifest["arrays"]
    if kinds := list(_pairs_of_words(draws, pairs, seed)):
        # all at once, since reading takes the most time; without draws of the words there is what was monitored
        measure = cosines if "rho" in stored else _monitored
        every = measure(draws, *(np.concatenate([kind[side] for kind in kinds]) for side in (1, 2)))
        edges = np.cumsum([len(kind[1]) for kind in kinds])[:-1]
        for (kind, first, second, wanted), values in zip(kinds, np.split(every, edges, axis=2), strict=True):
            labels = _labels("cosine", (draws.words, first), (draws.words, second))
            yield Quantities(kind, values, labels, wanted)
    if {"rho", "alpha"} <= stored.keys():
        first, second = random_pairs(len(draws.words), len(draws.contexts), pairs, seed=seed)
        labels = _labels("cooccurrence", (draws.words, first), (draws.contexts, second))
        yield Quantities("co-occurrence probabilities", probabilities(draws, first, second), labels)
    yield Quantities("log posterior", _level(draws)[:, :, None], ["log posterior"], LEVEL_ESS, LEVEL_RHAT)
    if _has_covariance(draws):
        variance = np.sum([1.0 / draws.stats(name) for name in _axes(draws)], axis=0)  # the trace
        labels = ["prior variance of a vector"]
        yield Quantities("prior variance", variance[:, :, None], labels, LEVEL_ESS, LEVEL_RHAT)
        for name in draws.scale_names[len(_axes(draws)) :]:  # the degrees of freedom, if they are learned
            logs = np.log(draws.stats(name))[:, :, None]
            yield Quantities("degrees of freedom", logs, ["degrees of freedom"], LEVEL_ESS, LEVEL_RHAT)
    elif learned := _learned(draws):
        stacked = np.stack(list(learned.values()), axis=-1)
        yield Quantities("learned precisions", stacked, list(learned), SLOW_ESS)
    if parameters:
        yield from _parameters(draws, pairs, seed)


def _has_covariance(draws: "Draws") -> bool:
    """Whether a run has learned a covariance."""
    return draws.settings.prior_recipe.get("kind") == "covariance" and bool(draws.scale_names)


def _axes(draws: "Draws") -> list[str]:
    """Return the names of the precisions of the axes."""
    return [name for name in draws.scale_names if name.startswith(AXIS)]


def _level(draws: "Draws") -> Float64:
    """Return the log posterior of each draw, (chain, draw), of vectors in units of a covariance that is learned."""
    level = draws.stats("log_posterior")
    if not _has_covariance(draws):
        return level
    logs = np.sum([np.log(draws.stats(name)) for name in _axes(draws)], axis=0)
    return np.asarray(standardised(level, logs, len(draws.words) + len(draws.contexts)))


def _pairs_of_words(draws: "Draws", pairs: int, seed: int) -> Iterator[tuple[str, Int64, Int64, int]]:
    """Yield pairs chosen at random, pairs of frequent words, and words with their nearest neighbours."""
    if "rho" not in draws.manifest["arrays"]:
        first, second = np.array(draws.monitored, dtype=np.int64).reshape(-1, 2).T
        for kind, part, wanted in (
            ("cosines", slice(MONITORED), ESS_WANTED),
            ("cosines of frequent words", slice(MONITORED, None), SLOW_ESS),
        ):
            if len(first[part]):
                yield kind, first[part], second[part], wanted
        return
    num_words = len(draws.words)
    yield "cosines", *random_pairs(num_words, None, pairs, seed=seed), ESS_WANTED
    if num_words >= 2 * FREQUENT:
        rows = np.array(draws.manifest.get("frequent", range(FREQUENT)), dtype=np.int64)
        first, second = random_pairs(len(rows), None, TIMES_FREQUENT * pairs, seed=seed)
        yield "cosines of frequent words", rows[first], rows[second], SLOW_ESS
        if draws.settings.identify != "none":  # raw draws have no mean vectors
            yield "cosines of nearest neighbours", *_neighbours(draws, pairs, seed), ESS_WANTED


def _monitored(draws: "Draws", first: Int64, second: Int64) -> Float64:
    """Return the cosines of monitored pairs."""
    place = {pair: number for number, pair in enumerate(draws.monitored)}
    return draws.stats("cosine")[:, :, [place[pair] for pair in zip(first, second, strict=True)]]


def _neighbours(draws: "Draws", pairs: int, seed: int) -> tuple[Int64, Int64]:
    """Return some words, each with its nearest neighbours by the cosine of the posterior means."""
    mean = draws.mean("rho")
    mean = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), np.finfo(float).tiny)
    words, _ = random_pairs(len(mean), 1, -(-pairs // NEIGHBOURS), seed=seed)
    nearness = mean[words] @ mean.T  # (some words, word)
    nearness[np.arange(len(words)), words] = -np.inf
    nearest = np.argsort(-nearness, axis=1, kind="stable")[:, :NEIGHBOURS]
    return np.repeat(words, NEIGHBOURS), nearest.ravel()


def _learned(draws: "Draws") -> dict[str, Float64]:
    """Return the learned precisions, and what the data determine of them: not how the two sides share them."""
    found = {name: draws.stats(name) for name in draws.scale_names}
    rho, alpha = (draws.scales_of(side) for side in ("rho", "alpha"))
    if not alpha:
        return found
    more = {f"{name} / {rho[0]}": found[name] / found[rho[0]] for name in rho[1:]}
    if rho and alpha:
        more[f"{rho[0]} * {alpha[0]}"] = found[rho[0]] * found[alpha[0]]
    return found | more


def _parameters(draws: "Draws", count: int, seed: int) -> Iterator[Quantities]:
    """Yield coordinates chosen at random; those of anchors are constants, which are not counted."""
    if draws.settings.identify == "none":
        raise OptionError(
            f"{draws.path} has identify='none': its draws are not aligned, so coordinates have no R-hat; "
            "check it without parameters"
        )
    for side, names in (("rho", draws.words), ("alpha", draws.contexts)):
        if side in draws.manifest["arrays"]:
            rows, axes = random_pairs(len(names), draws.dim, count, seed=seed)
            some, place = np.unique(rows, return_inverse=True)
            values = draws.read(side, rows=some)[:, :, place, axes].astype(np.float64)
            labels = [f"{side}({names[row]}, axis {axis})" for row, axis in zip(rows, axes, strict=True)]
            yield Quantities(f"coordinates of {side}", values, labels)


def _labels(kind: str, *sides: tuple[tuple[str, ...], Int64]) -> list[str]:
    """Label pairs, each side given by its names and rows."""
    return [
        label(kind, pair)
        for pair in zip(*([names[row] for row in rows] for names, rows in sides), strict=True)
    ]
