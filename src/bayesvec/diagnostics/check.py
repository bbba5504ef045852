"""Whether a run is long enough: R-hat and ESS of cosines and co-occurrence probabilities, and a verdict.

They judge chains. They cannot judge an approximation to the posterior: its draws are independent and may be wrong
all the same.
"""

import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import FEWEST_DRAWS, ess_bulk, ess_tail, rhat
from bayesvec.estimates.estimate import Estimate, plain
from bayesvec.estimates.labels import label
from bayesvec.estimates.per_draw import cosines, probabilities
from bayesvec.storage.kinds import APPROXIMATION, POINT, WHOLE_CHAINS
from bayesvec.storage.outcome import Outcome

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

# Vehtari et al. (2021) ask for an ESS of 400 and, of one quantity, for an R-hat of 1.01. At that ESS the
# largest R-hat of 200 quantities is between 1.015 and 1.03 in chains that have converged, so 1.05 it is.
ESS_WANTED = 400
RHAT_ALLOWED = 1.05

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

    def head(self) -> list[str]:
        """Return the lines above the figures: sizes, the method's summary, learned precisions."""
        lines = [f"{many(self.chains, 'chain')} of {many(self.draws, 'draw')}"]
        if self.outcome.summary:
            lines.append(str(self.outcome))
        if self.learned:
            figures = self.learned.items()
            texts = [f"{name} {mean:.3g} ({low:.3g} to {high:.3g})" for name, (mean, low, high) in figures]
            lines.append(f"learned: {', '.join(texts)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None where a figure is unavailable."""
        figures = asdict(self)
        figures["diagnoses"] = [plain(asdict(diagnosis)) for diagnosis in self.diagnoses]
        figures["outcome"]["summary"] = plain(self.outcome.summary)
        return figures


def check(draws: "Draws", *, pairs: int = 100, seed: int = 0, parameters: bool = False) -> Check:
    """Check a run; see `Posterior.check`."""
    outcome = draws.outcome
    found: tuple[Diagnosis, ...] = ()
    if outcome.kind in (POINT, APPROXIMATION):
        ok, verdict = _verdict_of_fit(draws, outcome)
    else:
        if draws.num_draws >= FEWEST_DRAWS:
            chosen = quantities(draws, pairs=pairs, seed=seed, parameters=parameters)
            found = tuple(each for each in starmap(diagnose, chosen) if each.count)
        ok, verdict = _verdict(draws, found, outcome)
    estimates = {name: Estimate(draws.stats(name)) for name in draws.scale_names if draws.num_draws}
    learned = {name: (estimate.mean, *estimate.interval(0.9)) for name, estimate in estimates.items()}
    return Check(ok, verdict, found, draws.num_chains, draws.num_draws, outcome, learned)


class Quantities(NamedTuple):
    """Draws of some labelled quantities of one kind."""

    kind: str
    values: Float64  # (chain, draw, M)
    labels: list[str]


def quantities(
    draws: "Draws", *, pairs: int = 100, seed: int = 0, parameters: bool = False
) -> Iterator[Quantities]:
    """Yield the draws by which a run is judged, kind by kind; arguments as in `Posterior.check`."""
    stored = draws.manifest["arrays"]
    if "rho" in stored:
        first, second = random_pairs(len(draws.words), None, pairs, seed=seed)
        values = cosines(draws, first, second)
    else:  # only what was monitored during the run is left
        values = draws.stats("cosine")
        first, second = np.array(draws.monitored, dtype=np.int64).reshape(-1, 2).T
    yield Quantities("cosines", values, _labels("cosine", (draws.words, first), (draws.words, second)))
    if {"rho", "alpha"} <= stored.keys():
        first, second = random_pairs(len(draws.words), len(draws.contexts), pairs, seed=seed)
        labels = _labels("cooccurrence", (draws.words, first), (draws.contexts, second))
        yield Quantities("co-occurrence probabilities", probabilities(draws, first, second), labels)
    yield Quantities("log posterior", draws.stats("log_posterior")[:, :, None], ["log posterior"])
    learned = _learned(draws)
    if learned:
        yield Quantities("learned precisions", np.stack(list(learned.values()), axis=-1), list(learned))
    if parameters:
        yield from _parameters(draws, pairs, seed)


def _learned(draws: "Draws") -> dict[str, Float64]:
    """Return the learned precisions, and what the data determine of them: not how the two sides share them."""
    found = {name: draws.stats(name) for name in draws.scale_names}
    rho, alpha = (draws.scales_of(side) for side in ("rho", "alpha"))
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


def diagnose(kind: str, values: Float64, labels: list[str]) -> Diagnosis:
    """Measure draws (chain, draw, M) of ``M`` labelled quantities."""
    rhats, bulk, tail = rhat(values), ess_bulk(values), ess_tail(values)
    varies = ~np.isnan(rhats)
    if not varies.any():
        return Diagnosis(kind, 0, worst="", **dict.fromkeys(_FIGURES, math.nan))
    worst, medians = (
        (np.nanmax(rhats), np.nanmin(bulk), np.nanmin(tail)),
        map(np.nanmedian, (rhats, bulk, tail)),
    )
    figures = dict(zip(_FIGURES, map(float, (*worst, *medians)), strict=True))
    return Diagnosis(kind, int(varies.sum()), worst=labels[int(np.nanargmin(bulk))], **figures)


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
    ess = min(diagnosis.smallest_ess for diagnosis in found)
    worst_rhat = max(diagnosis.rhat for diagnosis in found)
    reasons = []
    if ess < ESS_WANTED:
        reasons.append(f"worst ESS {ess:.0f} of {ESS_WANTED} wanted")
    if worst_rhat > RHAT_ALLOWED:
        reasons.append(f"worst R-hat {worst_rhat:.2f}, at most {RHAT_ALLOWED:.2f} wanted")
    if reasons:
        needed = draws.num_draws * max(2.0 if worst_rhat > RHAT_ALLOWED else 1.0, ESS_WANTED / ess)
        return False, f"not long enough: {'; '.join(reasons)}; {_remedy(draws, needed, outcome)}"
    if divergences := outcome.summary.get("divergences"):
        remedy = "start a new run with smaller steps, such as --option target_accept=0.95"
        return False, f"{many(divergences, 'divergence')}: a part of the posterior may be missing; {remedy}"
    return True, f"long enough: worst ESS {ess:.0f} ({ESS_WANTED} wanted), worst R-hat {worst_rhat:.2f}"


def _remedy(draws: "Draws", needed: float, outcome: Outcome) -> str:
    """Return the command that makes the run longer: draws needed, rounded up to two figures."""
    folder = shlex.quote(str(draws.path))
    wanted = draws.settings.draws
    if not draws.finished and needed <= wanted:
        return f"it is not finished; resume it with: bayesvec fit --resume --out {folder}"
    unit = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    rounded = math.ceil(1.1 * needed / unit) * unit  # a little more than just enough
    if outcome.kind == WHOLE_CHAINS:
        return f"start a new run with --draws {rounded}: this one cannot be extended"
    return f"resume it with: bayesvec fit --resume --draws {rounded} --out {folder}"


def many(number: int, what: str) -> str:
    """Return a number of things in words, such as ``2 chains``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


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
        f"tail ESS {diagnosis.ess_tail_median:.0f} (worst {diagnosis.ess_tail:.0f})"
    )
