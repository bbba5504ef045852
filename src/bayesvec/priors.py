r"""Gaussian priors over the rows of rho and of alpha.

A side's prior is a mean and a precision for each row and axis. The model asks it for a log density, a
gradient and a Hessian product; the row update asks for the precision and the shift (precision times mean)
of each row's conditional. A prior that couples rows would answer the same questions.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesvec.errors import OptionError

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, init=False)
class RowPrior:
    """Independent Gaussians over the rows of one side.

    Parameters
    ----------
    precision : array_like
        Precision (not standard deviation), positive: a number, or an array of shape (rows, 1) for one per
        row, (1, K) for one per axis, (rows, K) for one per row and axis.
    mean : array_like, optional
        Mean, in the same shapes.
    """

    precision: Float64
    mean: Float64

    def __init__(self, precision: npt.ArrayLike, mean: npt.ArrayLike = 0.0) -> None:
        object.__setattr__(self, "precision", _table(precision, "precision"))
        object.__setattr__(self, "mean", _table(mean, "mean"))
        if not np.all(self.precision > 0.0):
            bad = self.precision[~(self.precision > 0.0)][0]
            raise OptionError(
                f"the prior precision is {bad}; it must be positive (a larger one shrinks more)"
            )

    @property
    def is_isotropic(self) -> bool:
        """Whether rotating all rows leaves the prior as it is: no mean, the same precision on all axes."""
        return bool(np.all(self.mean == 0.0) and np.all(self.precision == self.precision[:, :1]))

    def precision_rows(self, rows: int, dim: int) -> Float64:
        """Return the precision of each row and axis as a read-only (rows, dim) view."""
        return _spread(self.precision, rows, dim, "precision")

    def shift_rows(self, rows: int, dim: int) -> Float64:
        """Return precision times mean of each row and axis as a read-only (rows, dim) view."""
        _spread(self.precision, rows, dim, "precision")
        _spread(self.mean, rows, dim, "mean")
        return _spread(self.precision * self.mean, rows, dim, "shift")

    def log_density(self, x: Float64) -> float:
        """Return the log density at the rows ``x`` (rows, K), normalising constant included."""
        precision = self.precision_rows(x.shape[0], x.shape[1])
        scale = float(np.log(self.precision).sum()) * (x.size / self.precision.size)
        distance = float(np.sum(precision * (x - self._mean(x)) ** 2))
        return 0.5 * (scale - x.size * math.log(2.0 * math.pi) - distance)

    def gradient(self, x: Float64) -> Float64:
        """Return the gradient of the log density at ``x``."""
        return -self.precision_rows(x.shape[0], x.shape[1]) * (x - self._mean(x))

    def hessian_product(self, direction: Float64) -> Float64:
        """Return the Hessian of the log density (the same everywhere) times a direction (rows, K)."""
        return -self.precision_rows(direction.shape[0], direction.shape[1]) * direction

    def _mean(self, x: Float64) -> Float64:
        return _spread(self.mean, x.shape[0], x.shape[1], "mean")


@dataclass(frozen=True, eq=False)
class Prior:
    """The priors of the two sides, independent of each other.

    Parameters
    ----------
    rho, alpha : RowPrior
        Prior of the word rows and of the context rows.
    """

    rho: RowPrior
    alpha: RowPrior

    @property
    def is_isotropic(self) -> bool:
        """Whether rotating rho and alpha together leaves the prior as it is."""
        return self.rho.is_isotropic and self.alpha.is_isotropic

    def log_density(self, rho: Float64, alpha: Float64) -> float:
        """Return the log density of both sides, normalising constants included."""
        return self.rho.log_density(rho) + self.alpha.log_density(alpha)


def spherical(precision: float) -> Prior:
    """Return the plain prior: every coordinate of every row is normal with mean 0 and this ``precision``."""
    if np.ndim(precision):
        raise OptionError(
            f"the prior precision has shape {np.shape(precision)}; a spherical prior takes one number"
        )
    return Prior(RowPrior(precision), RowPrior(precision))


def _table(values: npt.ArrayLike, name: str) -> Float64:
    """Return ``values`` as a finite, read-only table of two dimensions."""
    table = np.array(values, dtype=np.float64)
    if table.ndim not in (0, 2):
        # a vector could mean rows or axes, and both when there are equally many
        raise OptionError(
            f"the prior {name} has shape {table.shape}; give a number or shape (rows, 1), (1, K) or (rows, K)"
        )
    if not np.all(np.isfinite(table)):
        raise OptionError(
            f"the prior {name} holds {table[~np.isfinite(table)][0]}; every value must be finite"
        )
    table = table.reshape(table.shape or (1, 1))
    table.flags.writeable = False
    return table


def _spread(table: Float64, rows: int, dim: int, name: str) -> Float64:
    try:
        return np.broadcast_to(table, (rows, dim))
    except ValueError:
        raise OptionError(
            f"the prior {name} has shape {table.shape} for {rows} rows of {dim} axes; "
            f"it must be one number or of shape ({rows}, 1), (1, {dim}) or ({rows}, {dim})"
        ) from None
