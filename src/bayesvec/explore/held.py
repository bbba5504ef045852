"""Draws of the word vectors kept in memory, where they fit, so that a question reads no files."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32
from bayesvec.storage.reader import Draws

_BLOCK = 50  # draws
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
        self.num_bytes = 4 * self.num_chains * self.num_draws * len(self.words) * self.dim
        self._fits = self.finished and "rho" in self.array_names and self.num_bytes <= room
        # rho, (chain, draw, word, K), and the lengths of its vectors
        self._held: tuple[Float32, Float32] | None = None
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
        return part.copy() if rows is None else part[:, :, np.asarray(rows, dtype=np.int64)]

    def blocks(
        self, name: str, rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None
    ) -> Iterator[tuple[int, int, Float32]]:
        """Iterate over all draws, a few at a time."""
        if name != "rho" or rows is not None or not self._fits:
            yield from super().blocks(name, rows)
            return
        for chain, draws in enumerate(self._hold()[0]):
            for first in range(0, self.num_draws, _BLOCK):
                yield chain, first, draws[first : first + _BLOCK]

    @property
    def row_norms(self) -> Float32 | None:
        """The lengths of the word vectors, (chain, draw, word), where they are held."""
        return self._hold()[1] if self._fits else None

    def _hold(self) -> tuple[Float32, Float32]:
        with self._lock:
            if self._held is None:
                shape = self.num_chains, self.num_draws, len(self.words)
                held, norms = np.empty((*shape, self.dim), np.float32), np.empty(shape, np.float32)
                for chain, first, block in super().blocks("rho"):
                    part = chain, slice(first, first + len(block))
                    held[part] = block
                    norms[part] = np.sqrt(np.einsum("dvk,dvk->dv", block, block))
                held.flags.writeable = norms.flags.writeable = False
                self._held = held, norms
            return self._held
