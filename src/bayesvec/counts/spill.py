"""Memory limits, and arrays that spill to a temporary file beyond them."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np
import numpy.typing as npt

from bayesvec._machine import memory_bytes
from bayesvec._types import Array
from bayesvec._validate import size_in_bytes
from bayesvec.errors import InputError

SMALLEST = 32_000_000


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

    The file has no name, so nothing is left behind however the process ends. It is in the folder named by ``TMPDIR``.

    Parameters
    ----------
    dtype : dtype
        Type of the entries.
    limit : int
        Most bytes to keep in memory.
    """

    def __init__(self, dtype: npt.DTypeLike, limit: int) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._limit = limit
        self._parts: list[Array] = []
        self._file: IO[bytes] | None = None
        self.in_file = False

    def append(self, part: Array) -> None:
        """Append the entries of ``part``."""
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
            self.in_file = True
            for earlier in self._parts:
                self._file.write(earlier.data)
            self._parts.clear()
        if self._file is None:
            self._parts.append(part)
        else:
            self._file.write(part.data)

    def finish(self) -> Array:
        """Return the whole array (memory-mapped if it is in a file) and release the parts."""
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


def empty_array(size: int, dtype: npt.DTypeLike, *, in_file: bool) -> Array:
    """Return an uninitialised array, in memory or mapped to a temporary file without a name."""
    if not in_file or size == 0:
        return np.empty(size, dtype=dtype)
    with _room(), _temporary_file() as file:
        _reserve(file, size * np.dtype(dtype).itemsize)
        return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=(size,)))


def _reserve(file: IO[bytes], size: int) -> None:
    """Allocate the file; a full disk is an error here, not a crash while the mapped array is written."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


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
