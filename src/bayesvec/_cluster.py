"""A Ray cluster: how to reach or start one, and independent pieces of work on it.

Ray is imported only where it is asked for. Chains run on workers of their own (`bayesvec.engines`); counting
hands out pieces of work with `bayesvec._pipeline.in_order`, which runs on the cluster inside `on_cluster`.
"""

import logging
import os
import platform
import re
import shutil
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from bayesvec import __version__
from bayesvec._machine import memory_bytes
from bayesvec._validate import one_of, whole
from bayesvec.errors import BayesvecError, OptionError, RunError

T = TypeVar("T")
R = TypeVar("R")

ENGINES = ("local", "ray")
ANSWER_SECONDS = 10.0  # that a cluster may take to answer
RETRIES = 3  # of a piece of work whose worker dies
STORE_BYTES = 2 << 30  # of the object store of a Ray that is started here, unless more is needed
_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
_LONGEST = 24  # letters of the folder in which Ray's own is made: names of sockets have 103 at most


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

    @property
    def here(self) -> bool:
        """Whether this machine does all the work: its threads, or a Ray that is started on it."""
        return self.engine == "local" or (self.address is None and not import_ray().is_initialized())

    def own_threads(self, threads: int | None) -> int | None:
        """Return the threads of this process: under Ray those that are given are each worker's, not its own."""
        if threads is not None:
            whole("threads", threads, 1)
        return threads if self.engine == "local" else None

    def of_text(self, threads: int | None) -> "Where":
        """Return where the text of a run is counted: on as many processors of a cluster as its workers have."""
        if self.here:
            return LOCAL
        return replace(self, workers=self.workers * threads if self.workers and threads else None)


LOCAL = Where()


def import_ray() -> Any:
    """Import Ray, or raise an `OptionError` that says how to install it."""
    try:
        import ray
    except ImportError:
        raise OptionError(
            "engine ray needs Ray, which is not installed: pip install 'bayesvec[ray]'"
        ) from None
    return ray


