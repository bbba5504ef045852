"""Tables in Markdown that can be read on a terminal too."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

NOT_RUN = "…"  # a cell that has no record yet
NOTHING = "n/a"  # not given by the paper, impossible or not measured


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, the first column aligned left and the others right."""
    widths = [max(3, *map(len, column)) for column in zip(head, *rows, strict=True)]
    marks = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(texts: Sequence[str]) -> str:
        padded = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
        return f"| {' | '.join([texts[0].ljust(widths[0]), *padded[1:]])} |"

    return "\n".join(map(line, [head, marks, *rows]))


def number(value: Any, spec: str = ".1f") -> str:
    """Return a number as text, `NOTHING` for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    return value if isinstance(value, str) else format(value, spec)


def known(values: Sequence[float | None] | None) -> list[float]:
    """Return the values of the worlds that have one."""
    return [value for value in values or () if value is not None]


def mean(values: Sequence[float | None] | None) -> float | None:
    """Return the mean over the worlds that have a value."""
    found = known(values)
    return fmean(found) if found else None


def standard_error(values: Sequence[float | None] | None) -> float | None:
    """Return the standard error of that mean."""
    found = known(values)
    return stdev(found) / math.sqrt(len(found)) if len(found) > 1 else None


def size(pairs: int) -> str:
    """Return a number of samples as in the paper, such as 20k or 1M."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if pairs >= unit and pairs % (unit // 10) == 0:
            return f"{pairs / unit:g}{letter}"
    return f"{pairs:,}"


def paragraphs(*parts: str) -> str:
    """Join the parts that are not empty, with blank lines between."""
    return "\n\n".join(part for part in parts if part)


def lines(*parts: str) -> str:
    """Join the parts that are not empty, each on a line of its own."""
    return "  \n".join(part for part in parts if part)
