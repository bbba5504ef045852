"""Where chains start: a short run, a MAP, anchors, vectors that were given; found once and kept by the backend."""

import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._progress import progress
from bayesvec._types import Array
from bayesvec.chains.given import is_given, start_at
from bayesvec.chains.short import SETTLING, short_run
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import RowsLost
from bayesvec.inference.contract import Report, silent
from bayesvec.inference.gibbs.precisions import start_scales
from bayesvec.inference.start import START_ITERATIONS, jitter_sizes
from bayesvec.kernels import rng
from bayesvec.model.density import Model
from bayesvec.model.identification import AnchorChoice, choose_anchors
from bayesvec.model.map import MapEstimate, conditional_sizes, find_map
from bayesvec.priors import Prior
from bayesvec.storage.memory import Store
from bayesvec.storage.settings import Settings

ANCHOR_ITERATIONS = 5000  # until the MAP has converged
MOST_LOSSES = 5  # of the rows of a short run, which then starts anew


def find_start(
    store: Store,
    counts: PairCounts,
    prior: Prior,
    *,
    threads: int,
    show: bool = False,
    warn: Report = silent,
    make_threads: Callable[[], Threads] | None = None,
) -> dict[str, Array]:
    """Return the vectors, the scales of the prior and the anchors that chains start with.

    Parameters
    ----------
    store : Store
        Where it is kept; its settings decide.
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    threads : int
        Threads to use; the result does not depend on it.
    show : bool
        Show progress.
    warn : callable, optional
        Given a warning if the MAP that anchors are taken from has not converged.
    make_threads : callable, optional
        Returns where the short run is computed, if not on threads of this process.
    """
    settings = store.settings
    start = store.read_state("begin")
    if start is None:
        start = {}
        fixed, scales = settings.identify == "fixed", start_scales(prior)
        at_mode = settings.init == "map" or (fixed and settings.init == "auto")
        mode = None
        free = settings.sweeping and not fixed
        settled = free and settings.init == "auto"
        if settled or (free and at_mode and len(scales)):
            start |= _settle(counts, prior, settings, threads=threads, show=show, make_threads=make_threads)
            scales = start["scales"]
        if fixed or (at_mode and settings.sweeping):
            mode = _find_mode(counts, prior.at(scales).gaussian, settings, threads=threads, show=show)
            if fixed:
                start |= _anchors(mode, settings)
            if at_mode and np.any(mode.rho) and np.any(mode.alpha):
                start |= {"rho": mode.rho, "alpha": mode.alpha}
        if is_given(settings.init):
            given = store.read_state("start") or {}
            start |= start_at(
                given, counts, prior.gaussian, settings, mode=mode if fixed else None, threads=threads
            )
        if "rho" in start:
            start |= _noise_sizes(start, counts, prior.at(scales), threads=threads) | {"scales": scales}
            start["noise"] = np.asarray(0.0 if settled else 1.0)
        store.write_state("begin", start)
    if not start.get("map_converged", True):  # the draws then depend on where the search stopped
        warn(
            "the MAP that the anchors are fixed at has not converged (its scaled gradient is "
            f"{float(start['map_scaled_gradient']):.2g}); use identify='procrustes', a larger prior precision or a "
            "smaller dim"
        )
    return start


def _settle(
    counts: PairCounts,
    prior: Prior,
    settings: Settings,
    *,
    threads: int,
    show: bool,
    make_threads: Callable[[], Threads] | None,
) -> dict[str, Array]:
    """Return the last state of a short run."""
    how: Any = {"dim": settings.dim, "seed": settings.seed, "threads": threads}
    if make_threads is not None:
        how["make_threads"] = lambda _: make_threads()
    for losses in itertools.count(1):
        try:
            with progress("looking for a start", SETTLING, enabled=show, announce=True) as advance:
                for state, info in short_run(counts, prior, SETTLING, **how):
                    advance(1, f"log posterior {info.log_posterior:.1f}")
                    last = state
            return {name: np.asarray(getattr(last, name)) for name in ("rho", "alpha", "scales")}
        except RowsLost:  # with a node of the cluster
            if losses == MOST_LOSSES:
                raise
    raise AssertionError


def _find_mode(
    counts: PairCounts, prior: Prior, settings: Settings, *, threads: int, show: bool
) -> MapEstimate:
    if show and not sys.stderr.isatty():
        sys.stderr.write("looking for a start\n")
    with progress("looking for a start", None, enabled=show) as advance:
        return find_map(
            counts,
            prior,
            settings.dim,
            seed=settings.seed,
            max_iterations=ANCHOR_ITERATIONS if settings.identify == "fixed" else START_ITERATIONS,
            threads=threads,
            callback=lambda _, value, slope: advance(1, f"log posterior {value:.1f}"),
        )


def _anchors(mode: MapEstimate, settings: Settings) -> dict[str, Array]:
    """Choose the anchors; only the paper's variant fixes contexts that do not span all directions."""
    how = cast("AnchorChoice | list[int]", settings.anchors)
    spanning = not settings.options.get("restart", False)
    anchors = choose_anchors(mode.alpha, how, seed=settings.seed, spanning=spanning)
    return {
        "anchor_rows": anchors.rows,
        "anchor_values": anchors.values,
        "map_converged": np.asarray(mode.converged),
        "map_scaled_gradient": np.asarray(mode.scaled_gradient),
    }


def _noise_sizes(
    start: Mapping[str, Array], counts: PairCounts, prior: Prior, *, threads: int
) -> dict[str, Array]:
    """Return about the conditional standard deviation of each coordinate at the start, (rows, K) of each side."""
    theta = np.concatenate([start["rho"], start["alpha"]]).astype(np.float64)
    with Threads(threads) as workers:
        sizes = conditional_sizes(Model(counts, prior, threads=workers), theta)
    return {"rho_sizes": sizes[: len(start["rho"])], "alpha_sizes": sizes[len(start["rho"]) :]}


def jittered(start: Mapping[str, Array], seed: int, chain: int) -> dict[str, Array]:
    """Return where a chain starts: at a point, such as a MAP, with noise of its own.

    The noise of a coordinate is about its conditional standard deviation, so that chains start with the spread that
    the posterior has. The last state of a short run has that spread already, and is taken as it is: noise in all rows
    at once would push each chain into a mode of its own, and the chains differ from their first sweep on.
    """
    key = rng.make_key(seed, rng.START, chain=chain, sweep=rng.Start.JITTER)
    result = {"scales": start["scales"]} if "scales" in start else {}
    if start.get("noise", 1.0) == 0.0:
        return result | {side: start[side] for side in ("rho", "alpha")}
    for row, side in enumerate(("rho", "alpha")):
        noise = np.empty(start[side].size)
        rng.fill_normals(key, row, 0, noise)
        own = start.get(f"{side}_sizes")
        sizes = jitter_sizes(start[side]) if own is None else own  # a run of an earlier version has none
        result[side] = start[side] + sizes * noise.reshape(start[side].shape)
    return result
