"""How a run went: what its method says of its long work, and how long it all took; kept in the run folder.

A method that sweeps says nothing here: its chains are judged by R-hat and ESS. Others do their long work once
(`begin.find_approximation`) and leave a summary of it, which is read without the arrays behind it.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bayesvec import _atomic as files
from bayesvec.errors import RunError

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

POINT, APPROXIMATION, WHOLE_CHAINS, SWEEPS = "point", "approximation", "whole chains", "sweeps"


@dataclass(frozen=True)
class Outcome:
    """What a method says of its long work.

    Attributes
    ----------
    kind : str
        ``point``: one estimate; ``approximation``: independent draws of a distribution that is not the
        posterior; ``whole chains``: chains that were drawn in one go; ``sweeps``: chains, draw by draw.
    summary : dict
        What the method tells of it, such as whether it converged.
    caveat : str
        What is known against the method's intervals.
    """

    kind: str = SWEEPS
    summary: dict[str, Any] = field(default_factory=dict)
    caveat: str = ""

    @property
    def converged(self) -> bool:
        """Whether the method found what it looked for; True if it says nothing about it."""
        return bool(self.summary.get("converged", True))

    def __str__(self) -> str:
        return ", ".join(_in_words(name, value) for name, value in self.summary.items())


def kind_of(module: ModuleType) -> str:
    """Tell what kind of draws a method gives."""
    if getattr(module, "POINT", False):
        return POINT
    if getattr(module, "INDEPENDENT", False):
        return APPROXIMATION
    return WHOLE_CHAINS if hasattr(module, "approximate") else SWEEPS


def write_outcome(folder: Path, module: ModuleType, arrays: Mapping[str, Any]) -> None:
    """Keep what a method says of the ``arrays`` it has found in the run folder."""
    summary = module.summary(arrays) if hasattr(module, "summary") else {}
    outcome = Outcome(kind_of(module), summary, getattr(module, "CAVEAT", ""))
    files.write_json(folder / "state" / "outcome.json", asdict(outcome))


def read_outcome(folder: Path) -> Outcome:
    """Return the outcome that is kept in a run folder; chains by sweeps if there is none."""
    try:
        return Outcome(**files.read_json(folder / "state" / "outcome.json"))
    except (FileNotFoundError, NotADirectoryError):
        return Outcome()


def check_extendable(folder: Path, module: ModuleType, method: str, draws: int, wanted: int) -> None:
    """Raise a `RunError` if a run of ``draws`` draws cannot be extended to ``wanted``."""
    kind = kind_of(module)
    if wanted <= draws:
        return
    if kind == POINT:
        raise RunError(f"{folder} is one point ({method}): there are no more draws to take", path=str(folder))
    if kind == WHOLE_CHAINS and (folder / "state" / "approximation.arrays").exists():
        message = f"{folder} has its {draws} draws of each chain, and a run of {method} cannot be extended"
        raise RunError(f"{message}; begin a new run with {wanted} draws", path=str(folder))


def add_seconds(folder: Path, seconds: float) -> None:
    """Add to the time that was spent on a run; what cannot be written is left out."""
    path = folder / "state" / "seconds.json"
    with contextlib.suppress(OSError, RunError):
        before = files.read_json(path)["seconds"] if path.exists() else 0.0
        files.write_json(path, {"seconds": before + seconds})


def read_seconds(draws: "Draws") -> float:
    """Return the seconds by the clock that a run took, as far as they are known.

    A process that was killed could not tell how long it had been at work; the time of the sweeps whose draws
    are there is known even then.
    """
    sweeping = float(draws.stats("seconds").sum(axis=1).max())
    try:
        return max(sweeping, float(files.read_json(draws.path / "state" / "seconds.json")["seconds"]))
    except FileNotFoundError:
        return sweeping


def _in_words(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"not {words}"
    if isinstance(value, float):
        return f"{words} {value:.6g}"
    return f"{words} {value}"
