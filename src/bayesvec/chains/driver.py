"""One chain: sweep, store, commit, until it is done or stopped; and what all chains of a run share."""

import os
import threading
import time
from types import ModuleType
from typing import Any

import numpy as np

from bayesvec import _atomic as files
from bayesvec._parallel import Threads
from bayesvec._types import Array
from bayesvec.chains.begin import find_approximation, find_begin, jittered, load_prior
from bayesvec.chains.display import ChainProgress
from bayesvec.counts.pairs import PairCounts
from bayesvec.model.identification import Anchors, Reference, align, settle_reference
from bayesvec.storage import folder
from bayesvec.storage.folder import Run
from bayesvec.storage.layout import read_mark
from bayesvec.storage.writer import ChainRecorder

REFERENCE_STATES = 16
REFERENCE_BYTES = 256 << 20  # held at the most while the reference is settled

# Seconds between commits, at least; the tests shorten it. A commit takes a twentieth of the time at the most.
COMMIT_SECONDS = float(os.environ.get("BAYESVEC_COMMIT_SECONDS", "2"))
COMMIT_SHARE = 20.0


class Work:
    """What all chains of a run share."""

    def __init__(self, run: Run, counts: PairCounts, module: ModuleType, *, threads: int, show: bool) -> None:
        self.run = run
        self.settings = run.settings
        self.module = module
        self.stop = threading.Event()
        prior = load_prior(run)
        self.scale_names = prior.scale_names
        self.axes = prior.free_axes(self.settings.dim)
        self.begin = find_begin(run, counts, prior, threads=threads, show=show)
        anchors = None
        if self.settings.identify == "fixed":
            anchors = Anchors(self.begin["anchor_rows"], self.begin["anchor_values"])
        given = {"options": module.Options(**self.settings.options), "anchors": anchors}
        if not self.settings.sweeping:
            given["approximation"] = find_approximation(
                run, module, counts, prior, threads=threads, show=show, **given
            )
        self.problem = module.prepare(counts, prior, self.settings.dim, **given)
        self.monitored = np.array(run.manifest["monitored"], dtype=np.int64).reshape(-1, 2).T.copy()
        self.reference: Reference | None = None
        self.settled = threading.Event()
        if run.state_file("reference").exists():
            self._take_reference()

    def ended(self, chain: int) -> bool:
        """Whether a chain has all its draws already."""
        return read_mark(self.run.path, chain).sweep >= self.settings.sweeps

    def run_chain(self, progress: ChainProgress, num_threads: int) -> None:
        """Run one chain from where it is to its end, or until it is stopped."""
        chain, settings = progress.chain, self.settings
        record = ChainRecorder(self.run.path, chain, self.run.manifest)
        state, sweep = self._take_up(record)
        progress.take_up(sweep, self.run.path)
        pace = _Pace()
        spent = 0.0
        with Threads(num_threads) as threads:
            while sweep < settings.sweeps and self._ready(sweep, chain, state):
                began = time.perf_counter()
                state, info = self.module.sweep(
                    self.problem, state, seed=settings.seed, chain=chain, number=sweep + 1, threads=threads
                )
                sweep += 1
                spent += time.perf_counter() - began
                if sweep > settings.warmup_sweeps and (sweep - settings.warmup_sweeps) % settings.thin == 0:
                    values = self._draw(state, info, spent)
                    record.append(values)
                    progress.add(values["cosine"])
                    spent = 0.0
                elif chain == 0:
                    self._keep_for_reference(sweep, state)
                progress.at(sweep, info.log_posterior)
                if pace.due(whole=sweep <= settings.warmup_sweeps or record.between_shards):
                    pace.time(record.commit, sweep, _arrays(state))
        if sweep > record.mark.sweep:
            record.commit(sweep, _arrays(state))
        progress.done = sweep >= settings.sweeps

    def _take_up(self, record: ChainRecorder) -> tuple[Any, int]:
        """Return a chain's committed state and its sweep, or its start."""
        saved = record.restore()
        if saved:
            plain = {name: array if array.ndim else array.item() for name, array in saved.items()}
            return self.module.State(**plain), record.mark.sweep
        start = jittered(self.begin, self.settings.seed, record.chain) if "rho" in self.begin else {}
        state = self.module.start(self.problem, seed=self.settings.seed, chain=record.chain, **start)
        record.commit(0, _arrays(state))
        return state, 0

    def _ready(self, sweep: int, chain: int, state: Any) -> bool:
        """Whether to sweep on: not stopped, and after warm-up there is a reference to turn draws to."""
        if (
            self.settings.identify == "procrustes"
            and sweep == self.settings.warmup_sweeps
            and not self.settled.is_set()
        ):
            if chain == 0:
                self._settle_reference(state)
            while not (self.settled.wait(0.05) or self.stop.is_set()):
                pass
        return not self.stop.is_set()

    def _draw(self, state: Any, info: Any, seconds: float) -> dict[str, Any]:
        """Return what is stored of a state."""
        rho, alpha = state.rho, state.alpha
        if self.reference is not None:
            rho, alpha = align(rho, alpha, self.reference, self.axes)
        cosine = folder.cosines(rho, *self.monitored)
        stats = {"lp" if name == "log_posterior" else name: value for name, value in info._asdict().items()}
        scales = dict(zip(self.scale_names, getattr(state, "scales", ()), strict=True))
        return {"rho": rho, "alpha": alpha, "cosine": cosine, "seconds": seconds, **stats, **scales}

    def _late_sweeps(self, state: Any) -> list[int]:
        """Return the sweeps of the second half of warm-up from which the reference is made."""
        warmup = self.settings.warmup_sweeps
        count = max(1, min(REFERENCE_STATES, REFERENCE_BYTES // (state.rho.nbytes + state.alpha.nbytes)))
        return sorted({warmup - (warmup * i) // (2 * count) for i in range(count)} - {0})

    def _keep_for_reference(self, sweep: int, state: Any) -> None:
        wanted = self.settings.identify == "procrustes" and not self.settled.is_set()
        if wanted and sweep in self._late_sweeps(state):
            arrays = {"rho": state.rho, "alpha": state.alpha}
            files.write(self.run.state_file(f"late-{sweep}"), files.array_parts(arrays))

    def _settle_reference(self, state: Any) -> None:
        late = [self.run.state_file(f"late-{sweep}") for sweep in self._late_sweeps(state)]
        states = [(kept["rho"], kept["alpha"]) for kept in map(files.read_arrays, late)]
        reference = settle_reference(states or [(state.rho, state.alpha)], axes=self.axes)
        files.write(self.run.state_file("reference"), files.array_parts(reference._asdict()))
        self._take_reference()

    def _take_reference(self) -> None:
        self.reference = Reference(**files.read_arrays(self.run.state_file("reference")))
        for path in self.run.path.glob("state/late-*"):
            path.unlink()
        self.settled.set()


class _Pace:
    """When to commit: every few seconds, but not so often that it takes a large share of the time."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._interval = COMMIT_SECONDS

    def due(self, *, whole: bool) -> bool:
        """Whether it is time; longer is waited while a shard is not ``whole``."""
        return time.monotonic() - self._last >= self._interval * (1.0 if whole else 5.0)

    def time(self, commit: Any, *args: Any) -> None:
        """Commit, and see how long that takes."""
        began = time.monotonic()
        commit(*args)
        self._last = time.monotonic()
        self._interval = max(COMMIT_SECONDS, COMMIT_SHARE * (self._last - began))


def _arrays(state: Any) -> dict[str, Array]:
    return {name: np.asarray(value) for name, value in state._asdict().items()}
