"""Where the loops over rows run: on the threads of this process, or on the workers of a cluster.

An engine is given one side of the problem and the vectors of both sides. What a row draws, and its share of a sum,
depend on its address alone; shares are added up by the sampler in the order of rows, and sums of products are exact
(`bayesvec.kernels.products`). So the draws are the same on every engine. The rows that an engine returns are arrays,
or stand for arrays that other processes hold: the sampler passes them on, and `numpy.asarray` gathers them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from bayesvec._parallel import WORTH_SHARING, Threads
from bayesvec._types import Float32, Float64
from bayesvec.inference.gibbs import Options
from bayesvec.inference.gibbs.redraw import Drawing, redraw
from bayesvec.inference.sides import Half, broken_row
from bayesvec.kernels import rng
from bayesvec.kernels.line import log_likelihood_rows, pair_lines
from bayesvec.kernels.polyagamma_tables import Tables
from bayesvec.kernels.products import in_units, integer_cross, largest, multiply_rows, units
from bayesvec.kernels.row_densities import fill_likelihoods, log_prior_rows
from bayesvec.kernels.row_scales import log_prior_rows_with_tails
from bayesvec.kernels.row_work import make_work
from bayesvec.kernels.vector import padded_rows


class Engine(ABC):
    """What the sampler asks for; arrays are not changed, those returned are new."""

    @abstractmethod
    def redraw(
        self, half: Half, rows: Float32, other: Float32, options: Options, key: rng.Key
    ) -> tuple[Float32, Float64]:
        """Return every row of one side redrawn given the other side, (rows, K), and their log likelihoods, (rows,).

        The likelihood of a row is NaN if its update does not compute it.
        """

    @abstractmethod
    def log_likelihood(self, half: Half, rows: Float32, other: Float32, known: Float64) -> Float64:
        """Return each row's log likelihood, (rows,); entries of ``known`` that are not NaN are kept."""

    @abstractmethod
    def log_prior(self, half: Half, rows: Float32) -> Float64:
        """Return each row's share of the log density of the prior, relative to that at zero, (rows,)."""

    @abstractmethod
    def line(
        self, half: Half, rows: Float32, direction: Float32 | Float64, other: Float32
    ) -> Callable[[float], Float64]:
        """Return a function of s: the log likelihood of the pairs of each row of rows + s direction, (rows,)."""

    @abstractmethod
    def gram(self, rows: Float32, weights: Float64 | None = None) -> Float64:
        """Return x^T x, (K, K), of rows, each times its weight, (rows,)."""

    @abstractmethod
    def multiplied(self, rows: Float32, matrix: Float64) -> Float32:
        """Return rows times a matrix, (rows, K)."""


class Local(Engine):
    """The threads of this process.

    Parameters
    ----------
    threads : Threads
        The threads.
    dim : int
        Number of axes, K.
    tables : Tables
        Of the Polya-Gamma distribution.
    """

    def __init__(self, threads: Threads, dim: int, tables: Tables) -> None:
        self.threads, self.tables = threads, tables
        self.works = [make_work(dim) for _ in range(threads.count)]

    def redraw(
        self, half: Half, rows: Float32, other: Float32, options: Options, key: rng.Key
    ) -> tuple[Float32, Float64]:
        """Return every row of one side redrawn, and their log likelihoods."""
        x = padded_rows(rows)
        drawing = Drawing(options, self.tables, key, self.works, self.threads, np.full(len(rows), np.nan))
        if broken := redraw(half, x, padded_rows(other), drawing):
            raise broken_row(half.names, broken)
        return x[:, : rows.shape[1]].copy(), drawing.likelihood

    def log_likelihood(self, half: Half, rows: Float32, other: Float32, known: Float64) -> Float64:
        """Return the log likelihood of the pairs of each row."""
        shares, (start, stop) = known.copy(), half.span
        unknown = np.isnan(shares[start:stop])
        if not unknown.any():
            return shares
        x, y = padded_rows(rows), padded_rows(other)
        self.threads.run(
            lambda first, last, thread: fill_likelihoods(
                start + first, start + last, half.side, x, y, self.works[thread], shares
            ),
            self.threads.chunks(np.where(unknown, np.diff(half.side.indptr)[start:stop] + 1, 0), half.least),
        )
        return shares

    def log_prior(self, half: Half, rows: Float32) -> Float64:
        """Return each row's share of the log density of the prior."""
        x, shares = padded_rows(rows), np.empty(len(rows))
        if half.tails is not None:
            log_prior_rows_with_tails(0, len(x), x, half.side.precision, half.tails, shares)
            return shares
        side = half.coupled(
            x, 0.5, self.threads
        )  # a pair of neighbours is in the shares of both, half in each
        self.threads.run(
            lambda first, last, _: log_prior_rows(first, last, side, x, shares),
            self.threads.chunks(np.ones(len(rows)), half.least),
        )
        return shares

    def line(
        self, half: Half, rows: Float32, direction: Float32 | Float64, other: Float32
    ) -> Callable[[float], Float64]:
        """Return the log likelihood of each row along a line."""
        side, threads = half.side, self.threads
        eta, slope = np.empty(len(side.other), np.float32), np.empty(len(side.other), np.float32)
        x, d, y = padded_rows(rows), padded_rows(direction), padded_rows(other)
        chunks = threads.chunks(np.diff(side.indptr) + 1)
        threads.run(lambda first, last, _: pair_lines(first, last, side, x, d, y, eta, slope), chunks)

        def log_likelihood(s: float) -> Float64:
            shares = np.empty(len(rows))
            threads.run(
                lambda first, last, thread: log_likelihood_rows(
                    first, last, side, eta, slope, s, self.works[thread], shares
                ),
                chunks,
            )
            return shares

        return log_likelihood

    def gram(self, rows: Float32, weights: Float64 | None = None) -> Float64:
        """Return x^T x of rows, each times its weight."""
        unit, dim = units(largest(rows, weights), len(rows)), rows.shape[1]
        totals = np.zeros((self.threads.count, dim, dim))

        def work(first: int, last: int, thread: int) -> None:
            own = None if weights is None else weights[first:last]
            totals[thread] += integer_cross(rows[first:last], None, unit, unit, own)

        self.threads.run(work, self._chunks(rows))
        return in_units(totals.sum(axis=0), unit, unit)

    def multiplied(self, rows: Float32, matrix: Float64) -> Float32:
        """Return rows times a matrix."""
        given = np.require(rows, np.float32, ["C", "W"])  # an array that is read-only would be compiled again
        square, out = np.ascontiguousarray(matrix), np.empty_like(given)
        self.threads.run(
            lambda first, last, _: multiply_rows(first, last, given, square, out), self._chunks(rows)
        )
        return out

    def _chunks(self, rows: Float32) -> list[tuple[int, int]]:
        count, dim = rows.shape
        return self.threads.chunks(np.ones(count), WORTH_SHARING / dim**2)
