"""Where chains run: on the threads of this process (the default), or on the workers of a Ray cluster."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bayesvec._validate import one_of, whole
from bayesvec.errors import OptionError
from bayesvec.inference.methods import Method, find, names
from bayesvec.storage.settings import Settings

if TYPE_CHECKING:
    from bayesvec._parallel import Threads

ENGINES = ("local", "ray")


class Pool(NamedTuple):
    """What the chains of a run share out among them: threads, or workers."""

    total: int
    threads: Callable[[int], "Threads"]  # given a chain's share, where its loops run; a context manager


@dataclass(frozen=True)
class Where:
    """Where a run is computed; its draws do not depend on it.

    Attributes
    ----------
    engine : {"local", "ray"}
        The engine.
    address : str, optional
        Of a Ray cluster, or ``auto`` for the one on this node. By default Ray is started on this machine, and
        stopped at the end.
    workers : int, optional
        Number of workers over all chains; by default one per node.
    """

    engine: str = "local"
    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        one_of("engine", self.engine, ENGINES)
        if self.workers is not None:
            whole("workers", self.workers, 1)
        for name in ("address", "workers"):
            if self.engine == "local" and getattr(self, name) is not None:
                raise OptionError(
                    f"{name} is for engine ray, and engine is local; add --engine ray (engine='ray')"
                )

    def check(self, method: Method) -> None:
        """Raise an `OptionError` if a method cannot run there, or Ray is not installed."""
        if self.engine == "local":
            return
        if not method.distributed:
            able = ", ".join(name for name in names() if find(name).distributed)
            raise OptionError(
                f"method {method.name} does not run on engine ray; {able} does, or use engine local"
            )
        from bayesvec.engines.cluster import import_ray

        import_ray()

    @contextmanager
    def open(self, run: Path, settings: Settings, threads: int | None, total: int) -> Iterator[Pool]:
        """Start what the chains run on, and stop it at the end.

        Parameters
        ----------
        run : Path
            The run folder; workers read their pairs there.
        settings : Settings
            Of the run.
        threads : int or None
            As given by the user: threads in all, or of each worker.
        total : int
            Threads in all, on this machine.
        """
        if self.engine == "local":
            from bayesvec._parallel import Threads

            yield Pool(total, Threads)
            return
        from bayesvec.engines.cluster import connect, workers_pool

        with connect(self.address, workers=self.workers, threads=threads):
            yield workers_pool(run, settings, workers=self.workers, threads=threads)


LOCAL = Where()
