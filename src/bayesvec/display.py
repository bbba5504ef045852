"""What `fit` shows while it runs: a line a chain on a terminal, a line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesvec.convergence import FEWEST_DRAWS, ess_bulk, rhat
from bayesvec.draws import open_draws
from bayesvec.settings import Settings

DIAGNOSE_SECONDS = 2.0
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
        self._cosines: npt.NDArray[np.float32] = np.empty((settings.draws, 0), np.float32)  # (draw, pair)
        self.draws = 0
        self._first = 0
        self._began = self._latest = time.monotonic()

    def take_up(self, sweep: int, path: Path) -> None:
        """Begin at ``sweep``, with the cosines that are in the run folder already."""
        self.sweep = self._first = sweep
        self._began = self._latest = time.monotonic()
        draws = open_draws(path)
        if not draws.monitored:  # there is one word only
            self.draws = draws.chain_draws(self.chain)
            return
        self._cosines = np.empty((self._settings.draws, len(draws.monitored)), np.float32)
        before = draws.chain_stats("cosine", self.chain)[: self._settings.draws]
        self._cosines[: len(before)] = before
        self.draws = len(before)

    def at(self, sweep: int, log_posterior: float) -> None:
        """Say that a sweep is done."""
        self.log_posterior = log_posterior
        self.sweep = sweep
        self._latest = time.monotonic()

    def add(self, cosines: npt.NDArray[Any]) -> None:
        """Add the cosines of a stored draw."""
        self._cosines[self.draws] = cosines
        self.draws += 1

    @property
    def cosines(self) -> npt.NDArray[np.float32]:
        """Cosines of the stored draws, (draw, pair)."""
        return self._cosines[: self.draws]

    @property
    def rate(self) -> float:
        """Sweeps per second since this process took the chain up."""
        return (self.sweep - self._first) / max(self._latest - self._began, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Seconds to the end at this rate; infinite before the first sweep."""
        left = self._settings.sweeps - self.sweep
        return 0.0 if not left else left / self.rate if self.rate else math.inf

    @property
    def phase(self) -> str:
        """What the chain is doing, and how much of it is done."""
        settings = self._settings
        if self.sweep < settings.warmup_sweeps:
            return f"warm-up {self.sweep}/{settings.warmup_sweeps}"
        return f"draw {self.draws}/{settings.draws}"


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
            sys.stderr.write(
                f"chain {chain.chain}: {chain.phase}, {chain.rate:.3g} sweeps/s, "
                f"{clock(chain.seconds_left)} left, log posterior {chain.log_posterior:.1f}\n"
            )
        if text := watched(self._chains):
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
        self._watched = ""
        self._judged = -math.inf
        self.live = RichLive(console=Console(stderr=True), auto_refresh=False)

    def update(self, final: bool = False) -> None:
        """Draw the table again."""
        if final or time.monotonic() - self._judged > DIAGNOSE_SECONDS:
            self._watched = watched(self._chains)
            self._judged = time.monotonic()
        self.live.update(self._table(), refresh=True)

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, caption=self._watched, caption_justify="left")
        for title in ("chain", "", "", "sweeps/s", "left", "log posterior"):
            table.add_column(title, justify="left" if title in ("chain", "") else "right", no_wrap=True)
        for chain in self._chains:
            bar = ProgressBar(total=self._settings.sweeps, completed=chain.sweep, width=24)
            table.add_row(
                str(chain.chain),
                bar,
                chain.phase,
                f"{chain.rate:.3g}",
                clock(chain.seconds_left),
                f"{chain.log_posterior:.1f}",
            )
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


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    if not math.isfinite(seconds):
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
