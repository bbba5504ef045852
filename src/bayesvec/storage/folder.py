"""Run folders opened for writing: a new one, or one to resume."""

import contextlib
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec import __version__, _targets
from bayesvec import _atomic as files
from bayesvec._checksums import array_parts, read_arrays
from bayesvec._lock import Lock
from bayesvec._machine import processor
from bayesvec._types import Array, Float32, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import with_rows
from bayesvec.errors import RunError
from bayesvec.kernels import rng
from bayesvec.storage import layout
from bayesvec.storage import writer as recorder
from bayesvec.storage.layout import FREQUENT, MONITORED
from bayesvec.storage.outcome import Outcome, read_outcome, write_outcome
from bayesvec.storage.reader import open_draws
from bayesvec.storage.settings import Settings, differences
from bayesvec.storage.zarr3_metadata import check_metadata


@dataclass
class Folder:
    """A run folder and its manifest.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        Its manifest.
    """

    path: Path
    manifest: dict[str, Any]

    @property
    def settings(self) -> Settings:
        """The run's settings."""
        return Settings(**self.manifest["settings"])

    def state_file(self, name: str) -> Path:
        """Return the file of something that all chains share."""
        return layout.state_file(self.path, name)

    def with_rows(self, counts: PairCounts) -> PairCounts:
        """Return counts with the rows that the run's prior adds to them, if any."""
        known = layout.read_names(self.path, self.manifest)
        words, groups = known["words"], known["groups"]
        if counts.groups is None or groups is None or list(counts.words) != words[: counts.num_words]:
            return counts
        added = zip(words[counts.num_words :], groups[counts.num_words :], strict=True)
        return with_rows(counts, list(added))

    def load_counts(self) -> PairCounts:
        """Open the run's own copy of its counts; raise a `RunError` if they are not those it was started with."""
        from bayesvec.counts.store import open_counts

        counts = open_counts(self.path / "counts", verify=True)
        self.check_counts(counts)
        return replace(counts, weight=self.settings.weight)

    def check_counts(self, counts: PairCounts) -> None:
        """Raise a `RunError` if ``counts`` are not those the run was started with."""
        known = self.manifest["counts"]
        if counts.fingerprint != known["fingerprint"]:
            message = (
                f"the counts have changed since {self.path} was started "
                f"({known['num_pairs']} pairs and fingerprint {known['fingerprint'][:8]} there, "
                f"{counts.num_pairs} and {counts.fingerprint[:8]} here); to resume with its own copy, leave out the "
                "counts; for other counts, name another folder"
            )
            raise RunError(message, path=str(self.path))


