"""Half of a sweep: every row of one side redrawn, in place.

Rows are shared out between threads; what a row draws depends on its address alone. Rows that a prior couples
are redrawn tree by tree or colour by colour (see `bayesvec.inference.sides`).
"""

from typing import NamedTuple

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._types import Float32, Float64, Int64
from bayesvec.inference.gibbs import AUGMENT_EVERY, Options
from bayesvec.inference.sides import Colour, Half, Moved
from bayesvec.kernels import rng
from bayesvec.kernels.coupling import couple_rows
from bayesvec.kernels.hamiltonian import Rotation, make_path, move_rows
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.rescale import rescale_rows
from bayesvec.kernels.row_scales import draw_row_scales
from bayesvec.kernels.row_work import RowSide, Work
from bayesvec.kernels.rows import SEGMENT, add_pairs, draw_many, redraw_rows, restart_row
from bayesvec.kernels.trees import make_tree_work, redraw_trees
from bayesvec.kernels.vector import padded


class Drawing(NamedTuple):
    """What redrawing needs beside the rows."""

    options: Options
    tables: Tables
    key: rng.Key
    works: list[Work]  # one for each thread
    threads: Threads
    likelihood: Float64  # (rows,) of each row's pairs, in logs; filled where an update computes it


def redraw(half: Half, rows: Float32, other: Float32, drawing: Drawing) -> list[int]:
    """Redraw every row of one side in place: tree by tree, or colour by colour; return the rows that broke down.

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
    if half.forest is not None and is_joint(drawing.options, half.forest.every, int(drawing.key.sweep)):
        return _redraw_forest(half, rows, other, drawing)
    # rows of a colour write their own shifts only, so that the threads can share the array
    side = half.side if half.coupling is None else half.side._replace(shift=half.side.shift.copy())
    broken: list[int] = []
    rotation = None  # from the reference to the other side as it is: the same for all colours
    if half.near is not None and int(drawing.key.sweep) % AUGMENT_EVERY != 0:
        rotation = half.near.rotation(other)
    for colour in half.colours:
        rest = colour
        if rotation is not None:
            assert colour.moved is not None
            _move_colour(half, side, colour.moved, rows, other, rotation, drawing)
            rest = colour.moved.rest
        if len(rest.rows):
            given = side if half.tails is None else _given_scales(half, half.tails, rest.rows, rows, drawing)
            broken += _redraw_colour(half, given, rest, rows, other, drawing)
    if half.tails is not None:
        _rescale(half, half.tails, rows, other, drawing)
    return broken


def _given_scales(half: Half, tails: float, order: Int64, rows: Float32, drawing: Drawing) -> RowSide:
    """Return the side with the Gaussian prior of some rows given their scales, which are drawn given the rows.

    Polya-Gamma variables need a Gaussian; rows moved by Hamiltonian dynamics take the t distribution as it is.
    """
    precision, scales = half.side.precision.copy(), np.empty(len(order))
    draw_row_scales(
        0, len(order), order, rows, precision, tails, row_scales_key(half.purpose, drawing.key), 0, scales
    )
    precision[order] *= scales[:, None]
    return half.side._replace(precision=precision)


def _rescale(half: Half, tails: float, rows: Float32, other: Float32, drawing: Drawing) -> None:
    """Draw the lengths of the rows with the fewest pairs."""
    order, side, works, threads = half.short, half.side, drawing.works, drawing.threads
    assert order is not None
    sizes, key = np.diff(side.indptr)[order], row_scales_key(half.purpose, drawing.key)
    longest = int(sizes.max(initial=0))
    etas = [np.empty(longest, dtype=np.float32) for _ in works]
    threads.run(
        lambda first, last, thread: rescale_rows(
            first,
            last,
            order,
            side,
            tails,
            rows,
            other,
            key,
            works[thread],
            etas[thread],
            drawing.likelihood,
        ),
        threads.chunks(sizes + side.precision.shape[1], half.least),
    )


def row_scales_key(purpose: int, key: rng.Key) -> rng.Key:
    """Return the address of the scales of single rows of one side, in the chain and sweep of ``key``."""
    return rng.with_purpose(key, rng.WORD_SCALES if purpose == rng.RHO else rng.CONTEXT_SCALES)


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
    options, tables, key, works, threads, _ = drawing
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
            options.overrelaxation,
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


def _move_colour(
    half: Half,
    side: RowSide,
    moved: Moved,
    rows: Float32,
    other: Float32,
    rotation: Rotation,
    drawing: Drawing,
) -> None:
    """Move rows that are not coupled with each other by Hamiltonian dynamics."""
    options, _, key, works, threads, likelihood = drawing
    base, coupling, near = half.side.shift, half.coupling, half.near
    assert near is not None
    shapes, places, tails = near.shapes, moved.places, half.tails or 0.0
    paths = [make_path(work.dim, len(work.panel)) for work in works]

    def work(first: int, last: int, thread: int) -> None:
        if coupling is not None:
            couple_rows(first, last, moved.rows, coupling, 1.0, rows, base, side.shift)
        relax, own, path = float(options.path_overrelax), works[thread], paths[thread]
        move_rows(
            first, last, places, side, tails, shapes, rotation, rows, other, relax, key, own, path, likelihood
        )

    threads.run(work, threads.chunks(moved.cost, half.least))


def _redraw_forest(half: Half, rows: Float32, other: Float32, drawing: Drawing) -> list[int]:
    """Redraw whole trees of coupled rows; return rows that broke down."""
    options, tables, key, works, threads, _ = drawing
    forest, coupling, side = half.forest, half.coupling, half.side
    assert forest is not None
    assert coupling is not None
    trees, steps, overrelax = forest.trees, options.inner_steps, options.overrelaxation
    scratches = [make_tree_work(work.dim, forest.largest) for work in works]
    broken: list[int] = []

    def work(first: int, last: int, thread: int) -> None:
        own, scratch = works[thread], scratches[thread]
        row = redraw_trees(
            first, last, trees, coupling, side, rows, other, steps, overrelax, key, tables, own, scratch
        )
        if row >= 0:
            broken.append(row)

    threads.run(work, threads.chunks(forest.cost, half.least))
    return broken


def _redraw_huge(side: RowSide, row: int, x: Float32, other: Float32, drawing: Drawing) -> bool:
    """Redraw one row of many pairs: its segments are shared between threads and added up in order."""
    options, tables, key, works, threads, _ = drawing
    first, last = int(side.indptr[row]), int(side.indptr[row + 1])
    starts = range(first, last, SEGMENT)
    grams = np.zeros((len(starts), *works[0].gram.shape))
    if options.restart:
        restart_row(row, key, works[0], x)
    for step in range(options.inner_steps):
        offset = step * padded(last - first) - first
        grams[:] = 0.0

        def work(begin: int, end: int, thread: int, offset: int = offset) -> None:
            for start, gram in zip(starts[begin:end], grams[begin:end], strict=True):
                stop = min(start + SEGMENT, last)
                index = offset + start
                add_pairs(row, start, stop, index, side, x, other, key, tables, works[thread], gram)

        threads.run(work, threads.chunks(np.ones(len(starts))))
        if not draw_many(row, step, side, options.overrelaxation, key, works[0], grams.sum(axis=0), x):
            return False
    return True
