"""Cells of an experiment and their records.

A cell is one setting of a table or a figure; what comes out of it is one small JSON file, written whole or not
at all. The file is found again by the settings and the version of the experiment, so a run can stop anywhere and
go on, and a finished cell is never computed twice.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesvec import _atomic as files
from bayesvec._types import Float64
from bayesvec.errors import InputError, OptionError

FORMAT = "bayesvec experiment"

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting.

    Attributes
    ----------
    label : str
        What a reader calls it, words separated by spaces such as ``K=5 V=100 N=1000 gibbs``.
    settings : Mapping
        All that decides its figures, the seed too; plain values, fit for JSON.
    cost : float
        About how many seconds it takes on two cores.
    rank : int
        Cells of a lower rank are run first; among equals the cheap ones are.
    """

    label: str
    settings: Mapping[str, Any]
    cost: float
    rank: int = 1

    def is_meant(self, patterns: Sequence[str]) -> bool:
        """Tell whether one of the patterns has only words that this label has (``*`` is anything)."""
        words = self.label.split()
        return not patterns or any(
            all(any(fnmatchcase(word, wanted) for word in words) for wanted in pattern.split())
            for pattern in patterns
        )


class NoData(InputError):
    """The data of an experiment is not on this machine and cannot be had."""


class Experiment(Protocol):
    """What a module of this package has."""

    NAME: str
    SHOWS: str  # what of the paper it reproduces
    POOL: str  # the folder of its records: experiments that share cells share this
    VERSION: int  # larger when the same settings give other figures
    NOTE: str  # where it differs from the paper

    def cells(self, quick: bool) -> list[Cell]:
        """Return the cells in the order of the table."""

    def run(self, settings: Mapping[str, Any], bench: Any) -> dict[str, Any]:
        """Compute one cell, see `bayesvec.paper.workspace.Bench`; the result is fit for JSON."""

    def table(self, results: "Results") -> str:
        """Return the figures in Markdown, the paper's beside ours."""

    def figures(self, results: "Results") -> dict[str, Callable[[], Any]]:
        """Return by name what draws each picture, those for which there are records."""


@dataclass(frozen=True, eq=False)
class Result:
    """A cell with its record, if it has been run."""

    cell: Cell
    record: Mapping[str, Any] | None

    @property
    def values(self) -> Values | None:
        """What came out of it."""
        return None if self.record is None else self.record["values"]


class Results:
    """All cells of an experiment with what came out of them, as far as they have been run.

    Parameters
    ----------
    results : iterable of Result
        In the order of the table.
    """

    def __init__(self, results: Iterable[Result]) -> None:
        self.all = list(results)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def done(self) -> int:
        """How many have been run."""
        return sum(result.record is not None for result in self.all)

    def having(self, **settings: Any) -> "Results":
        """Return those with these settings."""
        return Results(
            result
            for result in self.all
            if all(result.cell.settings.get(name) == value for name, value in settings.items())
        )

    def each(self, *names: str) -> list[Any]:
        """Return the different values of a setting (or tuples of several), in the order they come in."""
        found = [tuple(result.cell.settings.get(name) for name in names) for result in self.all]
        return list(dict.fromkeys(values if len(names) > 1 else values[0] for values in found))

    def get(self, **settings: Any) -> Values | None:
        """Return what came out of the one cell with these settings, None if it has not been run."""
        found = self.having(**settings).all
        if len(found) > 1:
            raise ValueError(f"{len(found)} cells have the settings {settings}")
        return found[0].values if found else None

    def has(self, **settings: Any) -> bool:
        """Tell whether there is a cell with these settings, run or not."""
        return bool(self.having(**settings).all)


def find_key(experiment: Experiment, cell: Cell) -> str:
    """Return a hash of the settings and of the version of the experiment."""
    told = [experiment.POOL, experiment.VERSION, dict(cell.settings)]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def record_path(out: Path, experiment: Experiment, cell: Cell) -> Path:
    """Return where the record of a cell is kept."""
    slug = re.sub(r"[^a-zA-Z0-9.=]+", "-", cell.label).strip("-")
    return out / experiment.POOL / f"{slug}.{find_key(experiment, cell)}.json"


def read_record(out: Path, experiment: Experiment, cell: Cell) -> dict[str, Any] | None:
    """Return the record of a cell, or None if it has not been run; raise if the file is damaged."""
    found = sorted(
        (out / experiment.POOL).glob(f"*.{find_key(experiment, cell)}.json")
    )  # whatever its label was
    return files.read_json(found[0], FORMAT) if found else None


def read_results(out: Path, experiment: Experiment, *, quick: bool) -> Results:
    """Return all cells of an experiment with the records found in ``out``."""
    return Results(Result(cell, read_record(out, experiment, cell)) for cell in experiment.cells(quick))


def choose(experiment: Experiment, quick: bool, only: Sequence[str]) -> list[Cell]:
    """Return the cells that are meant by ``only``, in the order to run them: by rank, then the cheap first."""
    cells = experiment.cells(quick)
    chosen = [cell for cell in cells if cell.is_meant(only)]
    if not chosen:
        raise OptionError(
            f"no cell of {experiment.NAME} has {' or '.join(map(repr, only))}; its {len(cells)} cells are "
            f"called like {cells[0].label!r}; see them with --list"
        )
    return sorted(chosen, key=lambda cell: (cell.rank, cell.cost))


def tidy(value: Any) -> Any:
    """Return ``value`` with NumPy's numbers as Python's and what is not finite as None, fit for JSON."""
    if isinstance(value, Mapping):
        return {str(name): tidy(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [tidy(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"a record cannot hold {type(value).__name__}")


def pack(values: npt.ArrayLike, decimals: int = 4) -> str:
    """Return many numbers as one line of text: records are to be read, and kept in a repository."""
    return " ".join(f"{value:.{decimals}f}" for value in np.asarray(values, dtype=np.float64).ravel())


def unpack(text: str) -> Float64:
    """Return the numbers that `pack` wrote."""
    return np.array(text.split(), dtype=np.float64)
