"""The loop over cells: those without a record, one after another or on a cluster, each written when it is done."""

import contextlib
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bayesvec._checksums import write_json
from bayesvec._cluster import LOCAL, Where, as_completed
from bayesvec._lock import Lock
from bayesvec._parallel import default_threads
from bayesvec.datasets.files import VARIABLE
from bayesvec.errors import AnchorError, InputError, RunError
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import FORMAT, Experiment, NoData
from bayesvec.paper.records import tidy
from bayesvec.paper.workspace import Workspace
from bayesvec.storage.provenance import commit, machine, versions


def run_cells(
    experiment: Experiment,
    out: Path,
    *,
    quick: bool,
    only: Sequence[str] = (),
    threads: int | None,
    where: Where = LOCAL,
    started: Callable[[Cell], None] = lambda cell: None,
    finished: Callable[[Cell, str], None] = lambda cell, line: None,
    report: Callable[[str], None] = lambda text: None,
) -> int:
    """Run the chosen cells that have no record; return how many were computed.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    out : Path
        The folder of all records.
    quick : bool
        The quick size, or the full one.
    only : sequence of str
        Patterns of labels, see `Cell.matches`; none means all.
    threads : int or None
        Threads of a cell; by default one per processor, on a cluster one per processor of the smallest node.
    where : Where
        Cells are computed here, or by the workers of a cluster.
    started, finished : callable, optional
        Called when a cell starts, and when it is done with a line about it.
    report : callable, optional
        Called with the progress within a cell.
    """
    cells = experiment.choose(quick, only)
    folder = out / experiment.folder
    folder.mkdir(parents=True, exist_ok=True)
    computed = 0
    lock = Lock(folder)
    try:
        missing = _announced(cells, experiment, out, started)
        given: dict[str, Any] = {"out": out.absolute(), "quick": quick}
        records: Iterator[tuple[Cell, dict[str, Any]]]
        if where.engine == "local":
            given |= {"threads": threads or default_threads(), "report": report}
            records = ((cell, run_cell(experiment, cell, **given)) for cell in missing)
        else:
            on_node = partial(_run_on_node, experiment, data=os.environ.get(VARIABLE), **given)
            records = as_completed(where, on_node, missing, threads=threads)
        for cell, record in records:
            computed += 1
            seconds = duration(record["seconds"])
            finished(cell, f"{experiment.name} {cells.index(cell) + 1}/{len(cells)} {cell.label}: {seconds}")
    finally:
        lock.close()
    return computed


def _announced(
    cells: Sequence[Cell], experiment: Experiment, out: Path, started: Callable[[Cell], None]
) -> Iterator[Cell]:
    """Yield the cells that have no record, each announced when it is taken."""
    for cell in cells:
        if experiment.read(out, cell) is None:
            started(cell)
            yield cell


def _run_on_node(
    experiment: Experiment, cell: Cell, *, out: Path, quick: bool, threads: int, data: str | None
) -> dict[str, Any]:
    """Compute a cell on a node of a cluster, with the data of the process that asks for it."""
    if not (out / experiment.folder).is_dir():
        raise RunError(
            f"{out} is not on {platform.node()}; put --out on a file system that all nodes share",
            path=str(out),
        )
    if data is not None:
        os.environ[VARIABLE] = data
    return run_cell(experiment, cell, out, quick=quick, threads=threads)


def run_cell(
    experiment: Experiment,
    cell: Cell,
    out: Path,
    *,
    quick: bool,
    threads: int,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Compute a cell and write its record atomically; the parameters are those of `run_cells`."""
    path = experiment.path(out, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.parent / "work" / experiment.key(cell)
    resumed = work.exists()
    found, began, worked = machine(), time.perf_counter(), time.process_time()
    values = _compute(experiment, cell, Workspace(threads, work, report))
    record = {
        "format": FORMAT,
        "experiment": experiment.folder,
        "version": experiment.version,
        "label": cell.label,
        "quick": quick,
        "settings": dict(cell.settings),
        "seed": cell.settings.get("seed"),
        "sampler": experiment.sampler(cell),
        "commit": commit(),
        "versions": versions(),
        "machine": found,
        "threads": threads,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - began, 3),
        "processor_seconds": round(time.process_time() - worked, 3),  # of all threads
        "continued": resumed,  # after a stop; the time is that of the last part
        "values": values,
    }
    write_json(path, record)
    shutil.rmtree(work, ignore_errors=True)
    with contextlib.suppress(OSError):
        work.parent.rmdir()  # if no other cell has anything there
    return record


def _compute(experiment: Experiment, cell: Cell, workspace: Workspace) -> Any:
    """Return the values of a cell, or the reason why its contexts cannot be fixed."""
    try:
        return tidy(experiment.run(cell.settings, workspace))
    except AnchorError as reason:
        return {"impossible": str(reason)}
    except InputError as error:
        raise NoData(str(error)) from None


def duration(seconds: float) -> str:
    """Return a duration in words, in seconds below two minutes."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