@dataclass
class Run(Folder):
    """A run folder opened for writing.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        Its manifest.
    lock : Lock
        Keeps other processes out.
    """

    lock: Lock

    @property
    def monitored(self) -> list[tuple[int, int]]:
        """Pairs of words whose cosines are stored with each draw."""
        return [(first, second) for first, second in self.manifest["monitored"]]

    def sweep(self, chain: int) -> int:
        """Return the last committed sweep of a chain."""
        return layout.read_mark(self.path, chain).sweep

    def recorder(self, chain: int) -> recorder.ChainRecorder:
        """Return where the draws of a chain go."""
        return recorder.ChainRecorder(self.path, chain, self.manifest)

    def read_state(self, name: str) -> dict[str, Array] | None:
        """Return arrays that all chains share, None if there are none of that name."""
        path = self.state_file(name)
        return read_arrays(path) if path.exists() else None

    def write_state(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Keep arrays that all chains share."""
        files.write(self.state_file(name), array_parts(arrays))

    def remove_states(self, prefix: str) -> None:
        """Remove the arrays whose names start with ``prefix``."""
        for path in self.path.glob(f"state/{prefix}*"):
            path.unlink()

    def read_outcome(self) -> Outcome:
        """Return the outcome."""
        return read_outcome(self.path)

    def write_outcome(self, outcome: Outcome) -> None:
        """Keep the outcome."""
        write_outcome(self.path, outcome)

    def check_settings(self, wanted: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> None:
        """Raise a `RunError` that names the ``wanted`` settings that are not the run's (more draws are allowed).

        Parameters
        ----------
        wanted : Mapping
            The settings.
        options : Mapping, optional
            The run's options of its method, with those that the method has gained since it was started.
        """
        settings = self.manifest["settings"]
        found = differences({**settings, "options": options or settings["options"]}, wanted)
        if found:
            message = f"{self.path} was started with other settings: {'; '.join(found)}"
            raise RunError(f"{message}; resume with its own or name another folder", path=str(self.path))

    @property
    def elsewhere(self) -> str:
        """The name of the processor that the run was started on if it differs from this one; else empty."""
        before = str(self.manifest.get("processor", ""))
        return before if before != processor() else ""

    @property
    def started(self) -> bool:
        """Whether any chain has a state."""
        return any(layout.read_mark(self.path, chain).generation for chain in range(self.settings.chains))

    def discard(self) -> None:
        """Remove the folder."""
        files.remove_folder(self.path)

    def change(self, settings: Settings) -> None:
        """Change the length of the run; draws that are there stay as they are."""
        self.manifest = recorder.change(self.path, self.manifest, settings.as_dict())


def exists(path: Path) -> bool:
    """Whether there is a run at ``path``, finished or not."""
    files.recover(path)
    return (path / "manifest.json").exists()


def check_free(path: Path, *, force: bool = False) -> None:
    """Raise a `RunError` unless a new run can be written to ``path``."""
    error = partial(RunError, path=str(path))
    _targets.check_free(path, what="a run", force=True, ours=exists, folder=True, parents=True, error=error)
    if not exists(path):
        return
    there = open_draws(path)  # raises if it is something else, which is never replaced
    if force:
        return
    wanted = there.settings.draws
    if there.finished:
        message = f"{path} holds a finished run of {wanted} draws; extend it with --resume --draws N, "
    else:
        message = (
            f"{path} holds an unfinished run ({there.num_draws} of {wanted} draws); resume it with --resume, "
        )
    raise RunError(f"{message}replace it with --force, or name another folder", path=str(path))


def resume(path: Path) -> Run:
    """Open a run to resume it."""
    _check_inside(path, layout.read_manifest(path))  # a wrong folder is left without a lock file
    lock = Lock(path)
    try:
        run = Run(path, layout.read_manifest(path), lock)
        # more draws rewrite the copies in the root's zarr.json from these files: damage would be copied
        check_metadata(path / "draws.zarr", run.settings.draws)
        return run
    except BaseException:
        lock.close()
        raise


def _check_inside(path: Path, manifest: dict[str, Any]) -> None:
    """Raise a `RunError` if a folder that is written to on resuming is a link to somewhere else."""
    arrays = layout.stored_arrays(path, manifest).values()
    written = {
        path / "state",
        *(array.folder for array in arrays),
        *(array.folder.parent / "draw" for array in arrays),
    }
    for folder in sorted(written):
        if not folder.resolve().is_relative_to(path.resolve()):
            message = (
                f"{folder} leads out of the run folder, and resuming would write there; put a folder there"
            )
            raise RunError(message, path=str(path))


def create(
    path: Path,
    settings: Settings,
    counts: PairCounts,
    *,
    stats: Sequence[str],
    scales: Mapping[str, Sequence[str]],
    prior: Mapping[str, Array] | None = None,
    start: Mapping[str, Array] | None = None,
    most_draws: int | None = None,
    blocks: bool = False,
    force: bool = False,
) -> Run:
    """Create a run; it appears under its name when it is whole.

    Parameters
    ----------
    path : Path
        The folder to make.
    settings : Settings
        Its settings.
    counts : PairCounts
        The data; the run keeps a copy.
    stats : sequence of str
        Statistics of each sweep.
    scales : Mapping
        Learned precisions of the prior of each side, which are statistics too.
    prior : Mapping, optional
        The arrays of a prior that the settings only name.
    start : Mapping, optional
        The vectors to start from, if they were given.
    most_draws : int, optional
        Draws of each chain, if there can never be more.
    blocks : bool
        Cut large draws into blocks of rows, for workers to write.
    force : bool
        Replace a run that is there.
    """
    check_free(path, force=force)
    replaced = Lock(path) if exists(path) else contextlib.nullcontext()
    error = partial(RunError, path=str(path))
    with contextlib.ExitStack() as failing:
        with replaced, files.placed(path, folder=True, force=force, error=error) as new:
            lock = failing.enter_context(Lock(new))
            counts.save(new / "counts")
            manifest = _manifest(new, settings, counts, stats, scales, most_draws, blocks)
            names = {"words": counts.words, "contexts": counts.contexts, "groups": counts.groups}
            recorder.create(new, manifest, names)
            for name, arrays in (("prior", prior), ("start", start)):
                if arrays is not None:
                    files.write(layout.state_file(new, name), array_parts(arrays))
        failing.pop_all()
    return Run(path, manifest, lock)


def _manifest(
    folder: Path,
    settings: Settings,
    counts: PairCounts,
    stats: Sequence[str],
    scales: Mapping[str, Sequence[str]],
    most_draws: int | None,
    blocks: bool,
) -> dict[str, Any]:
    sizes = {"rho": counts.num_words, "alpha": counts.num_contexts}
    stored = {"both": ("rho", "alpha"), "rho": ("rho",), "summary": ()}[settings.store]
    frequent = frequent_words(counts)
    monitored = monitored_pairs(counts.num_words, settings.seed, frequent)
    arrays = layout.plan_arrays(
        folder,
        sides={name: sizes[name] for name in stored},
        dim=settings.dim,
        stats=(*stats, *(name for side in scales.values() for name in side), "seconds"),
        pairs=len(monitored),
        most_draws=most_draws,
        blocks=blocks,
    )
    return {
        "format": layout.FORMAT,
        "format_version": layout.format_version(arrays),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"bayesvec": __version__, **_versions()},
        "machine": platform.machine(),
        "processor": processor(),
        "settings": settings.as_dict(),
        "counts": {
            "fingerprint": counts.fingerprint,
            "num_words": counts.num_words,
            "num_contexts": counts.num_contexts,
            "num_pairs": counts.num_pairs,
            "num_observations": counts.num_observations,
            "recipe": dict(counts.recipe),
        },
        "arrays": layout.described(arrays),
        "scales": scales,
        "monitored": monitored,
        "frequent": frequent,
    }


@cache
def _versions() -> dict[str, str]:
    """Return the versions of Python and of what computes; looking them up takes some milliseconds."""
    packages = {package: version(package) for package in ("numpy", "scipy", "numba")}
    return {"python": platform.python_version(), **packages}


def frequent_words(counts: PairCounts) -> list[int]:
    """Return the words with the most positive samples, the most frequent first."""
    total = np.add.reduceat(np.append(counts.by_word.n_pos, 0), counts.by_word.indptr[:-1])
    total[np.diff(counts.by_word.indptr) == 0] = 0
    return np.argsort(-total, kind="stable")[:FREQUENT].tolist()  # type: ignore[no-any-return]


def monitored_pairs(num_words: int, seed: int, frequent: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Choose pairs of different words at random, each pair once; then pairs of frequent words, if others are many."""
    pairs: dict[tuple[int, int], None] = {}
    key = rng.make_key(seed, rng.START, sweep=rng.Start.MONITORED)
    rows = [range(num_words)] + [frequent] * (num_words >= 2 * FREQUENT)
    for kind, among in enumerate(rows):
        wanted = len(pairs) + min(MONITORED, len(among) * (len(among) - 1) // 2)
        block = 0
        while len(pairs) < wanted:
            first, second = (among[int(u * len(among))] for u in rng.uniforms(key, kind, block))
            block += 1
            if first != second:
                pairs[min(first, second), max(first, second)] = None
    return list(pairs)


def cosines(rho: Float32, first: Int64, second: Int64) -> Float32:
    """Return the cosines of pairs of rows; NaN where a row is zero."""
    x, y = (rho[rows].astype(np.float64) for rows in (first, second))  # squares of small floats are zero
    dot, square, other = (np.einsum("ij,ij->i", *pair) for pair in ((x, y), (x, x), (y, y)))
    with np.errstate(invalid="ignore"):
        return np.asarray(dot / np.sqrt(square * other), dtype=np.float32)


def command(path: Path, draws: int | None = None) -> str:
    """Return the command that resumes a run."""
    more = "" if draws is None else f" --draws {draws}"
    return f"bayesvec fit --resume --out {shlex.quote(str(path))}{more}"
