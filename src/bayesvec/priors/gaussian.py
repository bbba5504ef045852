r"""Gaussian priors over the rows of rho and of alpha.

A side's prior has a mean and a precision for each row and axis, and a sparse symmetric matrix that couples
rows, the same on every axis: over the rows, axis k has the precision

.. math:: P_k = \mathrm{diag}(\lambda_{\cdot k}) + C, \qquad x_k - \mu_k \sim N(0, P_k^{-1}).

The model needs a log density, a gradient and a Hessian product. The row update needs each row's
conditional given the others, which has the precision :math:`P_{ww}` and the shift (precision times mean)
:math:`(P \mu)_w - \sum_{u \ne w} C_{wu} x_u`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.priors.coupling import Sparse, check_coupling, factorise, log_determinant, off_diagonal
from bayesvec.priors.learned import (
    TAILS,
    Part,
    Wishart,
    total_coupling,
    total_neighbours,
    total_precision,
)


@dataclass(frozen=True, eq=False, init=False)
class RowPrior:
    """A Gaussian over the rows of one side.

    Parameters
    ----------
    precision : array_like
        Precision (not standard deviation), positive: a number, or an array of shape (rows, 1) for one per
        row, (1, K) for one per axis, (rows, K) for one per row and axis. With a coupling it may be zero.
    mean : array_like, optional
        Mean, in the same shapes.
    coupling : sparse or dense matrix, optional
        Symmetric, (rows, rows), added to the precision of every axis; the sum must be positive definite.
    """

    precision: Float64
    mean: Float64
    coupling: Sparse | None
    parts: tuple[Part, ...]  # of which precision and coupling are the sum; empty if no scale is learned
    _origin: "RowPrior | None"  # the same prior at other scales, from which this one was made

    def __init__(self, precision: npt.ArrayLike, mean: npt.ArrayLike = 0.0, coupling: Any = None) -> None:
        table = _table(precision, "precision")
        fine = table > 0.0 if coupling is None else table >= 0.0
        if not np.all(fine):
            bad = table[~fine][0]
            raise OptionError(
                f"the prior precision is {bad}; it must be positive (a larger one shrinks more)"
            )
        self._set(table, _table(mean, "mean"), None if coupling is None else check_coupling(coupling, table))

    @classmethod
    def of_parts(cls, parts: Sequence[Part], mean: npt.ArrayLike = 0.0) -> "RowPrior":
        """Return the prior whose precision is the sum of ``parts``, each times its scale."""
        checked = cls(total_precision(parts), mean, total_coupling(parts))
        if any(part.learned for part in parts):
            vars(checked).update(parts=tuple(parts))
        return checked

    def at(self, scales: Sequence[float]) -> "RowPrior":
        """Return the prior with other values for the scales that are learned, in their order."""
        if not self.learned:
            return self
        given = iter(scales)
        parts = tuple(part.at(next(given)) if part.learned else part for part in self.parts)
        prior = RowPrior.__new__(RowPrior)  # it is still positive definite
        prior._set(total_precision(parts), self.mean, total_coupling(parts), parts, self._origin or self)
        return prior

    def _set(
        self,
        precision: Float64,
        mean: Float64,
        coupling: Sparse | None,
        parts: tuple[Part, ...] = (),
        origin: "RowPrior | None" = None,
    ) -> None:
        vars(self).update(precision=precision, mean=mean, coupling=coupling, parts=parts, _origin=origin)

    @property
    def learned(self) -> tuple[Part, ...]:
        """The parts with learned scales."""
        return tuple(part for part in self.parts if part.learned)

    @property
    def scales(self) -> tuple[float, ...]:
        """The values of the scales that are learned."""
        return tuple(part.scale for part in self.learned)

    @property
    def tails(self) -> float | None:
        """Degrees of freedom of rows that have a t distribution; None if they are Gaussian."""
        return next((part.scale for part in self.parts if part.name == TAILS), None)

    @property
    def is_isotropic(self) -> bool:
        """Whether rotating all rows leaves the prior as it is: no mean, the same precision on all axes."""
        return bool(np.all(self.mean == 0.0) and np.all(self.precision == self.precision[:, :1]))

    @cached_property
    def neighbours(self) -> Sparse | None:
        """The coupling between different rows: zero on the diagonal; None if no rows are coupled."""
        if self._origin is not None:
            return total_neighbours(self.parts)
        return None if self.coupling is None else off_diagonal(self.coupling)

    def precision_rows(self, rows: int, dim: int) -> Float64:
        """Return the precision of each row's conditional, on each axis, as a read-only (rows, dim) view."""
        self._check_rows(rows)
        own = 0.0 if self.coupling is None else self.coupling.diagonal()[:, None]
        return _spread(self.precision + own, rows, dim, "precision")

    def shift_rows(self, rows: int, dim: int) -> Float64:
        """Return precision times mean of each row and axis as a read-only (rows, dim) view."""
        _spread(self.precision, rows, dim, "precision")
        mean = self.mean_rows(rows, dim)
        shift = _spread(self.precision * self.mean, rows, dim, "shift")
        if self.coupling is None or not np.any(self.mean):
            return shift
        self._check_rows(rows)
        coupled: Float64 = shift + self.coupling @ mean
        return coupled

    def mean_rows(self, rows: int, dim: int) -> Float64:
        """Return the mean of each row and axis as a read-only (rows, dim) view."""
        return _spread(self.mean, rows, dim, "mean")

    def log_density(self, x: Float64) -> float:
        """Return the log density at the rows ``x`` (rows, K), normalising constant included."""
        gap = x - self.mean_rows(*x.shape)
        if self.tails is not None:
            return _log_density_with_tails(self._own_rows(x), gap, self.tails)
        distance = float(np.sum(self._own_rows(x) * gap**2))
        if self.coupling is None:
            scale = float(np.log(self.precision).sum()) * (x.size / self.precision.size)
        else:
            self._check_rows(len(x))
            distance += float(np.sum(gap * (self.coupling @ gap)))
            scale = self.log_determinant(x.shape[1])
        return 0.5 * (scale - x.size * math.log(2.0 * math.pi) - distance)

    def log_density_at_zero(self, rows: int, dim: int) -> float:
        """Return the log density where all rows are zero; independent rows without a mean need not be laid out."""
        if self.coupling is not None or np.any(self.mean):
            return self.log_density(np.zeros((rows, dim)))
        size = rows * dim
        scale = 0.5 * float(np.log(self.precision).sum()) * (size / self.precision.size)
        if self.tails is not None:
            return scale + rows * _log_constant_with_tails(self.tails, dim)
        return scale - 0.5 * size * math.log(2.0 * math.pi)

    def gradient(self, x: Float64) -> Float64:
        """Return the gradient of the log density at ``x``, of normal rows."""
        if self.tails is not None:
            raise OptionError("rows with heavy tails have no gradient here; take that of Prior.gaussian")
        return self.hessian_product(x - self.mean_rows(*x.shape))

    def hessian_product(self, direction: Float64) -> Float64:
        """Return the Hessian of the log density (the same everywhere) times a direction (rows, K)."""
        product = -self._own_rows(direction) * direction
        if self.coupling is not None:
            self._check_rows(len(direction))
            product -= self.coupling @ direction
        return product

    def form(self, x: Float64) -> Float64:
        """Return x^T P x (K, K), for a prior that is the same on every axis."""
        return np.asarray(-(x.T @ self.hessian_product(x)))

    def log_determinant(self, dim: int) -> float:
        """Return the log determinant of the whole precision of a prior that couples rows."""
        if self._origin is not None:  # a scale enters as a power, which saves another factorisation
            assert self.coupling is not None
            change = sum(
                part.coordinates(self.coupling.shape[0], dim) * math.log(part.scale / before.scale)
                for part, before in zip(self.parts, self._origin.parts, strict=True)
            )
            return self._origin.log_determinant(dim) + change
        axes = self._log_determinants
        return float(axes.sum()) * (dim / len(axes))

    @cached_property
    def solve(self) -> Callable[[Float64], Float64]:
        """A function that multiplies by the inverse precision of a prior that is the same on every axis."""
        if self.coupling is None:
            return lambda x: x / self.precision[:, :1].reshape(-1, *[1] * (x.ndim - 1))
        factor = factorise(self.precision[:, 0], self.coupling)
        return lambda x: np.asarray(factor.solve(x))

    @cached_property
    def _log_determinants(self) -> Float64:
        """Log determinant of the precision of each axis, or one for all."""
        assert self.coupling is not None
        return np.array([log_determinant(column, self.coupling) for column in self.precision.T])

    def component(self, part: Part, gap: Float64, weight: Float64 | None) -> Float64 | None:
        """Return a direction D along which the coordinates that a part governs are scaled, for ``gap`` = x - mean.

        The square of the part at gap + (r - 1) D is r^2 times that at gap, and the volume changes by r to the number
        of the part's coordinates. Steps are scaled around a weighted mean of their tree's rows, so that what the
        data determine best stays in place. None if there is no such direction.

        Parameters
        ----------
        part : Part
            One of the learned parts.
        gap : ndarray, shape (rows, K)
            Rows minus their mean.
        weight : ndarray, shape (rows,), or None
            Positive weight of each row in the mean of its tree, if rows are coupled.
        """
        if len(self.parts) == 1:
            return gap
        if self.coupling is None:
            return np.where(part.precision != 0.0, gap, 0.0)
        if self._roots is None:
            return None
        if part.coupling is None:
            return gap[self._roots]
        assert weight is not None
        total = np.zeros((len(gap), 1 + gap.shape[1]))
        np.add.at(total, self._roots, weight[:, None] * np.column_stack([np.ones(len(gap)), gap]))
        total = total[self._roots]
        return gap - total[:, 1:] / total[:, :1]

    @cached_property
    def _roots(self) -> Int64 | None:
        """The root of each row, if the parts are independent roots and independent steps from them."""
        if self._origin is not None:
            return self._origin._roots
        roots = [part for part in self.parts if part.coupling is None]
        steps = [part for part in self.parts if part.coupling is not None]
        if len(roots) != 1 or len(steps) != 1 or np.any(steps[0].precision):
            return None
        from scipy.sparse.csgraph import connected_components

        assert self.coupling is not None
        count, tree = connected_components(self.coupling, directed=False)
        starts = np.flatnonzero(np.broadcast_to(roots[0].precision, (len(tree), 1))[:, 0])
        if len(starts) != count or len(np.unique(tree[starts])) != count:
            return None
        of_tree = np.empty(count, dtype=np.int64)
        of_tree[tree[starts]] = starts
        found: Int64 = of_tree[tree]
        return found

    def _own_rows(self, x: Float64) -> Float64:
        return _spread(self.precision, x.shape[0], x.shape[1], "precision")

    def _check_rows(self, rows: int) -> None:
        if self.coupling is not None and self.coupling.shape[0] != rows:
            raise OptionError(
                f"the prior couples {self.coupling.shape[0]} rows but there are {rows}; "
                "make it for these counts"
            )


