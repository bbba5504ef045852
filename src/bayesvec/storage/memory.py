"""The backends of the driver: what they have in common, and the one that keeps everything in memory."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesvec._types import Array, Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.storage.layout import SIDES, STAT_NAMES, Mark
from bayesvec.storage.outcome import Outcome
from bayesvec.storage.reader import Draws
from bayesvec.storage.settings import Settings
from bayesvec.storage.writer import WriteBlocks

BLOCK_DRAWS = 100  # that are handed out at a time


class ChainStore(Protocol):
    """Where the draws of one chain go (see `bayesvec.storage.writer.ChainRecorder`)."""

    chain: int
    mark: Mark

    def restore(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the committed state, nothing if there is none."""

    def append(self, values: Mapping[str, npt.ArrayLike], write_blocks: WriteBlocks | None = None) -> None:
        """Add one draw and its statistics; ``write_blocks`` has others write what is in blocks of rows."""

    @property
    def between_shards(self) -> bool:
        """Whether a commit now would be cheap."""

    def commit(self, sweep: int, state: Mapping[str, Any]) -> None:
        """Make everything so far permanent."""


class Store(Protocol):
    """A backend: where a run keeps its draws and what its chains share."""

    @property
    def settings(self) -> Settings:
        """The settings of the run."""

    @property
    def monitored(self) -> Sequence[tuple[int, int]]:
        """Pairs of words whose cosines are stored with each draw."""

    def sweep(self, chain: int) -> int:
        """Return the last committed sweep of a chain."""

    def recorder(self, chain: int) -> ChainStore:
        """Return where the draws of a chain go."""

    def read_state(self, name: str) -> dict[str, Array] | None:
        """Return arrays that all chains share, None if there are none of that name."""

    def write_state(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Keep arrays that all chains share."""

    def remove_states(self, prefix: str) -> None:
        """Remove the arrays whose names start with ``prefix``."""

    def read_outcome(self) -> Outcome:
        """Return the outcome."""

    def write_outcome(self, outcome: Outcome) -> None:
        """Keep the outcome."""


class Memory:
    """A run in memory: for many small fits, and for draws that nobody keeps.

    Parameters
    ----------
    settings : Settings
        The settings of the run.
    counts : PairCounts
        Its data.
    monitored : sequence of (int, int), optional
        Pairs of words whose cosines are stored with each draw.

    Attributes
    ----------
    arrays : dict
        ``rho``, ``alpha`` and statistics by name, (chain, draw, ...), as long as they will ever be.
    """

    def __init__(
        self, settings: Settings, counts: PairCounts, monitored: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.settings = settings
        self.monitored = monitored
        self.arrays: dict[str, Array] = {}
        self._lock = threading.Lock()
        self._counts = counts
        self._chains = [MemoryChain(self, chain) for chain in range(settings.chains)]
        self._states: dict[str, dict[str, Array]] = {}
        self._outcome = Outcome()

    def array(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return the array of a side or a statistic, made when it is first asked for."""
        with self._lock:
            if name not in self.arrays:
                sizes = (self.settings.chains, self.settings.draws, *shape)
                self.arrays[name] = np.empty(sizes, np.float32 if name in SIDES else np.float64)
        return self.arrays[name]

    def sweep(self, chain: int) -> int:
        """Return the last committed sweep of a chain."""
        return self._chains[chain].mark.sweep

    def recorder(self, chain: int) -> "MemoryChain":
        """Return where the draws of a chain go."""
        return self._chains[chain]

    def read_state(self, name: str) -> dict[str, Array] | None:
        """Return arrays that all chains share."""
        return self._states.get(name)

    def write_state(self, name: str, arrays: Mapping[str, Array]) -> None:
        """Keep arrays that all chains share."""
        self._states[name] = dict(arrays)

    def remove_states(self, prefix: str) -> None:
        """Remove the arrays whose names start with ``prefix``."""
        self._states = {name: kept for name, kept in self._states.items() if not name.startswith(prefix)}

    def read_outcome(self) -> Outcome:
        """Return the outcome."""
        return self._outcome

    def write_outcome(self, outcome: Outcome) -> None:
        """Keep the outcome."""
        self._outcome = outcome

    def draws(self) -> "MemoryDraws":
        """Return the draws of all chains so far."""
        there = min(chain.mark.draws for chain in self._chains)
        return MemoryDraws(
            {name: values[:, :there] for name, values in self.arrays.items()},
            words=self._counts.words,
            contexts=self._counts.contexts,
            groups=self._counts.groups,
            settings=self.settings.as_dict(),
            monitored=self.monitored,
            outcome=self._outcome,
        )


class MemoryChain:
    """The draws of one chain of a run in memory.

    Parameters
    ----------
    memory : Memory
        The run.
    chain : int
        The chain.
    """

    between_shards = True

    def __init__(self, memory: Memory, chain: int) -> None:
        self.chain = chain
        self.mark = Mark()
        self._memory = memory

    def restore(self) -> dict[str, Array]:
        """Return nothing: a chain in memory is never interrupted."""
        return {}

    def append(self, values: Mapping[str, npt.ArrayLike], write_blocks: WriteBlocks | None = None) -> None:
        """Add one draw and its statistics."""
        for name, value in values.items():
            self._memory.array(name, np.shape(value))[self.chain, self.mark.draws] = value
        self.mark = self.mark._replace(draws=self.mark.draws + 1)

    def commit(self, sweep: int, state: Mapping[str, Array]) -> None:
        """Take note of the sweep."""
        self.mark = self.mark._replace(sweep=sweep, generation=self.mark.generation + 1)


@dataclass(frozen=True, eq=False)
class _Stored:
    """An array with the face of `bayesvec.storage.zarr3.Array`."""

    values: Array  # (chain, draw, ...)
    shard_draws: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a draw."""
        return self.values.shape[2:]

    @property
    def rows(self) -> int:
        """Rows of a draw."""
        return self.shape[0] if self.shape else 1

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return int(np.prod(self.shape[1:], dtype=np.int64))

    def read(self, chain: int, shard: int, rows: Int64 | None = None, out: Array | None = None) -> Array:
        """Return some draws, (draw, row, width)."""
        first = shard * self.shard_draws
        block = self.values[chain, first : first + self.shard_draws]
        block = block.reshape(len(block), self.rows, self.width)
        found = block if rows is None else block[:, rows]
        if out is None:
            return found
        out[:] = found[: len(out)]
        return out


class MemoryDraws(Draws):
    """Draws in memory, with the face of draws in a run folder.

    Parameters
    ----------
    arrays : Mapping
        ``rho`` (chain, draw, word, K), ``alpha``, and statistics (chain, draw) by name.
    words, contexts, groups : sequence of str, optional
        Names of the rows.
    settings : Mapping, optional
        Settings of the run, such as ``method``.
    monitored : sequence of (int, int), optional
        The pairs of words of ``cosine``.
    outcome : Outcome, optional
        What the method reports of the run.
    path : str or Path
        What errors and commands call the run.
    block_draws : int
        Draws that `blocks` hands out at a time.
    """

    def __init__(
        self,
        arrays: Mapping[str, npt.ArrayLike],
        *,
        words: Sequence[str] | None = None,
        contexts: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        monitored: Sequence[tuple[int, int]] = (),
        outcome: Outcome | None = None,
        path: str | Path = "memory",
        block_draws: int = BLOCK_DRAWS,
    ) -> None:
        kept = {STAT_NAMES.get(name, name): np.asarray(values) for name, values in arrays.items()}
        kept |= {name: kept[name].astype(np.float32, copy=False) for name in SIDES if name in kept}
        self.path = Path(path)
        self._outcome = outcome
        self.num_chains, self.num_draws, num_words, dim = kept["rho"].shape
        num_contexts = kept["alpha"].shape[2] if "alpha" in kept else num_words
        usual = {"dim": dim, "chains": self.num_chains, "draws": self.num_draws, "method": "gibbs"}
        usual |= {"identify": "procrustes", "store": "both" if "alpha" in kept else "rho"}
        self.manifest = {
            "settings": {**usual, **(settings or {})},
            "arrays": {name: {} for name in kept},
            "monitored": list(monitored),
        }
        self._marks = [Mark(self.num_draws, self.num_draws, 1)] * self.num_chains
        self._arrays = {name: _Stored(values, block_draws) for name, values in kept.items()}  # type: ignore[misc]
        self._given = {
            "words": list(words or (f"w{i}" for i in range(num_words))),
            "contexts": list(contexts or (f"c{i}" for i in range(num_contexts))),
            "groups": None if groups is None else list(groups),
        }

    @property
    def version(self) -> tuple[Any, ...]:
        """Another one each time: arrays in memory may have been changed."""
        return (object(),)

    @property
    def outcome(self) -> Outcome:
        """What the method reports of the run."""
        return super().outcome if self._outcome is None else self._outcome

    @cached_property
    def _names(self) -> dict[str, Any]:
        return self._given

    def _moments(self, chain: int) -> tuple[Mark, dict[str, Float64]]:
        found: dict[str, Float64] = {}
        for name in SIDES:
            if name not in self._arrays:
                continue
            values = self._array(name).values[chain].astype(np.float64)  # type: ignore[attr-defined]
            found |= {
                f"mean_{name}": values.mean(axis=0),
                f"squares_{name}": values.var(axis=0) * len(values),
            }
        return self._marks[chain], found
