r"""Learned precisions: parts of a prior, each times a scale that has a Gamma hyperprior.

With :math:`P = \sum_j \tau_j S_j` and a determinant proportional to :math:`\prod_j \tau_j^{r_j}` on every axis
(independent rows; walks and stars, whose steps are independent), a Gamma hyperprior on :math:`\tau_j` is conjugate:

.. math:: \tau_j \mid x \sim \mathrm{Gamma}\big(a_j + r_j K / 2,\ b_j + \tfrac12 \sum_k x_k^\top S_j x_k\big).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec._validate import positive_number
from bayesvec.errors import OptionError
from bayesvec.priors.coupling import Sparse, off_diagonal

TAILS = "tails"  # name of the part whose scale is the degrees of freedom of the rows
MOST_PRECISE = 1e30  # largest precision of a prior; its inverse is the smallest


@dataclass(frozen=True)
class Learned:
    """A learned precision: it has a Gamma hyperprior and is drawn with the vectors.

    ``"learn"`` stands for the default, Gamma(shape = 1, rate = 0.1): an exponential distribution with mean 10,
    whose middle 90% is 0.5 to 30.

    Parameters
    ----------
    shape, rate : float
        Parameters of the Gamma hyperprior; its mean is shape / rate.
    start : float, optional
        Starting value of the chains.
    """

    shape: float = 1.0
    rate: float = 0.1
    start: float = 1.0

    def __post_init__(self) -> None:
        for name in ("shape", "rate", "start"):
            positive_number(f"the {name} of a learned precision", getattr(self, name))


@dataclass(frozen=True)
class Wishart:
    """The prior of a precision matrix that is learned: W(shape, I / rate), whose mean is shape / rate times I.

    Parameters
    ----------
    shape, rate : float
        Its parameters; the shape is at least the number of axes.
    """

    shape: float
    rate: float

    def log_density(self, scales: Sequence[float]) -> float:
        """Return the log density of a matrix with these eigenvalues."""
        dim, half = len(scales), 0.5 * self.shape
        constant = half * dim * math.log(0.5 * self.rate) - 0.25 * dim * (dim - 1) * math.log(math.pi)
        constant -= sum(math.lgamma(half - 0.5 * i) for i in range(dim))
        logs = sum(map(math.log, scales))
        return constant + 0.5 * (self.shape - dim - 1.0) * logs - 0.5 * self.rate * sum(scales)


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a prior's precision, in units of its scale.

    Attributes
    ----------
    name : str
        Name of its scale.
    scale : float
        Factor of the part.
    precision : ndarray, shape (1 or rows, 1 or K)
        Its diagonal; zero where it has none.
    coupling : sparse matrix or None
        Coupling that it adds to every axis.
    rank : int or None
        Power of its scale in the determinant of an axis: the number of steps between rows that it governs. None
        for a part without coupling, which governs the coordinates where its precision is not zero.
    learned : Learned or None
        The hyperprior of its scale, if that is learned.
    """

    name: str
    scale: float
    precision: Float64
    coupling: Sparse | None
    rank: int | None = None
    learned: Learned | None = None

    def at(self, scale: float) -> "Part":
        """Return the part with another scale."""
        other = replace(self, scale=scale)
        vars(other)["neighbours"] = self.neighbours  # the same for all scales
        return other

    @cached_property
    def neighbours(self) -> Sparse | None:
        """Its coupling between different rows."""
        return None if self.coupling is None else off_diagonal(self.coupling)

    def coordinates(self, rows: int, dim: int) -> int:
        """Return how many of the coordinates of (rows, dim) it governs."""
        if self.rank is not None:
            return self.rank * dim
        return int(np.count_nonzero(np.broadcast_to(self.precision, (rows, dim))))

    def square(self, gap: Float64) -> float:
        """Return the sum over axes of gap^T S gap, for ``gap`` = x - mean (rows, K)."""
        total = float(np.sum(self.precision * gap**2))
        return total if self.coupling is None else total + float(np.sum(gap * (self.coupling @ gap)))


