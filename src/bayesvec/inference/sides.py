"""One side of the data and its prior, laid out for the row update: half of a sweep.

Rows that the prior couples are never redrawn together unless they are drawn jointly. They are coloured once, no two
neighbours alike, and redrawn colour by colour, each given its neighbours as they then are, or as whole trees
(`bayesvec.inference.forests`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayesvec._parallel import WORTH_SHARING, Threads
from bayesvec._types import Bool, Float32, Float64, Int64
from bayesvec.counts.pairs import Side
from bayesvec.errors import NumericalError
from bayesvec.inference.contract import Near
from bayesvec.inference.forests import Forest, make_forest
from bayesvec.kernels import rng
from bayesvec.kernels.coupling import Coupling, couple_rows
from bayesvec.kernels.hamiltonian import Rotation, Shapes, find_shapes, make_rotation, root_size
from bayesvec.kernels.row_scales import expected_row_scales
from bayesvec.kernels.row_work import RowSide, make_work
from bayesvec.kernels.rows import SEGMENT
from bayesvec.kernels.vector import padded_rows
from bayesvec.priors import RowPrior
from bayesvec.priors.coupling import Sparse, colours
from bayesvec.storage.room import CURVATURE_BYTES

STEPS = 3  # of a path of Hamiltonian dynamics
MORE_STEPS = (
    5  # of rows that occur with much of the other side: a rejection undoes the overrelaxation around it too
)
MUCH = 0.4  # of the other side's rows
SHORT_SHARE = 0.25  # of the pairs: those of rows whose lengths are updated separately, under heavy tails
FEW_AXES = 32  # with fewer, few paths are rejected


def broken_row(names: Sequence[str], rows: Sequence[int]) -> NumericalError:
    """Return the error for ``rows`` whose precision could not be factored; it names the first."""
    name = names[min(rows)]
    return NumericalError(
        f"the precision of the row of {name!r} is not positive definite or not finite; "
        "check the prior precision (a larger one helps) and the counts of that row",
        word=name,
    )


@dataclass(frozen=True, eq=False)
class Colour:
    """Rows that can be redrawn at once."""

    rows: Int64  # rising
    cost: Int64  # of redrawing each among the others
    huge: Int64  # those whose pairs are shared between threads
    moved: "Moved | None" = None  # those whose curvature is held

    def only(self, kept: Bool) -> "Colour":
        """Return the rows that are ``kept``."""
        return self.where(kept[self.rows])

    def where(self, chosen: Bool) -> "Colour":
        """Return those of its rows that are ``chosen``, (rows of the colour,)."""
        rows = self.rows[chosen]
        return Colour(rows, self.cost[chosen], np.intersect1d(self.huge, rows))

    def with_curvature(self, held: Int64, cost: Int64) -> "Colour":
        """Return it with those of its rows whose curvature is ``held``, and the ``cost`` of moving each, (rows,)."""
        places = np.flatnonzero(np.isin(held, self.rows))
        rows = held[places]
        moved = Moved(places, rows, cost[rows], self.where(~np.isin(self.rows, rows)))
        return replace(self, moved=moved)


@dataclass(frozen=True, eq=False)
class Moved:
    """Rows of a colour that are moved by Hamiltonian dynamics."""

    places: Int64  # of their matrices among those that are held
    rows: Int64
    cost: Int64
    rest: Colour  # the rows that are not


class Curvature(NamedTuple):
    """The curvature of rows at a reference."""

    shapes: Shapes
    weighted: Float64  # (others, K) the other side there, each row times the precision with which it is known

    def rotation(self, other: Float32) -> Rotation:
        """Return the rotation that takes the other side as it is to the reference (Procrustes)."""
        dim = self.weighted.shape[1]
        left, _, right = np.linalg.svd(other[:, :dim].astype(np.float64).T @ self.weighted)
        return make_rotation(left @ right)


def movable(sizes: Int64, fixed: Bool, dim: int) -> Int64:
    """Return the rows, rising, whose curvature is held: of at least K pairs, the longest if all are too many."""
    most = CURVATURE_BYTES // (4 * root_size(dim))
    rows = np.flatnonzero((sizes >= dim) & ~fixed)
    if len(rows) > most:
        rows = np.sort(rows[np.argsort(-sizes[rows], kind="stable")[:most]])
    return rows


def short_rows(sizes: Int64, fixed: Bool) -> Int64:
    """Return the rows, rising, with the fewest pairs, which together have `SHORT_SHARE` of all pairs."""
    order = np.argsort(sizes, kind="stable")
    few: Int64 = np.sort(order[np.cumsum(sizes[order]) <= SHORT_SHARE * sizes.sum()])
    return np.asarray(few[~fixed[few]])


def path_steps(sizes: Int64, others: int, dim: int) -> Int64:
    """Return the steps of a path of each row, by its number of pairs: more for those that occur with many others."""
    many = (sizes >= MUCH * others) & (dim >= FEW_AXES)
    return np.where(many, MORE_STEPS, STEPS).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Half:
    """One side of the problem: half of a sweep."""

    purpose: int  # of its random numbers
    names: tuple[str, ...]
    side: RowSide  # its shift is that without neighbours
    colours: tuple[Colour, ...]
    coupling: Coupling | None
    forest: Forest | None = None
    weight: Float64 | None = None  # (rows,) of each row in the mean of its tree, if scales are learned
    scales: tuple[float, ...] = ()  # of the prior, those that are learned
    tails: float | None = None  # degrees of freedom of the rows, if they are not Gaussian
    near: "Curvature | None" = None  # at a reference, if there is one
    short: Int64 | None = None  # rows whose lengths are updated separately, if the prior has heavy tails
    bare: bool = False  # other processes have its pairs

    @property
    def huge(self) -> Int64:
        """All rows whose pairs are shared between threads."""
        return np.concatenate([colour.huge for colour in self.colours])

    @property
    def cost(self) -> Int64:
        """Cost of redrawing each row among the others."""
        total = np.zeros(len(self.side.fixed), dtype=np.int64)
        for colour in self.colours:
            total[colour.rows] = colour.cost
        return total

    @property
    def span(self) -> tuple[int, int]:
        """The first of the rows that are redrawn, and one past the last."""
        ends = [
            (int(colour.rows[0]), int(colour.rows[-1]) + 1) for colour in self.colours if len(colour.rows)
        ]
        return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else (0, 0)

    @property
    def least(self) -> float:
        """Cost of rows below which they are not worth handing to another thread."""
        _, dim = self.side.precision.shape
        return WORTH_SHARING / (int(dim) + 20)  # a pair takes as long as its K axes and 20 more

    def at(self, prior: RowPrior) -> "Half":
        """Return it with the same prior at other scales."""
        rows, dim = self.side.precision.shape
        precision, shift = _prior_arrays(
            prior, rows, dim, laid_out=not self.bare or prior.coupling is not None
        )
        side, coupling = self.side._replace(precision=precision, shift=shift), self.coupling
        if coupling is not None and prior.neighbours is not None:
            coupling = coupling._replace(weight=prior.neighbours.data)
        return replace(self, side=side, coupling=coupling, scales=prior.scales, tails=prior.tails)

    def only(self, pairs: Side, own: Int64) -> "Half":
        """Return a bare side with the pairs of some rows, rising, of a forest whole trees; no other is redrawn."""
        kept = np.zeros(len(self.side.fixed), dtype=bool)
        kept[own] = True
        mine, side = pairs.only(own), self.side
        precision, shift = np.array(side.precision, order="C"), np.array(side.shift, order="C")
        return replace(
            self,
            bare=False,
            side=side._replace(
                indptr=mine.indptr,
                other=mine.other,
                precision=precision,
                shift=shift,
                **_samples(mine, side.weight),
            ),
            colours=tuple(colour.only(kept) for colour in self.colours),
            forest=self.forest and self.forest.only(kept),
            short=None if self.short is None else self.short[kept[self.short]],
        )

    def at_reference(self, near: Near, chosen: Int64) -> "Half":
        """Return it with the curvature of the ``chosen`` rows at a reference."""
        rows, other, sizes = near.rho, near.alpha, near.alpha_sizes
        if self.purpose == rng.ALPHA:
            rows, other, sizes = near.alpha, near.rho, near.rho_sizes
        dim, count = rows.shape[1], len(chosen)
        steps = path_steps(np.diff(self.side.indptr)[chosen], len(other), dim)
        shapes = Shapes(chosen, np.empty((count, root_size(dim)), dtype=np.float32), np.empty(count), steps)
        x, y = padded_rows(rows), padded_rows(other)
        side = self.side
        if self.tails is not None:
            scales = np.empty(len(x))
            expected_row_scales(x, side.precision, self.tails, scales)
            side = side._replace(precision=side.precision * scales[:, None])
        broken = find_shapes(0, count, side, x, y, make_work(dim), shapes)
        if broken >= 0:
            raise broken_row(self.names, [broken])
        weighted = other / np.square(sizes, dtype=np.float64).mean(axis=1, keepdims=True)
        cost = np.diff(self.side.indptr) + dim
        cost[chosen] = cost[chosen] * (steps + 1) // (STEPS + 1)
        colours = tuple(colour.with_curvature(chosen, cost) for colour in self.colours)
        return replace(self, colours=colours, near=Curvature(shapes, weighted))

    def coupled(self, x: Float32, share: float, threads: Threads) -> RowSide:
        """Return the side with the shift of every row given the others as they are, C times ``share``."""
        coupling, base = self.coupling, self.side.shift
        if coupling is None:
            return self.side
        shift, order = np.empty_like(base), np.arange(len(x))
        threads.run(
            lambda first, last, _: couple_rows(first, last, order, coupling, share, x, base, shift),
            threads.chunks(np.diff(coupling.indptr) + 1, self.least),
        )
        return self.side._replace(shift=shift)


def _prior_arrays(prior: RowPrior, rows: int, dim: int, *, laid_out: bool = True) -> tuple[Float64, Float64]:
    """Return the precision and the shift of each row.

    Kernels take them ``laid_out`` in C order: any other layout would be compiled again. Where no kernel runs, views
    take no memory.
    """
    precision, shift = prior.precision_rows(rows, dim), prior.shift_rows(rows, dim)
    if not laid_out:
        return precision, shift
    return np.array(precision, order="C"), np.array(shift, order="C")


def make_side(
    side: Side, prior: RowPrior, dim: int, fixed: Bool, weight: float = 1.0, *, laid_out: bool = True
) -> RowSide:
    """Return one side of the counts with its prior, laid out for the kernels."""
    precision, shift = _prior_arrays(prior, len(fixed), dim, laid_out=laid_out)
    return RowSide(
        indptr=np.asarray(side.indptr),
        other=np.asarray(side.other),
        **_samples(side, weight),
        precision=precision,
        shift=shift,
        fixed=fixed,
        weight=weight,
    )


def _samples(side: Side, weight: float) -> dict[str, Any]:
    """Return n and kappa of each pair, for samples of a weight."""
    n = side.n_pos + side.n_neg
    return {"n": n, "kappa": (weight * (side.n_pos - 0.5 * n)).astype(np.float32)}


def make_coupling(neighbours: Sparse) -> Coupling:
    """Return a sparse matrix, zero on the diagonal, as the kernels take it."""
    return Coupling(
        neighbours.indptr.astype(np.int64),
        neighbours.indices.astype(np.int32),
        neighbours.data.astype(np.float64),
    )


def make_half(
    purpose: int,
    names: tuple[str, ...],
    pairs: Side,
    prior: RowPrior,
    dim: int,
    fixed: Bool,
    *,
    weight: float = 1.0,
    bare: bool = False,
) -> Half:
    """Lay out one side.

    Parameters
    ----------
    purpose : int
        Of its random numbers.
    names : tuple of str
        Names of its rows.
    pairs : Side
        Its data.
    prior : RowPrior
        Its prior.
    dim : int
        Number of axes, K.
    fixed : ndarray of bool
        Rows that stay as they are.
    weight : float
        Of a sample in the likelihood.
    bare : bool
        Leave out the pairs, which other processes have.
    """
    sizes = np.diff(pairs.indptr)
    own, laid_out = pairs, not bare or prior.neighbours is not None
    if bare:
        own = pairs.only(np.zeros(0, dtype=np.int64))
    side = make_side(own, prior, dim, fixed, weight, laid_out=laid_out)
    huge = sizes > SEGMENT
    # the factor of a row's precision takes as long as about K / 3 of its pairs
    cost = np.where(huge, 0, sizes) + dim // 3 + 1
    found = [
        Colour(rows, cost[rows], rows[huge[rows] & ~fixed[rows]])
        for rows in colours(prior.neighbours, len(fixed))
    ]
    if prior.neighbours is None:
        return Half(
            purpose,
            names,
            side,
            tuple(found),
            None,
            scales=prior.scales,
            tails=prior.tails,
            short=None if prior.tails is None else short_rows(sizes, fixed),
            bare=bare,
        )
    forest = None if fixed.any() else make_forest(prior.neighbours, sizes, pairs.num_others, dim)
    return Half(
        purpose,
        names,
        side,
        tuple(found),
        make_coupling(prior.neighbours),
        forest,
        1.0 + pairs.samples() if prior.learned else None,
        prior.scales,
        bare=bare,
    )
