"""The workspace of a running cell: threads, a folder of its own, progress, and a way to stop."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Workspace:
    """What a cell is given to work with.

    Attributes
    ----------
    threads : int
        Threads to use; nothing but times depends on it.
    folder : Path
        A folder of the cell's own, which need not exist. It survives a crash and is removed when the cell is done.
    report : callable
        Called with a progress message.
    stop : Event
        Set when the work is to end.
    """

    threads: int
    folder: Path
    report: Callable[[str], None] = lambda text: None
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise if the work is to stop; threads that work for long call this."""
        if self.stop.is_set():
            raise KeyboardInterrupt

    def map(self, work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
        """Return ``work(item)`` for each item in order, computed on all threads."""
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="cell")
        with threadpool_limits(limits=1, user_api="blas"):  # BLAS threads within ours only compete
            futures = [pool.submit(work, item) for item in items]
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
