"""A sampler with a known law for tests of the driver: x <- 0.9 x + noise addressed by (chain, sweep)."""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesvec.inference.contract import Sampler
from bayesvec.inference.methods import Method
from bayesvec.inference.state import Info
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


class Fake(Sampler):
    State = State

    def __init__(self, problem):
        self.sizes = problem.counts.num_words, problem.counts.num_contexts
        self.dim = problem.dim
        self.options = problem.options

    def init(self, start):
        given = (start.rho, rng.RHO), (start.alpha, rng.ALPHA)
        sides = [
            noise(size, self.dim, start.seed, start.chain, 0, purpose) if rows is None else rows
            for size, (rows, purpose) in zip(self.sizes, given, strict=True)
        ]
        return State(*(np.asarray(side, np.float32) for side in sides), 0)

    def step(self, state, *, seed, chain, number, threads):
        options = self.options
        if options.delay:
            time.sleep(options.delay)
        if options.fail_at and number == options.fail_at and chain == 1:
            raise RuntimeError("planted failure")
        assert state.count == number - 1, "the loop skipped or repeated a sweep"
        sides = [
            0.9 * side + options.step * noise(len(side), self.dim, seed, chain, number, purpose)
            for side, purpose in ((state.rho, rng.RHO), (state.alpha, rng.ALPHA))
        ]
        after = State(*(side.astype(np.float32) for side in sides), number)
        return after, Info(float(-(after.rho**2).sum()))


def noise(rows, dim, seed, chain, number, purpose):
    out = np.empty(rows * dim)
    rng.fill_normals(rng.make_key(seed, purpose, chain=chain, sweep=number), 0, 0, out)
    return out.reshape(rows, dim)


METHOD = Method(
    name="fake",
    kind="sweeps",
    sentence="Draws of a stationary process.",
    use="In tests.",
    code="fake_sampler:Fake",
    options=Options,
)
