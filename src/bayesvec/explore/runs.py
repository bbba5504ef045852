"""The runs that are shown: opened once, and again when they have grown."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from bayesvec.errors import BayesvecError, OptionError, RunError
from bayesvec.explore.held import HeldDraws, room_in_memory
from bayesvec.posterior.posterior import Posterior
from bayesvec.storage.layout import read_mark
from bayesvec.storage.names import run_names

_LOOK_AGAIN = 1.0  # seconds after which a folder is looked at again


class Version(NamedTuple):
    """What tells one state of a run folder from the next."""

    draws: int
    changed: int  # time of its manifest, in nanoseconds


@dataclass(frozen=True)
class Shown:
    """The run that a view is of, and those beside it.

    Attributes
    ----------
    name : str
        Name of the run.
    posterior : Posterior
        Its draws.
    beside : mapping of str to Posterior
        Other runs, by name.
    """

    name: str
    posterior: Posterior
    beside: Mapping[str, Posterior]

    @property
    def every(self) -> dict[str, Posterior]:
        """All runs of the view by name, the run itself first."""
        return {self.name: self.posterior, **self.beside}


class Run:
    """One run folder, which may still grow, vanish or be damaged.

    Parameters
    ----------
    path : Path
        The folder.
    room : int
        Bytes of it that may be held in memory.
    """

    def __init__(self, path: Path, room: int) -> None:
        self.path = path
        self._room = room
        self._lock = Lock()
        self._looked = 0.0
        self._opened: tuple[Posterior, Version] | None = None

    def posterior(self) -> tuple[Posterior, Version]:
        """Return the posterior as it is now, and its version; raise a `RunError` if it cannot be read."""
        with self._lock:
            now = time.monotonic()
            opened = self._opened
            if opened is None or now - self._looked > _LOOK_AGAIN:
                changed = self._changed()
                if opened is None or opened[1] != Version(_committed(opened[0]), changed):
                    self._opened = None  # frees its memory before the next is read
                    opened = self._opened = self._open(changed)
                self._looked = now
            return opened

    def _changed(self) -> int:
        try:
            return (self.path / "manifest.json").stat().st_mtime_ns
        except OSError:
            self._opened = None
            raise RunError(
                f"{self.path} is gone or is not a run folder; put it back, or start again with another run",
                path=str(self.path),
            ) from None

    def _open(self, changed: int) -> tuple[Posterior, Version]:
        draws = HeldDraws(self.path, self._room)
        if not draws.num_draws:
            raise RunError(
                f"{self.path} has no draws yet; they are shown as soon as there are some", path=str(self.path)
            )
        return Posterior(draws), Version(draws.num_draws, changed)


def _committed(posterior: Posterior) -> int:
    """Return how many draws of every chain are on the disk by now."""
    draws = posterior.draws
    return min(read_mark(draws.path, chain).draws for chain in range(draws.num_chains))


class Runs:
    """The runs of one explorer, by name.

    Parameters
    ----------
    paths : sequence of path
        The run folders, each once.
    """

    def __init__(self, paths: Sequence[str | PathLike[str]]) -> None:
        if not paths:
            raise OptionError("there are no runs to explore; give at least one run folder")
        room = room_in_memory() // len(paths)
        self.by_name = {name: Run(path, room) for name, path in run_names(list(map(Path, paths))).items()}

    @property
    def first(self) -> str:
        """Name of the first run."""
        return next(iter(self.by_name))

    def shown(self, name: str = "", beside: Sequence[str] = ()) -> tuple[Shown, tuple[Version, ...]]:
        """Return a run and others by their names, with their versions."""
        chosen = name or self.first
        names = [chosen, *(other for other in dict.fromkeys(beside) if other != chosen)]
        for each in names:
            if each not in self.by_name:
                raise OptionError(f"there is no run {each!r}; there are {', '.join(self.by_name)}")
        opened = {each: self.by_name[each].posterior() for each in names}
        posteriors = {each: posterior for each, (posterior, _) in opened.items()}
        first = posteriors.pop(chosen)
        return Shown(chosen, first, posteriors), tuple(version for _, version in opened.values())

    def warm(self) -> None:
        """Read the draws of all runs that fit into memory, and check them, so that the first question need not."""
        for run in self.by_name.values():
            with contextlib.suppress(BayesvecError, OSError):  # the page states what is wrong
                posterior = run.posterior()[0]
                _ = posterior.draws.row_norms
                posterior.check()

    def state(self) -> list[dict[str, Any]]:
        """Return for each run how many draws it has, or why it cannot be read."""
        return [self._state(name, run) for name, run in self.by_name.items()]

    def _state(self, name: str, run: Run) -> dict[str, Any]:
        try:
            posterior, version = run.posterior()
        except (BayesvecError, OSError) as error:
            return {"name": name, "error": str(error), "finished": False, "draws": 0}
        return {"name": name, "error": None, "finished": posterior.draws.finished, "draws": version.draws}
