"""A sampler with a known law for tests of the run loop: x <- 0.9 x + noise addressed by (chain, sweep)."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesvec.kernels import rng


@dataclass(frozen=True)
class Options:
    delay: float = 0.0  # seconds a sweep takes
    fail_at: int = 0  # sweep at which chain 1 breaks down
    step: float = 0.1


class State(NamedTuple):
    rho: Any
    alpha: Any
    count: int  # a scalar must survive a checkpoint too


class Info(NamedTuple):
    log_posterior: float


class Problem(NamedTuple):
    rows: int
    contexts: int
    dim: int
    options: Options
    anchors: Any


def prepare(counts, prior, dim, *, options, anchors=None):
    return Problem(counts.num_words, counts.num_contexts, dim, options, anchors)


def start(problem, *, seed, chain, rho=None, alpha=None):
    return State(
        np.asarray(
            noise(problem.rows, problem.dim, seed, chain, 0, rng.RHO) if rho is None else rho, np.float32
        ),
        np.asarray(
            noise(problem.contexts, problem.dim, seed, chain, 0, rng.ALPHA) if alpha is None else alpha,
            np.float32,
        ),
        0,
    )


def sweep(problem, state, *, seed, chain, number, threads):
    options = problem.options
    if options.delay:
        time.sleep(options.delay)
    if options.fail_at and number == options.fail_at and chain == 1:
        raise RuntimeError("planted failure")
    assert state.count == number - 1, "the loop skipped or repeated a sweep"
    rho = 0.9 * state.rho + options.step * noise(problem.rows, problem.dim, seed, chain, number, rng.RHO)
    alpha = 0.9 * state.alpha + options.step * noise(
        problem.contexts, problem.dim, seed, chain, number, rng.ALPHA
    )
    after = State(rho.astype(np.float32), alpha.astype(np.float32), number)
    return after, Info(float(-(after.rho**2).sum()))


def noise(rows, dim, seed, chain, number, purpose):
    out = np.empty(rows * dim)
    rng.fill_normals(rng.make_key(seed, purpose, chain=chain, sweep=number), 0, 0, out)
    return out.reshape(rows, dim)
