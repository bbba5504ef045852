"""Cost and gain of priors over slices: time per sweep against a spherical prior, and ESS of cosines.

Both have the same rows and pairs and are timed in one run, alternating. The gain is that of redrawing all slices of a
word jointly over redrawing them one by one.

Usage: python benchmarks/priors.py [--threads 1] [--rounds 3] [--worlds NAME ...]
"""

import time
from statistics import median

import numpy as np
from chain import Chain, make_sampler
from report import options as read_options
from report import seconds as time_of
from report import write
from threadpoolctl import threadpool_limits

from bayesvec import priors
from bayesvec._parallel import Threads
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.simulation.slices import simulate_slices

# words, slices, contexts, dim, samples
WORLDS = {
    "speeches": (2000, 20, 2000, 50, 60_000_000),
    "many pairs per row": (300, 10, 300, 50, 3_000_000),
    "few pairs per row": (1000, 10, 1000, 20, 1_000_000),
    "very few": (1000, 20, 1000, 50, 500_000),
}


def cost(counts, dim, threads, rounds):
    """Return the time per sweep under each prior; the priors alternate, with enough sweeps to redraw every tree."""
    made = {
        "spherical": priors.spherical(dim),
        "dynamic": priors.dynamic(counts, precision=dim, drift_precision=20.0),
        "grouped": priors.grouped(counts, precision=dim, group_precision=20.0),
        "dynamic, learned": priors.dynamic(counts, precision="learn", drift_precision="learn"),
    }
    chains = {name: Chain(make_sampler(counts, prior, dim), threads) for name, prior in made.items()}
    every = {
        name: 1 if chain.sampler.by_word.forest is None else chain.sampler.by_word.forest.every
        for name, chain in chains.items()
    }
    taken, most = {name: [] for name in chains}, max(every.values())
    for _ in range(rounds + 1):
        for name, chain in chains.items():
            taken[name].append(time_of(lambda chain=chain: chain.sweep(most)) / most)
    seconds = {name: median(times[1:]) for name, times in taken.items()}  # the first round compiles
    return {
        "rows": counts.num_words,
        "pairs": counts.num_pairs,
        "dim": dim,
        "seconds": seconds,
        "ratio": {name: value / seconds["spherical"] for name, value in seconds.items()},
        "sweeps_from_tree_to_tree": every,
    }


def watched(rho, slices, words=100):
    """Cosines of words in the first, the middle and the last slice, and of each word with itself."""
    x = rho[: words * slices].reshape(words, slices, -1).astype(np.float64)
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    half = words // 2
    between = np.einsum("wtk,wtk->wt", x[:half], x[half:])[:, [0, slices // 2, slices - 1]]
    return np.concatenate([between.ravel(), np.einsum("wk,wk->w", x[:, 0], x[:, -1])])


def gain(counts, dim, slices, threads, *, drift, warmup, draws):
    """Return the ESS per thousand sweeps and per second, with whole random walks and row by row."""
    found = {}
    prior = priors.dynamic(counts, precision=dim, drift_precision=drift)
    for name in ("always", "never"):
        chain = Chain(make_sampler(counts, prior, dim, joint=name), threads)
        chain.sweep(warmup)
        kept, began = [], time.perf_counter()
        for _ in range(draws):
            chain.sweep()
            kept.append(watched(chain.state.rho, slices))
        seconds = time.perf_counter() - began
        ess = ess_bulk(np.array(kept)[None])
        found[name] = {
            "median_per_1000": float(np.median(ess)) * 1000 / draws,
            "worst_per_1000": float(ess.min()) * 1000 / draws,
            "worst_per_second": float(ess.min()) / seconds,
        }
    return found


def main():
    options = read_options(__doc__, threads=1, rounds=3, worlds=list(WORLDS))
    results = {"cost": {}, "gain": {}}
    with threadpool_limits(1), Threads(options.threads) as threads:
        for name in options.worlds:
            words, slices, contexts, dim, samples = WORLDS[name]
            counts, _ = simulate_slices(
                words, dim, slices=slices, pairs=samples, contexts=contexts, zipf=True, step_precision=20.0
            )
            found = results["cost"][name] = cost(counts, dim, threads, options.rounds)
            ratios = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in found["ratio"].items())
            print(f"{name}: {found['rows']:,} rows, {found['pairs']:,} pairs, K={dim}: {ratios}", flush=True)
        for samples, drift in ((12_000, 50.0), (12_000, 500.0), (120_000, 50.0), (120_000, 500.0)):
            counts, _ = simulate_slices(100, 5, slices=20, pairs=samples, step_precision=drift)
            found = gain(counts, 5, 20, threads, drift=drift, warmup=300, draws=1000)
            results["gain"][f"{samples} samples, drift precision {drift:g}"] = found
            line = ", ".join(f"{how} {figures['worst_per_1000']:.0f}" for how, figures in found.items())
            print(
                f"ESS of 1000 sweeps, worst cosine, {samples:,} samples, drift {drift:g}: {line}", flush=True
            )
    write("priors", results)


if __name__ == "__main__":
    main()
