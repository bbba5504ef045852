"""Half of a sweep: every row of one side redrawn, in place.

Rows are shared out between threads; what a row draws depends on its address alone. Rows that a prior couples
are redrawn tree by tree or colour by colour (see `bayesvec.inference.sides`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._types import Float32
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.sides import Colour, Half
from bayesvec.kernels import rng
from bayesvec.kernels.coupling import couple_rows
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.rows import (
    MOST_INNER_STEPS,
    SEGMENT,
    RowSide,
    Work,
    add_pairs,
    draw_many,
    redraw_rows,
    restart_row,
)
from bayesvec.kernels.trees import make_tree_work, redraw_trees

OVERRELAX = 0.7  # measured: benchmarks/overrelax.py


@dataclass(frozen=True)
class Options:
    """How to sweep.

    Attributes
    ----------
    inner_steps : int
        Polya-Gamma steps of a row in each sweep (the paper's S).
    restart : bool
        Begin each row anew from N(0, 1/K), as the paper's Algorithm 1; biased, and without the orbit move. Contexts
        are then fixed (``identify="fixed"``) even if they span fewer than K directions.
    orbit : bool
        Move along the orbit after each sweep, where prior and anchors leave the symmetry.
    joint : str
        When to redraw all slices of a word at once, where the prior couples them as a tree: ``always``, ``never``
        or ``auto``, which is always unless it would take more than a quarter of a sweep's time, and then in some
        sweeps.
    overrelax : float
        How far beyond the mean of its conditional a row goes that the data alone hold, from 0 (drawn anew) to
        below 1; others less far, and those with fewer pairs than axes are drawn anew (unless their tree is redrawn at
        once). What words and contexts can
        only do together then takes fewer sweeps; what is even around the means, such as the log posterior, takes a
        few more. Without effect if rows are restarted.
    """

    inner_steps: int = 1
    restart: bool = False
    orbit: bool = True
    joint: str = "auto"
    overrelax: float = OVERRELAX

    def __post_init__(self) -> None:
        if self.joint not in ("auto", "always", "never"):
            raise OptionError(f"joint is {self.joint!r}; it must be auto, always or never")
        if not 1 <= self.inner_steps <= MOST_INNER_STEPS:
            raise OptionError(f"inner_steps is {self.inner_steps}; it must be from 1 to {MOST_INNER_STEPS}")
        if not 0.0 <= self.overrelax < 1.0:
            raise OptionError(
                f"overrelax is {self.overrelax:g}; it must be at least 0 and below 1, such as 0.5"
            )

    @property
    def beyond(self) -> float:
        """What the kernels take for ``overrelax``."""
        return 0.0 if self.restart else float(self.overrelax)


class Drawing(NamedTuple):
    """What redrawing needs beside the rows."""

    options: Options
    tables: Tables
    key: rng.Key
    works: list[Work]  # one for each thread
    threads: Threads


def redraw(half: Half, rows: Float32, other: Float32, drawing: Drawing) -> None:
    """Redraw every row of one side in place: tree by tree, or colour by colour.

    Parameters
    ----------
    half : Half
        The side.
    rows : ndarray of float32, shape (rows, padded K)
        Its rows.
    other : ndarray of float32, shape (others, padded K)
        The other side's.
    drawing : Drawing
        How.
    """
    broken: list[int] = []
    if half.forest is not None and is_joint(drawing.options, half.forest.every, int(drawing.key.sweep)):
        broken = _redraw_forest(half, rows, other, drawing)
    else:
        # rows of a colour write their own shifts only, so that the threads can share the array
        side = half.side if half.coupling is None else half.side._replace(shift=half.side.shift.copy())
        for colour in half.colours:
            broken += _redraw_colour(half, side, colour, rows, other, drawing)
    if broken:
        name = half.names[min(broken)]
        raise NumericalError(
            f"the precision of the row of {name!r} is not positive definite or not finite; "
            "check the prior precision (a larger one helps) and the counts of that row",
            word=name,
        )


def is_joint(options: Options, every: int, number: int) -> bool:
    """Whether whole trees are redrawn in a sweep."""
    if options.restart or options.joint == "never":
        return False
    return options.joint == "always" or (number - 1) % every == 0


def _redraw_colour(
    half: Half, side: RowSide, colour: Colour, rows: Float32, other: Float32, drawing: Drawing
) -> list[int]:
    """Redraw rows that are not coupled with each other, ``side`` with a shift of its own to write to.

    Returns the rows that broke down.
    """
    options, tables, key, works, threads = drawing
    base, coupling, order = half.side.shift, half.coupling, colour.rows
    broken: list[int] = []

    def work(first: int, last: int, thread: int) -> None:
        if coupling is not None:
            couple_rows(first, last, order, coupling, 1.0, rows, base, side.shift)
        row = redraw_rows(
            first,
            last,
            order,
            side,
            rows,
            other,
            options.inner_steps,
            options.restart,
            options.beyond,
            key,
            tables,
            works[thread],
        )
        if row >= 0:
            broken.append(row)

    threads.run(work, threads.chunks(colour.cost, half.least))
    for row in colour.huge.tolist():
        if not _redraw_huge(side, row, rows[row], other, drawing):
            broken.append(row)
    return broken


def _redraw_forest(half: Half, rows: Float32, other: Float32, drawing: Drawing) -> list[int]:
    """Redraw whole trees of coupled rows; return rows that broke down."""
    options, tables, key, works, threads = drawing
    forest, coupling, side = half.forest, half.coupling, half.side
    assert forest is not None
    assert coupling is not None
    trees, steps, beyond = forest.trees, options.inner_steps, options.beyond
    scratches = [make_tree_work(work.dim, forest.largest) for work in works]
    broken: list[int] = []

    def work(first: int, last: int, thread: int) -> None:
        own, scratch = works[thread], scratches[thread]
        row = redraw_trees(
            first, last, trees, coupling, side, rows, other, steps, beyond, key, tables, own, scratch
        )
        if row >= 0:
            broken.append(row)

    threads.run(work, threads.chunks(forest.cost, half.least))
    return broken


def _redraw_huge(side: RowSide, row: int, x: Float32, other: Float32, drawing: Drawing) -> bool:
    """Redraw one row of many pairs: its segments are shared between threads and added up in order."""
    options, tables, key, works, threads = drawing
    first, last = int(side.indptr[row]), int(side.indptr[row + 1])
    starts = range(first, last, SEGMENT)
    grams = np.zeros((len(starts), *works[0].gram.shape))
    if options.restart:
        restart_row(row, key, works[0], x)
    for step in range(options.inner_steps):
        offset = step * (last - first) - first
        grams[:] = 0.0

        def work(begin: int, end: int, thread: int, offset: int = offset) -> None:
            for start, gram in zip(starts[begin:end], grams[begin:end], strict=True):
                stop = min(start + SEGMENT, last)
                index = offset + start
                add_pairs(row, start, stop, index, side, x, other, key, tables, works[thread], gram)

        threads.run(work, threads.chunks(np.ones(len(starts))))
        if not draw_many(row, step, side, options.beyond, key, works[0], grams.sum(axis=0), x):
            return False
    return True
