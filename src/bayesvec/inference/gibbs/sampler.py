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
from bayesvec.inference.gibbs import Options, ahead
from bayesvec.inference.gibbs.covariance import draw_precision_matrix
from bayesvec.inference.gibbs.engine import Engine, Local
from bayesvec.inference.gibbs.precisions import (
    INTERWEAVE_EVERY,
    State,
    all_learned,
    draw_scales,
    interweave_scales,
    log_hyperprior,
    start_scales,
)
from bayesvec.inference.sides import Half, make_half, movable
from bayesvec.inference.state import Info
from bayesvec.kernels import rng
from bayesvec.kernels.orbit import draw_change, shear_along_orbit
from bayesvec.kernels.polyagamma_tables import Tables, load_tables
from bayesvec.model.identification import Anchors
from bayesvec.priors import Prior, RowPrior


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
    orbit: bool  # the prior has the symmetry of the orbit
    shears: bool  # it does not, but its rows are independent

    State: ClassVar[Any] = State

    @cached_property
    def log_prior_at_zero(self) -> float:
        """Log density of the prior where all vectors are zero, and of the scales that are learned."""
        words, contexts = len(self.by_word.side.fixed), len(self.by_context.side.fixed)
        of_words = self.prior.rho.log_density_at_zero(words, self.dim)
        of_contexts = self.prior.alpha.log_density_at_zero(contexts, self.dim)
        return of_words + of_contexts + log_hyperprior(self.prior)

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
        scales = start_scales(self.prior) if start.scales is None else start.scales
        return State(sides[0], sides[1], scales)

    def step(
        self, state: State, *, seed: int, chain: int, number: int, threads: Threads
    ) -> tuple[State, Info]:
        """Redraw all rows once and move along the orbit: one sweep.

        The result is a function of (state, seed, chain, number): the same on any number of threads.
        """
        engine = threads.engine or Local(threads, self.dim, self.tables)
        current = self._at(state.scales)
        address = seed, chain, number
        rho, _ = current._redraw(engine, current.by_word, state.rho, state.alpha, address)
        alpha, likelihood = current._redraw(engine, current.by_context, state.alpha, rho, address)
        after = drawn = State(rho, alpha, state.scales)
        if self.prior.shared is not None:
            keys = [rng.make_key(seed, each, chain=chain, sweep=number) for each in (rng.SCALES, rng.ORBIT)]
            after = draw_precision_matrix(current.prior, after, keys[0], keys[1], engine, orbit=self.orbit)
            return after, Info(self._at(after.scales)._log_posterior(after, engine, drawn, likelihood))
        if len(state.scales):
            key = rng.make_key(seed, rng.SCALES, chain=chain, sweep=number)
            exchange = self.orbit and all_learned(self.prior)
            after = draw_scales(current.prior, after, key, engine, exchange=exchange)
            if number % INTERWEAVE_EVERY == 0:
                after = interweave_scales(self.prior, after, self.by_word, key, engine)
                if not exchange and self.anchors is None:
                    after = interweave_scales(self.prior, after, self.by_context, key, engine)
                drawn, likelihood = after, np.full(len(alpha), np.nan)
            current = self._at(after.scales)
        if self.orbit or self.shears:
            key = rng.make_key(seed, rng.ORBIT, chain=chain, sweep=number)
            after = current._moved(after, key, engine)
        return after, Info(current._log_posterior(after, engine, drawn, likelihood))

    def _redraw(
        self, engine: Engine, half: Half, rows: Float32, other: Float32, address: tuple[int, int, int]
    ) -> tuple[Float32, Float64]:
        """Return one side redrawn in the sweep with this (seed, chain, number), as `Engine.redraw` does."""
        seed, chain, number = address
        key = rng.make_key(seed, half.purpose, chain=chain, sweep=number)
        return engine.redraw(half, rows, other, self.options, key)

    def _at(self, scales: Float64) -> "Gibbs":
        """Return the sampler at other values of the scales that are learned."""
        if not len(scales):
            return self
        prior = self.prior.at(scales)
        by_word, by_context = self.by_word.at(prior.rho), self.by_context.at(prior.alpha)
        return replace(self, prior=prior, by_word=by_word, by_context=by_context)

    def _moved(self, state: State, key: rng.Key, engine: Engine) -> State:
        """Move along the orbit."""
        if self.shears:
            sides = self.by_word.side, self.by_context.side
            priors = [(side.precision, side.shift) for side in sides]
            rho, alpha = np.asarray(state.rho), np.asarray(state.alpha)
            return State(*shear_along_orbit(rho, alpha, priors[0], priors[1], key), state.scales)
        rho, alpha, scales = state
        form_rho = _form(self.by_word, self.prior.rho, rho, engine)
        form_alpha = _form(self.by_context, self.prior.alpha, alpha, engine)
        change, inverse = draw_change(form_rho, form_alpha, 0.5 * (len(rho) - len(alpha)), key)
        return State(engine.multiplied(rho, change), engine.multiplied(alpha, inverse), scales)

    def _log_posterior(self, state: State, engine: Engine, drawn: State, likelihood: Float64) -> float:
        """Log posterior of a state: each row's share, added up in order; pairs count with their context.

        It differs from ``drawn`` only by moves that leave the likelihood unchanged; ``likelihood`` is that of each
        context at ``drawn``, NaN where it is not known.
        """
        of_pairs = engine.log_likelihood(self.by_context, drawn.alpha, drawn.rho, likelihood)
        of_words = engine.log_prior(self.by_word, state.rho)
        of_contexts = engine.log_prior(self.by_context, state.alpha)
        return self.log_prior_at_zero + sum(float(each.sum()) for each in (of_pairs, of_words, of_contexts))


