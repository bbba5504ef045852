"""The Laplace covariance of two words at size, timed against a Gibbs sweep in the same run.

House speeches are read from the folder named by BAYESVEC_DATA; without it, a simulated Zipf world of the same size is
used. The time to the MAP, which comes first, is given separately; `--start` names an .npz with rho and alpha to start
the search from.

Usage: python benchmarks/laplace.py [--vocab 5000] [--dim 50] [--year 2010] [--words war,peac] [--start FILE]
"""

import os
import time
from statistics import median

import numpy as np
import report
from chain import Chain, make_sampler
from threadpoolctl import threadpool_limits

from bayesvec import simulate
from bayesvec._parallel import Threads, default_threads
from bayesvec.datasets.congress import congress
from bayesvec.datasets.files import VARIABLE
from bayesvec.inference.laplace.covariance import laplace_covariance
from bayesvec.inference.laplace.factor import factorise
from bayesvec.inference.laplace.space import reach_mode
from bayesvec.inference.map.method import find_map
from bayesvec.model.density import Model
from bayesvec.priors import spherical


def data(vocab, year):
    """Return the counts of one year of House speeches, or of a simulated world of as many samples."""
    if os.environ.get(VARIABLE):
        return "House speeches", congress(years=[year], vocab=vocab, seed=0, progress=False)
    return "simulated", simulate(vocab, 50, pairs=7_500_000, zipf=True, seed=0)[0]


def sweep_seconds(counts, prior, dim, place, repeats=5):
    """Return the median time of a Gibbs sweep on all cores, from the MAP."""
    with Threads(default_threads()) as threads, threadpool_limits(1, "blas"):
        chain = Chain(make_sampler(counts, prior, dim), threads, rho=place[0], alpha=place[1])
        return median([report.seconds(chain.sweep) for _ in range(repeats + 1)][1:])  # the first compiles


def against_dense(vocab=60, dim=6, pairs=100_000):
    """Return the largest error of the covariance relative to the largest entry of the dense inverse."""
    counts, _ = simulate(vocab, dim, pairs=pairs, zipf=True, seed=0)
    prior = spherical(float(dim))
    found = find_map(counts, prior, dim)
    place = found.rho, found.alpha
    rows = laplace_covariance(
        counts, prior, place, words=[counts.words[3], counts.words[40]], mode_tolerance=1e-8
    )
    mode = reach_mode(Model(counts, prior), place, None, factorise)
    hessian = -Model(counts, prior).curvature(mode.rho, mode.alpha).matrix().toarray()
    chosen = np.concatenate([row * dim + np.arange(dim) for row in (3, 40)])
    dense = np.linalg.pinv(hessian, rcond=1e-8, hermitian=True)[np.ix_(chosen, chosen)]
    return float(np.abs(rows.covariance - dense).max() / np.abs(dense).max())


class Steps:
    """Prints progress with the time."""

    def __init__(self):
        self.began = time.perf_counter()

    def __call__(self, text):
        print(f"  {time.perf_counter() - self.began:7.1f} s  {text}", flush=True)


def main():
    options = report.options(__doc__, vocab=5000, dim=50, year=2010, precision=1.0, words="", start=None)
    error = against_dense()
    print(f"against the dense inverse of a small model: relative error {error:.1g} (required 1e-6)")

    source, counts = data(options.vocab, options.year)
    words = options.words.split(",") if options.words else list(counts.words[300:302])
    prior = spherical(options.precision)
    kept = np.load(options.start) if options.start else None
    start = None if kept is None else (kept["rho"], kept["alpha"])
    found = find_map(counts, prior, options.dim, tolerance=1e-3, max_iterations=5000, init=start)
    place = found.rho, found.alpha
    print(
        f"{counts}: MAP in {found.iterations} iterations, {found.seconds:.0f} s, converged {found.converged}"
    )
    sweep = sweep_seconds(counts, prior, options.dim, place)
    began = time.perf_counter()
    rows = laplace_covariance(counts, prior, place, words=words, report=Steps())
    seconds = time.perf_counter() - began
    sweep = median([sweep, sweep_seconds(counts, prior, options.dim, place)])
    ratio = seconds / sweep
    print(f"joint covariance of {words[0]!r} and {words[1]!r}: {seconds:.1f} s, {ratio:.0f} Gibbs sweeps")
    results = {
        "source": source,
        "vocab": options.vocab,
        "dim": options.dim,
        "prior_precision": options.precision,
        "distinct_pairs": counts.num_pairs,
        "samples": counts.num_observations,
        "words": words,
        "relative_error_small_model": error,
        "map": {
            "begun_elsewhere": bool(options.start),
            "seconds_over_sweep": found.seconds / sweep,
            "iterations": found.iterations,
            "scaled_gradient": found.scaled_gradient,
        },
        "distance_to_mode": rows.distance,
        "iterations": rows.iterations,
        "seconds": seconds,
        "sweep_seconds": sweep,
        "seconds_over_sweep": ratio,
    }
    report.write("laplace", results)


if __name__ == "__main__":
    main()
