"""Rows that other processes hold: they stand for an array, which is gathered only if it is asked for."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesvec._types import Array, Float64, Int64


class HeldRows(ABC):
    """Rows of one side, held in blocks by other processes; `numpy.asarray` gathers them.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of axes.
    dtype : dtype
        Type of the numbers.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def astype(self, dtype: Any) -> Array:
        """Return the array in another type."""
        return np.asarray(self).astype(dtype)

    @abstractmethod
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Gather the rows."""

    @abstractmethod
    def __getitem__(self, rows: Int64) -> Array:
        """Return some rows, by their numbers."""

    @abstractmethod
    def __mul__(self, factor: float) -> Any:
        """Return the rows times a number, held where these are."""

    @abstractmethod
    def __truediv__(self, divisor: float) -> Any:
        """Return the rows divided by a number, held where these are."""

    @abstractmethod
    def multiplied(self, matrix: Float64) -> Any:
        """Return the rows times a matrix, (K, K), held where these are."""

    @abstractmethod
    def cross(self, other: Array) -> Float64:
        """Return rows^T other, (K, K)."""

    @abstractmethod
    def moments(self, mean: Any, squares: Any, number: int) -> tuple[Any, Any]:
        """Return means and squared deviations with this draw added to ``number`` others, held where these are.

        Parameters
        ----------
        mean, squares : ndarray, HeldRows or None
            Those of the others; None if there are none.
        number : int
            How many there are.
        """

    @abstractmethod
    def in_order(self) -> Iterator[Array]:
        """Yield the rows, block after block, so that no more than a block need be here."""