@dataclass(frozen=True, eq=False)
class Prior:
    """The priors of the two sides, independent of each other.

    Parameters
    ----------
    rho, alpha : RowPrior
        Prior of the word rows and of the context rows.
    recipe : Mapping, optional
        How it was made, in plain values: its family, its numbers, its slices. Kept with a run.
    added : tuple of (str, str), optional
        Name and group of word rows that the prior adds to those of the counts; they have no pairs.
    notes : tuple of str, optional
        Remarks for the user.
    shared : Wishart, optional
        The prior of a precision matrix that both sides share and that is learned; its eigenvalues are their parts.
    """

    rho: RowPrior
    alpha: RowPrior
    recipe: Mapping[str, Any] = field(default_factory=dict)
    added: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    shared: Wishart | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "recipe", MappingProxyType(dict(self.recipe)))

    @property
    def is_isotropic(self) -> bool:
        """Whether rotating rho and alpha together leaves the prior as it is, at the current value of its scales."""
        return self.rho.is_isotropic and self.alpha.is_isotropic

    @property
    def rotates(self) -> bool:
        """Whether rotating them leaves the prior as it is once learned scales are integrated out.

        It does for a shared covariance, whose hyperprior is rotation-invariant.
        """
        return self.shared is not None or self.is_isotropic

    def free_axes(self, dim: int) -> tuple[Int64, ...] | None:
        """Return the sets of axes within which rotations leave the prior as it is; None if all are one set.

        Parameters
        ----------
        dim : int
            Number of axes, K.
        """
        if self.rotates:
            return None
        sets: dict[bytes, list[int]] = {}
        for axis in range(dim):
            tables = ((side.precision, side.mean) for side in (self.rho, self.alpha))
            columns = [table[:, min(axis, table.shape[1] - 1)] for pair in tables for table in pair]
            if not np.any(columns[1]) and not np.any(columns[3]):
                sets.setdefault(columns[0].tobytes() + columns[2].tobytes(), []).append(axis)
        return tuple(np.array(axes) for axes in sets.values())

    @property
    def scales(self) -> dict[str, tuple[str, ...]]:
        """Names of the learned scales of each side; shared ones are named with rho."""
        if self.shared is not None:
            return {"rho": tuple(part.name for part in self.rho.learned), "alpha": ()}
        sides = (("rho", self.rho), ("alpha", self.alpha))
        return {side: tuple(f"{side}_{part.name}" for part in prior.learned) for side, prior in sides}

    @property
    def scale_names(self) -> tuple[str, ...]:
        """Names of the scales that are learned, those of rho first; empty if none is."""
        return tuple(name for names in self.scales.values() for name in names)

    def at(self, scales: npt.ArrayLike) -> "Prior":
        """Return the prior at other values of its learned scales, in the order of `scale_names`."""
        values = np.asarray(scales, dtype=np.float64).tolist()
        split = 0 if self.shared is not None else len(self.rho.learned)
        rho, alpha = self.rho.at(values[: split or None]), self.alpha.at(values[split:])
        return replace(self, rho=rho, alpha=alpha)

    def fixed_at(self, scales: npt.ArrayLike) -> "Prior":
        """Return the prior with its learned scales fixed at values, in the order of `scale_names`."""
        there = self.at(scales)
        recipe = dict(self.gaussian.recipe)
        for side, beginning in ((there.rho, ""), (there.alpha, "context_")):
            for part in side.learned:
                if beginning + part.name in recipe:
                    recipe[beginning + part.name] = part.scale
        if self.shared is not None:
            recipe["axis_precisions"] = [part.scale for part in there.rho.learned if part.name != TAILS]
        sides = [
            RowPrior.of_parts([replace(part, learned=None) for part in side.parts], side.mean)
            if side.parts
            else side
            for side in (there.gaussian.rho, there.gaussian.alpha)
        ]
        return Prior(sides[0], sides[1], recipe, self.added, self.notes)

    @property
    def gaussian(self) -> "Prior":
        """The prior without heavy tails, which only Gibbs can draw under."""
        if self.rho.tails is None:
            return self
        rho, alpha = (
            RowPrior.of_parts([part for part in side.parts if part.name != TAILS], side.mean)
            for side in (self.rho, self.alpha)
        )
        recipe = {name: value for name, value in self.recipe.items() if name != TAILS}
        return replace(self, rho=rho, alpha=alpha, recipe=recipe)

    def log_density(self, rho: Float64, alpha: Float64) -> float:
        """Return the log density of both sides, normalising constants included."""
        return self.rho.log_density(rho) + self.alpha.log_density(alpha)


