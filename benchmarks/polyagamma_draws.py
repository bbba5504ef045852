"""Polya-Gamma draws against the `polyagamma` package: mean time per draw, on the same inputs in one run.

The mixture is that of a Zipf corpus: the counts of the pairs seen when `--samples` pairs fall on words and
contexts with probability proportional to 1 / (rank + 2.7), and eta ~ N(0, 1). Ours is timed as the row update
calls it, row by row in blocks of 128, including random bits. The two alternate and the best of `--repeat`
counts, since a busy machine only makes times longer.

Usage: python benchmarks/polyagamma_draws.py [--vocab 5000] [--samples 10000000] [--repeat 7]
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import polyagamma
import report

from bayesvec.kernels.polyagamma import fill_polyagamma, load_tables, random_polyagamma
from bayesvec.kernels.rng import USER, make_key

BLOCK = 128
REQUIRED = 2.0
DRAWS = 300_000  # per timing, at most


@numba.njit(nogil=True)
def fill_rows(n, eta, key, tables, out):  # type: ignore[no-untyped-def]
    for start in range(0, len(n), BLOCK):
        stop = min(start + BLOCK, len(n))
        fill_polyagamma(n[start:stop], eta[start:stop], key, 0, start, tables, out[start:stop])


def mixture(vocab: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and tilts of the pairs seen, from as many rows as needed."""
    rng = np.random.default_rng(0)
    p = 1 / (np.arange(1, vocab + 1) + 2.7)
    p /= p.sum()
    counts: list[np.ndarray] = []
    for row in rng.permutation(vocab):
        seen = rng.poisson(samples * p[row] * p)
        counts.append(seen[seen > 0])
        if sum(map(len, counts)) >= DRAWS:
            break
    n = np.concatenate(counts)[:DRAWS].astype(np.int32)
    return n, rng.standard_normal(len(n)).astype(np.float32)


def nanoseconds(functions: dict[str, Callable[[], Any]], draws: int, repeat: int) -> dict[str, float]:
    """Return the best time per draw of each function; the functions alternate."""
    best = dict.fromkeys(functions, np.inf)
    for turn in range(repeat + 1):
        for name, function in functions.items():
            took = report.seconds(function)
            if turn:  # the first one compiles
                best[name] = min(best[name], took)
    return {name: 1e9 * seconds / draws for name, seconds in best.items()}


def compare(n: np.ndarray, eta: np.ndarray, repeat: int) -> dict[str, float]:
    """Time the kernel, our Python function and the package on the same inputs."""
    tables, key = load_tables(), make_key(0, USER)
    out = np.empty(len(n), dtype=np.float32)
    shape, tilt = n.astype(np.float64), eta.astype(np.float64)
    generator = np.random.default_rng(0)
    times = nanoseconds(
        {
            "kernel": lambda: fill_rows(n, eta, key, tables, out),
            "random_polyagamma": lambda: random_polyagamma(n, tilt),
            "package": lambda: polyagamma.random_polyagamma(shape, tilt, random_state=generator),
        },
        len(n),
        repeat,
    )
    return {**times, "ratio": times["package"] / times["kernel"]}


def main() -> None:
    options = report.options(__doc__, vocab=5000, samples=10_000_000, repeat=7)
    building = report.seconds(load_tables)
    results: dict[str, dict[str, float]] = {}
    n, eta = mixture(options.vocab, options.samples)
    results["mixture"] = compare(n, eta, options.repeat)
    for h in (1, 5, 20, 100):
        inputs = np.full(100_000, h, dtype=np.int32), np.ones(100_000, dtype=np.float32)
        results[f"h = {h}, z = 1"] = compare(*inputs, options.repeat)
    for name, row in results.items():
        print(f"{name:>14}: " + ", ".join(f"{key} {value:.1f}" for key, value in row.items()))
    print(f"tables built in {building:.2f} s")
    print(f"{results['mixture']['ratio']:.1f} times the speed of the package (required {REQUIRED:g})")
    report.write(
        "polyagamma",
        {"options": vars(options), "nanoseconds": results, "table_seconds": building, "required": REQUIRED},
    )


if __name__ == "__main__":
    main()
