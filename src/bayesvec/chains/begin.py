"""What all chains begin with: the prior, a MAP, the anchors; found once and kept in the run folder."""

import hashlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, cast

import numpy as np

from bayesvec import _atomic as files
from bayesvec._progress import progress
from bayesvec._types import Array
from bayesvec.chains.display import tell
from bayesvec.chains.start import begin_at, is_given
from bayesvec.counts.pairs import PairCounts
from bayesvec.kernels import rng
from bayesvec.model.identification import AnchorChoice, Anchors, choose_anchors
from bayesvec.priors import Prior, spherical
from bayesvec.priors.arrays import from_arrays, to_arrays
from bayesvec.storage.folder import Folder, Run
from bayesvec.storage.outcome import write_outcome

START_ITERATIONS = 100  # of the MAP, enough for a start
ANCHOR_ITERATIONS = 5000  # until it has converged
JITTER = 0.5  # spread of the starts around the MAP, in units of its entries' root mean square


def find_begin(
    run: Run, counts: PairCounts, prior: Prior, *, threads: int, show: bool = False
) -> dict[str, Array]:
    """Return the MAP and the anchors that the chains begin with, found once and kept."""
    settings = run.settings
    path = run.state_file("begin")
    if path.exists():
        return _warned(files.read_arrays(path))
    arrays: dict[str, Array] = {}
    fixed = settings.identify == "fixed"
    if (settings.init == "map" and settings.sweeping) or fixed:
        from bayesvec.model.map import find_map

        if show and not sys.stderr.isatty():
            sys.stderr.write("looking for a start\n")
        with progress("looking for a start", None, enabled=show) as advance:
            found = find_map(
                counts,
                prior,
                settings.dim,
                seed=settings.seed,
                max_iterations=ANCHOR_ITERATIONS if fixed else START_ITERATIONS,
                threads=threads,
                callback=lambda _, value, slope: advance(1, f"log posterior {value:.1f}"),
            )
        if fixed:
            how = cast("AnchorChoice | list[int]", settings.anchors)
            spanning = must_span(settings.options)
            anchors = choose_anchors(found.alpha, how, seed=settings.seed, spanning=spanning)
            arrays |= {"anchor_rows": anchors.rows, "anchor_values": anchors.values}
            arrays["map_converged"] = np.asarray(found.converged)
            arrays["map_scaled_gradient"] = np.asarray(found.scaled_gradient)
        if settings.init == "map" and np.any(found.rho) and np.any(found.alpha):
            arrays |= {"rho": found.rho, "alpha": found.alpha}
    if is_given(settings.init):
        start = files.read_arrays(run.state_file("start"))
        mode = found if fixed else None
        arrays |= begin_at(start, counts, prior, settings, mode=mode, threads=threads)
    files.write(path, files.array_parts(arrays))
    return _warned(arrays)


def must_span(options: Mapping[str, Any]) -> bool:
    """Tell whether anchors must span all directions: the paper's variant fixes contexts whatever they are."""
    return not options.get("restart", False)


def _warned(begin: dict[str, Array]) -> dict[str, Array]:
    """Say it if the anchors are not where the MAP is: the draws then depend on where the search stopped."""
    if not begin.get("map_converged", True):
        far = float(begin["map_scaled_gradient"])
        tell(
            f"the MAP that the anchors are fixed at has not converged (its scaled gradient is {far:.2g}); "
            "use identify='procrustes', a larger prior precision or a smaller dim"
        )
    return begin


def find_approximation(
    run: Run,
    module: ModuleType,
    counts: PairCounts,
    prior: Prior,
    *,
    options: Any,
    anchors: Anchors | None,
    threads: int,
    show: bool = False,
) -> dict[str, Array]:
    """Return what a method that does not sweep has found about the posterior, found once and kept."""
    path = run.state_file("approximation")
    settings = run.settings
    if path.exists():
        return files.read_arrays(path)
    with progress(settings.method, None, enabled=show) as advance:
        arrays: dict[str, Array] = module.approximate(
            counts,
            prior,
            settings.dim,
            options=options,
            anchors=anchors,
            seed=settings.seed,
            chains=settings.chains,
            draws=settings.draws * settings.thin,
            warmup=settings.warmup,
            threads=threads,
            report=lambda text: advance(1, text),
        )
    write_outcome(run.path, module, arrays)  # first: where the arrays are, it is there too
    files.write(path, files.array_parts(arrays))
    return arrays


def jittered(begin: Mapping[str, Array], seed: int, chain: int) -> dict[str, Array]:
    """Return the MAP with the chain's own noise: chains that agree later on have forgotten their start."""
    key = rng.make_key(seed, rng.START, chain=chain, sweep=rng.Start.JITTER)
    result = {}
    for row, side in enumerate(("rho", "alpha")):
        noise = np.empty(begin[side].size)
        rng.fill_normals(key, row, 0, noise)
        size = np.sqrt(np.mean(np.square(begin[side], dtype=np.float64)))
        result[side] = begin[side] + JITTER * size * noise.reshape(begin[side].shape)
    return result


def prior_fingerprint(prior: Prior) -> str:
    """Return a hash of a prior: equal for equal priors."""
    return hashlib.sha256(b"".join(files.array_parts(to_arrays(prior)))).hexdigest()[:16]


def load_prior(run: Folder) -> Prior:
    """Return the prior of a run."""
    if run.settings.prior_precision is not None:
        return spherical(run.settings.prior_precision)
    return from_arrays(files.read_arrays(run.state_file("prior")), run.settings.prior_recipe)
