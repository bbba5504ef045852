"""The only driver of chains: step, store, commit, until the end or until stopped; into any backend."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from bayesvec._held import HeldRows
from bayesvec._parallel import Threads
from bayesvec._progress import progress as show_progress
from bayesvec._types import Array
from bayesvec.chains.start import find_start, jittered
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import RowsLost
from bayesvec.inference.contract import Count, Independent, Near, Problem, Report, Sampler, Start, silent
from bayesvec.inference.methods import Method
from bayesvec.inference.state import standardised
from bayesvec.model.identification import (
    Anchors,
    Reference,
    aligned,
    find_alignment,
    settle_reference,
)
from bayesvec.priors import Prior
from bayesvec.storage.folder import cosines
from bayesvec.storage.kinds import WHOLE_CHAINS
from bayesvec.storage.memory import ChainStore, Store
from bayesvec.storage.outcome import Outcome

REFERENCE_STATES = 16
MOST_LOSSES = 20  # of a chain's rows, one after another without a commit
REFERENCE_BYTES = 256 << 20  # upper bound on what is held while the reference is settled

# Minimum number of seconds between commits; the tests shorten it. Commits take at most a twentieth of the time.
COMMIT_SECONDS = float(os.environ.get("BAYESVEC_COMMIT_SECONDS", "2"))
COMMIT_SHARE = 20.0


class Watcher(Protocol):
    """Something that follows a chain."""

    def report(self, done: int) -> None:
        """Take note of steps that a sampler has done ahead of the driver, warm-up included."""

    def at(self, sweep: int, log_posterior: float) -> None:
        """Take note of a sweep."""

    def add(self, cosines: Array) -> None:
        """Take note of a stored draw."""

    def back_to(self, sweep: int, draws: int) -> None:
        """Forget what came after a sweep and its draws: it is lost, and will come again."""


class Unwatched:
    """Follows nothing."""

    def report(self, done: int) -> None:
        """Do nothing."""

    def at(self, sweep: int, log_posterior: float) -> None:
        """Do nothing."""

    def add(self, cosines: Array) -> None:
        """Do nothing."""

    def back_to(self, sweep: int, draws: int) -> None:
        """Do nothing."""


class _Stopped(Exception):
    """A sampler was interrupted at its long work."""


class Driver:
    """What all chains of a run share.

    Parameters
    ----------
    store : Store
        The backend: a run folder, or memory. Its settings are those of the run.
    method : Method
        The method.
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    threads : int
        Threads for what comes before the chains.
    show : bool
        Show progress of that.
    report : callable, optional
        Given a few words on the progress of an approximation; may raise to stop.
    warn : callable, optional
        Given warnings.
    make_threads : callable, optional
        Given a chain's share of what the chains run on, returns where its loops run.
    start_threads : callable, optional
        Returns where the short run is computed near whose end the chains start, if not on these threads.
    """

    def __init__(
        self,
        store: Store,
        method: Method,
        counts: PairCounts,
        prior: Prior,
        *,
        threads: int = 1,
        show: bool = False,
        report: Report = silent,
        warn: Report = silent,
        make_threads: Callable[[int], Threads] = Threads,
        start_threads: Callable[[], Threads] | None = None,
    ) -> None:
        self.store = store
        self.make_threads = make_threads
        self.method = method
        self.settings = settings = store.settings
        self.stop = threading.Event()
        self.scale_names = prior.scale_names
        self.axes = prior.free_axes(settings.dim)
        self.start = find_start(
            store, counts, prior, threads=threads, show=show, warn=warn, make_threads=start_threads
        )
        self.problem = Problem(
            counts,
            prior,
            settings.dim,
            options=method.stored_options(settings.options),
            anchors=Anchors(self.start["anchor_rows"], self.start["anchor_values"])
            if settings.identify == "fixed"
            else None,
            warmup=settings.warmup,
            draws=settings.draws * settings.thin,
            near=Near.start(self.start),
            elsewhere=make_threads is not Threads,
        )
        self.sampler = self._make_sampler(threads, show, report)
        self.monitored = np.array(store.monitored, dtype=np.int64).reshape(-1, 2).T.copy()
        self.reference: Reference | None = None
        self.settled = threading.Event()
        self._last: dict[int, Any] = {}  # states by chain
        self._traces: dict[int, list[Array]] = {}  # by chain, of a warm-up whose end is not decided
        self._take_reference()

    def reload(self) -> None:
        """Take up settings that have been changed since."""
        self.settings = self.store.settings

    @property
    def traces(self) -> Array:
        """Log posterior and monitored cosines of every sweep of warm-up, (chain, sweep, 1 + pair)."""
        return np.stack([np.stack(self._traces[chain]) for chain in range(self.settings.chains)])

    def _make_sampler(self, threads: int, show: bool, report: Report) -> Sampler:
        """Return the method's sampler; for an approximation, fitted once and kept, one that draws from it."""
        made, store = self.method.load(), self.store
        if self.method.is_sampler:
            if self.method.kind == WHOLE_CHAINS and store.read_outcome().kind != WHOLE_CHAINS:
                store.write_outcome(Outcome(self.method.kind, {}, self.method.caveat))
            sampler: Sampler = made(self.problem)
            return sampler
        arrays = store.read_state("approximation")
        if arrays is None:
            with show_progress(self.method.name, None, enabled=show) as advance:

                def both(text: str) -> None:
                    advance(1, text)
                    report(text)

                arrays = made.fit(self.problem, seed=self.settings.seed, threads=threads, report=both)
            # first: where the arrays are, it is there too
            store.write_outcome(Outcome(self.method.kind, made.summary(arrays), self.method.caveat))
            store.write_state("approximation", arrays)
        return Independent(made(self.problem, arrays))

    def ended(self, chain: int) -> bool:
        """Whether a chain has all its draws already."""
        return self.store.sweep(chain) >= self.settings.sweeps

    def states(
        self, chain: int, threads: Threads, state: Any = None, number: int = 0
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the state and the statistics after each step from ``number`` on, without end."""
        seed = self.settings.seed
        if state is None:
            state = self._init(chain, threads.count)
        while True:
            number += 1
            state, info = self.sampler.step(state, seed=seed, chain=chain, number=number, threads=threads)
            yield state, info

    def run_chain(self, chain: int, num_threads: int = 1, watcher: Watcher | None = None) -> bool:
        """Run one chain from where it is to its end, or until it is stopped; return whether it has ended.

        If a node of a cluster goes with rows of the chain, it continues from what has been committed.
        """
        watcher, lost = watcher or Unwatched(), 0
        while True:
            record = self.store.recorder(chain)
            begin = record.mark
            try:
                return self._run_on(record, num_threads, watcher)
            except RowsLost:
                lost = lost + 1 if record.mark == begin else 0
                if lost == MOST_LOSSES:
                    raise
                watcher.back_to(record.mark.sweep, record.mark.draws)

    def _run_on(self, record: ChainStore, num_threads: int, watcher: Watcher) -> bool:
        """Run one chain from what has been committed."""
        settings, chain = self.settings, record.chain
        pace = _Pace()
        spent = 0.0
        make_threads = Threads if self.ended(chain) else self.make_threads  # there is nothing to redraw
        with make_threads(num_threads) as threads:
            try:
                state, sweep = self._take_up(record, threads, watcher.report)
            except _Stopped:
                return False
            steps = self.states(chain, threads, state, sweep)
            while sweep < settings.sweeps and self._ready(sweep, chain, state):
                began = time.perf_counter()
                state, info = next(steps)
                sweep += 1
                spent += time.perf_counter() - began
                if settings.rules.warming:
                    self._note_trace(chain, state, info)
                if sweep > settings.warmup_sweeps and (sweep - settings.warmup_sweeps) % settings.thin == 0:
                    values = self._draw(state, info, spent, threads.engine)
                    record.append(values, threads.engine and threads.engine.write)
                    watcher.add(values["cosine"])
                    spent = 0.0
                elif chain == 0:
                    self._keep_for_reference(sweep, state)
                watcher.at(sweep, info.log_posterior)
                if pace.due(whole=sweep <= settings.warmup_sweeps or record.between_shards):
                    pace.time(record.commit, sweep, self._saved(chain, state))
            if sweep > record.mark.sweep:  # while there are workers, who may still write the last draw
                record.commit(sweep, self._saved(chain, state))
        self._last[chain] = state
        return sweep >= settings.sweeps

    def finish(self) -> None:
        """Keep what the sampler reports of the run, after all chains have ended."""
        legacy = self.method.is_sampler and self.store.read_state("approximation") is not None
        if self.method.is_sampler and not legacy:
            states = [self._last[chain] for chain in sorted(self._last)]
            if summary := self.sampler.summary(states):
                self.store.write_outcome(Outcome(self.method.kind, summary, self.method.caveat))

    def _init(self, chain: int, threads: int, report: Count = silent) -> Any:
        """Return the first state of a chain."""

        def check(done: int) -> None:
            report(done)
            if self.stop.is_set():
                raise _Stopped

        seed = self.settings.seed
        near = jittered(self.start, seed, chain) if "rho" in self.start else {}
        return self.sampler.init(Start(seed, chain, **near, threads=threads, report=check))

    def _take_up(self, record: ChainStore, threads: Threads, report: Count) -> tuple[Any, int]:
        """Return a chain's committed state and its sweep, or its start."""
        saved, sweep = dict(record.restore()), record.mark.sweep
        self._traces[record.chain] = list(saved.pop("trace", ()))
        if saved and (self.method.kind != WHOLE_CHAINS or sweep >= self.settings.sweeps):
            plain = {name: array if array.ndim else array.item() for name, array in saved.items()}
            return self.sampler.State(**plain), sweep
        state = self._init(record.chain, threads.count, report)
        if not saved:
            record.commit(0, _arrays(state))
        elif sweep:  # chains that are run as a whole are replayed
            replayed = self.states(record.chain, threads, state)
            for _ in range(sweep):
                state, _info = next(replayed)
        return state, sweep

    def _note_trace(self, chain: int, state: Any, info: Any) -> None:
        cosine = cosines(state.rho, *self.monitored)
        level = info.log_posterior
        if self.problem.prior.shared is not None:
            axes = state.scales[: state.rho.shape[1]]  # the degrees of freedom may follow
            level = standardised(level, np.log(axes).sum(), len(state.rho) + len(state.alpha))
        self._traces[chain].append(np.append(np.float64(level), cosine))

    def _saved(self, chain: int, state: Any) -> dict[str, Any]:
        """Return what a checkpoint keeps: the state, and the trace of a warm-up whose end is not decided."""
        trace = self._traces.get(chain) if self.settings.rules.warming else None
        return _arrays(state) | ({"trace": np.stack(trace)} if trace else {})

    def _ready(self, sweep: int, chain: int, state: Any) -> bool:
        """Whether to continue: not stopped, and after warm-up there is a reference to align draws to."""
        if (
            self.settings.identify == "procrustes"
            and not self.settings.rules.warming
            and sweep == self.settings.warmup_sweeps
            and not self.settled.is_set()
        ):
            if chain == 0:
                self._settle_reference(state)
            while not (self.settled.wait(0.05) or self.stop.is_set()):
                pass
        return not self.stop.is_set()

    def _draw(self, state: Any, info: Any, seconds: float, engine: Any) -> dict[str, Any]:
        """Return what is stored of a state: rows aligned to the reference, where the engine holds them."""
        rho, alpha = state.rho, state.alpha
        if engine is not None:
            rho, alpha = engine.hold("rho", rho), engine.hold("alpha", alpha)
        if self.reference is not None:
            alignment = find_alignment(rho, alpha, self.reference, self.axes)
            rho, alpha = aligned(rho, alignment), aligned(alpha, alignment)
        cosine = cosines(rho, *self.monitored)
        stats = {"lp" if name == "log_posterior" else name: value for name, value in info._asdict().items()}
        scales = dict(zip(self.scale_names, state.scales, strict=True)) if self.scale_names else {}
        return {"rho": rho, "alpha": alpha, "cosine": cosine, "seconds": seconds, **stats, **scales}

    def _late_sweeps(self, state: Any) -> list[int]:
        """Return the sweeps of the second half of warm-up from which the reference is made."""
        warmup = self.settings.warmup_sweeps
        count = max(1, min(REFERENCE_STATES, REFERENCE_BYTES // (state.rho.nbytes + state.alpha.nbytes)))
        return sorted({warmup - (warmup * i) // (2 * count) for i in range(count)} - {0})

    def _keep_for_reference(self, sweep: int, state: Any) -> None:
        wanted = self.settings.identify == "procrustes" and not self.settled.is_set()
        if wanted and sweep in self._late_sweeps(state):
            self.store.write_state(f"late-{sweep}", {"rho": state.rho, "alpha": state.alpha})

    def _settle_reference(self, state: Any) -> None:
        late = [self.store.read_state(f"late-{sweep}") for sweep in self._late_sweeps(state)]
        states = [(kept["rho"], kept["alpha"]) for kept in late if kept is not None]
        last = [] if states else [(np.asarray(state.rho), np.asarray(state.alpha))]
        reference = settle_reference(states or last, axes=self.axes)
        self.store.write_state("reference", reference._asdict())
        self._take_reference()

    def _take_reference(self) -> None:
        found = self.store.read_state("reference")
        if found is not None:
            self.reference = Reference(**found)
            self.store.remove_states("late-")
            self.settled.set()


class _Pace:
    """When to commit: every few seconds, but not so often that it takes a large share of the time."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._interval = COMMIT_SECONDS

    def due(self, *, whole: bool) -> bool:
        """Whether it is time; longer is waited while a shard is not ``whole``."""
        return time.monotonic() - self._last >= self._interval * (1.0 if whole else 5.0)

    def time(self, commit: Callable[..., None], *args: Any) -> None:
        """Commit, and measure how long that takes."""
        began = time.monotonic()
        commit(*args)
        self._last = time.monotonic()
        self._interval = max(COMMIT_SECONDS, COMMIT_SHARE * (self._last - began))


def _arrays(state: Any) -> dict[str, Any]:
    """Return a state by names; rows that workers hold are not gathered."""
    return {
        name: value if isinstance(value, HeldRows) else np.asarray(value)
        for name, value in state._asdict().items()
    }