def make_part(
    name: str,
    scale: float | Learned,
    precision: npt.ArrayLike,
    *,
    rank: int | None = None,
    coupling: Sparse | None = None,
) -> Part:
    """Return a part whose scale is fixed or learned."""
    learned = scale if isinstance(scale, Learned) else None
    value = scale.start if isinstance(scale, Learned) else float(scale)
    return Part(name, value, np.array(precision, dtype=np.float64, ndmin=2), coupling, rank, learned)


def total_precision(parts: Sequence[Part]) -> Float64:
    """Return the sum of the parts' diagonals, each times its scale."""
    total = parts[0].scale * parts[0].precision
    for part in parts[1:]:
        total = total + part.scale * part.precision
    total.flags.writeable = False
    return total


def total_coupling(parts: Sequence[Part]) -> Sparse | None:
    """Return the sum of the parts' couplings, each times its scale; None if there are none."""
    found = [part.scale * part.coupling for part in parts if part.coupling is not None]
    return sum(found[1:], found[0]) if found else None


def total_neighbours(parts: Sequence[Part]) -> Sparse | None:
    """Return the sum of the parts' couplings between different rows, each times its scale; None if there are none."""
    found = [part.scale * part.neighbours for part in parts if part.neighbours is not None]
    return sum(found[1:], found[0]) if found else None


def precision_of(value: Any, name: str, *, start: float = 1.0) -> float | Learned:
    """Read a precision: a positive number, ``"learn"`` (chains then start at ``start``) or a `Learned`."""
    if isinstance(value, Learned):
        return value
    if value == "learn":
        return Learned(start=start)
    number = positive_number(name, value, ", or learn")
    if (
        not 1 / MOST_PRECISE <= number <= MOST_PRECISE
    ):  # beyond it, squares of coordinates leave single precision
        raise OptionError(
            f"{name} is {number:g}; it must be from {1 / MOST_PRECISE:g} to {MOST_PRECISE:g}, or learn"
        )
    return number


def precisions_of(precision: Any, context_precision: Any) -> dict[str, float | Learned]:
    """Read the precisions of words and of contexts, which are the same if the second is not given."""
    own = precision_of(precision, "precision")
    other = own if context_precision is None else precision_of(context_precision, "context_precision")
    return {"precision": own, "context_precision": other}


def plain(value: float | Learned, start: float = 1.0) -> Any:
    """Return a precision as a recipe keeps it; ``start`` as in `precision_of`."""
    if not isinstance(value, Learned):
        return value
    return "learn" if value == Learned(start=start) else asdict(value)


def recipe_of(
    kind: str,
    precisions: Mapping[str, float | Learned],
    starts: Mapping[str, float] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a recipe: the kind of a prior, its precisions in plain values, and ``more``.

    Parameters
    ----------
    kind : str
        The name of its family.
    precisions : Mapping
        Its precisions by name.
    starts : Mapping, optional
        The starting values of those that do not start at 1 if they are learned.
    **more
        Whatever else decides the prior, in plain values.
    """
    given = {name: plain(value, (starts or {}).get(name, 1.0)) for name, value in precisions.items()}
    return {"kind": kind, **given, **more}


def precisions_stated(recipe: Mapping[str, Any]) -> str:
    """State the precisions of a recipe in a sentence."""
    named = {name: value for name, value in recipe.items() if name.endswith(("precision", "strength"))}
    figures = [f"{name.replace('_', ' ')} {stated(value)}" for name, value in named.items()]
    return f"Precisions: {', '.join(figures)}."


def stated(value: Any) -> str:
    """State a precision of a recipe in words."""
    if isinstance(value, int | float):
        return f"{value:g}"
    gamma = Learned() if value == "learn" else Learned(**value)
    return f"learned from the data (hyperprior Gamma({gamma.shape:g}, {gamma.rate:g}))"
