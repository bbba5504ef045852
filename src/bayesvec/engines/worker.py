"""A worker: owns some rows of either side, with their pairs, and redraws them when it is asked to.

It is made from paths and numbers, so that a worker that was killed can be made again. It keeps nothing but its data:
what it is to work on comes with each call, so a call can be repeated.
"""

import os
import platform
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec import _atomic as files
from bayesvec._checksums import read_arrays
from bayesvec._cluster import versions
from bayesvec._machine import processor
from bayesvec._parallel import Threads
from bayesvec._types import Array, Float32, Float64, Int64
from bayesvec.counts.store import open_side
from bayesvec.engines.cut import cut
from bayesvec.errors import RunError
from bayesvec.inference.contract import Near
from bayesvec.inference.gibbs import METHOD, Options
from bayesvec.inference.gibbs.engine import Local
from bayesvec.inference.gibbs.redraw import Drawing, redraw
from bayesvec.inference.sides import Half, make_half, movable
from bayesvec.kernels import rng
from bayesvec.kernels.polyagamma_tables import load_tables
from bayesvec.kernels.row_densities import log_prior_rows
from bayesvec.kernels.row_scales import log_prior_rows_with_tails
from bayesvec.kernels.vector import padded, padded_rows
from bayesvec.priors import RowPrior
from bayesvec.priors.arrays import load_prior
from bayesvec.storage import layout
from bayesvec.storage.folder import Folder

SIDES = {rng.RHO: "by_word", rng.ALPHA: "by_context"}
PURPOSES = {"rho": rng.RHO, "alpha": rng.ALPHA}


class Unchecked(RunError):
    """A worker was started again, and the driver has not asked it yet where it is and with which versions."""


class Place(NamedTuple):
    """Which worker it is: one of ``workers`` that share a chain's rows."""

    number: int
    workers: int


class Asked(NamedTuple):
    """Which side a worker is asked about, and at what time of a run."""

    purpose: int
    scales: tuple[
        float, ...
    ] = ()  # of the prior of that side, if they are learned; none: those of the last call
    start_known: bool = True  # whether it is known where the chains start


class Part(NamedTuple):
    """One side of the problem, of which a worker has some rows."""

    half: Half
    prior: RowPrior
    blocks: list[Int64]  # rows of each worker


def lay_out(run: Folder, purpose: int, workers: int, number: int, *, start_known: bool) -> Part:
    """Lay out one side of a run with the pairs of one worker's rows.

    Parameters
    ----------
    run : Folder
        The run.
    purpose : int
        The side, by the purpose of its random numbers.
    workers : int
        Number of workers that share the rows.
    number : int
        The worker.
    start_known : bool
        Whether it is known where the chains start.
    """
    dim, prior = run.settings.dim, load_prior(run)
    own = prior.rho if purpose == rng.RHO else prior.alpha
    pairs = open_side(run.path / "counts", SIDES[purpose])
    fixed = np.zeros(len(pairs.indptr) - 1, dtype=bool)
    begin = read_arrays(run.state_file("begin")) if start_known else {}
    if start_known and purpose == rng.ALPHA and run.settings.identify == "fixed":
        fixed[begin["anchor_rows"]] = True
    half = make_half(purpose, (), pairs, own, dim, fixed, weight=run.settings.weight, bare=True)
    blocks = cut(half, np.diff(pairs.indptr), workers)
    half, near = half.only(pairs, blocks[number]), Near.start(begin)
    if near is not None and METHOD.stored_options(run.settings.options).moves(dim):
        chosen = movable(np.diff(pairs.indptr), fixed, dim)
        at = prior.at(near.scales)
        half = half.at(at.rho if purpose == rng.RHO else at.alpha)
        half = half.at_reference(near, chosen[np.isin(chosen, blocks[number])])
    return Part(half, own, blocks)


