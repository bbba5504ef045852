"""What `fit` shows while it runs: a line a chain on a terminal, a line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numba.core import event

from bayesvec._types import Array, Float32
from bayesvec.estimates.convergence import FEWEST_DRAWS, ess_bulk, rhat
from bayesvec.storage.reader import open_draws
from bayesvec.storage.settings import Settings

DIAGNOSE_SECONDS = 2.0
DIAGNOSE_SHARE = 50.0  # judging the draws so far takes a fiftieth of the time at the most
LINE_SECONDS = 10.0


class ChainProgress:
    """How far a chain is; its own thread writes it, the display reads it.

    Parameters
    ----------
    chain : int
        The chain.
    settings : Settings
        The run's settings.
    """

    def __init__(self, chain: int, settings: Settings) -> None:
        self.chain = chain
        self.sweep = 0
        self.log_posterior = math.nan
        self.done = False
        self._settings = settings
        self._cosines: Float32 = np.empty((0, 0), np.float32)  # (draw, pair), with room to grow
        self.draws = 0
        self._first: int | None = None  # the sweep at which the clock begins
        self._began = self._latest = time.monotonic()

    def take_up(self, sweep: int, path: Path) -> None:
        """Begin at ``sweep``, with the cosines that are in the run folder already."""
        self.sweep = sweep
        draws = open_draws(path)
        if not draws.monitored:  # there is one word only
            self.draws = draws.chain_draws(self.chain)
            return
        self._cosines = draws.chain_stats("cosine", self.chain).astype(np.float32)
        self.draws = len(self._cosines)

    def at(self, sweep: int, log_posterior: float) -> None:
        """Say that a sweep is done."""
        self.log_posterior = log_posterior
        self.sweep = sweep
        self._latest = time.monotonic()
        if self._first is None:  # the first sweep here may have waited for the compiler
            self._first, self._began = sweep, self._latest

    def add(self, cosines: Array) -> None:
        """Add the cosines of a stored draw."""
        if self.draws == len(self._cosines):
            longer = np.empty((max(64, 2 * self.draws), len(cosines)), np.float32)
            longer[: self.draws] = self._cosines.reshape(self.draws, len(cosines))
            self._cosines = longer
        self._cosines[self.draws] = cosines
        self.draws += 1  # last: the display reads as many as this says

    @property
    def cosines(self) -> Float32:
        """Cosines of the stored draws, (draw, pair)."""
        draws = self.draws  # first: the array is never shorter
        return self._cosines[:draws]

    @property
    def rate(self) -> float:
        """Sweeps per second since the first that this process has done; 0 until there are two."""
        first = self.sweep if self._first is None else self._first
        return (self.sweep - first) / max(self._latest - self._began, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Seconds to the end at this rate; infinite until it is known."""
        left = self._settings.sweeps - self.sweep
        return 0.0 if not left else left / self.rate if self.rate else math.inf

    @property
    def phase(self) -> str:
        """What the chain is doing, and how much of it is done."""
        settings = self._settings
        if self.sweep < settings.warmup_sweeps:
            return f"warm-up {self.sweep}/{settings.warmup_sweeps}"
        return f"draw {self.draws}/{settings.draws}"

    @property
    def figures(self) -> tuple[str, str, str]:
        """Sweeps per second, time left and log posterior, in words."""
        value = "-" if math.isnan(self.log_posterior) else f"{self.log_posterior:.1f}"
        return f"{self.rate:.3g}", clock(self.seconds_left), value


def watched(chains: Sequence[ChainProgress]) -> str:
    """Say how the cosines that are watched have mixed so far."""
    running = [chain for chain in chains if chain.draws >= FEWEST_DRAWS]
    common = min((chain.draws for chain in running), default=0)
    if not common:
        return ""
    cosines = np.stack([chain.cosines[:common] for chain in running])
    rhats, ess = rhat(cosines), ess_bulk(cosines)
    varies = np.isfinite(rhats) & np.isfinite(ess)
    if not varies.any():
        return ""
    worst = f"R-hat up to {rhats[varies].max():.3f}, ESS from {ess[varies].min():.0f}"
    return f"cosines of {varies.sum()} pairs of words: {worst}"


