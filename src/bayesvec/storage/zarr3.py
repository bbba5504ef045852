"""Zarr 3 arrays written shard by shard (https://zarr-specs.readthedocs.io, v3).

The zarr library does not flush to the disk and is slow to start and to read many small chunks. Our arrays have one
shape only, (chain, draw, row, dim) without compression, so a shard is its chunks one after another, each with its
CRC-32C, and the index of the sharding codec. Any Zarr 3 reader opens it.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._checksums import checksum
from bayesvec._types import Int64
from bayesvec.errors import RunError
from bayesvec.storage.zarr3_codecs import checked, shard_index, sharding
from bayesvec.storage.zarr3_metadata import array_metadata

SHARD_BYTES = 12 << 20
CHUNK_BYTES = 64 << 10
_TOGETHER_BYTES = 1 << 20  # of chunks that are read at once
_MOST_BUFFERS = 64  # that one call fills
MOST_DRAWS = 100  # in a shard


@dataclass(frozen=True)
class Array:
    """An array of draws: (chain, draw) and the shape of one draw, cut into shards of a few draws.

    Attributes
    ----------
    folder : Path
        Where the array lives.
    dims : tuple of str
        Names of the dimensions of one draw.
    shape : tuple of int
        Shape of one draw; its first dimension is called rows here.
    dtype : str
        ``float32`` or ``float64``.
    shard_draws : int
        Draws in a shard, which is one file and belongs to one chain.
    chunk_rows : int
        Rows in a chunk, the least that is read and checked at once; it spans the shard's draws.
    block : int
        Its number, if it is one block of rows of an array (`bayesvec.storage.blocks`).
    block_chunks : int
        Chunks that a whole block has; 0 if there are no blocks.
    """

    folder: Path
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    shard_draws: int
    chunk_rows: int
    block: int = 0
    block_chunks: int = 0

    @property
    def blocks(self) -> tuple["Array", ...]:
        """The parts that have files of their own: this one."""
        return (self,)

    @property
    def first_row(self) -> int:
        """The number of the first row, in all blocks."""
        return self.block * self.block_chunks * self.chunk_rows

    @property
    def rows(self) -> int:
        """Rows of one draw (1 if a draw is one number)."""
        return self.shape[0] if self.shape else 1

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return math.prod(self.shape[1:])

    @property
    def num_chunks(self) -> int:
        """Chunks in a shard."""
        return -(-self.rows // self.chunk_rows)

    @property
    def stored(self) -> np.dtype[Any]:
        """The type of the numbers in the file."""
        return np.dtype(self.dtype).newbyteorder("<")

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk without its checksum."""
        return self.shard_draws * self.chunk_rows * self.width * self.stored.itemsize

    @property
    def shard_bytes(self) -> int:
        """Bytes of a shard: its chunks, its index of 16 bytes per chunk, and their checksums."""
        return self.num_chunks * (self.chunk_bytes + 4) + 16 * max(self.num_chunks, self.block_chunks) + 4

    @cached_property
    def index(self) -> bytes:
        """The end of every shard: offset and length of each chunk, and a checksum of these."""
        return shard_index(self.num_chunks, self.chunk_bytes + 4, max(self.num_chunks, self.block_chunks))

    def shard(self, chain: int, number: int) -> Path:
        """Return the file of one shard (all in one folder, so that one flush saves their names)."""
        return self.folder / ".".join(
            ["c", str(chain), str(number), *map(str, (self.block, 0)[: len(self.shape)])]
        )

    def parts(self, draws: npt.NDArray[Any]) -> Iterator[bytes]:
        """Yield the bytes of a shard with these ``draws``, (at most shard_draws, rows, width)."""
        for first in range(0, self.rows, self.chunk_rows):
            rows = draws[:, first : first + self.chunk_rows]
            chunk = np.full((self.shard_draws, self.chunk_rows, self.width), np.nan, self.stored)
            chunk[: len(draws), : rows.shape[1]] = rows
            yield from checked(chunk.tobytes())
        yield self.index

    def read(
        self,
        chain: int,
        number: int,
        rows: Int64 | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:  # (shard_draws, rows, width)
        """Read some rows of one shard, and only their chunks; every byte used is checked.

        Parameters
        ----------
        chain, number : int
            The shard.
        rows : ndarray of int64, optional
            Which rows, in any order; all of them if not given.
        out : ndarray, (draw, rows, width), optional
            Where to put them; if it has fewer draws than the shard, the first ones.
        """
        path = self.shard(chain, number)
        count = self.rows if rows is None else len(rows)
        result = np.empty((self.shard_draws, count, self.width), self.stored) if out is None else out
        try:
            with open(path, "rb", buffering=0) as file:
                where = self.num_chunks * (self.chunk_bytes + 4)
                if os.pread(file.fileno(), len(self.index) + 1, where) != self.index:
                    raise RunError(f"{path} is damaged: its index of chunks is wrong", path=str(path))
                if rows is None:
                    self._read_all(file.fileno(), path, result)
                else:
                    self._read_some(file.fileno(), path, rows, result)
        except FileNotFoundError:
            message = f"{path} is missing: the run folder is damaged or only partly copied"
            raise RunError(message, path=str(path)) from None
        return result

    def _read_all(self, descriptor: int, path: Path, out: npt.NDArray[Any]) -> None:
        done = 0
        if self.shard_draws == 1 and out.dtype == self.stored and out.flags.c_contiguous:
            done = self._read_straight(descriptor, path, out)
        for first, last in _runs(np.arange(done, self.num_chunks), self._together):
            for chunk, content in enumerate(self._chunks(descriptor, path, first, last), start=first):
                rows = slice(chunk * self.chunk_rows, min((chunk + 1) * self.chunk_rows, self.rows))
                out[:, rows] = content[: len(out), : rows.stop - rows.start]

    def _read_straight(self, descriptor: int, path: Path, out: npt.NDArray[Any]) -> int:
        """Read the chunks of a shard of one draw into place, and return how many: all but one that is not full.

        They are the rows of the draw in their order, with checksums between them, which go elsewhere.
        """
        size, number = self.chunk_bytes, self.rows // self.chunk_rows
        rows = out.reshape(-1).view(np.uint8)[: number * size].reshape(number, size)
        sums = np.empty((number, 4), np.uint8)
        for first in range(0, number, _MOST_BUFFERS // 2):
            places = range(first, min(first + _MOST_BUFFERS // 2, number))
            buffers = [buffer for chunk in places for buffer in (rows[chunk], sums[chunk])]
            read = os.preadv(descriptor, buffers, first * (size + 4))
            if read != len(places) * (size + 4):
                raise self._damaged(first + read // (size + 4), path)
            for chunk in places:
                if checksum(rows[chunk]) != int.from_bytes(sums[chunk].tobytes(), "little"):
                    raise self._damaged(chunk, path)
        return number

    def _read_some(self, descriptor: int, path: Path, rows: Int64, out: npt.NDArray[Any]) -> None:
        order = np.argsort(rows, kind="stable")
        chunk_of, within = np.divmod(rows[order], self.chunk_rows)
        for first, last in _runs(np.unique(chunk_of), self._together):
            here = slice(*np.searchsorted(chunk_of, (first, last)))
            chunks = self._chunks(descriptor, path, first, last)
            content = chunks[chunk_of[here] - first, : len(out), within[here]]  # (row, draw, width)
            out[:, order[here]] = content.swapaxes(0, 1)

    @property
    def _together(self) -> int:
        """How many chunks are read at a time: as many as stay in the processor's cache."""
        return max(1, _TOGETHER_BYTES // self.chunk_bytes)

    def _chunks(
        self, descriptor: int, path: Path, first: int, last: int
    ) -> npt.NDArray[Any]:  # (last - first, shard_draws, chunk_rows, width)
        """Read chunks that follow each other, and check them."""
        size, number = self.chunk_bytes, last - first
        data = os.pread(descriptor, number * (size + 4), first * (size + 4))
        if len(data) != number * (size + 4):
            raise self._damaged(first + len(data) // (size + 4), path)
        parts = np.frombuffer(data, np.uint8).reshape(number, size + 4)
        for chunk, part in enumerate(parts, start=first):
            if checksum(part[:size]) != int.from_bytes(part[size:].tobytes(), "little"):
                raise self._damaged(chunk, path)
        shape = (number, self.shard_draws, self.chunk_rows, self.width)
        return parts[:, :size].view(self.stored).reshape(shape)

    def _damaged(self, chunk: int, path: Path) -> RunError:
        first = chunk * self.chunk_rows
        last = min(first + self.chunk_rows, self.rows) - 1
        rows = f"rows {self.first_row + first} to {self.first_row + last}"
        message = f"{path} is damaged: the checksum of chunk {chunk} ({rows}) is wrong"
        return RunError(message, path=str(path))

    def metadata(self, chains: int, draws: int) -> bytes:
        """Return the array's zarr.json for this many chains and draws."""
        tail = (self.chunk_rows, *self.shape[1:]) if self.shape else ()
        padded = (self.chunk_rows * self.blocks[0].num_chunks, *self.shape[1:]) if self.shape else ()
        return array_metadata(
            shape=(chains, draws, *self.shape),
            dims=("chain", "draw", *self.dims),
            data_type=self.dtype,
            chunk=(1, self.shard_draws, *padded),
            fill="NaN",
            codecs=[sharding([1, self.shard_draws, *tail])],
        )


def _runs(chunks: Int64, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first and one past the last of chunks that follow each other, at most ``most`` at a time."""
    for run in np.split(chunks, np.flatnonzero(np.diff(chunks) != 1) + 1):
        for start in range(0, len(run), most):
            part = run[start : start + most]
            yield int(part[0]), int(part[-1]) + 1


def planned(
    folder: Path, dims: Sequence[str], shape: Sequence[int], dtype: str, most_draws: int | None = None
) -> Array:
    """Choose how to cut an array: files of some megabytes, small chunks.

    The number of draws asked for does not matter, as the run may be extended; ``most_draws`` is for an array that
    will never have more.
    """
    item = np.dtype(dtype).itemsize
    draw_bytes = max(1, math.prod(shape)) * item
    shard_draws = max(1, min(SHARD_BYTES // draw_bytes, most_draws or MOST_DRAWS, MOST_DRAWS))
    rows = shape[0] if shape else 1
    row_bytes = shard_draws * math.prod(shape[1:]) * item
    chunk_rows = max(1, min(CHUNK_BYTES // row_bytes, rows))
    return Array(folder, tuple(dims), tuple(shape), dtype, shard_draws, chunk_rows)
