"""Where chains run: on the threads of this process (the default), or on the workers of a Ray cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bayesvec.errors import OptionError
from bayesvec.inference.methods import Method, find, names
from bayesvec.storage.settings import Settings

if TYPE_CHECKING:
    from bayesvec._cluster import Where
    from bayesvec._parallel import Threads


# of a coordinate in the object stores: a vector's, its mean and its variance, and all once more while they change
STORED_BYTES = 80


class Pool(NamedTuple):
    """What the chains of a run share out among them: threads, or workers."""

    total: int
    threads: Callable[[int], "Threads"]  # given a chain's share, where its loops run; a context manager
    # where a start is looked for, if not on threads of this process
    start: Callable[[], "Threads"] | None = None


def check(where: "Where", method: Method) -> None:
    """Raise an `OptionError` if a method cannot run there, or Ray is not installed."""
    if where.engine == "local":
        return
    if not method.distributed:
        able = ", ".join(name for name in names() if find(name).distributed)
        raise OptionError(
            f"method {method.name} does not run on engine ray; {able} does, or use engine local"
        )
    from bayesvec._cluster import import_ray

    import_ray()


@contextmanager
def open_pool(
    where: "Where", run: Path, settings: Settings, *, rows: int, threads: int | None, total: int
) -> Iterator[Pool]:
    """Start what the chains run on, and stop it at the end.

    Parameters
    ----------
    where : Where
        This process or a cluster.
    run : Path
        The run folder; workers read their pairs there.
    settings : Settings
        Of the run.
    rows : int
        Words and contexts.
    threads : int or None
        As given by the user: threads in all, or of each worker.
    total : int
        Threads in all, on this machine.
    """
    if where.engine == "local":
        from bayesvec._parallel import Threads

        yield Pool(total, Threads)
        return
    from bayesvec._cluster import connect
    from bayesvec.engines.cluster import workers_pool

    at_once = min(settings.chains, where.workers or 1)
    with (
        connect(where, threads, store=at_once * rows * settings.dim * STORED_BYTES),
        workers_pool(run, settings, workers=where.workers, threads=threads) as pool,
    ):
        yield pool
