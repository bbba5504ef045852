"""Cells of an experiment, made from grids of settings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from bayesvec.paper.variants import VARIANTS, options_of

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting.

    Attributes
    ----------
    label : str
        Its name for a reader, words separated by spaces such as ``K=5 V=100 N=1000 gibbs``.
    settings : Mapping
        Everything that determines the result, including the seed; plain values, fit for JSON.
    cost : float
        About how many seconds it takes on two cores.
    rank : int
        Cells of a lower rank are run first; within a rank, the cheap ones.
    """

    label: str
    settings: Settings
    cost: float
    rank: int = 1

    def matches(self, patterns: Sequence[str]) -> bool:
        """Return whether all words of some pattern occur in the label (``*`` is a wildcard)."""
        words = self.label.split()
        return not patterns or any(
            all(any(fnmatchcase(word, wanted) for word in words) for wanted in pattern.split())
            for pattern in patterns
        )


def make_cells(
    grid: Iterable[Settings],
    label: Callable[[Settings], str],
    cost: Callable[[Settings], float],
    rank: Callable[[Settings], int] = lambda settings: 0,
) -> list[Cell]:
    """Return a cell for each mapping of settings, which get the seed and all options of their variant.

    With the options among the settings, a record is not mistaken for one of another sampler after a default has
    changed.

    Parameters
    ----------
    grid : iterable of Mapping
        Settings.
    label, cost, rank : callable
        Those of the cell, from its settings.
    """
    cells = []
    for given in grid:
        settings = {"seed": 0, **given}
        if settings.get("method") in VARIANTS:
            settings["options"] = options_of(settings["method"], **settings.get("options", {}))
        cells.append(Cell(label(settings), settings, cost(settings), rank(settings)))
    return cells


def name_settings(names: str, rows: Iterable[Sequence[Any]], **common: Any) -> list[dict[str, Any]]:
    """Return settings from rows of values, named by words, and from those that all rows share."""
    return [{**common, **dict(zip(names.split(), row, strict=True))} for row in rows]
