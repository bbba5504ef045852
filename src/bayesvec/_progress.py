"""Progress of long work: a bar on a terminal, a line now and then elsewhere; and notes on standard error."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bayesvec._printable import printable

LINE_SECONDS = 10.0  # between lines where there is no terminal

Advance = Callable[[float, str], None]


@contextmanager
def progress(
    label: str, total: float | None, *, enabled: bool = True, announce: bool = False
) -> Iterator[Advance]:
    """Show progress on standard error: a bar on a terminal, elsewhere a line now and then.

    Parameters
    ----------
    label : str
        What is being done, at the start of the line.
    total : float or None
        Amount of work, in any unit; None if it is not known.
    enabled : bool, optional
        False shows nothing.
    announce : bool, optional
        Where there is no terminal, write a line at the start too: for work that always takes a while.

    Yields
    ------
    callable
        ``advance(amount, note)``: add to the work done; the note is shown at the end of the line.
    """
    if not enabled:
        yield lambda amount, note: None
        return
    if not sys.stderr.isatty():
        yield _Lines(label, total, announce=announce).advance
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


class _Lines:
    """Writes how far the work is every ten seconds."""

    def __init__(self, label: str, total: float | None, *, announce: bool) -> None:
        self._label, self._total = label, total
        self._done = 0.0
        self._when = time.monotonic()
        if announce:
            tell(label)

    def advance(self, amount: float, note: str) -> None:
        """Add to the work done; write a line if one is due."""
        self._done += amount
        ended = self._total is not None and self._done >= self._total
        if ended or time.monotonic() - self._when < LINE_SECONDS:
            return
        self._when = time.monotonic()
        share = f" {self._done / self._total:.0%}" if self._total else ""
        tell(f"{self._label}{share}{f', {note}' if note else ''}")


def tell(text: str) -> None:
    """Print a message on standard error, whether progress is shown or not."""
    sys.stderr.write(f"bayesvec: {printable(text)}\n")
    sys.stderr.flush()


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    if not math.isfinite(seconds):
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
