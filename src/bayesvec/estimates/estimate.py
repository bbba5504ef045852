"""Answers to questions: the draws of one number with its interval, and small tables of such numbers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import abspath
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from bayesvec._printable import printable
from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates import convergence

Row = TypeVar("Row", bound=NamedTuple)

LEVEL = 0.9  # of an interval, unless another is given


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

        It is NaN for a single draw, such as a MAP: one point carries no uncertainty.
        """
        low, high = np.quantile(self.draws, tails(level)) if self.draws.size > 1 else (math.nan, math.nan)
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
        if not 0 <= probability <= 1:
            raise OptionError(f"probability is {probability:g}; it must lie between 0 and 1, such as 0.05")
        return float(np.quantile(self.draws, probability)) if self.draws.size > 1 else math.nan

    def hdi(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the highest-density interval: the shortest that holds a fraction ``level`` of the draws.

        It suits posteriors with one mode. It is NaN for a single draw.
        """
        tails(level)  # raises if it is no probability
        if self.draws.size == 1:
            return math.nan, math.nan
        ordered = np.sort(self.draws, axis=None)
        inside = min(math.ceil(level * ordered.size), ordered.size - 1)
        widths = ordered[inside:] - ordered[: ordered.size - inside]
        first = int(np.argmin(widths))
        return float(ordered[first]), float(ordered[first + inside])

    @cached_property
    def rhat(self) -> float:
        """Rank-normalised split R-hat; NaN if the draws are constant or too few."""
        return float(convergence.rhat(self.draws))

    @cached_property
    def ess(self) -> float:
        """Bulk effective sample size; NaN if the draws are constant or too few."""
        return float(convergence.ess_bulk(self.draws))

    @cached_property
    def ess_tail(self) -> float:
        """Tail effective sample size; NaN if the draws are constant or too few."""
        return float(convergence.ess_tail(self.draws))

    @cached_property
    def mcse(self) -> float:
        """Monte Carlo standard error of the mean; NaN if the draws are constant or too few."""
        return float(convergence.mcse(self.draws))

    def __sub__(self, other: "Estimate | float") -> "Estimate":
        """Subtract a number, or another estimate of the same run draw by draw."""
        if isinstance(other, int | float | np.number):
            return self._minus(float(other), f"{other:g}")
        if not isinstance(other, Estimate):
            return NotImplemented
        if abspath(self.run) != abspath(other.run) or self.draws.shape != other.draws.shape:
            raise OptionError(
                f"{self.label} and {other.label} come from different runs; "
                "only estimates of one run can be subtracted draw by draw"
            )
        return self._minus(other.draws, other.label)

    def _minus(self, values: "float | Float64", label: str) -> "Estimate":
        return Estimate(self.draws - values, f"{self.label} - {label}", self.run)

    def __float__(self) -> float:
        return self.mean

    def __format__(self, form: str) -> str:
        """Write the mean in a format of numbers, such as ``.2f``; without one, the sentence."""
        return format(self.mean, form) if form else str(self)

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

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
        )

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return the summary as plain values, None where a figure is unavailable."""
        low, high = self.interval(level)
        figures = {"mean": self.mean, "sd": self.sd, "level": level, "low": low, "high": high}
        figures |= {"rhat": self.rhat, "ess": self.ess, "ess_tail": self.ess_tail, "mcse": self.mcse}
        chains, draws = self.draws.shape
        return {"label": self.label, **plain(figures), "chains": chains, "draws": draws}


def tails(level: float) -> tuple[float, float]:
    """Return the two probabilities between which an equal-tailed interval of ``level`` lies."""
    if not 0 < level < 1:
        raise OptionError(f"level is {level:g}; it must lie between 0 and 1, such as 0.9")
    return (1 - level) / 2, (1 + level) / 2


def formatted(values: list[float], sd: float) -> list[str]:
    """Write values with the decimals that their standard deviation deserves, at least two."""
    if not sd > 0:
        return [f"{value:.3g}" for value in values]
    decimals = min(12, max(2, math.ceil(-math.log10(sd))))
    return [f"{value:.{decimals}f}" for value in values]


def with_probability(sentence: str, name: str, probability: float, form: str = ".3g") -> str:
    """Add a probability to a sentence, unless it is NaN, as for a single point."""
    return sentence if math.isnan(probability) else f"{sentence}, {name} {probability:{form}}"


def plain(figures: dict[str, Any]) -> dict[str, Any]:
    """Replace what JSON cannot hold (NaN, infinity) by None."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in figures.items()
    }


class Table(Generic[Row]):
    """Rows of one kind of named tuple.

    Parameters
    ----------
    rows : sequence of NamedTuple
        The rows, each with the same fields; at least one.
    title : str, optional
        What the table shows.
    quantity : Quantity, optional
        What the means and intervals in it are of.
    """

    def __init__(self, rows: Sequence[Row], *, title: str = "", quantity: Quantity | None = None) -> None:
        self.rows = tuple(rows)
        self.title = title
        self.quantity = quantity
        self.columns: tuple[str, ...] = self.rows[0]._fields

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | str) -> Row | list[Any]:
        """Return a row by its number or a column by its name."""
        if isinstance(key, str):
            where = self.columns.index(key)
            return [row[where] for row in self.rows]
        return self.rows[key]

    def __str__(self) -> str:
        cells = [list(self.columns), *self.texts()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(
                text.ljust(width) if isinstance(value, str) else text.rjust(width)
                for text, width, value in zip(line, widths, self.rows[0], strict=True)
            ).rstrip()
            for line in cells
        )

    def __repr__(self) -> str:
        return f"{printable(self.title)}\n{self}" if self.title else str(self)

    def _repr_html_(self) -> str:
        import html  # takes time to import

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in line) + "</tr>"
            for line in self.texts()
        )
        caption = f"<caption>{html.escape(printable(self.title))}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def texts(self) -> list[list[str]]:
        """Return the cells as text, numbers with a fixed number of decimals."""
        return [
            [_text(name, value) for name, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of plain values, None for what is missing."""
        return [plain(row._asdict()) for row in self.rows]

    def to_arrow(self) -> Any:
        """Return a PyArrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.to_dict())

    def to_pandas(self) -> Any:
        """Return a Pandas data frame, if Pandas is installed."""
        return self.to_arrow().to_pandas()


def _text(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return printable(str(value))
    if math.isnan(value):
        return "n/a"
    return f"{value:.0f}" if name.startswith("ess") else f"{value:.2f}"
