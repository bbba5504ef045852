"""Whether a run is long enough: R-hat and ESS of cosines and co-occurrence probabilities, and a verdict.

They judge chains. They cannot judge an approximation to the posterior: its draws are independent and may be wrong
all the same.
"""

import math
import shlex
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._progress import clock
from bayesvec._types import Float64, Int64
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import (
    ESS_WANTED,
    FEWEST_DRAWS,
    RHAT_ALLOWED,
    SHARE_WANTED,
    Measures,
    disagree,
    measures,
)
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.labels import label
from bayesvec.estimates.per_draw import cosines, probabilities
from bayesvec.estimates.texts import many, plain
from bayesvec.storage.kinds import APPROXIMATION, POINT, WHOLE_CHAINS
from bayesvec.storage.layout import FREQUENT, MONITORED
from bayesvec.storage.outcome import Outcome

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

PAIRS = 200  # of each kind
# Words that occur with everything are strongly correlated with all their contexts, so they mix several times slower.
# At this ESS the Monte Carlo error of the mean is a tenth of the standard deviation, which is accepted for these, and
# for learned precisions.
SLOW_ESS = 100
# The log posterior depends on all vectors at once, and no question asks for it. It is there to show chains that are
# still far from where they will stay, for which this is enough.
LEVEL_ESS = 50
NEIGHBOURS = 5  # nearest of each of some words
SHOWN = 5  # of those that fail
MOST_LISTED = 8  # learned precisions; of more, only their range is printed
LEAST_TOKENS = 1000  # a shorter text adds little to the prior

_FIGURES = ("rhat", "ess", "ess_tail", "rhat_median", "ess_median", "ess_tail_median")


