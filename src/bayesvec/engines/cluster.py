"""The workers of a Ray cluster as an engine of the Gibbs sampler.

The driver holds the state of each chain. For half a sweep every worker gets the other side through the object store
and its own rows, and returns its rows redrawn. Blocks that workers have just drawn are passed on as references: the
workers of the next half fetch them from each other. A worker that is killed is started again and loads its pairs
again; what it had been asked is asked again, and the answer is the same.
"""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bayesvec._cluster import answers, check_versions, import_ray, one_line, versions
from bayesvec._machine import processor
from bayesvec._parallel import Threads
from bayesvec._progress import tell
from bayesvec._types import Array, Float32, Float64, Int64
from bayesvec.counts.store import open_side
from bayesvec.engines import Pool
from bayesvec.engines.cut import cut, whole_rounds
from bayesvec.engines.worker import PURPOSES, SIDES, Asked, Place, Worker
from bayesvec.errors import OptionError, RunError
from bayesvec.inference.gibbs import Options
from bayesvec.inference.gibbs.engine import Engine, Local
from bayesvec.inference.sides import Half, broken_row
from bayesvec.kernels import rng
from bayesvec.kernels.polyagamma_tables import load_tables
from bayesvec.model.identification import Alignment
from bayesvec.storage import layout, zarr3
from bayesvec.storage.settings import Settings

START_SECONDS = 120.0  # that workers may take to start
REPEATS = 20  # of a call whose objects were lost with a node
KEPT = 6  # arrays whose objects are kept for the next calls

_Result = TypeVar("_Result")


