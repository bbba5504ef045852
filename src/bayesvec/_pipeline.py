"""Process a stream of items on a few threads, or on a cluster; results come in the order of the items."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from bayesvec._parallel import default_threads
from bayesvec._validate import whole

T = TypeVar("T")
R = TypeVar("R")

# given work, items and how many at once: `in_order` on a cluster (`bayesvec._cluster`), if that is where to run
CLUSTER: ContextVar[Callable[..., Iterator[Any]] | None] = ContextVar("CLUSTER", default=None)


def check_threads(threads: int | None) -> int:
    """Return the number of threads to use: one per processor if None is given."""
    return default_threads() if threads is None else whole("threads", threads, 1)


def in_order(work: Callable[[T], R], items: Iterable[T], *, threads: int, here: bool = False) -> Iterator[R]:
    """Yield ``work(item)`` for every item, in order, with at most ``threads + 1`` items in progress.

    Parameters
    ----------
    work : callable
        What is done to an item, a function of it alone; it should release the interpreter's lock.
    items : iterable
        Taken one by one, in the caller's thread.
    threads : int
        Number of threads; with 1 everything runs in the caller's thread.
    here : bool
        On threads of this process in any case: for work that takes less time than sending its data.
    """
    if not here and (cluster := CLUSTER.get()) is not None:
        yield from cluster(work, items, threads)
        return
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="bayesvec") as pool:
        under_way: deque[Future[R]] = deque()
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                del item  # it may be large, and only the worker needs it
                if len(under_way) > threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
