"""The MAP against SciPy's L-BFGS on the NumPy twin, from the same start, in one run.

Speed is measured over a fixed number of iterations at the large size; the objective is compared there and, at
convergence, at a smaller size.

Usage: python benchmarks/map.py [--vocab 5000] [--dim 100] [--pairs 10000000] [--iterations 15]
"""

import time
from typing import Any

import numpy as np
import report
from scipy.optimize import minimize
from twin import NumpyTwin

from bayesvec import simulate
from bayesvec.counts.pairs import PairCounts
from bayesvec.model.map import find_map
from bayesvec.priors import Prior, spherical

REQUIRED = 5.0


def reference(counts: PairCounts, prior: Prior, first: tuple[Any, Any], iterations: int, scatter: str) -> Any:
    """SciPy's L-BFGS at its own settings on the NumPy twin."""
    twin = NumpyTwin(counts, prior, scatter)
    dim, split = first[0].shape[1], counts.num_words

    def negative(flat: Any) -> tuple[float, Any]:
        theta = flat.reshape(-1, dim)
        value, to_rho, to_alpha = twin.gradient(theta[:split], theta[split:])
        return -value, -np.concatenate([to_rho, to_alpha]).ravel()

    start = np.concatenate(first).ravel()
    limits = {"maxiter": iterations, "maxfun": 100 * iterations}
    return minimize(negative, start, jac=True, method="L-BFGS-B", options=limits)


def compare(vocab: int, dim: int, pairs: int, iterations: int, scatter: str) -> dict[str, Any]:
    """Run both from the same small normals."""
    counts, _ = simulate(vocab, dim, pairs=pairs, zipf=True, seed=0)
    prior = spherical(float(dim))
    rng = np.random.default_rng(0)
    first = tuple(rng.normal(0.0, 0.1 / np.sqrt(dim), (vocab, dim)) for _ in range(2))
    find_map(counts, prior, dim, init=first, max_iterations=1)  # compiles

    ours = find_map(counts, prior, dim, init=first, max_iterations=iterations)
    keys = ("log_posterior", "iterations", "evaluations", "seconds", "scaled_gradient", "converged")
    began = time.perf_counter()
    theirs = reference(counts, prior, first, iterations, scatter)
    seconds = time.perf_counter() - began
    figures = {
        "vocab": vocab,
        "dim": dim,
        "pairs": pairs,
        "twin": scatter,
        "ours": {name: getattr(ours, name) for name in keys},
        "reference": {
            "log_posterior": -float(theirs.fun),
            "iterations": int(theirs.nit),
            "evaluations": int(theirs.nfev),
            "seconds": seconds,
        },
        "gain": ours.log_posterior + float(theirs.fun),
        "ratio": seconds / ours.seconds,
        "ratio_per_evaluation": seconds / theirs.nfev / (ours.seconds / ours.evaluations),
    }
    print(f"V = {vocab}, K = {dim}, N = {pairs:,}, twin by {scatter}")
    for name in ("ours", "reference"):
        print(f"  {name:10s} {figures[name]}")
    print(
        f"  ours is higher by {figures['gain']:.3g}, {figures['ratio']:.1f} times as fast, "
        f"{figures['ratio_per_evaluation']:.1f} times per evaluation (required {REQUIRED:g})"
    )
    return figures


def main() -> None:
    options = report.options(__doc__, vocab=5000, dim=100, pairs=10_000_000, iterations=15)
    runs = [
        compare(options.vocab, options.dim, options.pairs, options.iterations, scatter)
        for scatter in ("bincount", "sparse")
    ]
    runs.append(compare(500, 20, 1_000_000, 5000, "sparse"))
    report.write("map", {"required": REQUIRED, "runs": runs})


if __name__ == "__main__":
    main()
