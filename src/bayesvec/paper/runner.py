"""The loop over cells: those that have no record yet, one after another, each written when it is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesvec._atomic import Lock
from bayesvec.paper.cells import Cell, Experiment, choose, read_record
from bayesvec.paper.workspace import run_cell


@dataclass(frozen=True)
class Told:
    """What the loop says of a cell.

    Attributes
    ----------
    name : str
        The experiment.
    cell : Cell
        The cell.
    number, total : int
        Which of how many that were asked for.
    seconds : float or None
        How long it took, None if it begins now.
    """

    name: str
    cell: Cell
    number: int
    total: int
    seconds: float | None

    def __str__(self) -> str:
        head = f"{self.name} {self.number}/{self.total} {self.cell.label}"
        if self.seconds is None:
            return f"{head}: about {in_time(self.cell.cost)}"
        return f"{head}: {in_time(self.seconds)}"


def run_cells(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool,
    only: Sequence[str] = (),
    threads: int,
    tell: Callable[[Told], None] = lambda told: None,
    report: Callable[[str], None] = lambda text: None,
) -> int:
    """Run the cells that are asked for and have no record; return how many were computed.

    Parameters
    ----------
    experiment : Experiment
        The module.
    out : Path
        The folder of all records.
    quick : bool
        The quick size, or the full one.
    only : sequence of str
        Patterns of labels, see `Cell.is_meant`; none means all.
    threads : int
        Threads to use.
    tell : callable, optional
        Told when a cell begins and when it is done.
    report : callable, optional
        Told how far a cell is.
    """
    cells = choose(experiment, quick, only)
    folder = out / experiment.POOL
    folder.mkdir(parents=True, exist_ok=True)
    computed = 0
    lock = Lock(folder)
    try:
        for number, cell in enumerate(cells, start=1):
            if read_record(out, experiment, cell) is not None:
                continue
            tell(Told(experiment.NAME, cell, number, len(cells), None))
            record: dict[str, Any] = run_cell(
                experiment, cell, out, quick=quick, threads=threads, report=report
            )
            computed += 1
            tell(Told(experiment.NAME, cell, number, len(cells), record["seconds"]))
    finally:
        lock.close()
    return computed


def in_time(seconds: float) -> str:
    """Return a duration in words, in seconds below two minutes."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
