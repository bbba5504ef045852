"""R-hat and ESS of one kind of quantity, and how many of that kind pass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesvec.diagnostics.quantities import Quantities
from bayesvec.estimates.convergence import ESS_WANTED, SHARE_WANTED, disagree

SHOWN = 5  # of those that fail

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
    fails = varies & ((np.fmin(bulk, tail) < wanted) | (rhats > given.allowed))
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


def shortfall(found: Sequence[Diagnosis]) -> str:
    """State how many pass of the kinds of which too few do."""
    return "; ".join(_share(diagnosis) for diagnosis in found if not diagnosis.ok)


def _share(diagnosis: Diagnosis) -> str:
    """State how many quantities of a kind pass."""
    if diagnosis.count == 1:
        return f"{diagnosis.kind} has ESS {diagnosis.smallest_ess:.0f} and R-hat {diagnosis.rhat:.2f}"
    return f"{diagnosis.passing:.1%} of {diagnosis.count:,} {diagnosis.kind} pass ({SHARE_WANTED:.0%} wanted)"


def line_of(diagnosis: Diagnosis) -> str:
    """Return the figures of a kind as one line."""
    if diagnosis.count == 1:
        return (
            f"{diagnosis.kind}: R-hat {diagnosis.rhat:.2f}, ESS {diagnosis.ess:.0f}, "
            f"tail ESS {diagnosis.ess_tail:.0f}"
        )
    return (
        f"{diagnosis.count:,} {diagnosis.kind}: "
        f"R-hat {diagnosis.rhat_median:.2f} (worst {diagnosis.rhat:.2f}), "
        f"ESS {diagnosis.ess_median:.0f} (worst {diagnosis.ess:.0f}, {diagnosis.worst}), "
        f"tail ESS {diagnosis.ess_tail_median:.0f} (worst {diagnosis.ess_tail:.0f}), {diagnosis.passing:.1%} pass"
    )
