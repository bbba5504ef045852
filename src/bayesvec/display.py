"""What `fit` shows while it runs: a line a chain on a terminal, a line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesvec.convergence import ess_bulk, rhat
from bayesvec.draws import open_draws
from bayesvec.settings import Settings

RHAT_LIMIT = 1.01
ESS_LIMIT = 400.0
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
        self._began = time.monotonic()

    def take_up(self, sweep: int, path: Path) -> None:
        """Begin at ``sweep``, with the cosines that are in the run folder already."""
        self.sweep = self._first = sweep
        self._began = time.monotonic()
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
        return (self.sweep - self._first) / max(time.monotonic() - self._began, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Seconds to the end at this rate; infinite before the first sweep."""
        left = self._settings.sweeps - self.sweep
        return 0.0 if not left else left / self.rate if self.rate else math.inf

    @property
    def phase(self) -> str:
        """What the chain is doing, and how much of it is done."""
        settings = self._settings
        if self.sweep < settings.warmup:
            return f"warm-up {self.sweep}/{settings.warmup}"
        return f"draw {self.draws}/{settings.draws}"


@dataclass(frozen=True)
class Verdict:
    """Whether a run is long enough, judged by cosines of random pairs of words.

    Attributes
    ----------
    rhat, ess : float
        The worst R-hat and the worst bulk ESS; NaN if they cannot be told yet.
    pairs : int
        Number of cosines.
    draws : int
        Draws of each chain.
    """

    rhat: float
    ess: float
    pairs: int
    draws: int

    @property
    def long_enough(self) -> bool:
        """Whether R-hat is below 1.01 and ESS above 400 for all of them."""
        return self.rhat < RHAT_LIMIT and self.ess > ESS_LIMIT

    @property
    def draws_needed(self) -> int:
        """Draws of each chain that should be enough, in hundreds."""
        factor = 1.2 * ESS_LIMIT / self.ess if self.ess > 0.0 else 4.0
        factor = min(max(factor, 1.0 if self.rhat < RHAT_LIMIT else 2.0), 10.0)
        return max(math.ceil(self.draws * factor / 100.0) * 100, self.draws + 100)

    def __str__(self) -> str:
        if math.isnan(self.rhat):
            return "R-hat and ESS cannot be told from so few draws"
        return f"worst R-hat {self.rhat:.3f}, worst ESS {self.ess:.0f} over the cosines of {self.pairs} pairs"


def judge(cosines: npt.NDArray[Any]) -> Verdict:
    """Judge by the cosines (chain, draw, pair)."""
    draws, pairs = cosines.shape[1:]
    if draws < 4 or not pairs:
        return Verdict(math.nan, math.nan, pairs, draws)
    worst = float(np.nanmax(rhat(cosines))), float(np.nanmin(ess_bulk(cosines)))
    return Verdict(*worst, pairs, draws)


class Display(Protocol):
    """Something that shows progress when it is told to look."""

    def update(self, final: bool = False) -> None:
        """Look, and show what is new."""


class Silent:
    """Shows nothing."""

    def update(self, final: bool = False) -> None:
        """Do nothing."""


class Lines:
    """Writes a line for each chain every ten seconds or tenth of the way.

    Parameters
    ----------
    chains : sequence of ChainProgress
        What to show.
    settings : Settings
        The run's settings.
    """

    def __init__(self, chains: Sequence[ChainProgress], settings: Settings) -> None:
        self._chains = chains
        self._settings = settings
        self._shown = {chain.chain: (-1, time.monotonic()) for chain in chains}

    def update(self, final: bool = False) -> None:
        """Write what is due."""
        for chain in self._chains:
            tenth, when = self._shown[chain.chain]
            now = 10 * chain.sweep // self._settings.sweeps
            passed = time.monotonic() - when
            reached = chain.sweep and now > tenth and (passed > 1.0 or final)
            if reached or (passed > LINE_SECONDS and not chain.done):
                self._shown[chain.chain] = (now, time.monotonic())
                sys.stderr.write(
                    f"chain {chain.chain}: {chain.phase}, {chain.rate:.3g} sweeps/s, "
                    f"{clock(chain.seconds_left)} left, log posterior {chain.log_posterior:.1f}\n"
                )
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
        self._verdict: Verdict | None = None
        self._judged = -math.inf
        self.live = RichLive(console=Console(stderr=True), auto_refresh=False)

    def update(self, final: bool = False) -> None:
        """Draw the table again."""
        if final or time.monotonic() - self._judged > DIAGNOSE_SECONDS:
            common = min(chain.draws for chain in self._chains)
            self._verdict = judge(np.stack([chain.cosines[:common] for chain in self._chains]))
            self._judged = time.monotonic()
        self.live.update(self._table(), refresh=True)

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, caption=None if self._verdict is None else str(self._verdict))
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
