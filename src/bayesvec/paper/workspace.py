"""Where cells are worked on: threads, a place for what a long cell keeps, progress, and a way to stop."""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from bayesvec import _atomic as files
from bayesvec.paper.cells import FORMAT, Cell, Experiment, find_key, record_path, tidy
from bayesvec.storage.provenance import machine, versions

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Bench:
    """What a cell is given to work with.

    Attributes
    ----------
    threads : int
        Threads to use; the figures, times aside, do not depend on it.
    work : Path
        A folder of the cell's own, which need not exist: what is there after a crash is found again, and it is
        removed when the cell is done.
    report : callable
        Told in words how far it is.
    stop : Event
        Set when the work is to end.
    """

    threads: int
    work: Path
    report: Callable[[str], None] = lambda text: None
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise if the work is to stop; threads that work for long call this."""
        if self.stop.is_set():
            raise KeyboardInterrupt

    def over(self, items: Iterable[Item], work: Callable[[Item], Found]) -> list[Found]:
        """Return ``work(item)`` for each item, as many at a time as there are threads, in their order."""
        wanted = list(items)
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="cell")
        # more BLAS threads inside ours only get into each other's way
        with threadpool_limits(limits=1, user_api="blas"):
            futures = [pool.submit(work, item) for item in wanted]
            try:
                waiting = set(futures)
                while waiting:
                    done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    self.report(f"{len(futures) - len(waiting)} of {len(futures)}")
            except BaseException:
                self.stop.set()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
        return [future.result() for future in futures]


def run_cell(
    experiment: Experiment,
    cell: Cell,
    out: Path,
    *,
    quick: bool,
    threads: int,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Compute a cell and write its record, which stands there whole or not at all.

    Parameters
    ----------
    experiment : Experiment
        The module.
    cell : Cell
        One of its cells.
    out : Path
        The folder of all records.
    quick : bool
        Whether it is a cell of the quick size, for the record.
    threads : int
        Threads to use.
    report : callable, optional
        Told how far it is.
    """
    path = record_path(out, experiment, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.parent / "work" / find_key(experiment, cell)
    continued = work.exists()
    found, began, worked = machine(), time.perf_counter(), time.process_time()
    values = experiment.run(cell.settings, Bench(threads, work, report))
    record = {
        "format": FORMAT,
        "experiment": experiment.POOL,
        "version": experiment.VERSION,
        "label": cell.label,
        "quick": quick,
        "settings": dict(cell.settings),
        "seed": cell.settings.get("seed"),
        "versions": versions(),
        "machine": found,
        "threads": threads,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - began, 3),
        "processor_seconds": round(time.process_time() - worked, 3),  # of all threads
        "continued": continued,  # after a stop; the time is that of the last part
        "values": tidy(values),
    }
    files.write_json(path, record)
    _remove(work)
    return record


def _remove(work: Path) -> None:
    """Remove what a cell kept while it was at work."""
    import contextlib
    import shutil

    shutil.rmtree(work, ignore_errors=True)
    with contextlib.suppress(OSError):
        work.parent.rmdir()  # if no other cell has anything there
