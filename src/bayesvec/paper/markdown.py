"""Tables in Markdown that are read on a terminal too."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

NOT_RUN = "…"  # a cell that has no record yet
NOTHING = "n/a"  # what the paper does not give, or what cannot be
KEY = (
    f"`{NOT_RUN}`: not run yet; `{NOTHING}`: not given, not possible or not measured (the note says why); "
    "empty: not planned."
)


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, the first column to the left and the others to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    marks = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(texts: Sequence[str]) -> str:
        first, *others = texts
        padded = [
            first.ljust(widths[0]),
            *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True)),
        ]
        return f"| {' | '.join(padded)} |"

    return "\n".join([line(lines[0]), f"| {' | '.join(marks)} |", *map(line, lines[1:])])


def number(value: Any, spec: str = ".1f") -> str:
    """Return a figure as text, `NOTHING` for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    return value if isinstance(value, str) else format(value, spec)


def known(values: Sequence[float | None] | None) -> list[float]:
    """Return the figures of the worlds that have one."""
    return [value for value in values or () if value is not None]


def mean(values: Sequence[float | None] | None) -> float | None:
    """Return the mean over the worlds that have a figure."""
    found = known(values)
    return fmean(found) if found else None


def standard_error(values: Sequence[float | None] | None) -> float | None:
    """Return the standard error of that mean over worlds."""
    found = known(values)
    return stdev(found) / math.sqrt(len(found)) if len(found) > 1 else None


def size(pairs: int) -> str:
    """Return a number of samples as the paper writes it, such as 20k or 1M."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if pairs >= unit and pairs % (unit // 10) == 0:
            return f"{pairs / unit:g}{letter}"
    return f"{pairs:,}"


def paragraphs(*parts: str) -> str:
    """Join what is not empty, with blank lines between."""
    return "\n\n".join(part for part in parts if part)