@contextmanager
def connect(where: Where, threads: int | None = None, store: int = 0) -> Iterator[None]:
    """Connect to a cluster, or start Ray on this machine; leave it or stop it at the end.

    Parameters
    ----------
    where : Where
        The cluster; without an address Ray is started here, unless this process is connected already.
    threads : int or None
        Threads of each worker, if given.
    store : int
        Bytes that the object store should hold, if Ray is started here.
    """
    ray, address = import_ray(), where.address
    if ray.is_initialized():
        _check_same(address, ray)
        yield
        return
    if address is None:
        with _ray_folder() as own:
            try:
                _start(ray, where.workers, threads, _store_bytes(store), own)
                yield
            finally:
                ray.shutdown()
        return
    try:
        _check_there(address)
        ray.init(address, **_QUIET)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())
        if reason.startswith("Version mismatch"):
            raise OptionError(
                f"the cluster at address {address!r} has other versions than this process ({reason}); "
                "install the same versions on all nodes"
            ) from None
        raise OptionError(
            f"there is no Ray cluster at address {address!r} ({first_line(error)}); start one with "
            "`ray start --head`, or leave out --address to run on this machine"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _store_bytes(needed: int) -> int:
    """Return the size of the object store of a Ray that is started here; what does not fit is spilled to the disk."""
    there = memory_bytes() or 8 << 30
    shared = shutil.disk_usage("/dev/shm").free if os.path.isdir("/dev/shm") else there
    return max(min(STORE_BYTES, there // 5), min(needed, there // 2, shared * 9 // 10))


def _start(ray: Any, workers: int | None, threads: int | None, store: int, folder: dict[str, str]) -> None:
    """Start Ray on this machine."""
    from bayesvec._parallel import default_threads

    try:
        ray.init(
            "local",
            num_cpus=max(default_threads(), (workers or 1) * (threads or 1)),
            object_store_memory=store,
            include_dashboard=False,
            _system_config={"worker_niceness": 0},  # workers are all that runs, and no daemons beside others
            **folder,
            **_QUIET,
        )
    except Exception as error:  # Ray raises plain ones too
        logs = folder.get("_temp_dir", os.environ.get("RAY_TMPDIR"))
        raise RunError(
            f"Ray could not be started on this machine ({first_line(error)}); look at its logs in {logs}, or "
            "start it yourself with `ray start --head` and give --address auto"
        ) from None


@contextmanager
def _ray_folder() -> Iterator[dict[str, str]]:
    """Make the folder for the logs and sockets of a Ray that is started here, and remove it at the end.

    Where workers fail it stays, for its logs; and so does a folder that the environment names.
    """
    if "RAY_TMPDIR" in os.environ:
        yield {}
        return
    short = None if len(tempfile.gettempdir()) <= _LONGEST else "/tmp"
    folder, failed = tempfile.mkdtemp(prefix="bayesvec-ray-", dir=short), False
    try:
        yield {"_temp_dir": folder}
    except RunError:
        failed = True
        raise
    finally:
        if not failed:
            shutil.rmtree(folder, ignore_errors=True)


def _check_same(address: str | None, ray: Any) -> None:
    """Raise an `OptionError` if this process is connected to another cluster than that at an address."""
    if address in (None, "auto", "local"):
        return
    there = ray.get_runtime_context().gcs_address
    (host, _, port), (own, _, own_port) = address.rpartition(":"), there.rpartition(":")
    if port != own_port or not _same_host(host, own):
        raise OptionError(
            f"address is {address!r}, and this process is connected to Ray at {there!r} already; leave out the "
            "address to use that cluster, or call ray.shutdown() first"
        )


def _same_host(first: str, second: str) -> bool:
    """Whether two names are those of one host; Ray gives loopback another name."""
    try:
        found = {socket.gethostbyname(name) for name in (first, second)}
    except OSError:
        return first == second
    return len(found) == 1 or all(map(_is_here, found))


def _is_here(host: str) -> bool:
    """Whether an address is one of this machine."""
    with socket.socket() as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            return False
    return True


def _check_there(address: str) -> None:
    """Raise an OSError or a ValueError unless something answers at an address; Ray itself would wait for minutes."""
    if address in ("auto", "local"):
        return
    host, _, port = address.rpartition(":")
    if "/" in host:
        raise OptionError(
            f"address is {address!r}; run the command on a node of the cluster, with --address auto"
        )
    socket.create_connection((host, int(port)), ANSWER_SECONDS).close()


def answers(ray: Any, refs: list[Any], timeout: float | None = None) -> list[Any]:
    """Return the results of calls; raise our own errors as they are, and those of Ray in one line."""
    wrong = ray.exceptions
    try:
        with one_line(ray):
            return list(ray.get(refs, timeout=timeout))
    except wrong.GetTimeoutError:
        raise RunError(
            f"the workers have not started within {timeout:.0f} s; look at `ray status` for free processors, or use "
            "fewer --workers or --threads; what has been committed is safe"
        ) from None
    except wrong.RayActorError as error:
        if timeout is None:
            raise
        raise RunError(
            f"the workers could not be started ({first_line(error)}); look at Ray's logs"
        ) from None


@contextmanager
def one_line(ray: Any) -> Iterator[None]:
    """Raise our own errors, raised on a worker, as they are; raise what a user can do something about in one line."""
    wrong = ray.exceptions
    remedies = {
        wrong.ObjectStoreFullError: "the object store of a node is full; start Ray yourself with a larger one (`ray "
        "start --head --object-store-memory BYTES`) and give --address auto",
        wrong.OutOfDiskError: "the disk to which Ray spills objects is full; make room on it",
        wrong.OutOfMemoryError: "a node has run out of memory; start fewer --workers on a node",
        MemoryError: "a node has run out of memory; start fewer --workers on a node",
    }
    try:
        yield
    except (MemoryError, wrong.RayError) as error:
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, BayesvecError):
            raise cause from None
        for kind, remedy in remedies.items():
            if isinstance(cause, kind):
                raise RunError(f"{remedy}, or use more nodes; what has been committed is safe") from None
        if "failed to import on the worker" in str(error) or "ModuleNotFoundError" in str(error):
            found = re.search(r"No module named '([\w.]+)'", str(error))
            missing = found[1].partition(".")[0] if found else "bayesvec"
            raise OptionError(
                f"a worker has no package {missing}; install the same version of bayesvec on all nodes: "
                "pip install 'bayesvec[ray]'"
            ) from None
        if isinstance(
            error, (wrong.RayTaskError, wrong.RayActorError, wrong.ObjectLostError, wrong.GetTimeoutError)
        ):
            raise
        raise _failed(error) from None


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its name if it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _failed(error: Exception) -> RunError:
    """Return an error of Ray, of which there are many, in one line."""
    return RunError(
        f"Ray failed ({first_line(error)}); look at `ray status` and Ray's logs, and run the command again, "
        "fit with --resume; what has been committed is safe"
    )


def versions() -> dict[str, str]:
    """Return what driver and workers must have in common to compute the same numbers."""
    import llvmlite
    import numba
    import numpy
    import scipy

    packages = {"numpy": numpy, "scipy": scipy, "numba": numba, "llvmlite": llvmlite}
    found = {"bayesvec": __version__, "python": platform.python_version()}
    return found | {name: package.__version__ for name, package in packages.items()}


def check_versions(node: str, there: dict[str, str], here: dict[str, str]) -> None:
    """Raise an `OptionError` if a node has other versions than this process."""
    for name, version in here.items():
        if there[name] != version:
            raise OptionError(
                f"{node} has {name} {there[name]} and this process {version}; install the same versions on all nodes"
            )


@contextmanager
def on_cluster(where: Where, threads: int) -> Iterator[int]:
    """Have `in_order` run on a cluster, if that is where; return how many pieces of work to have at once.

    Parameters
    ----------
    where : Where
        This process or a cluster.
    threads : int
        Pieces at once in this process.
    """
    if where.engine == "local":
        yield threads
        return
    from bayesvec._pipeline import CLUSTER

    with connect(where, 1):
        ray = import_ray()
        count = where.workers or int(ray.cluster_resources().get("CPU", 1))
        token = CLUSTER.set(partial(_in_order, ray))
        try:
            yield count
        finally:
            CLUSTER.reset(token)


def as_completed(
    where: Where, work: Callable[..., R], items: Iterable[T], *, threads: int | None
) -> Iterator[tuple[T, R]]:
    """Yield every item with ``work(item, threads=...)``, computed on a cluster, in the order of completion.

    Parameters
    ----------
    where : Where
        The cluster; ``workers`` is how many items are in progress at once, by default as many as fit.
    work : callable
        What is done to an item, with so many threads.
    items : iterable
        Taken one by one.
    threads : int or None
        Processors for each item; by default those of the smallest node, so that no two items share one.
    """
    with connect(where, threads):
        ray = import_ray()
        each, able = room_for(ray, threads)
        remote = ray.remote(_call).options(num_cpus=each, max_retries=RETRIES)
        with one_line(ray):
            shared, here = ray.put(partial(work, threads=each)), versions()
        under_way: list[tuple[Any, T]] = []
        for item in items:
            if len(under_way) == min(able, where.workers or able):
                yield _first(ray, under_way)
            with one_line(ray):
                under_way.append((remote.remote(shared, here, item), item))
        while under_way:
            yield _first(ray, under_way)


def room_for(ray: Any, threads: int | None) -> tuple[int, int]:
    """Return the processors of a piece of work, by default those of the smallest node, and how many have room."""
    nodes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    each = threads or min(filter(None, nodes), default=1)
    able = sum(cpus // each for cpus in nodes)
    if not able:
        raise OptionError(
            f"{each} processors are needed on one node, and the cluster has {sorted(nodes)} on its nodes; "
            "use fewer --threads, or look at: ray status"
        )
    return each, able


def _first(ray: Any, under_way: list[tuple[Any, T]]) -> tuple[T, Any]:
    """Wait for one of the calls that are in progress; return its item and its result."""
    with one_line(ray):
        (ready, *_), _ = ray.wait([ref for ref, _ in under_way], num_returns=1)
    found = _result(ray, ready)
    at = next(at for at, (ref, _) in enumerate(under_way) if ref == ready)
    return under_way.pop(at)[1], found


def _result(ray: Any, ref: Any) -> Any:
    """Return what a piece of work returns."""
    try:
        return answers(ray, [ref])[0]
    except ray.exceptions.ObjectLostError as error:  # Ray has tried to make it again
        raise _failed(error) from None


def _in_order(ray: Any, work: Callable[[T], R], items: Iterable[T], count: int) -> Iterator[R]:
    """Yield ``work(item)`` for every item, in order, computed on a cluster.

    Parameters
    ----------
    ray : module
        Ray.
    work : callable
        What is done to an item.
    items : iterable
        Taken one by one.
    count : int
        How many are computed at once; the result of one more may be waiting.
    """
    remote = ray.remote(_call).options(num_cpus=1, max_retries=RETRIES)
    with one_line(ray):
        shared, here = ray.put(work), versions()  # the work's arrays go to each node once
    under_way: deque[Any] = deque()
    computing: list[Any] = []
    for item in items:
        if len(computing) == count:  # Ray would start another wherever a processor is free
            with one_line(ray):
                _, computing = ray.wait(computing, num_returns=1, fetch_local=False)
        with one_line(ray):
            under_way.append(remote.remote(shared, here, item))
            computing.append(under_way[-1])
        if len(under_way) > count:
            yield _result(ray, under_way.popleft())
    while under_way:
        yield _result(ray, under_way.popleft())


def _call(work: Callable[[T], R], driver: dict[str, str], item: T) -> R:
    check_versions(platform.node(), versions(), driver)
    return work(item)
