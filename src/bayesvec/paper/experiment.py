"""Experiments: grids of cells, each with a record that is computed once.

A cell is one setting of a table or a figure. Its record is a small JSON file, written atomically and found again
by a hash of the settings and of the experiment's version. A run can therefore stop anywhere and resume, and a
finished cell is never computed twice.
"""

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bayesvec._checksums import read_json
from bayesvec.errors import InputError, OptionError
from bayesvec.paper.cells import Cell, Settings
from bayesvec.paper.markdown import NOT_RUN, NOTHING
from bayesvec.paper.variants import options_of
from bayesvec.paper.workspace import Workspace

FORMAT = "bayesvec experiment"

Values = Mapping[str, Any]
Figures = Mapping[str, Callable[[], Any]]


class NoData(InputError):
    """The data of an experiment is not on this machine and cannot be downloaded."""


@dataclass(frozen=True, eq=False)
class Result:
    """A cell with its record, if it has been run."""

    cell: Cell
    record: Mapping[str, Any] | None

    @property
    def values(self) -> Values | None:
        """The computed values; None if the cell has not been run or is impossible."""
        found = None if self.record is None else self.record["values"]
        return None if found is None or isinstance(found.get("impossible"), str) else found

    @property
    def reasons(self) -> list[str]:
        """Why the cell, or some of its worlds, could not be computed."""
        found = [] if self.record is None else self.record["values"].get("impossible", [])
        return [found] if isinstance(found, str) else list(found)


class Results:
    """All cells of an experiment, each with its record if it has been run.

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

    def settings(self, *names: str) -> list[dict[str, Any]]:
        """Return the distinct combinations of some settings, in order of appearance."""
        found = [tuple(result.cell.settings.get(name) for name in names) for result in self.all]
        return [dict(zip(names, values, strict=True)) for values in dict.fromkeys(found)]

    def each(self, *names: str) -> list[Any]:
        """Return the distinct values of a setting, tuples for several settings."""
        found = [tuple(settings.values()) for settings in self.settings(*names)]
        return found if len(names) > 1 else [values[0] for values in found]

    def only(self, **settings: Any) -> Result | None:
        """Return the one cell with these settings, None if there is none."""
        found = self.having(**settings).all
        if len(found) > 1:
            raise ValueError(f"{len(found)} cells have the settings {settings}")
        return found[0] if found else None

    def get(self, **settings: Any) -> Values | None:
        """Return the values of the one cell with these settings, None if it has none."""
        found = self.only(**settings)
        return None if found is None else found.values

    def row(self, width: int, show: Callable[[Values], Sequence[str]], **settings: Any) -> list[str]:
        """Return the texts of one cell; marks if it has no values, empty texts if there is no such cell."""
        found = self.only(**settings)
        if found is None:
            return [""] * width
        if found.values is None:
            return [NOT_RUN if found.record is None else NOTHING] * width
        return list(show(found.values))

    def across(
        self, name: str, columns: Iterable[Any], show: Callable[[Values], str], **settings: Any
    ) -> list[str]:
        """Return one text for each value of a setting."""
        return [
            self.row(1, lambda values: [show(values)], **{name: column}, **settings)[0] for column in columns
        ]


@dataclass(frozen=True)
class InPaper:
    """How much the paper shows, so that a smaller grid can say so.

    Attributes
    ----------
    total : int
        How many.
    what : str
        What is counted, such as values or curves.
    find : callable
        Returns which of them a cell reproduces, from its settings; None if it is not in the paper.
    """

    total: int
    what: str
    find: Callable[[Settings], Hashable | None]

    def count(self, results: Results) -> int:
        """Return how many have been run, at least in part."""
        found = {self.find(each.cell.settings) for each in results.all if each.values is not None}
        return len(found - {None})


@dataclass(frozen=True, eq=False)
class Experiment:
    """One table or figure.

    Attributes
    ----------
    name : str
        Its name on the command line.
    shows : str
        The part of the paper that it reproduces.
    note : str
        How the figures were made and where they differ from the paper; at most six lines.
    cells : callable
        Returns the cells of the quick or the full size, in the order of the table.
    run : callable
        Computes the values of one cell from its settings, in a workspace.
    table : callable
        Returns the results in Markdown, the paper's beside ours.
    figures : callable
        Returns functions that draw the figures, by name; only those that have records.
    cut : str
        What the paper has and the grid does not, and what it would cost.
    version : int
        Raised when the same settings give other values.
    pool : str, optional
        The folder of the records, for experiments that share cells; by default the name.
    in_paper : InPaper, optional
        How much of the paper's table or figure the grid has, where that can be counted.
    """

    name: str
    shows: str
    note: str
    cells: Callable[[bool], list[Cell]]
    run: Callable[[Settings, Workspace], Mapping[str, Any]]
    table: Callable[[Results], str]
    figures: Callable[[Results], Figures] = lambda results: {}
    cut: str = ""
    version: int = 1
    pool: str | None = None
    in_paper: InPaper | None = None

    @property
    def folder(self) -> str:
        """The folder of the records."""
        return self.pool or self.name

    def key(self, cell: Cell) -> str:
        """Return a hash of the settings of a cell and of the version."""
        identity = [self.folder, self.version, dict(cell.settings)]
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def path(self, out: Path, cell: Cell) -> Path:
        """Return the file of a cell's record."""
        slug = re.sub(r"[^a-zA-Z0-9.=]+", "-", cell.label).strip("-")
        return out / self.folder / f"{slug}.{self.key(cell)}.json"

    def sampler(self, cell: Cell) -> dict[str, Any]:
        """Return all options of the sampler of a cell, which are among its settings if it has a variant."""
        return dict(cell.settings.get("options") or options_of("gibbs"))

    def read(self, out: Path, cell: Cell) -> dict[str, Any] | None:
        """Return the record of a cell, whatever its label was; raise if the file is damaged.

        None if there is none, or if it was made by another sampler; early records do not state theirs.
        """
        found = sorted((out / self.folder).glob(f"*.{self.key(cell)}.json"))
        record = read_json(found[0], FORMAT) if found else None
        if record is None or record.get("sampler", self.sampler(cell)) != self.sampler(cell):
            return None
        return record

    def results(self, out: Path, *, quick: bool) -> Results:
        """Return all cells with the records found in ``out``."""
        return Results(Result(cell, self.read(out, cell)) for cell in self.cells(quick))

    def choose(self, quick: bool, only: Sequence[str]) -> list[Cell]:
        """Return the cells that match ``only``, in running order: by rank, then the cheap ones first."""
        cells = self.cells(quick)
        chosen = [cell for cell in cells if cell.matches(only)]
        if not chosen:
            raise OptionError(
                f"no cell of {self.name} matches {' or '.join(map(repr, only))}; it has {len(cells)} cells, "
                f"such as {cells[0].label!r}; list them with --list"
            )
        return sorted(chosen, key=lambda cell: (cell.rank, cell.cost))


def figures_of(draw: Callable[[Results], Any], name: str, *by: str) -> Callable[[Results], Figures]:
    """Return a function that makes the `Experiment.figures`: one, or one for each value of some settings.

    Parameters
    ----------
    draw : callable
        Draws one figure.
    name : str
        Its name, a format of the settings.
    *by : str
        The settings.
    """

    def figures(results: Results) -> Figures:
        parts = {name.format(**where): results.having(**where) for where in results.settings(*by)}
        return {name: partial(draw, part) for name, part in parts.items() if part.done}

    return figures
