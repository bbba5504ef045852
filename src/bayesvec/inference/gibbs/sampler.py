"""The Gibbs sampler: every row of rho given alpha, every row of alpha given rho, then a move along the orbit.

Each row is a logistic regression on the other side's vectors; Polya-Gamma variables make it Gaussian, and its update
is overrelaxed (kernels/rows.py). Rows that the prior couples are redrawn colour by colour, or as whole trees
(redraw.py, kernels/trees.py); learned precisions are drawn after the rows (precisions.py). The chain continues from
the current value of a row, so that one inner step is exact. Restarting a row from N(0, 1/K) and taking S steps, as
the paper's Algorithm 1 does, is biased; it is here to reproduce the paper.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._types import Float32, Float64
from bayesvec.inference.contract import Problem, Sampler, Start
from bayesvec.inference.gibbs import Options
from bayesvec.inference.gibbs.precisions import (
    INTERWEAVE_EVERY,
    State,
    Workers,
    all_learned,
    draw_scales,
    interweave_scales,
    log_hyperprior,
    start_scales,
)
from bayesvec.inference.gibbs.redraw import Drawing, redraw
from bayesvec.inference.sides import Half, make_half
from bayesvec.inference.state import Info
from bayesvec.kernels import rng
from bayesvec.kernels.orbit import move_along_orbit, move_by_forms
from bayesvec.kernels.polyagamma_tables import Tables, load_tables
from bayesvec.kernels.rows import RowSide, Work, log_posterior_rows, make_work
from bayesvec.kernels.vector import padded_rows
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior


@dataclass(frozen=True, eq=False)
class Gibbs(Sampler):
    """Data and prior, laid out for the kernels; shared by all chains."""

    dim: int
    prior: Prior
    options: Options
    anchors: Anchors | None
    by_word: Half
    by_context: Half
    tables: Tables
    orbit: bool

    State: ClassVar[Any] = State

    @cached_property
    def log_prior_at_zero(self) -> float:
        """Log density of the prior where all vectors are zero, and of the scales that are learned."""
        zeros = (np.zeros(half.side.shift.shape) for half in (self.by_word, self.by_context))
        return self.prior.log_density(*zeros) + log_hyperprior(self.prior)

    def init(self, start: Start) -> State:
        """Return the first state of a chain: the one given, or N(0, 1/K) drawn for this chain."""
        key = rng.make_key(start.seed, rng.START, chain=start.chain, sweep=rng.Start.ROWS)
        sizes = len(self.by_word.names), len(self.by_context.names)
        sides = []
        for side, (given, size) in enumerate(zip((start.rho, start.alpha), sizes, strict=True)):
            if given is None:
                normals = np.empty(size * self.dim)
                rng.fill_normals(key, side, 0, normals)
                given = normals.reshape(size, self.dim) / np.sqrt(self.dim)
            sides.append(np.array(given, dtype=np.float32, order="C"))
        if self.anchors is not None:
            sides[1][self.anchors.rows] = self.anchors.values
        return State(sides[0], sides[1], start_scales(self.prior))

    def step(
        self, state: State, *, seed: int, chain: int, number: int, threads: Threads
    ) -> tuple[State, Info]:
        """Redraw all rows once and move along the orbit: one sweep.

        The result is a function of (state, seed, chain, number): the same on any number of threads.
        """
        rho, alpha = padded_rows(state.rho), padded_rows(state.alpha)
        works = [make_work(self.dim) for _ in range(threads.count)]
        current = self._at(state.scales)
        for half, rows, other in ((current.by_word, rho, alpha), (current.by_context, alpha, rho)):
            key = rng.make_key(seed, half.purpose, chain=chain, sweep=number)
            redraw(half, rows, other, Drawing(self.options, self.tables, key, works, threads))
        after = State(rho[:, : self.dim].copy(), alpha[:, : self.dim].copy(), state.scales)
        if len(state.scales):
            key = rng.make_key(seed, rng.SCALES, chain=chain, sweep=number)
            exchange = self.orbit and all_learned(self.prior)
            after = draw_scales(current.prior, after, key, exchange=exchange)
            if number % INTERWEAVE_EVERY == 0:
                workers = Workers(works, threads)
                after = interweave_scales(self.prior, after, self.by_word, key, workers)
                if not exchange and self.anchors is None:
                    after = interweave_scales(self.prior, after, self.by_context, key, workers)
            current = self._at(after.scales)
            rho, alpha = padded_rows(after.rho), padded_rows(after.alpha)
        if self.orbit:
            key = rng.make_key(seed, rng.ORBIT, chain=chain, sweep=number)
            after = current._moved(after, key)
            rho, alpha = padded_rows(after.rho), padded_rows(after.alpha)
        return after, Info(current._log_posterior(rho, alpha, works, threads))

    def _at(self, scales: Float64) -> "Gibbs":
        """Return the sampler at other values of the scales that are learned."""
        if not len(scales):
            return self
        prior = self.prior.at(scales)
        by_word, by_context = self.by_word.at(prior.rho), self.by_context.at(prior.alpha)
        return replace(self, prior=prior, by_word=by_word, by_context=by_context)

    def _moved(self, state: State, key: rng.Key) -> State:
        """Move along the orbit."""
        halves = self.by_word, self.by_context
        if all(half.coupling is None for half in halves):
            rho, alpha = move_along_orbit(
                state.rho, state.alpha, halves[0].side.precision, halves[1].side.precision, key
            )
            return State(rho, alpha, state.scales)
        # a walk's form is a small difference of large numbers: in float64
        form_rho = self.prior.rho.form(state.rho.astype(np.float64))
        form_alpha = self.prior.alpha.form(state.alpha.astype(np.float64))
        rho, alpha = move_by_forms(state.rho, state.alpha, form_rho, form_alpha, key)
        return State(rho, alpha, state.scales)

    def _log_posterior(self, rho: Float32, alpha: Float32, works: list[Work], threads: Threads) -> float:
        """Log posterior of a state: each row's share, added up in order; pairs count with their word."""
        total = self.log_prior_at_zero
        for half, rows, other, data in (
            (self.by_word, rho, alpha, True),
            (self.by_context, alpha, rho, False),
        ):
            shares = np.empty(len(rows))
            # each pair of neighbours is in the shares of both, half in each
            half_coupled = half.coupled(rows, 0.5, threads)

            def work(
                first: int,
                last: int,
                thread: int,
                side: RowSide = half_coupled,
                rows: Float32 = rows,
                other: Float32 = other,
                data: bool = data,
                shares: Float64 = shares,
            ) -> None:
                log_posterior_rows(first, last, side, rows, other, data, works[thread], shares)

            threads.run(work, threads.chunks(half.cost, half.least))
            total += float(shares.sum())
        return total


def prepare(problem: Problem) -> Gibbs:
    """Lay out data and prior for the kernels."""
    counts, prior, dim, anchors = problem.counts, problem.prior, problem.dim, problem.anchors
    options = problem.options or Options()
    anchored = np.zeros(counts.num_contexts, dtype=bool)
    if anchors is not None:
        anchored[anchors.rows] = True
    free = np.zeros(counts.num_words, dtype=bool)
    return Gibbs(
        dim=dim,
        prior=prior,
        options=options,
        anchors=anchors,
        by_word=make_half(rng.RHO, counts.words, counts.by_word, prior.rho, dim, free),
        by_context=make_half(rng.ALPHA, counts.contexts, counts.by_context, prior.alpha, dim, anchored),
        tables=load_tables(),
        orbit=options.orbit and not options.restart and anchors is None and prior.is_isotropic,
    )
