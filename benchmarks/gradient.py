"""One gradient of the log posterior against its NumPy twin, in one run on the same data.

Usage: python benchmarks/gradient.py [--vocab 5000] [--dim 100] [--pairs 10000000] [--repeat 5]
"""

from statistics import median

import numpy as np
import report
from twin import NumpyTwin

from bayesvec import simulate
from bayesvec._parallel import Threads, default_threads
from bayesvec.model.density import Model
from bayesvec.priors import spherical

REQUIRED = 10.0


def median_seconds(work, repeat):
    """Return the median time of ``work`` after one call that is not counted, which compiles."""
    work()
    return median(report.seconds(work) for _ in range(repeat))


def main():
    options = report.options(__doc__, vocab=5000, dim=100, pairs=10_000_000, repeat=5)
    counts, truth = simulate(options.vocab, options.dim, pairs=options.pairs, zipf=True, seed=0)
    prior = spherical(float(options.dim))
    place = truth.rho.astype(np.float64), truth.alpha.astype(np.float64)
    print(f"{counts}, K = {options.dim}, {default_threads()} cores")

    model = Model(counts, prior, threads=Threads(default_threads()))
    curvature = model.curvature(*place)
    twin, sparse = NumpyTwin(counts, prior), NumpyTwin(counts, prior, "sparse")
    work = {
        "compiled": lambda: model.gradient(*place),
        "compiled, one thread": lambda: Model(counts, prior).gradient(*place),
        "NumPy twin (bincount)": lambda: twin.gradient(*place),
        "NumPy with SciPy's sparse product": lambda: sparse.gradient(*place),
        "compiled Hessian product": lambda: curvature.product(*place),
    }
    times = {name: median_seconds(each, options.repeat) for name, each in work.items()}
    for name, value in times.items():
        print(f"{name:36s} {value * 1e3:9.1f} ms   {value / times['compiled']:6.1f}x")

    ours, theirs = model.gradient(*place), twin.gradient(*place)
    error = max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in zip(ours, theirs, strict=True))
    ratio = times["NumPy twin (bincount)"] / times["compiled"]
    print(
        f"largest relative difference {error:.1e}; {ratio:.1f} times the speed of the twin (required {REQUIRED:g})"
    )
    results = {"options": vars(options), "distinct_pairs": counts.num_pairs, "seconds": times}
    report.write("gradient", results | {"ratio": ratio, "required": REQUIRED, "relative_difference": error})


if __name__ == "__main__":
    main()
