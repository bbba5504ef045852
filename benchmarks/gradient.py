"""One gradient of the log posterior against its NumPy twin, in one run on the same data.

Usage: python benchmarks/gradient.py [--vocab 5000] [--dim 100] [--pairs 10000000] [--repeat 5]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import report
from twin import NumpyTwin

from bayesvec import simulate
from bayesvec._parallel import Threads, default_threads
from bayesvec.model.density import Model
from bayesvec.priors import spherical

REQUIRED = 10.0


def seconds(function: Callable[[], Any], repeat: int) -> float:
    """Median time of ``function`` after one call that is not counted (it compiles)."""
    function()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=5000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()

    counts, truth = simulate(options.vocab, options.dim, pairs=options.pairs, zipf=True, seed=0)
    prior = spherical(float(options.dim))
    place = truth.rho.astype(np.float64), truth.alpha.astype(np.float64)
    print(f"{counts}, K = {options.dim}, {default_threads()} cores")

    model = Model(counts, prior, threads=Threads(default_threads()))
    curvature = model.curvature(*place)
    twin, sparse = NumpyTwin(counts, prior), NumpyTwin(counts, prior, "sparse")
    times = {
        "compiled": seconds(lambda: model.gradient(*place), options.repeat),
        "compiled, one thread": seconds(lambda: Model(counts, prior).gradient(*place), options.repeat),
        "NumPy twin (bincount)": seconds(lambda: twin.gradient(*place), min(options.repeat, 3)),
        "NumPy with SciPy's sparse product": seconds(lambda: sparse.gradient(*place), options.repeat),
        "compiled Hessian product": seconds(lambda: curvature.product(*place), options.repeat),
    }
    for name, value in times.items():
        print(f"{name:36s} {value * 1e3:9.1f} ms   {value / times['compiled']:6.1f}x")

    ours, theirs = model.gradient(*place), twin.gradient(*place)
    error = max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in zip(ours, theirs, strict=True))
    ratio = times["NumPy twin (bincount)"] / times["compiled"]
    print(
        f"largest relative difference {error:.1e}; {ratio:.1f} times the speed of the twin (wanted {REQUIRED:g})"
    )
    report.write(
        "gradient",
        {
            "options": vars(options),
            "distinct_pairs": counts.num_pairs,
            "seconds": times,
            "ratio": ratio,
            "required": REQUIRED,
            "relative_difference": error,
        },
    )


if __name__ == "__main__":
    main()
