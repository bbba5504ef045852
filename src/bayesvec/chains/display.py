"""The progress of `fit`: a table on a terminal, a line per chain now and then elsewhere."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bayesvec._printable import printable
from bayesvec._progress import LINE_SECONDS, clock, tell
from bayesvec._types import Array, Float32
from bayesvec.estimates.convergence import FEWEST_DRAWS, ess_bulk, rhat
from bayesvec.storage.reader import open_draws
from bayesvec.storage.settings import Settings

DIAGNOSE_SECONDS = 2.0
DIAGNOSE_SHARE = 50.0  # judging the draws so far takes at most a fiftieth of the time
WAITING = "waiting"  # for other chains, or for the decision whether the draws are enough


class ChainProgress:
    """The progress of a chain; written by its own thread, read by the display.

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
        self.ahead = 0  # steps of a chain that is run as a whole before its draws are stored
        self.log_posterior = math.nan
        self.settings = settings
        self._cosines: Float32 = np.empty((0, 0), np.float32)  # (draw, pair), with room to grow
        self.draws = 0
        self._first: int | None = None  # the sweep at which the clock starts
        self._began = self._latest = time.monotonic()

    def take_up(self, sweep: int, path: Path) -> None:
        """Start at ``sweep``, with the cosines that are in the run folder already."""
        self.sweep = sweep
        if sweep == 0:  # nothing is stored
            return
        draws = open_draws(path)
        if not draws.monitored:  # there is one word only
            self.draws = draws.chain_draws(self.chain)
            return
        self._cosines = draws.chain_stats("cosine", self.chain).astype(np.float32)
        self.draws = len(self._cosines)

    def report(self, done: int) -> None:
        """Take note of steps that a sampler has done ahead of the driver, warm-up included."""
        self.ahead = done
        self._note(done)

    def at(self, sweep: int, log_posterior: float) -> None:
        """Take note of a sweep."""
        self.log_posterior = log_posterior
        self.sweep = sweep
        if not self.ahead:
            self._note(sweep)

    def _note(self, step: int) -> None:
        self._latest = time.monotonic()
        if self._first is None:  # the first step here may have waited for the compiler
            self._first, self._began = step, self._latest

    def back_to(self, sweep: int, draws: int) -> None:
        """Forget what came after a sweep and its draws."""
        self.sweep, self.draws = sweep, draws

    def add(self, cosines: Array) -> None:
        """Add the cosines of a stored draw."""
        if self.draws == len(self._cosines):
            longer = np.empty((max(64, 2 * self.draws), len(cosines)), np.float32)
            longer[: self.draws] = self._cosines.reshape(self.draws, len(cosines))
            self._cosines = longer
        self._cosines[self.draws] = cosines
        self.draws += 1  # last: the display reads no more than this

    @property
    def cosines(self) -> Float32:
        """Cosines of the stored draws, (draw, pair)."""
        draws = self.draws  # first: the array is never shorter
        return self._cosines[:draws]

    @property
    def rate(self) -> float:
        """Steps per second since the first that this process has done; 0 until there are two."""
        steps = self.ahead or self.sweep
        first = steps if self._first is None else self._first
        return (steps - first) / max(self._latest - self._began, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Seconds to the end at this rate; infinite until it is known."""
        if self.fraction >= 1.0:
            return 0.0
        left = self._steps - (self.ahead or self.sweep)
        return 0.0 if not left else left / self.rate if self.rate else math.inf

    @property
    def phase(self) -> str:
        """What the chain is doing, and how much of it is done."""
        settings, steps = self.settings, self.ahead or self.sweep
        warmup = settings.warmup if self.ahead else settings.warmup_sweeps
        if steps < warmup:
            return f"warm-up {steps}/{warmup}{' or more' if settings.rules.warming else ''}"
        draws = max(self.draws, (self.ahead - warmup) // settings.thin if self.ahead else 0)
        return f"draw {draws}/{settings.draws}{' or more' if self._may_go_on else ''}"

    @property
    def _may_go_on(self) -> bool:
        """Whether the run decides at the end of what is planned now whether that is enough."""
        rules = self.settings.rules
        return (rules.warming or rules.draws) and not rules.ended

    @property
    def waiting(self) -> bool:
        """Whether it has done what is planned now, and more may follow."""
        return self._may_go_on and not self.seconds_left

    @property
    def _steps(self) -> int:
        """All steps of the chain."""
        settings = self.settings
        return settings.warmup + settings.draws * settings.thin if self.ahead else settings.sweeps

    @property
    def fraction(self) -> float:
        """How much of the chain is done."""
        if self.sweep >= self.settings.sweeps:
            return 1.0
        return min(1.0, (self.ahead or self.sweep) / self._steps)

    @property
    def figures(self) -> tuple[str, str, str]:
        """Sweeps per second, time left and log posterior, in words."""
        value = "-" if math.isnan(self.log_posterior) else f"{self.log_posterior:.1f}"
        seconds = self.seconds_left
        least = "at least " if self._may_go_on and math.isfinite(seconds) else ""
        return f"{self.rate:.3g}", WAITING if self.waiting else f"{least}{clock(seconds)}", value


def watched(chains: Sequence[ChainProgress]) -> str:
    """Report how the monitored cosines have mixed so far."""
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
    """Reports how the cosines have mixed; it is updated when that is worth its time.

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
        """Return the report; ``final`` updates it in any case."""
        began = time.monotonic()
        if final or began >= self._next:
            self._text = watched(self._chains)
            ended = time.monotonic()
            self._next = ended + max(DIAGNOSE_SECONDS, DIAGNOSE_SHARE * (ended - began))
        return self._text


class Display(Protocol):
    """Something that shows progress when it is updated."""

    def update(self, final: bool = False) -> None:
        """Show what is new."""

    def note(self, text: str) -> None:
        """Show a line that stays."""


class Silent:
    """Shows nothing."""

    def update(self, final: bool = False) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
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
        self._tenth = self._tenths
        self._when = time.monotonic()

    @property
    def _tenths(self) -> int:
        return int(10 * sum(chain.fraction for chain in self._chains) / len(self._chains))

    def update(self, final: bool = False) -> None:
        """Write what is due."""
        tenth, passed = self._tenths, time.monotonic() - self._when
        self._tenth = min(self._tenth, tenth)  # a run that chooses its length has become longer
        further = tenth > self._tenth and passed > 1.0
        if not (further or final or passed > LINE_SECONDS):
            return
        self._tenth, self._when = tenth, time.monotonic()
        for chain in self._chains:
            rate, left, value = chain.figures
            ending = WAITING if chain.waiting else f"{left} left"
            text = f"{chain.phase}, {rate} sweeps/s, {ending}, log posterior {value}"
            sys.stderr.write(f"chain {chain.chain}: {text}\n")
        if text := self._judge.text(final):
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def note(self, text: str) -> None:
        """Write a line of its own."""
        tell(text)


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

    def note(self, text: str) -> None:
        """Print a line above the table."""
        self.live.console.print(f"bayesvec: {printable(text)}", markup=False, highlight=False)

    def _table(self, caption: str) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, caption=caption, caption_justify="left")
        for title in ("chain", "", "", "sweeps/s", "left", "log posterior"):
            table.add_column(title, justify="left" if title in ("chain", "") else "right", no_wrap=True)
        for chain in self._chains:
            bar = ProgressBar(total=1.0, completed=chain.fraction, width=24)
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