@contextmanager
def workers_pool(
    run: Path, settings: Settings, *, workers: int | None, threads: int | None
) -> Iterator[Pool]:
    """Return the workers of a run as what its chains share; they are ended at the end.

    Parameters
    ----------
    run : Path
        The run folder.
    settings : Settings
        Of the run.
    workers : int or None
        Number of workers; by default one per node.
    threads : int or None
        Threads of each; by default its share of the processors.
    """
    ray = import_ray()
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    cpus = sorted(int(node["Resources"]["CPU"]) for node in nodes)
    if not cpus:
        raise OptionError("the cluster has no node with a free processor; look at: ray status")
    count = workers or len(nodes)
    fitting = (each for each in range(cpus[-1], 0, -1) if sum(node // each for node in cpus) >= count)
    each = threads or next(fitting, 1)
    able = sum(node // each for node in cpus)
    if able < count:
        raise OptionError(
            f"{count} workers of {each} threads are asked for, and the cluster has {sum(cpus)} processors on "
            f"{len(cpus)} nodes, enough for {able}; use fewer --workers or --threads"
        )
    crew = Crew(run, settings, each, count)
    try:
        yield Pool(count, partial(Workers, crew), partial(Workers, crew, count, start_known=False))
    finally:
        crew.close()


class Crew:
    """The workers of a run: those that no chain has are kept for the next that asks for as many.

    Parameters
    ----------
    run : Path
        The run folder.
    settings : Settings
        Of the run.
    threads : int
        Threads of each worker.
    count : int
        Number of workers that all chains share.
    """

    def __init__(self, run: Path, settings: Settings, threads: int, count: int) -> None:
        self._ray, self._run, self._dim, self._threads = import_ray(), run.resolve(), settings.dim, threads
        self._changed = threading.Condition()
        self._free = count  # that are not started
        self._idle: list[RayEngine] = []

    def take(self, count: int) -> "RayEngine":
        """Return so many workers of one chain, once other chains have left as many."""
        with self._changed:
            while True:
                suited = [engine for engine in self._idle if len(engine.actors) == count]
                if suited:
                    self._idle.remove(suited[0])
                    return suited[0]
                if self._free + sum(len(engine.actors) for engine in self._idle) >= count:
                    break
                self._changed.wait()
            self.close()
            self._free -= count
        try:
            return self._start(count)
        except BaseException:
            with self._changed:
                self._free += count
                self._changed.notify_all()
            raise

    def give_back(self, engine: "RayEngine") -> None:
        """Keep workers for the next chain."""
        with self._changed:
            self._idle.append(engine)
            self._changed.notify_all()

    def close(self) -> None:
        """End the workers that are idle."""
        while self._idle:
            engine = self._idle.pop()
            self._end(engine.actors)
            self._free += len(engine.actors)

    def _start(self, count: int) -> "RayEngine":
        options = {"max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        actor = self._ray.remote(Worker).options(num_cpus=self._threads, **options)
        places = [Place(number, count) for number in range(count)]
        actors = [actor.remote(str(self._run), place, self._threads) for place in places]
        try:
            _check_alike(answers(self._ray, [each.describe.remote() for each in actors], START_SECONDS))
        except BaseException:
            self._end(actors)
            raise
        pairs = {purpose: open_side(self._run / "counts", name) for purpose, name in SIDES.items()}
        sizes = {purpose: np.diff(side.indptr) for purpose, side in pairs.items()}
        stored = layout.stored_arrays(self._run, layout.read_manifest(self._run))
        here = Local(Threads(1), self._dim, load_tables())
        return RayEngine(self._ray, actors, here, sizes, stored)

    def _end(self, actors: list[Any]) -> None:
        for actor in actors:
            self._ray.kill(actor)


class Workers(Threads):
    """The workers of one chain; a context manager that gives them back.

    Parameters
    ----------
    crew : Crew
        The workers of the run.
    count : int
        Number of workers.
    start_known : bool
        Whether it is known where the chains start.
    """

    def __init__(self, crew: Crew, count: int, *, start_known: bool = True) -> None:
        super().__init__(1)
        self._crew, self.engine = crew, crew.take(count)
        self.engine.start_known = start_known

    def close(self) -> None:
        """Give the workers back."""
        super().close()
        self._crew.give_back(self.engine)


def _check_alike(found: Sequence[dict[str, Any]]) -> None:
    """Raise if a worker has other versions than this process; note other processors."""
    for worker in found:
        check_versions(worker["node"], worker["versions"], versions())
    kinds = {processor(), *(worker["processor"] for worker in found)}
    if len(kinds) > 1:
        tell(
            f"the cluster has processors of different kinds ({', '.join(sorted(kinds))}): last digits may differ"
        )


class RayEngine(Engine):
    """The workers of one chain as an engine.

    Parameters
    ----------
    ray : module
        Ray.
    actors : list
        The workers.
    local : Engine
        For what needs no pairs.
    sizes : dict
        Number of pairs of each row, by side.
    stored : Mapping
        The arrays of the run.

    Attributes
    ----------
    start_known : bool
        Whether it is known where the chains start: workers then use the curvature there.
    """

    def __init__(
        self,
        ray: Any,
        actors: list[Any],
        local: Engine,
        sizes: dict[int, Int64],
        stored: Mapping[str, zarr3.Array],
    ) -> None:
        self._ray, self.actors, self._local, self._sizes = ray, actors, local, sizes
        self._stored, self.start_known = stored, True
        self._blocks: dict[int, list[Int64]] = {}
        self._tokens = itertools.count()
        self._kept: list[tuple[Array, str, list[Any]]] = []  # objects of arrays, the latest last

    def redraw(
        self, half: Half, rows: Float32, other: Float32, options: Options, key: rng.Key
    ) -> tuple[Float32, Float64]:
        """Return every row of one side redrawn, and their log likelihoods."""
        likelihood = np.full(len(rows), np.nan)
        for colour in [None] if whole_rounds(half) else range(len(half.colours)):
            rows, found = self._repeated(partial(self._round, half, rows, other, options, key, colour))
            likelihood = np.where(np.isnan(found), likelihood, found)
        return rows, likelihood

    def log_prior(self, half: Half, rows: Float32) -> Float64:
        """Return each row's share of the log density of the prior, computed here."""
        return self._local.log_prior(half, rows)

    def log_likelihood(self, half: Half, rows: Float32, other: Float32, known: Float64) -> Float64:
        """Return the log likelihood of the pairs of each row."""
        if not np.isnan(known).any():
            return known.copy()

        def shares() -> Float64:
            owned = self._rows(half)
            owns = zip(self.actors, self._own(owned, rows), owned, strict=True)
            refs = [
                actor.log_likelihood.remote(self._asked(half), mine, known[numbers], *self._other(other))
                for actor, mine, numbers in owns
            ]
            joined: Float64 = self._joined(half, answers(self._ray, refs))
            return joined

        return self._repeated(shares)

    def line(
        self, half: Half, rows: Float32, direction: Float32 | Float64, other: Float32
    ) -> Callable[[float], Float64]:
        """Return the log likelihood of each row along a line."""
        token, narrow = next(self._tokens), direction.astype(np.float32)

        def shares(s: float) -> Float64:
            owned = self._rows(half)
            owns = zip(self.actors, self._own(owned, rows), self._own(owned, narrow), strict=True)
            refs = [
                actor.line.remote(token, s, self._asked(half), mine, along, *self._other(other))
                for actor, mine, along in owns
            ]
            joined: Float64 = self._joined(half, answers(self._ray, refs))
            return joined

        return lambda s: self._repeated(partial(shares, s))

    def write(
        self, name: str, rows: Float32, alignment: Alignment, chain: int, draw: int
    ) -> Callable[[], None]:
        """Have each block of a draw written by the worker that owns most of its rows; return what waits for them.

        Parameters
        ----------
        name : str
            ``rho`` or ``alpha``; the workers have redrawn it before.
        rows : ndarray
            All rows as the sampler has them, of which each worker gets its own for the next sweep anyway.
        alignment : Alignment
            What they are aligned by.
        chain, draw : int
            Which draw of the run.
        """
        purpose = PURPOSES[name]

        def start() -> list[Any]:
            owned = self._blocks[purpose]
            own = self._own(owned, rows)
            calls = []
            for number, block in enumerate(self._stored[name].blocks):
                edges = [
                    np.searchsorted(each, (block.first_row, block.first_row + block.rows)) for each in owned
                ]
                sizes = [last - first for first, last in edges]
                pieces = [ref if size else None for ref, size in zip(own, sizes, strict=True)]
                writer = self.actors[int(np.argmax(sizes))]
                calls.append(writer.write.remote(name, number, chain, draw, alignment, *pieces))
            return calls

        under_way = [start()]  # until they are asked for; those that fail are started again

        def wait() -> None:
            answers(self._ray, under_way.pop() if under_way else start())

        return lambda: self._repeated(wait)

    def _round(
        self, half: Half, rows: Float32, other: Float32, options: Options, key: rng.Key, colour: int | None
    ) -> tuple[Float32, Float64]:
        """Redraw every row, or the rows of one colour; return all, and the log likelihoods that were found."""
        own = self._own(self._rows(half), rows) if colour is None else self._whole(rows) * len(self.actors)
        calls = [
            actor.redraw.options(num_returns=2).remote(
                self._asked(half), mine, options, key, colour, *self._other(other)
            )
            for actor, mine in zip(self.actors, own, strict=True)
        ]
        found = answers(self._ray, [call[1] for call in calls])
        if broken := [row for _, rows in found for row in rows]:
            raise broken_row(half.names, broken)
        blocks = [call[0] for call in calls]
        drawn: Float32 = self._joined(half, answers(self._ray, blocks))
        self._keep(drawn, "own", blocks)
        self._keep(drawn, "drawn", blocks)
        return drawn, self._joined(half, [likelihood for likelihood, _ in found])

    def _joined(self, half: Half, parts: list[Array]) -> Any:
        """Return the parts of all workers, each row at its place."""
        out = np.empty((len(half.side.fixed), *parts[0].shape[1:]), parts[0].dtype)
        for rows, part in zip(self._rows(half), parts, strict=True):
            out[rows] = part
        return out

    def _rows(self, half: Half) -> list[Int64]:
        """Return the rows of each worker."""
        if half.purpose not in self._blocks:
            self._blocks[half.purpose] = cut(half, self._sizes[half.purpose], len(self.actors))
        return self._blocks[half.purpose]

    def _asked(self, half: Half) -> Asked:
        """Return what workers are told about a side."""
        return Asked(half.purpose, half.scales, self.start_known)

    def _own(self, owned: list[Int64], array: Float32) -> list[Any]:
        """Return references to the rows that each worker owns."""
        return self._find(array, "own") or self._keep(
            array, "own", [self._put(array[rows]) for rows in owned]
        )

    def _whole(self, array: Float32) -> list[Any]:
        """Return a reference to a whole array, as a list of one."""
        return self._find(array, "whole") or self._keep(array, "whole", [self._put(array)])

    def _other(self, array: Float32) -> list[Any]:
        """Return references to the other side: as the workers have just drawn it, or as a whole."""
        return self._find(array, "drawn") or self._whole(array)

    def _put(self, array: Array) -> Any:
        with one_line(self._ray):
            return self._ray.put(np.ascontiguousarray(array))

    def _find(self, array: Array, kind: str) -> list[Any]:
        return next((refs for known, name, refs in self._kept if known is array and name == kind), [])

    def _keep(self, array: Array, kind: str, refs: list[Any]) -> list[Any]:
        """Keep the objects of an array, which must not change from now on."""
        array.flags.writeable = False
        self._kept = [*self._kept[-KEPT + 1 :], (array, kind, refs)]
        return refs

    def _repeated(self, call: Callable[[], _Result]) -> _Result:
        """Return what a call returns; if objects or a worker were lost with a node, call again with new objects."""
        wrong = self._ray.exceptions
        for _ in range(REPEATS):
            try:
                return call()
            except (wrong.ObjectLostError, wrong.RayActorError, wrong.ObjectFetchTimedOutError) as error:
                reason = str(error).splitlines()[0]
                self._kept = []
        raise RunError(
            f"the workers are lost ({reason}); look at `ray status`; the committed draws are safe, --resume continues"
        )
