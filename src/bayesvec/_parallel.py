"""Loops over rows on plain threads: compiled code releases the interpreter's lock, so threads are enough.

Chunks are contiguous ranges of rows of about equal cost, taken by whichever thread is free, so that the few
huge rows of a Zipf corpus leave no thread idle. What a row computes never depends on its chunk or its thread.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

CHUNKS_PER_THREAD = 16
WORTH_SHARING = 200_000  # products of coordinates below which handing out chunks costs more than it saves


def default_threads() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunks_by_cost(cost: npt.ArrayLike, num_chunks: int) -> list[tuple[int, int]]:
    """Split rows into at most ``num_chunks`` contiguous ranges of about equal total cost.

    Parameters
    ----------
    cost : array_like
        Cost of each row, not negative.
    num_chunks : int
        Maximum number of ranges.

    Returns
    -------
    list of (int, int)
        First row and one past the last of each range, in order, none empty.
    """
    total = np.concatenate([[0.0], np.cumsum(np.asarray(cost, dtype=np.float64))])
    wanted = np.linspace(0.0, total[-1], num_chunks + 1)
    edges = np.searchsorted(total, wanted[1:-1], side="left")
    return [(int(a), int(b)) for a, b in pairwise([0, *edges, len(total) - 1]) if b > a]


def in_threads(work: Callable[..., None], tasks: Sequence[tuple[Any, ...]]) -> None:
    """Call ``work(*task)`` for every task, on all processors; raise what the first that failed raised."""
    threads = min(default_threads(), len(tasks))
    if threads < 2:
        for task in tasks:
            work(*task)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="bayesvec") as pool:
        try:
            for done in [pool.submit(work, *task) for task in tasks]:
                done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


class Threads:
    """A few threads that share chunks of rows.

    Parameters
    ----------
    count : int
        Number of threads; with 1 everything runs in the caller's thread.

    Attributes
    ----------
    engine : Engine or None
        Where a sampler's loops over rows run, if not on these threads (`bayesvec.inference.gibbs.engine`).
    """

    engine: Any = None

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1, thread_name_prefix="bayesvec") if count > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def chunks(self, cost: npt.ArrayLike, least: float = 0.0) -> list[tuple[int, int]]:
        """Return the chunks that suit this number of threads: one if there is nothing to share.

        Parameters
        ----------
        cost : array_like
            Cost of each row.
        least : float
            Cost below which a chunk takes longer to hand out than to compute: there are fewer chunks then.
        """
        cost = np.asarray(cost)
        most = CHUNKS_PER_THREAD * self.count
        if self.count > 1 and least > 0.0:
            rounds = int(cost.sum() / (least * self.count))  # of one chunk for each thread
            most = min(most, rounds * self.count)
        if self.count == 1 or most <= 1:
            return [(0, len(cost))]
        return chunks_by_cost(cost, most)

    def run(self, work: Callable[[int, int, int], None], chunks: list[tuple[int, int]]) -> None:
        """Call ``work(first, last, thread)`` for every chunk and raise what any of them raised."""
        remaining = iter(chunks)  # next() on a list iterator is atomic

        def take(thread: int) -> None:
            for first, last in remaining:
                work(first, last, thread)

        if self._pool is None or len(chunks) == 1:
            take(0)
            return
        others = [self._pool.submit(take, thread) for thread in range(1, min(self.count, len(chunks)))]
        take(0)
        for other in others:
            other.result()
