"""Memory limits, and arrays that spill to a temporary file beyond them.

A file is mapped into memory, so that compiled code reads it like any other array. Its pages count as memory of the
process once they are touched; so whoever works through an array does it in parts, and releases each (`parts`,
`release`). The pages stay in the system's cache as long as there is room for them.
"""

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from bayesvec._machine import memory_bytes
from bayesvec._types import Array
from bayesvec._validate import size_in_bytes
from bayesvec.errors import InputError

SMALLEST = 32_000_000
PART = 1 << 18  # entries of an array to work on at a time
_AROUND = 1 << 17  # bytes: with a page that is touched, the system maps up to 64 KB around it


def parse_memory(limit: str | int | None) -> int:
    """Return a memory limit in bytes.

    Parameters
    ----------
    limit : str, int or None
        Bytes, or text such as ``"500MB"``, ``"1.5GB"`` or ``"1GiB"``; by default half of the machine's memory.
    """
    if limit is None:
        return (memory_bytes() or 4 * 10**9) // 2
    return size_in_bytes("memory", limit, SMALLEST)


class GrowingArray:
    """An array that grows by appending, in memory up to a limit and in a temporary file beyond it.

    The file is written like any other, and mapped into memory when the array is complete. It is in the folder named
    by ``TMPDIR`` and has no name, so nothing is left behind however the process ends.

    Parameters
    ----------
    dtype : dtype
        Type of the entries.
    limit : int
        Most bytes to keep in memory.
    most : int, optional
        Most entries that there can be: if they fit the limit, each part is copied to its place at once. What is not
        used of that takes no memory.
    """

    def __init__(self, dtype: npt.DTypeLike, limit: int, most: int | None = None) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._limit = limit
        self._parts: list[Array] = []
        fits = most is not None and most * self.dtype.itemsize <= limit
        self._whole = np.empty(most or 0, dtype=self.dtype) if fits else None
        self._file: IO[bytes] | None = None

    def append(self, part: Array) -> None:
        """Append the entries of ``part``."""
        if self._whole is not None:
            self._whole[self.size : self.size + len(part)] = part
            self.size += len(part)
            return
        part = np.ascontiguousarray(part, dtype=self.dtype)
        if not part.flags.writeable:  # in the object store of a cluster, which must not fill up
            part = part.copy()
        self.size += len(part)
        with _room():
            try:
                self._append(part)
            except OSError:
                if self._file is not None:
                    self._file.close()
                raise

    def _append(self, part: Array) -> None:
        if self._file is None and self.size * self.dtype.itemsize > self._limit:
            self._file = _temporary_file()
            for earlier in self._parts:
                self._file.write(earlier.data)
            self._parts.clear()
        if self._file is None:
            self._parts.append(part)
        else:
            self._file.write(part.data)

    def finish(self) -> Array:
        """Return the whole array (memory-mapped if it is in a file) and release the parts."""
        if self._whole is not None:
            return self._whole[: self.size]
        if self._file is not None:
            with _room(), self._file as file:
                file.flush()
                return np.asarray(np.memmap(file, dtype=self.dtype, mode="r+", shape=(self.size,)))
        whole = np.empty(self.size, dtype=self.dtype)
        left = self.size
        while self._parts:  # each part is freed once it is copied
            part = self._parts.pop()
            whole[left - len(part) : left] = part
            left -= len(part)
        return whole


def grown(pieces: Iterable[Array], dtype: npt.DTypeLike, limit: int) -> Array:
    """Return ``pieces`` one after another as an array, in a temporary file if it has more than ``limit`` bytes."""
    whole = GrowingArray(dtype, limit)
    for piece in pieces:
        whole.append(piece)
    return whole.finish()


def parts(array: Array, size: int = PART) -> Iterator[Array]:
    """Yield an array in parts of ``size`` entries; each is released when the next is taken."""
    for first in range(0, len(array), size):
        yield array[first : first + size]
        release(array[first : first + size])


def is_mapped(array: Array) -> bool:
    """Whether an array is in a file, which is mapped into memory."""
    return _map_of(array) is not None


def release(*arrays: Array) -> None:
    """Take arrays that are in files out of the process's memory; what is in the files does not change."""
    for array in arrays:
        mapped = _map_of(array)
        if mapped is None or not hasattr(mmap, "MADV_DONTNEED") or not array.nbytes:
            continue
        whole: Array = np.frombuffer(mapped, dtype=np.uint8)
        first = array.ctypes.data - whole.ctypes.data
        start = max(0, first - _AROUND)
        start -= start % mmap.PAGESIZE
        stop = min(len(mapped), first + array.nbytes + _AROUND)
        mapped.madvise(mmap.MADV_DONTNEED, start, stop - start)


def _map_of(array: Any) -> mmap.mmap | None:
    """Return the map of an array; it is shared with the file, never private (mode "c" of `np.memmap`)."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"temporary files in {tempfile.gettempdir()} cannot be written: {error.strerror or error}; make room, "
            "set TMPDIR to another folder, or raise the memory limit"
        ) from None


def _temporary_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="bayesvec-")
