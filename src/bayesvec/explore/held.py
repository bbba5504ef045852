"""Draws of the word vectors and their moments kept in memory, where they fit, so that a question reads no files."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import in_threads
from bayesvec._types import Float32, Float64
from bayesvec.storage.reader import Draws

_BLOCK = 20  # draws
MOST_BYTES = 4 << 30  # for all runs together, and at most half of the machine's memory


def room_in_memory() -> int:
    """Return how many bytes the explorer may hold."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known on this system
        machine = MOST_BYTES
    return min(MOST_BYTES, machine // 2)


class HeldDraws(Draws):
    """The draws of a run folder; those of rho stay in memory after they were first read as a whole.

    Parameters
    ----------
    path : Path
        The run folder.
    room : int
        Bytes that may be held; larger arrays, and those of a run that still grows, are read from the folder.
    """

    def __init__(self, path: Path, room: int) -> None:
        super().__init__(path)
        vectors = self.num_chains * self.num_draws * len(self.words)
        rows = len(self.words) + len(self.contexts)  # each with a mean and a variance
        self.num_bytes = 4 * vectors * (self.dim + 1) + 16 * rows * self.dim
        self._fits = self.finished and "rho" in self.array_names and self.num_bytes <= room
        # rho, (chain, draw, word, K), and the lengths of its vectors
        self._held: tuple[Float32, Float32] | None = None
        self._kept_moments: dict[str, tuple[int, Float64, Float64]] = {}
        self._lock = Lock()

    def read(
        self,
        name: str,
        rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
        draws: slice | None = None,
    ) -> Float32:
        """Read draws of some rows, from memory if they are there."""
        if name != "rho" or self._held is None:
            return super().read(name, rows, draws)
        part = self._held[0][:, slice(None) if draws is None else draws]
        return part.copy() if rows is None else np.take(part, np.asarray(rows, dtype=np.int64), axis=2)

    def block_starts(self, name: str) -> list[tuple[int, int]]:
        """Return the chain and the number of the first draw of every block."""
        if name != "rho" or not self._fits:
            return super().block_starts(name)
        return self._starts(_BLOCK)

    def block(
        self,
        name: str,
        chain: int,
        first: int,
        rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    ) -> Float32:
        """Return the block of draws that begins with ``first``, from memory if it fits there."""
        if name != "rho" or not self._fits:
            return super().block(name, chain, first, rows)
        found = self._hold()[0][chain, first : first + _BLOCK]
        return found if rows is None else np.take(found, np.asarray(rows, dtype=np.int64), axis=1)

    @property
    def row_norms(self) -> Float32 | None:
        """The lengths of the word vectors, (chain, draw, word), where they are held."""
        return self._hold()[1] if self._fits else None

    def _pooled(self, name: str) -> tuple[int, Float64, Float64]:
        """Return number, mean and squared deviations, (row, K); they are kept where the draws are."""
        if not self._fits:
            return super()._pooled(name)
        if name not in self._kept_moments:
            found = super()._pooled(name)
            found[1].flags.writeable = found[2].flags.writeable = False
            self._kept_moments[name] = found
        return self._kept_moments[name]

    def _hold(self) -> tuple[Float32, Float32]:
        with self._lock:
            if self._held is None:
                shape = self.num_chains, self.num_draws, len(self.words)
                held, norms = np.empty((*shape, self.dim), np.float32), np.empty(shape, np.float32)
                array = self._array("rho")

                def read(chain: int, first: int) -> None:
                    part = chain, slice(first, first + array.shard_draws)
                    array.read(chain, first // array.shard_draws, None, held[part])
                    norms[part] = np.sqrt(np.einsum("dvk,dvk->dv", held[part], held[part]))

                in_threads(read, super().block_starts("rho"))
                held.flags.writeable = norms.flags.writeable = False
                self._held = held, norms
            return self._held
