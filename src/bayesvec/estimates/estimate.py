"""Answers to questions: the draws of one number, with its interval."""

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from os.path import abspath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._printable import printable
from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates import convergence
from bayesvec.estimates.intervals import LEVEL, quantiles, shortest, tails, warn_of_few
from bayesvec.estimates.texts import formatted, plain

_INNERMOST = re.compile(r"\([^()]*\)")  # brackets without brackets in them

if TYPE_CHECKING:
    from bayesvec.estimates.events import Event


class Quantity(NamedTuple):
    """The kind of number that an estimate is of."""

    name: str  # as in labels: cosine(tax, law)
    axis: str = "value"  # name of the axis of a plot
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Estimate:
    """The posterior of one number.

    Attributes
    ----------
    draws : ndarray of float64, (chain, draw)
        One value for each draw of the run.
    label : str
        What it is, such as ``cosine(speak, law)``.
    run : str
        The run the draws came from; estimates of one run can be subtracted draw by draw.
    quantity : Quantity, optional
        The kind of number, such as a cosine; a difference is of no kind.
    """

    draws: Float64
    label: str = "estimate"
    run: str = ""
    quantity: Quantity | None = None

    def __post_init__(self) -> None:
        draws = np.array(self.draws, dtype=np.float64)
        if draws.ndim != 2 or not draws.size:
            raise OptionError(f"draws have the shape {draws.shape}; they must be (chain, draw), not empty")
        draws.flags.writeable = False
        object.__setattr__(self, "draws", draws)

    @property
    def mean(self) -> float:
        """The posterior mean."""
        return float(self.draws.mean())

    @property
    def sd(self) -> float:
        """The posterior standard deviation; NaN for a single draw."""
        return float(self.draws.std(ddof=1)) if self.draws.size > 1 else math.nan

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the equal-tailed interval that holds the number with probability ``level``.

        A new draw falls in it with that probability (see `bayesvec.estimates.intervals`). With too few draws for that
        it is their range; below 100 draws there is a warning. It is NaN for a single draw, such as a MAP: one point
        carries no uncertainty.
        """
        ends = tails(level)
        if self.draws.size == 1:
            return math.nan, math.nan
        warn_of_few(self.draws.size, level)
        low, high = quantiles(self.draws, ends)
        return float(low), float(high)

    def probability_above(self, threshold: float) -> float:
        """Return the probability that the number is above ``threshold``: the fraction of draws that are.

        It is NaN for a single draw, as the interval is.
        """
        return float((self.draws > threshold).mean()) if self.draws.size > 1 else math.nan

    def probability_below(self, threshold: float) -> float:
        """Return the probability that the number is below ``threshold``; NaN for a single draw."""
        return float((self.draws < threshold).mean()) if self.draws.size > 1 else math.nan

    @property
    def median(self) -> float:
        """The posterior median."""
        return float(np.median(self.draws))

    def quantile(self, probability: float) -> float:
        """Return the value below which the number lies with this ``probability``; NaN for a single draw."""
        if not isinstance(probability, Real) or not 0 <= probability <= 1:
            raise OptionError(f"probability is {probability}; it must be a number from 0 to 1, such as 0.05")
        return float(quantiles(self.draws, probability)) if self.draws.size > 1 else math.nan

    def hdi(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the highest-density interval: the shortest between two draws that holds a new one with ``level``.

        It suits posteriors with one mode. It is NaN for a single draw.
        """
        tails(level)  # raises if it is no probability
        if self.draws.size == 1:
            return math.nan, math.nan
        warn_of_few(self.draws.size, level)
        return shortest(self.draws, level)

    @cached_property
    def _measures(self) -> convergence.Measures:
        return convergence.measures(self.draws)

    @property
    def rhat(self) -> float:
        """Rank-normalised split R-hat; NaN if the draws are constant or too few."""
        return float(self._measures.rhat)

    @property
    def ess(self) -> float:
        """Bulk effective sample size; NaN if the draws are constant or too few."""
        return float(self._measures.ess_bulk)

    @property
    def ess_tail(self) -> float:
        """Tail effective sample size; NaN if the draws are constant or too few."""
        return float(self._measures.ess_tail)

    @cached_property
    def mcse(self) -> float:
        """Monte Carlo standard error of the mean; NaN if the draws are constant or too few."""
        return float(convergence.mcse(self.draws))

    __array_ufunc__ = None  # numpy's numbers leave the arithmetic to the methods below

    def __neg__(self) -> "Estimate":
        return Estimate(-self.draws, f"-{_grouped(self.label)}", self.run)

    def __abs__(self) -> "Estimate":
        return Estimate(abs(self.draws), f"abs({self.label})", self.run)

    def __add__(self, other: "Estimate | float") -> "Estimate":
        """Add a number, or another estimate of the same run draw by draw."""
        return self._combined(other, operator.add, "{} + {}")

    def __radd__(self, other: float) -> "Estimate":
        if isinstance(other, int) and other == 0:  # what `sum` starts from
            return self
        return self._combined(other, operator.add, "{1} + {0}")

    def __sub__(self, other: "Estimate | float") -> "Estimate":
        """Subtract a number, or another estimate of the same run draw by draw."""
        return self._combined(other, operator.sub, "{} - {}")

    def __rsub__(self, other: float) -> "Estimate":
        return self._combined(other, lambda mine, theirs: theirs - mine, "{1} - {0}")

    def __mul__(self, other: "Estimate | float") -> "Estimate":
        """Multiply by a number, or by another estimate of the same run draw by draw."""
        return self._combined(other, operator.mul, "{} * {}", grouped=True)

    def __rmul__(self, other: float) -> "Estimate":
        return self._combined(other, operator.mul, "{1} * {0}", grouped=True)

    def __truediv__(self, other: "Estimate | float") -> "Estimate":
        """Divide by a number, or by another estimate of the same run draw by draw."""
        return self._combined(other, operator.truediv, "{} / {}", grouped=True)

    def __gt__(self, other: "Estimate | float") -> "Event":
        """Return in which draws the number is above another: an `Event`, with its ``probability``."""
        return self._compared(other, operator.gt, ">")

    def __ge__(self, other: "Estimate | float") -> "Event":
        return self._compared(other, operator.ge, ">=")

    def __lt__(self, other: "Estimate | float") -> "Event":
        return self._compared(other, operator.lt, "<")

    def __le__(self, other: "Estimate | float") -> "Event":
        return self._compared(other, operator.le, "<=")

    def _combined(
        self, other: "Estimate | float", combine: Callable[..., Any], form: str, *, grouped: bool = False
    ) -> "Estimate":
        operand = self._operand(other)
        if operand is None:
            return NotImplemented  # type: ignore[no-any-return]
        values, label = operand
        labels = [_grouped(each) if grouped else each for each in (self.label, label)]
        return Estimate(combine(self.draws, values), form.format(*labels), self.run)

    def _compared(self, other: "Estimate | float", compare: Callable[..., Any], sign: str) -> "Event":
        from bayesvec.estimates.events import Event

        operand = self._operand(other)
        if operand is None:
            return NotImplemented  # type: ignore[no-any-return]
        values, label = operand
        return Event(compare(self.draws, values), f"{self.label} {sign} {label}", self.run)

    def _operand(self, other: "Estimate | float") -> "tuple[float | Float64, str] | None":
        """Return the values and the label of what this estimate is combined with; None if it is neither."""
        if isinstance(other, int | float | np.number):
            return float(other), f"{other:g}"
        if not isinstance(other, Estimate):
            return None
        if abspath(self.run) != abspath(other.run) or self.draws.shape != other.draws.shape:
            raise OptionError(
                f"{self.label} and {other.label} come from different runs; "
                "only estimates of one run can be combined draw by draw"
            )
        return other.draws, other.label

    def __float__(self) -> float:
        return self.mean

    def __format__(self, form: str) -> str:
        """Write the mean in a format of numbers, such as ``.2f``; without one, the sentence."""
        return format(self.mean, form) if form else str(self)

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    def _repr_html_(self) -> str:
        from bayesvec.estimates.html import estimate_html

        return estimate_html(self)

    def sentence(self, level: float = LEVEL) -> str:
        """Return the estimate as one line of text, with the interval of ``level``."""
        low, high = self.interval(level)
        label = printable(self.label)
        if self.draws.size == 1:
            return f"{label} = {self.mean:.3g}, one point: no interval"
        value, low_text, high_text = formatted([self.mean, low, high], self.sd)
        rhat = "n/a" if math.isnan(self.rhat) else f"{self.rhat:.2f}"
        ess = "n/a" if math.isnan(self.ess) else f"{self.ess:.0f}"
        return (
            f"{label} = {value}, {100 * level:g}% interval {low_text} to {high_text}, R-hat {rhat}, ESS {ess}"
            f"{self._caveat()}"
        )

    def _caveat(self) -> str:
        """Return why the interval cannot be trusted yet, in brackets; nothing if it can."""
        if convergence.disagree(self.draws[:, :, None], np.array([self.rhat]), np.array([self.ess]))[0]:
            return " (the chains disagree)"
        if self.rhat > convergence.RHAT_ALLOWED:
            return " (not converged)"
        return " (few effective draws)" if min(self.ess, self.ess_tail) < convergence.ROUGH_ESS else ""

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the summary as plain values, None where a figure is unavailable."""
        low, high = self.interval(level)
        figures = {"mean": self.mean, "sd": self.sd, "level": level, "low": low, "high": high}
        figures |= {"rhat": self.rhat, "ess": self.ess, "ess_tail": self.ess_tail, "mcse": self.mcse}
        chains, draws = self.draws.shape
        return {"label": self.label, **plain(figures), "chains": chains, "draws": draws}


def measure_together(estimates: Sequence[Estimate]) -> None:
    """Compute R-hat, ESS and Monte Carlo errors of estimates of one run at once, faster than one by one."""
    if len({each.draws.shape for each in estimates}) != 1:
        return
    draws = np.stack([each.draws for each in estimates], axis=2)  # (chain, draw, M)
    measures, errors = convergence.measures(draws), convergence.mcse(draws)
    for i, each in enumerate(estimates):
        found = convergence.Measures(*(column[i] for column in measures))
        vars(each).update(_measures=found, mcse=float(errors[i]))  # where cached_property keeps them


def _grouped(label: str) -> str:
    """Return a label that can stand in a product: sums between brackets."""
    outside = label
    while (shorter := _INNERMOST.sub("", outside)) != outside:
        outside = shorter
    return f"({label})" if " + " in outside or " - " in outside else label
