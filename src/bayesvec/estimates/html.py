"""Answers in notebooks: intervals as little bars, in SVG that needs no script and no style sheet."""

import html
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._printable import printable
from bayesvec.estimates.intervals import LEVEL

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.estimates.table import Table

WIDTH, HEIGHT = 120, 14  # of a bar, in pixels
_COLOUR = "#0072B2"  # blue of Okabe & Ito (2008)

Scale = tuple[float, float]


def escape(text: str) -> str:
    """Return text for a page: no markup, no control characters."""
    return html.escape(printable(text))


def bar(mean: float, low: float, high: float, scale: Scale) -> str:
    """Return an interval as a line with a point at the mean, and a tick at 0 if the scale contains it."""

    def place(value: float) -> float:
        return round(4 + (WIDTH - 8) * (value - scale[0]) / (scale[1] - scale[0]), 1)

    middle = HEIGHT / 2
    parts = []
    if scale[0] <= 0 <= scale[1]:
        parts.append(f'<path d="M{place(0)} 1V{HEIGHT - 1}" stroke="#999" stroke-width="1"/>')
    if math.isfinite(low) and math.isfinite(high):
        parts.append(
            f'<path d="M{place(low)} {middle:g}H{place(high)}" stroke="{_COLOUR}" stroke-width="2.5"/>'
        )
        text = f"{mean:.3g}, from {low:.3g} to {high:.3g}"
    else:
        text = f"{mean:.3g}"
    parts.append(f'<circle cx="{place(mean)}" cy="{middle:g}" r="3.5" fill="{_COLOUR}"/>')
    return (
        f'<svg role="img" aria-label="{text}" width="{WIDTH}" height="{HEIGHT}" '
        f'style="vertical-align:middle">{"".join(parts)}</svg>'
    )


def scale_of(values: Iterable[float]) -> Scale:
    """Return the ends of a scale on which all values and 0 lie."""
    known = np.array([0.0, *values])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def estimate_html(estimate: "Estimate", level: float = LEVEL) -> str:
    """Return an estimate as its sentence with a bar; on the scale of its quantity if that has bounds."""
    low, high = estimate.interval(level)
    bounds = estimate.quantity.bounds if estimate.quantity is not None else None
    scale = bounds or scale_of([estimate.mean, low, high])
    return f"<span>{bar(estimate.mean, low, high, scale)} {escape(estimate.sentence(level))}</span>"


def table_html(table: "Table[Any]") -> str:
    """Return a table; if its rows have intervals, with a bar in each, all on one scale."""
    bars = _bars(table)
    names = [*table.columns, *([""] if bars else [])]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = []
    for number, texts in enumerate(table.texts()):
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        lines.append(f"<tr>{cells}{f'<td>{bars[number]}</td>' if bars else ''}</tr>")
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _bars(table: "Table[Any]") -> list[str]:
    """Return a bar for each row, none if the table has no intervals."""
    centre = next((name for name in ("mean", "change") if name in table.columns), None)
    if centre is None or not {"low", "high"} <= set(table.columns):
        return []
    values = list(zip(table[centre], table["low"], table["high"], strict=True))
    scale = scale_of(value for each in values for value in each)
    return [bar(*each, scale) for each in values]


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a table with two columns."""
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
    return f"<table><caption>{escape(title)}</caption><tbody>{lines}</tbody></table>"