def _form(half: Half, prior: RowPrior, rows: Float32, engine: Engine) -> Float64:
    """Return rows^T P rows, (K, K), for a prior that is the same on every axis."""
    if half.coupling is not None:  # a walk's form is a small difference of large numbers: in float64
        return prior.form(np.asarray(rows, dtype=np.float64))
    precision = half.side.precision[:, 0]
    if np.all(precision == precision[0]):
        return np.asarray(precision[0] * engine.gram(rows))
    return engine.gram(rows, np.sqrt(precision))


def prepare(problem: Problem) -> Gibbs:
    """Lay out data and prior for the kernels."""
    ahead.wait()
    counts, prior, dim, anchors = problem.counts, problem.prior, problem.dim, problem.anchors
    options = problem.options or Options()
    anchored = np.zeros(counts.num_contexts, dtype=bool)
    if anchors is not None:
        anchored[anchors.rows] = True
    free = np.zeros(counts.num_words, dtype=bool)
    # with fewer rows than axes the forms are singular, and so is the move
    spanning = prior.shared is not None or min(counts.num_words, counts.num_contexts) >= dim
    moving = options.orbit and not options.restart and anchors is None and spanning
    coupled = prior.rho.coupling is not None or prior.alpha.coupling is not None
    given: dict[str, Any] = {"weight": counts.weight, "bare": problem.elsewhere}
    by_word = make_half(rng.RHO, counts.words, counts.by_word, prior.rho, dim, free, **given)
    by_context = make_half(rng.ALPHA, counts.contexts, counts.by_context, prior.alpha, dim, anchored, **given)
    if problem.near is not None and options.moves(dim) and not problem.elsewhere:
        at = prior.at(problem.near.scales)
        by_word, by_context = (
            half.at(own).at_reference(problem.near, movable(np.diff(half.side.indptr), half.side.fixed, dim))
            for half, own in ((by_word, at.rho), (by_context, at.alpha))
        )
    return Gibbs(
        dim=dim,
        prior=prior,
        options=options,
        anchors=anchors,
        by_word=by_word,
        by_context=by_context,
        tables=load_tables(counts.weight),
        orbit=moving and prior.rotates,
        shears=moving and not prior.rotates and not coupled,
    )
