"""The workers of a Ray cluster as an engine of the Gibbs sampler.

The rows of a chain stay with the workers (`bayesvec.engines.held`). For half a sweep every worker fetches the other
side from those that own it, and keeps its own rows redrawn. A worker that is killed is started again and loads its
pairs again; what it had been asked is asked again, and the answer is the same.
"""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec._cluster import answers, import_ray
from bayesvec._parallel import Threads
from bayesvec._types import Float32, Float64, Int64
from bayesvec.counts.store import open_side
from bayesvec.engines import Pool
from bayesvec.engines.cut import cut, whole_rounds
from bayesvec.engines.held import WHOLE, Blocks, Each, Held, Team
from bayesvec.engines.worker import PURPOSES, SIDES, Asked, Place, Worker
from bayesvec.errors import OptionError
from bayesvec.inference.gibbs import Options
from bayesvec.inference.gibbs.engine import Engine, Local
from bayesvec.inference.sides import Half, broken_row
from bayesvec.kernels import rng
from bayesvec.kernels.polyagamma_tables import load_tables
from bayesvec.storage import layout, zarr3
from bayesvec.storage.settings import Settings

START_SECONDS = 120.0  # that workers may take to start


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
            while self._free < count:
                self._end_idle()
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
            self._end_idle()

    def _end_idle(self) -> None:
        """End the workers of one chain that are idle."""
        engine = self._idle.pop()
        self._end(engine.actors)
        self._free += len(engine.actors)

    def _start(self, count: int) -> "RayEngine":
        # only `describe` is repeated by Ray: it waits for a worker to be started again
        options = {"max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        actor = self._ray.remote(Worker).options(num_cpus=self._threads, **options)
        places = [Place(number, count) for number in range(count)]
        actors = [actor.remote(str(self._run), place, self._threads) for place in places]
        team = Team(self._ray, actors, self._threads)
        try:
            team.check(START_SECONDS)
        except BaseException:
            self._end(actors)
            raise
        pairs = {purpose: open_side(self._run / "counts", name) for purpose, name in SIDES.items()}
        sizes = {purpose: np.diff(side.indptr) for purpose, side in pairs.items()}
        stored = layout.stored_arrays(self._run, layout.read_manifest(self._run))
        here = Local(Threads(1), self._dim, load_tables())
        return RayEngine(team, here, sizes, stored)

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


class RayEngine(Engine):
    """The workers of one chain as an engine.

    Parameters
    ----------
    team : Team
        The workers.
    local : Engine
        For rows that are here, after moves that need all of them.
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
        team: Team,
        local: Engine,
        sizes: dict[int, Int64],
        stored: Mapping[str, zarr3.Array],
    ) -> None:
        self.actors, self._local, self._sizes = team.actors, local, sizes
        self._team = team
        self._stored, self.start_known = stored, True
        self._blocks: dict[int, list[Int64]] = {}
        self._tokens = itertools.count()

    def redraw(
        self, half: Half, rows: Float32, other: Float32, options: Options, key: rng.Key
    ) -> tuple[Any, Float64]:
        """Return every row of one side redrawn, and their log likelihoods."""
        held, likelihood = self.held(half, rows), np.full(len(rows), np.nan)
        for colour in [None] if whole_rounds(half) else range(len(half.colours)):
            held, found = self._round(half, held, other, options, key, colour)
            likelihood = np.where(np.isnan(found), likelihood, found)
        return held, likelihood

    def log_prior(self, half: Half, rows: Float32) -> Float64:
        """Return each row's share of the log density of the prior; that of coupled rows is computed here."""
        if half.coupling is not None:
            return self._local.log_prior(half, np.asarray(rows))
        held = self.held(half, rows)
        return held.joined(self._team.tell("log_prior", self._asked(half), held))

    def log_likelihood(self, half: Half, rows: Float32, other: Float32, known: Float64) -> Float64:
        """Return the log likelihood of the pairs of each row."""
        if not np.isnan(known).any():
            return known.copy()
        held, shares = self.held(half, rows), Each([known[numbers] for numbers in self._rows(half)])
        return held.joined(
            self._team.tell("log_likelihood", self._asked(half), held, shares, self._other(other))
        )

    def line(
        self, half: Half, rows: Float32, direction: Float32 | Float64, other: Float32
    ) -> Callable[[float], Float64]:
        """Return the log likelihood of each row along a line."""
        token, held, beyond = next(self._tokens), self.held(half, rows), self._other(other)
        narrow = rows if direction is rows else direction.astype(np.float32)
        return lambda s: held.joined(
            self._team.tell("line", token, s, self._asked(half), held, self.held(half, narrow), beyond)
        )

    def gram(self, rows: Float32, weights: Float64 | None = None) -> Float64:
        """Return x^T x of rows, each times its weight."""
        return rows.gram(weights) if isinstance(rows, Held) else self._local.gram(rows, weights)

    def multiplied(self, rows: Float32, matrix: Float64) -> Any:
        """Return rows times a matrix."""
        return rows.multiplied(matrix) if isinstance(rows, Held) else self._local.multiplied(rows, matrix)

    def held(self, half: Half, rows: Any) -> Held:
        """Return one side as the workers hold it."""
        return self._team.hold(self._rows(half), rows)

    def hold(self, name: str, rows: Any) -> Held:
        """Return one side, which the workers have redrawn before, as they hold it."""
        return self._team.hold(self._blocks[PURPOSES[name]], rows)

    def write(self, name: str, rows: Any, chain: int, draw: int) -> Callable[[], None]:
        """Have each block of a draw written by the worker that owns most of its rows; return what waits for them.

        Parameters
        ----------
        name : str
            ``rho`` or ``alpha``; the workers have redrawn it before.
        rows : Held
            All rows as they are written.
        chain, draw : int
            Which draw of the run.
        """
        held = self.hold(name, rows)

        def start() -> list[Any]:
            calls = []
            for number, block in enumerate(self._stored[name].blocks):
                edges = [
                    np.searchsorted(each, (block.first_row, block.first_row + block.rows))
                    for each in held.owned
                ]
                sizes = [last - first for first, last in edges]
                pieces = [ref if size else None for ref, size in zip(held.refs, sizes, strict=True)]
                writer = self.actors[int(np.argmax(sizes))]
                calls.append(self._team.call(writer, "write", name, number, chain, draw, *pieces))
            return calls

        under_way = [start()]  # until they are asked for; those that fail are started again

        def wait() -> None:
            answers(self._team.ray, under_way.pop() if under_way else start())

        return lambda: self._team.repeated(wait, [held])

    def _round(
        self, half: Half, held: Held, other: Float32, options: Options, key: rng.Key, colour: int | None
    ) -> tuple[Held, Float64]:
        """Redraw every row, or the rows of one colour; return all, and the log likelihoods that were found."""
        among = (
            () if colour is None else (Blocks(held),)
        )  # others of a colour's rows are neighbours of its own
        given = self._asked(half), held, options, key, colour, *among, self._other(other)
        blocks, found = self._team.make("redraw", *given)
        if broken := [row for _, rows in found for row in rows]:
            raise broken_row(half.names, broken)
        drawn = Held(self._team, held.owned, held.shape, held.dtype, refs=blocks)
        return drawn, drawn.joined([likelihood for likelihood, _ in found])

    def _rows(self, half: Half) -> list[Int64]:
        """Return the rows of each worker."""
        if half.purpose not in self._blocks:
            self._blocks[half.purpose] = cut(half, self._sizes[half.purpose], len(self.actors))
        return self._blocks[half.purpose]

    def _asked(self, half: Half) -> Asked:
        """Return what workers are told about a side."""
        return Asked(half.purpose, half.scales, self.start_known)

    def _other(self, rows: Any) -> Blocks:
        """Return all blocks of the other side; one, if the workers have not redrawn it yet."""
        return Blocks(self._team.hold(WHOLE, rows))
