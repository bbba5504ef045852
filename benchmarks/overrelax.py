"""What it gains to draw rows beyond the mean of their conditional: ESS of a thousand sweeps, by how far.

Two chains from the truth, or from the MAP of House speeches (if they are on this machine). Cosines of
random pairs, lengths of vectors and the log posterior: the median, the worst of twenty and the worst, each the
smaller of bulk and tail ESS. A sweep takes the same time whatever the value.

Usage: python benchmarks/overrelax.py [--values 0 0.5 0.7 0.9] [--words 100000] [--sweeps 1000]
"""

import argparse

import numpy as np
from report import write
from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads, default_threads
from bayesvec.errors import BayesvecError
from bayesvec.estimates.convergence import ess_bulk, ess_tail
from bayesvec.inference.contract import Problem
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.model.map import find_map
from bayesvec.paper import data
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate

CHAINS = 2


def worlds(words):
    """Yield name, counts, prior precision, K and a start."""
    for vocab, dim, pairs, zipf in (
        (100, 5, 50_000, False),
        (200, 20, 500_000, False),
        (603, 20, 50_000, True),
    ):
        counts, truth = simulate(vocab, dim, pairs=pairs, zipf=zipf, seed=0)
        name = f"V={vocab}, K={dim}, N={pairs:,}{' Zipf' if zipf else ''}"
        yield name, counts, float(dim), dim, (truth.rho, truth.alpha)
    try:
        counts = data.congress(words, 2000, 0)
    except BayesvecError as error:
        print(f"without House speeches: {error}")
        return
    found = find_map(counts, spherical(1.0), 50, seed=1, threads=default_threads())
    yield f"House speeches, {words:,} words, V=2,000, K=50", counts, 1.0, 50, (found.rho, found.alpha)


def watched(state, pairs, words):
    rho = state.rho.astype(np.float64)
    length = np.sqrt(np.einsum("wk,wk->w", rho, rho))
    first, second = pairs.T
    return np.einsum("pk,pk->p", rho[first], rho[second]) / (length[first] * length[second]), length[words]


def measure(counts, precision, dim, start, value, *, sweeps, threads):
    problem = gibbs.prepare(
        Problem(counts, spherical(precision), dim, options=gibbs.Options(overrelax=value))
    )
    generator = np.random.default_rng(0)
    words = generator.choice(counts.num_words, size=min(100, counts.num_words), replace=False)
    pairs = np.stack([generator.choice(counts.num_words, size=2, replace=False) for _ in range(200)])
    kept = {"cosines": [], "lengths": [], "log posterior": []}
    for chain in range(CHAINS):
        state = problem.init(seed=1, chain=chain, rho=start[0], alpha=start[1])
        rows = []
        for number in range(sweeps + sweeps // 4):
            state, info = problem.step(state, seed=1, chain=chain, number=number, threads=threads)
            if number >= sweeps // 4:
                rows.append((*watched(state, pairs, words), [info.log_posterior]))
        for name, values in zip(kept, zip(*rows, strict=True), strict=True):
            kept[name].append(np.array(values))
    found = {}
    for name, chains in kept.items():
        draws = np.array(chains)
        ess = np.minimum(ess_bulk(draws), ess_tail(draws)) * 1000 / (CHAINS * sweeps)
        low, middle = np.quantile(ess, [0.05, 0.5])
        found[name] = {"median": float(middle), "low": float(low), "worst": float(ess.min())}
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--values", type=float, nargs="+", default=[0.0, 0.5, 0.7, 0.9])
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--sweeps", type=int, default=1000)
    options = parser.parse_args()
    results = {}
    with threadpool_limits(1), Threads(default_threads()) as threads:
        for name, counts, precision, dim, start in worlds(options.words):
            results[name] = {}
            for value in options.values:
                found = measure(counts, precision, dim, start, value, sweeps=options.sweeps, threads=threads)
                results[name][f"{value:g}"] = found
                told = "; ".join(
                    f"{what} {each['median']:.0f}, {each['low']:.0f}, {each['worst']:.0f}"
                    for what, each in found.items()
                )
                print(f"{name}, {value:g}: ESS of 1000 sweeps (median, 5%, worst): {told}", flush=True)
    write("overrelax", results)


if __name__ == "__main__":
    main()
