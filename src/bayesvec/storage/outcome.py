"""How a run went: the summary that its method gives, and how long it all took; kept in the run folder.

Chains are judged by R-hat and ESS. An approximation is fitted once and leaves a summary of that, which is read
without the arrays behind it; so do samplers that have more to report than their draws.
"""

import contextlib
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from bayesvec._checksums import read_json, write_json
from bayesvec.errors import RunError
from bayesvec.storage.kinds import POINT, SWEEPS, WHOLE_CHAINS
from bayesvec.storage.settings import Settings


@dataclass(frozen=True)
class Outcome:
    """What a method reports of a run.

    Attributes
    ----------
    kind : str
        The kind of its draws (`bayesvec.storage.kinds`).
    summary : dict
        Plain values by name, such as whether it converged.
    caveat : str
        What is known against the method's intervals.
    """

    kind: str = SWEEPS
    summary: dict[str, Any] = field(default_factory=dict)
    caveat: str = ""

    @property
    def converged(self) -> bool:
        """Whether the fit converged; True if the method does not report it."""
        return bool(self.summary.get("converged", True))

    def __str__(self) -> str:
        return ", ".join(_in_words(name, value) for name, value in self.summary.items())


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Keep an outcome in the run folder."""
    write_json(folder / "state" / "outcome.json", asdict(outcome))


def read_outcome(folder: Path) -> Outcome:
    """Return the outcome that is kept in a run folder; chains by sweeps if there is none."""
    path = folder / "state" / "outcome.json"
    try:
        found = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        return Outcome()
    kinds = {each.name: type(getattr(Outcome(), each.name)) for each in fields(Outcome)}
    if any(type(value) is not kinds.get(name) for name, value in found.items()):
        message = f"{path} is damaged: its entries are not those of an outcome"
        raise RunError(f"{message}; restore it from a copy", path=str(path))
    return Outcome(**found)


def check_extendable(folder: Path, kind: str, settings: Settings, draws: int, *, started: bool) -> None:
    """Raise a `RunError` if a run cannot be extended to ``draws`` draws.

    Parameters
    ----------
    folder : Path
        The run folder.
    kind : str
        The kind of its draws.
    settings : Settings
        Its settings.
    draws : int
        Draws of each chain that are asked for.
    started : bool
        Whether any chain has a state.
    """
    if draws <= settings.draws:
        return
    method = settings.method
    if kind == POINT:
        raise RunError(f"{folder} is one point ({method}): there are no more draws to take", path=str(folder))
    if kind == WHOLE_CHAINS and started:
        message = (
            f"{folder} has its {settings.draws} draws of each chain, and a run of {method} cannot be extended"
        )
        raise RunError(f"{message}; start a new run with {draws} draws", path=str(folder))


def add_seconds(folder: Path, seconds: float) -> None:
    """Add to the time that was spent on a run; an error of writing is ignored."""
    path = folder / "state" / "seconds.json"
    with contextlib.suppress(OSError, RunError):
        write_json(path, {"seconds": read_seconds(folder) + seconds})


def read_seconds(folder: Path) -> float:
    """Return the time that was spent on a run, 0 if it is not known."""
    path = folder / "state" / "seconds.json"
    try:
        seconds = read_json(path).get("seconds")
    except FileNotFoundError:
        return 0.0
    if not isinstance(seconds, int | float) or not 0.0 <= seconds < math.inf:
        message = f"{path} is damaged: it states no time; remove it"
        raise RunError(f"{message}, and the time of the run is that of its sweeps", path=str(path))
    return float(seconds)


def _in_words(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"not {words}"
    if isinstance(value, float):
        return f"{words} {value:.6g}"
    return f"{words} {value}"
