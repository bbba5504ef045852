"""Progress of long work: one line on a terminal, nothing anywhere else; and notes on standard error."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bayesvec._printable import printable

Advance = Callable[[float, str], None]


@contextmanager
def progress(label: str, total: float | None, *, enabled: bool = True) -> Iterator[Advance]:
    """Show a progress bar on standard error if that is a terminal.

    Parameters
    ----------
    label : str
        What is being done, at the start of the line.
    total : float or None
        Amount of work, in any unit; None if it is not known.
    enabled : bool, optional
        False shows nothing.

    Yields
    ------
    callable
        ``advance(amount, note)``: add to the work done; the note is shown at the end of the line.
    """
    if not enabled or not sys.stderr.isatty():
        yield lambda amount, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, note="")
        yield lambda amount, note: bar.update(task, advance=amount, note=printable(note))


def tell(text: str) -> None:
    """Print a message on standard error, whether progress is shown or not."""
    sys.stderr.write(f"bayesvec: {printable(text)}\n")


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    if not math.isfinite(seconds):
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
