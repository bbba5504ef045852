"""What priors over slices cost and gain: a sweep against that of a spherical prior, and ESS of cosines.

The same rows and pairs in both, timed in turns in one run. The gain is that of redrawing all slices of a word at
once over redrawing them one by one.
"""

import argparse
import time
from statistics import median

import numpy as np
from report import write
from threadpoolctl import threadpool_limits

from bayesvec import priors
from bayesvec._parallel import Threads
from bayesvec.counts.rows import with_rows
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.inference.contract import Problem
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.simulation.slices import simulate_slices

# words, slices, contexts, dim, samples
WORLDS = {
    "speeches": (2000, 20, 2000, 50, 60_000_000),
    "many pairs a row": (300, 10, 300, 50, 3_000_000),
    "few pairs a row": (1000, 10, 1000, 20, 1_000_000),
    "very few": (1000, 20, 1000, 50, 500_000),
}


class Chain:
    def __init__(self, counts, prior, dim, threads, joint="auto"):
        options = gibbs.Options(joint=joint)
        self.problem = gibbs.prepare(Problem(with_rows(counts, prior.added), prior, dim, options=options))
        self.state = self.problem.init(seed=1, chain=0)
        self.threads, self.number = threads, 0

    def sweep(self):
        self.state, _ = self.problem.step(
            self.state, seed=1, chain=0, number=self.number, threads=self.threads
        )
        self.number += 1


def cost(counts, dim, threads, rounds):
    """Seconds of a sweep under each prior, in turns; as many sweeps a turn as bring every tree once."""
    made = {
        "spherical": priors.spherical(dim),
        "dynamic": priors.dynamic(counts, precision=dim, drift_precision=20.0),
        "grouped": priors.grouped(counts, precision=dim, group_precision=20.0),
        "dynamic, learned": priors.dynamic(counts, precision="learn", drift_precision="learn"),
    }
    chains = {name: Chain(counts, prior, dim, threads) for name, prior in made.items()}
    every = {
        name: 1 if chain.problem.by_word.forest is None else chain.problem.by_word.forest.every
        for name, chain in chains.items()
    }
    taken = {name: [] for name in chains}
    for turn in range(rounds + 1):
        for name, chain in chains.items():
            began = time.perf_counter()
            for _ in range(max(every.values())):
                chain.sweep()
            if turn:  # the first compiles and warms up
                taken[name].append((time.perf_counter() - began) / max(every.values()))
    seconds = {name: median(times) for name, times in taken.items()}
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
    """ESS of a thousand sweeps, and of a second, with whole walks and row by row."""
    found = {}
    prior = priors.dynamic(counts, precision=dim, drift_precision=drift)
    for name in ("always", "never"):
        chain = Chain(counts, prior, dim, threads, joint=name)
        for _ in range(warmup):
            chain.sweep()
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    options = parser.parse_args()
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
