"""What the variational methods share: where the ascent starts, its noise, and how stacked rows are split."""

import numpy as np
import numpy.typing as npt

from bayesvec._types import Bool, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.contract import Problem, Report
from bayesvec.inference.start import near_mode
from bayesvec.inference.state import State
from bayesvec.kernels import rng
from bayesvec.model.identification import Anchors

MAP_ITERATIONS = 200  # enough for a start
START_SCALE = 0.3  # of the prior's standard deviation, where there is no MAP to start at
ASCENT = 2**24 - 1  # the chain whose random numbers the ascent takes: no chain of draws has this number


def is_free(counts: PairCounts, anchors: Anchors | None) -> Bool:
    """Return which of the stacked rows (words, then contexts) are not fixed."""
    free = np.ones(counts.num_words + counts.num_contexts, dtype=bool)
    if anchors is not None:
        free[counts.num_words + anchors.rows] = False
    return free


def find_place(problem: Problem, *, seed: int, threads: int, report: Report) -> Float64:
    """Return where the means start, (R + C, K): near the MAP, or small random values if that is zero."""
    place = near_mode(problem, seed=seed, threads=threads, report=report, iterations=MAP_ITERATIONS)
    stacked = np.concatenate(place or _random_place(problem, seed))
    return place_anchors(stacked.astype(np.float64), problem.counts, problem.anchors)


def place_anchors(place: Float64, counts: PairCounts, anchors: Anchors | None) -> Float64:
    """Put the anchors at their values among the stacked rows ``place`` (R + C, K), in place."""
    if anchors is not None:
        place[counts.num_words + anchors.rows] = anchors.values
    return place


def to_state(stacked: npt.NDArray[np.floating], counts: PairCounts) -> State:
    """Split the stacked rows (R + C, K)."""
    sides = np.split(stacked.astype(np.float32, copy=False), [counts.num_words])
    return State(*(np.ascontiguousarray(side) for side in sides))


def _random_place(problem: Problem, seed: int) -> tuple[Float64, Float64]:
    key = rng.make_key(seed, rng.START, sweep=rng.Start.ASCENT)
    counts, prior, dim = problem.counts, problem.prior, problem.dim
    sides = []
    for side, rows, chosen in ((0, counts.num_words, prior.rho), (1, counts.num_contexts, prior.alpha)):
        noise = np.empty(rows * dim)
        rng.fill_normals(key, side, 0, noise)
        precision = chosen.precision_rows(rows, dim)
        mean = chosen.mean_rows(rows, dim)
        sides.append(mean + START_SCALE * noise.reshape(rows, dim) / np.sqrt(precision))
    return sides[0], sides[1]