class Worker:
    """A worker of one chain.

    Parameters
    ----------
    run : str
        The run folder.
    place : Place
        Which worker it is.
    threads : int
        Its threads.
    """

    def __init__(self, run: str, place: Place, threads: int) -> None:
        self._run, self._place = Path(run), place
        self._threads = Threads(threads)
        self._parts: dict[int, Part] = {}
        self._described = False
        self._start_known = False  # when these were laid out
        self._line: tuple[int, Callable[[float], Float64] | None] = (-1, None)
        threadpool_limits(limits=1, user_api="blas")

    def describe(self) -> dict[str, Any]:
        """Return where this is and with which versions; raise if the run folder cannot be read here."""
        if not (self._run / "manifest.json").exists():
            message = (
                f"{self._run} is not on {platform.node()}; put the run on a file system that all nodes share"
            )
            raise RunError(message, path=str(self._run))
        self._described = True
        return {"node": platform.node(), "pid": os.getpid(), "processor": processor(), "versions": versions()}

    def redraw(
        self,
        asked: Asked,
        rows: Float32,
        options: Options,
        key: rng.Key,
        colour: int | None,
        *other: Float32,
    ) -> tuple[Float32, tuple[Float64, list[int]]]:
        """Redraw this worker's rows; return them, and their log likelihoods with the rows that broke down.

        Parameters
        ----------
        asked : Asked
            The side.
        rows : ndarray
            This worker's rows.
        options, key
            As `Engine.redraw` takes them.
        colour : int or None
            Redraw the rows of this colour only.
        *other : ndarray
            The other side, or the rows that each of its workers has; with a colour, before them the rows of this side
            that each worker has.
        """
        part, engine, block = self._at(asked)
        half, own = part.half, part.blocks[self._place.number]
        x = self._spread(rows, part)
        if colour is not None:
            half, others = replace(half, colours=(half.colours[colour],)), len(part.blocks)
            x, other = _whole(part, other[:others]), other[others:]
        likelihood = np.full(len(x), np.nan)
        drawing = Drawing(options, engine.tables, key, engine.works, engine.threads, likelihood)
        broken = redraw(half, x, block(other), drawing)
        return np.ascontiguousarray(x[own, : rows.shape[1]]), (likelihood[own], broken)

    def log_likelihood(self, asked: Asked, rows: Float32, known: Float64, *other: Float32) -> Float64:
        """Return the log likelihood of each of this worker's ``rows``, ``known`` where that is a number."""
        part, engine, block = self._at(asked)
        own, dim = part.blocks[self._place.number], rows.shape[1]
        shares = np.zeros(len(part.half.side.fixed))
        shares[own] = known
        x = self._spread(rows, part)[:, :dim]
        return engine.log_likelihood(part.half, x, block(other)[:, :dim], shares)[own]

    def log_prior(self, asked: Asked, rows: Float32) -> Float64:
        """Return the share of each of this worker's ``rows``, which are not coupled, of the log prior density."""
        part, _, _ = self._at(asked)
        own, side = part.blocks[self._place.number], part.half.side
        mine = side._replace(precision=side.precision[own], shift=side.shift[own])
        shares, x = np.empty(len(rows)), padded_rows(rows)
        if part.half.tails is None:
            log_prior_rows(0, len(rows), mine, x, shares)
        else:
            log_prior_rows_with_tails(0, len(rows), x, mine.precision, part.half.tails, shares)
        return shares

    def make(self, function: Callable[..., Any], *given: Any) -> tuple[Any, ...]:
        """Return what a function of rows returns: one block or several, and None when they are there."""
        self._check()
        made = function(*given)
        return (*made, None) if isinstance(made, tuple) else (made, None)

    def tell(self, function: Callable[..., Any], *given: Any) -> Any:
        """Return what a function of rows returns, which is small."""
        self._check()
        return function(*given)

    def line(
        self, token: int, s: float, asked: Asked, rows: Float32, direction: Float32, *other: Float32
    ) -> Float64:
        """Return the log likelihood of each own row of ``rows`` + s ``direction``; logits are kept for one token."""
        part, engine, block = self._at(asked)
        if self._line[0] != token:
            dim = rows.shape[1]
            x, d = (self._spread(each, part)[:, :dim] for each in (rows, direction))
            self._line = token, engine.line(part.half, x, d, block(other)[:, :dim])
        shares = self._line[1]
        assert shares is not None
        return shares(s)[part.blocks[self._place.number]]

    def write(self, name: str, block: int, chain: int, draw: int, *pieces: Float32 | None) -> None:
        """Write a block of rows.

        Parameters
        ----------
        name : str
            ``rho`` or ``alpha``.
        block : int
            Which block of the rows.
        chain, draw : int
            Which draw.
        *pieces : ndarray or None
            The rows of each worker, None if it has none of the block's.
        """
        part, _, _ = self._at(Asked(PURPOSES[name]))
        target = self._stored[name].blocks[block]
        first, last = target.first_row, target.first_row + target.rows
        rows = np.empty(target.shape, dtype=np.float32)
        for own, piece in zip(part.blocks, pieces, strict=True):
            if piece is not None:
                here = slice(*np.searchsorted(own, (first, last)))
                rows[own[here] - first] = piece[here]
        path = target.shard(chain, draw)
        try:
            files.write_apart(path, target.parts(rows[None]))
        except OSError as error:
            reason = error.strerror or error
            raise RunError(
                f"{platform.node()} cannot write {path} ({reason}); all committed draws are safe; make room or fix "
                "it, and resume with --resume",
                path=str(path),
            ) from None

    def _check(self) -> None:
        """Raise unless the driver knows what this is: it may have been started again on another node."""
        if not self._described:
            raise Unchecked("a worker was started again")

    def _at(self, asked: Asked) -> tuple[Part, Local, Callable[[tuple[Array, ...]], Float32]]:
        """Return a side at some scales, the engine of this process, and what puts the other side together."""
        self._check()
        purpose, scales, start_known = asked
        if not self._parts or (start_known and not self._start_known):
            run = Folder(self._run, layout.read_manifest(self._run))
            number, workers = self._place
            self._parts = {}  # their memory is free again
            self._parts = {
                each: lay_out(run, each, workers, number, start_known=start_known) for each in SIDES
            }
            self._stored = layout.stored_arrays(self._run, run.manifest)
            self._start_known = start_known
            self._tables = load_tables(run.settings.weight)
        part = self._parts[purpose]
        _, dim = part.half.side.precision.shape
        if scales and scales != part.half.scales:  # learned scales change from sweep to sweep
            part = self._parts[purpose] = part._replace(half=part.half.at(part.prior.at(scales)))
        beyond = self._parts[rng.ALPHA if purpose == rng.RHO else rng.RHO]

        return part, Local(self._threads, dim, self._tables), partial(_whole, beyond)

    def _spread(self, rows: Float32, part: Part) -> Float32:
        """Return this worker's rows at their places among all, padded; the memory of the others is not touched."""
        out = np.zeros((len(part.half.side.fixed), padded(rows.shape[1])), dtype=np.float32)
        out[part.blocks[self._place.number], : rows.shape[1]] = rows
        return out


def _whole(part: Part, blocks: tuple[Array, ...]) -> Float32:
    """Return all rows of a side, padded, from one block or from those of all workers."""
    if len(blocks) == 1:
        return padded_rows(blocks[0])
    dim = blocks[0].shape[1]
    out = np.zeros((len(part.half.side.fixed), padded(dim)), dtype=np.float32)
    for rows, block in zip(part.blocks, blocks, strict=True):
        out[rows, :dim] = block
    return out
