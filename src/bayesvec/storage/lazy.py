"""Lazy arrays of draws: indexing reads what the index selects and no more."""

from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Array, Int64

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws

_CHAIN, _DRAW, _ROW, _DIM = range(4)


class LazyArray:
    """Draws of one side, (chain, draw, row, K), on disk.

    Index it as a NumPy array to get one; ``np.asarray`` reads all of it.

    Parameters
    ----------
    draws : Draws
        Where it is read from.
    name : str
        ``rho`` or ``alpha``.
    rows : int
        Its number of rows.
    """

    ndim = 4
    dtype = np.dtype(np.float32)

    def __init__(self, draws: "Draws", name: str, rows: int) -> None:
        self._draws = draws
        self._name = name
        self.shape = (draws.num_chains, draws.num_draws, rows, draws.dim)

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Bytes it would take in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self._name}: {self.shape} {self.dtype}, {self.nbytes / 1e6:,.1f} MB, read when indexed>"

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("draws are read from disk, so an array of them is always a copy")
        return np.asarray(self[...], dtype=dtype)

    def __getitem__(self, key: Any) -> Array:
        """Index as NumPy does; a new axis (None) is not supported."""
        index = _expanded(key)
        for axis, size in enumerate(self.shape):
            _check_bounds(index[axis], axis, size)
        draws, index[_DRAW] = _bounding_slice(index[_DRAW], self.shape[_DRAW])
        rows, index[_ROW] = _distinct(index[_ROW], self.shape[_ROW])
        return np.asarray(self._draws.read(self._name, rows=rows, draws=draws)[tuple(index)])


def _expanded(key: Any) -> list[Any]:
    """Expand an index to all four axes; lists and masks become arrays of positions."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(part is None for part in parts):
        raise IndexError("a new axis (None) cannot be made while reading; index first, then reshape")
    parts = [np.asarray(part) if isinstance(part, list | range) else part for part in parts]
    given = sum(_axes_used(part) for part in parts if not isinstance(part, EllipsisType))
    if given > 4:
        raise IndexError(f"too many indices: the array has 4 axes, {given} were indexed")
    dots = [i for i, part in enumerate(parts) if isinstance(part, EllipsisType)]
    if len(dots) > 1:
        raise IndexError("an index can have one ellipsis (...) only")
    at = dots[0] if dots else len(parts)
    parts[at : at + 1] = [slice(None)] * (4 - given)
    index: list[Any] = []
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype == bool:
            index.extend(np.nonzero(part))
        else:
            index.append(part)
    return index


def _axes_used(part: Any) -> int:
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1


def _check_bounds(part: Any, axis: int, size: int) -> None:
    if isinstance(part, slice):
        return
    values = np.asarray(part)
    if values.size and values.dtype.kind not in "iu":
        raise IndexError(f"axis {axis} was indexed by {part!r}; use whole numbers, slices or a mask")
    if values.size and (values.min() < -size or values.max() >= size):
        raise IndexError(f"index {part!r} is out of bounds for axis {axis} of size {size}")


def _bounding_slice(part: Any, size: int) -> tuple[slice, Any]:
    """Return the smallest slice that holds all of ``part``, and ``part`` within it."""
    if isinstance(part, slice):
        chosen = range(size)[part]
        if not chosen:
            return slice(0, 0), slice(None)
        first, last = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        return slice(first, last + 1), slice(None, None, part.step)
    positions = _from_front(part, size)
    if not positions.size:
        return slice(0, 0), positions
    first = int(positions.min())
    within = positions - first
    return slice(first, int(positions.max()) + 1), within if within.ndim else int(within)


def _from_front(part: Any, size: int) -> Int64:
    """Return positions counted from the first, where negative ones count from the last."""
    positions = np.asarray(part)
    return np.where(positions < 0, positions + size, positions).astype(np.int64)


def _distinct(part: Any, size: int) -> tuple[Int64 | None, Any]:
    """Return the rows to read, each once (None for all of them), and ``part`` among these."""
    if isinstance(part, slice):
        chosen = range(size)[part]
        return (None if chosen == range(size) else np.array(chosen, dtype=np.int64)), slice(None)
    positions = _from_front(part, size)
    rows, within = np.unique(positions, return_inverse=True)
    within = within.reshape(positions.shape)
    return rows, within if within.ndim else int(within)