def _log_density_with_tails(precision: Float64, gap: Float64, tails: float) -> float:
    """Return the log density of rows with a multivariate t distribution of ``tails`` degrees of freedom."""
    rows, dim = len(gap), int(gap.shape[1])
    distance = np.sum(precision * gap**2, axis=1)
    scale, tail = float(np.log(precision).sum()), float(np.log1p(distance / tails).sum())
    return rows * _log_constant_with_tails(tails, dim) + 0.5 * scale - 0.5 * (tails + dim) * tail


def _log_constant_with_tails(tails: float, dim: int) -> float:
    """Return the log density of a row at its mean under unit precisions."""
    half = 0.5 * tails
    return math.lgamma(half + 0.5 * dim) - math.lgamma(half) - 0.5 * dim * math.log(tails * math.pi)


def _table(values: npt.ArrayLike, name: str) -> Float64:
    """Return ``values`` as a finite, read-only table of two dimensions."""
    table = np.array(values, dtype=np.float64)
    if table.ndim not in (0, 2):
        # a vector is ambiguous: rows or axes
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
        axes = table.shape[1]
        hint = f"; fit with dim={axes} (--dim {axes})" if axes not in (1, dim) else ""
        raise OptionError(
            f"the prior {name} has shape {table.shape} for {rows} rows of {dim} axes; "
            f"it must be one number or of shape ({rows}, 1), (1, {dim}) or ({rows}, {dim}){hint}"
        ) from None