class Judge:
    """Says how the cosines have mixed, anew when that is worth its time.

    Parameters
    ----------
    chains : sequence of ChainProgress
        What to judge.
    """

    def __init__(self, chains: Sequence[ChainProgress]) -> None:
        self._chains = chains
        self._text = ""
        self._next = -math.inf

    def text(self, final: bool = False) -> str:
        """Return the verdict, at the end the ``final`` one."""
        began = time.monotonic()
        if final or began >= self._next:
            self._text = watched(self._chains)
            ended = time.monotonic()
            self._next = ended + max(DIAGNOSE_SECONDS, DIAGNOSE_SHARE * (ended - began))
        return self._text


class Display(Protocol):
    """Something that shows progress when it is told to look."""

    def update(self, final: bool = False) -> None:
        """Look, and show what is new."""


class Silent:
    """Shows nothing."""

    def update(self, final: bool = False) -> None:
        """Do nothing."""


class Lines:
    """Writes a line for each chain every ten seconds and every tenth of the way.

    Parameters
    ----------
    chains : sequence of ChainProgress
        What to show.
    settings : Settings
        The run's settings.
    """

    def __init__(self, chains: Sequence[ChainProgress], settings: Settings) -> None:
        self._chains = chains
        self._judge = Judge(chains)
        self._total = settings.sweeps * len(chains)
        self._tenth = 10 * self._done // self._total
        self._when = time.monotonic()

    @property
    def _done(self) -> int:
        return sum(chain.sweep for chain in self._chains)

    def update(self, final: bool = False) -> None:
        """Write what is due."""
        tenth, passed = 10 * self._done // self._total, time.monotonic() - self._when
        further = tenth > self._tenth and (passed > 1.0 or final)
        if not (further or passed > LINE_SECONDS):
            return
        self._tenth, self._when = tenth, time.monotonic()
        for chain in self._chains:
            rate, left, value = chain.figures
            told = f"{chain.phase}, {rate} sweeps/s, {left} left, log posterior {value}"
            sys.stderr.write(f"chain {chain.chain}: {told}\n")
        if text := self._judge.text(final):
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Live:
    """Keeps a table on the terminal.

    Parameters
    ----------
    chains : sequence of ChainProgress
        What to show.
    settings : Settings
        The run's settings.
    """

    def __init__(self, chains: Sequence[ChainProgress], settings: Settings) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._chains = chains
        self._settings = settings
        self._judge = Judge(chains)
        self.live = RichLive(console=Console(stderr=True), auto_refresh=False)

    def update(self, final: bool = False) -> None:
        """Draw the table again."""
        self.live.update(self._table(self._judge.text(final)), refresh=True)

    def _table(self, caption: str) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, caption=caption, caption_justify="left")
        for title in ("chain", "", "", "sweeps/s", "left", "log posterior"):
            table.add_column(title, justify="left" if title in ("chain", "") else "right", no_wrap=True)
        for chain in self._chains:
            bar = ProgressBar(total=self._settings.sweeps, completed=chain.sweep, width=24)
            table.add_row(str(chain.chain), bar, chain.phase, *chain.figures)
        return table


@contextmanager
def show(settings: Settings, chains: Sequence[ChainProgress], *, enabled: bool) -> Iterator[Display]:
    """Show the progress of ``chains`` on standard error while the block runs."""
    if not enabled:
        yield Silent()
    elif sys.stderr.isatty():
        display = Live(chains, settings)
        with display.live:
            yield display
    else:
        yield Lines(chains, settings)


class _Compiling(event.Listener):
    """Says once that code is being compiled; Numba calls it when it finds nothing in its cache."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, _: Any) -> None:
        """Say so, the first time."""
        if not self._told:
            self._told = True
            sys.stderr.write("compiling, once after an installation or update\n")
            sys.stderr.flush()

    def on_end(self, _: Any) -> None:
        """Say nothing."""


@contextmanager
def announce_compiling(*, enabled: bool) -> Iterator[None]:
    """Say it on standard error when the block has to compile."""
    with event.install_listener("numba:compile", _Compiling()) if enabled else nullcontext():
        yield


def tell(text: str) -> None:
    """Say on standard error what the user should know of a run, whether progress is shown or not."""
    sys.stderr.write(f"bayesvec: {text}\n")


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    if not math.isfinite(seconds):
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
