"""What the variational methods share: where the ascent begins, its noise, and draws from the approximation.

The result of an ascent is a product of Gaussians, so draws are independent: no warm-up, nothing to converge.
Whether the ascent converged is another question, answered by the approximation itself.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bayesvec._types import Bool, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.inference.state import State
from bayesvec.kernels import rng
from bayesvec.model.identification import Anchors, to_gauge
from bayesvec.model.map import find_map
from bayesvec.priors import Prior

Report = Callable[[str], None]

MAP_ITERATIONS = 200  # enough for a start
START_SCALE = 0.3  # of the prior's standard deviation, where there is no MAP to begin at
ASCENT = 2**24 - 1  # the chain whose random numbers the ascent takes: no chain of draws has this number


def is_free(counts: PairCounts, anchors: Anchors | None) -> Bool:
    """Tell which of the stacked rows (words, then contexts) are not fixed."""
    free = np.ones(counts.num_words + counts.num_contexts, dtype=bool)
    if anchors is not None:
        free[counts.num_words + anchors.rows] = False
    return free


def find_place(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    anchors: Anchors | None,
    seed: int,
    threads: int,
    report: Report,
) -> Float64:
    """Return where the means begin, (R + C, K): near the MAP, or small random values if that is zero.

    With ``anchors`` the MAP is moved to the equivalent one that has the anchors at their values.

    Parameters
    ----------
    counts, prior, dim
        The model.
    anchors : Anchors or None
        Context rows that stay fixed.
    seed : int
        Seed of the start.
    threads : int
        Threads to use; the place does not depend on them.
    report : callable
        Told how far it is.
    """
    found = find_map(
        counts,
        prior,
        dim,
        seed=seed,
        max_iterations=MAP_ITERATIONS,
        threads=threads,
        callback=lambda iteration, *_: report(f"looking for a start: iteration {iteration}"),
    )
    rho: npt.NDArray[np.floating] = found.rho
    alpha: npt.NDArray[np.floating] = found.alpha
    usable = bool(np.any(rho) and np.any(alpha))
    if usable and anchors is not None:
        try:
            rho, alpha = to_gauge(rho, alpha, anchors)
        except OptionError:
            usable = False
    if not usable:
        rho, alpha = _random_place(counts, prior, dim, seed)
    return place_anchors(np.concatenate([rho, alpha]).astype(np.float64), counts, anchors)


def place_anchors(place: Float64, counts: PairCounts, anchors: Anchors | None) -> Float64:
    """Put the anchors at their values among the stacked rows ``place`` (R + C, K), in place."""
    if anchors is not None:
        place[counts.num_words + anchors.rows] = anchors.values
    return place


def to_state(stacked: npt.NDArray[np.floating], counts: PairCounts) -> State:
    """Take the stacked rows (R + C, K) apart."""
    sides = np.split(stacked.astype(np.float32, copy=False), [counts.num_words])
    return State(*(np.ascontiguousarray(side) for side in sides))


def _random_place(counts: PairCounts, prior: Prior, dim: int, seed: int) -> tuple[Float64, Float64]:
    key = rng.make_key(seed, rng.START, sweep=rng.Start.ASCENT)
    sides = []
    for side, rows, chosen in ((0, counts.num_words, prior.rho), (1, counts.num_contexts, prior.alpha)):
        noise = np.empty(rows * dim)
        rng.fill_normals(key, side, 0, noise)
        precision = chosen.precision_rows(rows, dim)
        mean = chosen.mean_rows(rows, dim)
        sides.append(mean + START_SCALE * noise.reshape(rows, dim) / np.sqrt(precision))
    return sides[0], sides[1]