@dataclass(frozen=True)
class Diagnosis:
    """R-hat and ESS of one kind of quantity, over a random set of them.

    Attributes
    ----------
    kind : str
        The kind of quantity.
    count : int
        How many of them vary (constants have no R-hat and no ESS).
    rhat, rhat_median : float
        The largest and the median R-hat.
    ess, ess_median : float
        The smallest and the median bulk ESS.
    ess_tail, ess_tail_median : float
        The smallest and the median tail ESS.
    worst : str
        The one with the smallest bulk ESS.
    passing : float
        Fraction of them whose ESS and R-hat are as wanted.
    disagreeing : float
        Fraction of them on which the chains disagree although each of them has settled.
    reached : float
        The ESS, bulk and tail, that 95% of them reach.
    wanted : int
        The ESS that each should have.
    failing : tuple of str
        The worst of those that do not pass, a few of them.
    """

    kind: str
    count: int
    rhat: float
    rhat_median: float
    ess: float
    ess_median: float
    ess_tail: float
    ess_tail_median: float
    worst: str
    passing: float = 1.0
    disagreeing: float = 0.0
    reached: float = math.nan
    wanted: int = ESS_WANTED
    failing: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether enough of them pass."""
        return self.passing >= SHARE_WANTED

    @property
    def apart(self) -> bool:
        """Whether too many of them fail because the chains disagree on them."""
        return not self.ok and self.disagreeing > 1.0 - SHARE_WANTED

    @property
    def missing(self) -> float:
        """How many times as many draws are needed, as far as ESS decides."""
        return self.wanted / max(self.reached, 1.0)

    @property
    def smallest_ess(self) -> float:
        """The smaller of worst bulk and worst tail ESS."""
        return float(np.fmin(self.ess, self.ess_tail))


@dataclass(frozen=True)
class Check:
    """Whether a run is long enough.

    Attributes
    ----------
    ok : bool
        The answer; False for an approximation, which its own draws cannot judge.
    verdict : str
        The answer in words, with what to do.
    diagnoses : tuple of Diagnosis
        The figures behind it.
    chains, draws : int
        Size of the run.
    outcome : Outcome
        The method's own summary.
    learned : dict of str to tuple
        Mean and the ends of the 90% interval of each learned precision.
    """

    ok: bool
    verdict: str
    diagnoses: tuple[Diagnosis, ...]
    chains: int
    draws: int
    outcome: Outcome = field(default_factory=Outcome)
    learned: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join([*self.head(), *map(_line, self.diagnoses), self.verdict])

    @property
    def shortfall(self) -> str:
        """Which kinds of quantities have too few that pass, in words; empty if none has."""
        return _shortfall(self.diagnoses)

    @property
    def disagreement(self) -> bool:
        """Whether the chains have settled in different places."""
        return any(each.apart for each in self.diagnoses)

    def head(self) -> list[str]:
        """Return the lines above the figures: sizes, the method's summary, learned precisions."""
        lines = [f"{many(self.chains, 'chain')} of {many(self.draws, 'draw')}"]
        if self.outcome.summary:
            lines.append(str(self.outcome))
        if self.learned:
            figures = self.learned.items()
            texts = [f"{name} {mean:.3g} ({low:.3g} to {high:.3g})" for name, (mean, low, high) in figures]
            if len(texts) > MOST_LISTED:
                means = [mean for mean, _, _ in self.learned.values()]
                texts = [f"{len(texts)} precisions, from {min(means):.3g} to {max(means):.3g}"]
            lines.append(f"learned: {', '.join(texts)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None where a figure is unavailable."""
        figures = asdict(self)
        each = (asdict(diagnosis) for diagnosis in self.diagnoses)
        figures["diagnoses"] = [plain(values | {"failing": list(values["failing"])}) for values in each]
        figures["outcome"]["summary"] = plain(self.outcome.summary)
        return figures


def check(draws: "Draws", *, pairs: int = PAIRS, seed: int = 0, parameters: bool = False) -> Check:
    """Check a run; see `Posterior.check`."""
    outcome = draws.outcome
    found: tuple[Diagnosis, ...] = ()
    if outcome.kind in (POINT, APPROXIMATION):
        ok, verdict = _verdict_of_fit(draws, outcome)
    else:
        if draws.num_draws >= FEWEST_DRAWS:
            chosen = quantities(draws, pairs=pairs, seed=seed, parameters=parameters)
            found = tuple(each for each in map(diagnose, chosen) if each.count)
        ok, verdict = _verdict(draws, found, outcome)
    estimates = {name: Estimate(draws.stats(name)) for name in draws.scale_names if draws.num_draws}
    learned = {name: (estimate.mean, *estimate.interval(0.9)) for name, estimate in estimates.items()}
    return Check(ok, verdict, found, draws.num_chains, draws.num_draws, outcome, learned)


@dataclass(frozen=True, eq=False)
class Quantities:
    """Draws of some labelled quantities of one kind; R-hat and ESS of each are computed once, when asked for."""

    kind: str
    values: Float64  # (chain, draw, M)
    labels: list[str]
    wanted: int = ESS_WANTED  # the ESS that each should have

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
    yield Quantities("log posterior", draws.stats("log_posterior")[:, :, None], ["log posterior"], LEVEL_ESS)
    if draws.settings.prior_recipe.get("kind") == "covariance" and draws.scale_names:
        # the trace of the covariance; its weak axes mix slowly, and hardly matter to any vector
        variance = np.sum([1.0 / draws.stats(name) for name in draws.scale_names], axis=0)
        yield Quantities("prior variance", variance[:, :, None], ["prior variance of a vector"], SLOW_ESS)
    elif learned := _learned(draws):
        stacked = np.stack(list(learned.values()), axis=-1)
        yield Quantities("learned precisions", stacked, list(learned), SLOW_ESS)
    if parameters:
        yield from _parameters(draws, pairs, seed)


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
        first, second = random_pairs(len(rows), None, pairs, seed=seed)
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


def diagnose(given: Quantities) -> Diagnosis:
    """Judge quantities, each of which passes with R-hat within its limit and the ESS that is wanted."""
    kind, values, labels, wanted = given.kind, given.values, given.labels, given.wanted
    rhats, bulk, tail = given.rhats, given.bulk, given.tail
    varies = ~np.isnan(rhats)
    if not varies.any():
        nothing = math.nan
        return Diagnosis(kind, 0, nothing, nothing, nothing, nothing, nothing, nothing, worst="")
    worst, medians = (
        (np.nanmax(rhats), np.nanmin(bulk), np.nanmin(tail)),
        map(np.nanmedian, (rhats, bulk, tail)),
    )
    figures: dict[str, Any] = dict(zip(_FIGURES, map(float, (*worst, *medians)), strict=True))
    fails = varies & ((np.fmin(bulk, tail) < wanted) | (rhats > RHAT_ALLOWED))
    order = np.argsort(np.where(fails, bulk, np.inf), kind="stable")[: fails.sum()]
    return Diagnosis(
        kind,
        int(varies.sum()),
        worst=labels[int(np.nanargmin(bulk))],
        passing=float(1.0 - fails.sum() / varies.sum()),
        disagreeing=float(disagree(values, rhats, bulk).sum() / varies.sum()),
        reached=float(np.quantile(np.fmin(bulk, tail)[varies], 1.0 - SHARE_WANTED, method="lower")),
        wanted=wanted,
        failing=tuple(labels[number] for number in order[:SHOWN]),
        **figures,
    )


def _labels(kind: str, *sides: tuple[tuple[str, ...], Int64]) -> list[str]:
    """Label pairs, each side given by its names and rows."""
    return [
        label(kind, pair)
        for pair in zip(*([names[row] for row in rows] for names, rows in sides), strict=True)
    ]


def _verdict_of_fit(draws: "Draws", outcome: Outcome) -> tuple[bool, str]:
    """Judge what is not chains: whether it was found at all, and no more than that."""
    method = draws.settings.method
    if not outcome.converged:
        return False, f"not converged: {outcome}; start a new run that may take longer (see --option)"
    if outcome.kind == POINT:
        return True, f"nothing to check: {method} gives one point, without uncertainty"
    folder = shlex.quote(str(draws.path))
    caveat = f"; {outcome.caveat}" if outcome.caveat else ""
    return False, (
        f"cannot be judged from its draws: they are independent draws of an approximation ({method}), not of "
        f"the posterior, so R-hat and ESS do not apply{caveat}; see how far it can be trusted with: "
        f"bayesvec compare GIBBS_RUN {folder}, or bayesvec calibrate --method {method}"
    )


def _verdict(draws: "Draws", found: tuple[Diagnosis, ...], outcome: Outcome) -> tuple[bool, str]:
    if not found:
        few = draws.num_draws < FEWEST_DRAWS
        what = f"{draws.num_draws} draws of each chain" if few else "draws that never vary"
        return False, f"not long enough: {what} are too few to judge; {_remedy(draws, ESS_WANTED, outcome)}"
    slowest = min(found, key=lambda each: each.smallest_ess / each.wanted)
    ess, wanted = slowest.smallest_ess, slowest.wanted
    worst_rhat = max(diagnosis.rhat for diagnosis in found)
    bad = [diagnosis for diagnosis in found if not diagnosis.ok]
    if apart := [each for each in bad if each.apart]:
        return False, _disagreement(apart)
    if bad:
        worst = f"worst ESS {ess:.0f} of {wanted} wanted, worst R-hat {worst_rhat:.2f}"
        needed = draws.num_draws * max(1.25, *(each.missing for each in bad))
        return False, f"not long enough: {worst}; {_shortfall(bad)}; {_remedy(draws, needed, outcome)}"
    if divergences := outcome.summary.get("divergences"):
        remedy = "start a new run with smaller steps, such as --option target_accept=0.95"
        return False, f"{many(divergences, 'divergence')}: a part of the posterior may be missing; {remedy}"
    if (
        tokens := draws.manifest.get("counts", {}).get("recipe", {}).get("tokens", LEAST_TOKENS)
    ) < LEAST_TOKENS:
        return False, (
            f"enough draws, but only {many(tokens, 'token')} of text: the intervals are about those of the prior; "
            f"use at least {LEAST_TOKENS:,} tokens"
        )
    worst = f"worst: ESS {ess:.0f} of {wanted}, {slowest.kind}; R-hat {worst_rhat:.2f}"
    failing = [name for each in sorted(found, key=lambda each: each.smallest_ess) for name in each.failing]
    if not failing:
        return True, f"long enough: all quantities that were checked pass ({worst})"
    share = min(diagnosis.passing for diagnosis in found)
    passing = f"{share:.1%} or more of each kind pass, {SHARE_WANTED:.0%} needed"
    return True, f"long enough: {passing} ({worst}); not passing: {', '.join(failing[:SHOWN])}"


def _shortfall(found: Sequence[Diagnosis]) -> str:
    """State how many pass of the kinds of which too few do."""
    return "; ".join(_share(diagnosis) for diagnosis in found if not diagnosis.ok)


def _share(diagnosis: Diagnosis) -> str:
    """State how many quantities of a kind pass."""
    if diagnosis.count == 1:
        return f"{diagnosis.kind} has ESS {diagnosis.smallest_ess:.0f} and R-hat {diagnosis.rhat:.2f}"
    return f"{diagnosis.passing:.1%} of {diagnosis.count} {diagnosis.kind} pass ({SHARE_WANTED:.0%} wanted)"


def _disagreement(apart: Sequence[Diagnosis]) -> str:
    """Describe chains that have settled in different places, where more draws do not help."""
    shares = ", ".join(f"{each.disagreeing:.0%} of the {each.kind}" for each in apart)
    names = ", ".join(name for each in apart for name in each.failing)
    worst = max(each.rhat for each in apart)
    return (
        f"the chains found different solutions: each has settled, but they disagree on {shares} "
        f"(worst R-hat {worst:.2f}; {names}); more draws will not help. A larger --dim or a smaller --vocab usually "
        "does; answers with an R-hat near 1 can be trusted, the others depend on the chain"
    )


def _remedy(draws: "Draws", needed: float, outcome: Outcome) -> str:
    """Return the command that makes the run longer, with the time and the disk that it takes."""
    folder = shlex.quote(str(draws.path))
    settings = draws.settings
    if not draws.finished and (needed <= settings.draws or settings.rules.draws):
        return f"it is not finished; resume it with: bayesvec fit --resume --out {folder}"
    unit = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    rounded = math.ceil(1.1 * needed / unit) * unit  # a little more than just enough
    if outcome.kind == WHOLE_CHAINS:
        return f"start a new run with --draws {rounded}: this one cannot be extended"
    return f"{_cost(draws, rounded)}resume it with: bayesvec fit --resume --draws {rounded} --out {folder}"


def _cost(draws: "Draws", wanted: int) -> str:
    """State how long the draws that are missing take, and how much of the disk."""
    more = wanted - draws.num_draws
    if not draws.num_draws or "seconds" not in draws.array_names:
        return ""
    seconds = more * float(np.median(draws.stats("seconds"), axis=1).max())
    size = more * draws.num_chains * draws.draw_bytes
    return f"for about {clock(seconds)} and {size / 1e9:.2g} GB more, "


def _line(diagnosis: Diagnosis) -> str:
    if diagnosis.count == 1:
        return (
            f"{diagnosis.kind}: R-hat {diagnosis.rhat:.2f}, ESS {diagnosis.ess:.0f}, "
            f"tail ESS {diagnosis.ess_tail:.0f}"
        )
    return (
        f"{diagnosis.count} {diagnosis.kind}: "
        f"R-hat {diagnosis.rhat_median:.2f} (worst {diagnosis.rhat:.2f}), "
        f"ESS {diagnosis.ess_median:.0f} (worst {diagnosis.ess:.0f}, {diagnosis.worst}), "
        f"tail ESS {diagnosis.ess_tail_median:.0f} (worst {diagnosis.ess_tail:.0f}), {diagnosis.passing:.1%} pass"
    )
