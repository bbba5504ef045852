"""The gain of overrelaxation: ESS per thousand sweeps, by its strength.

Two chains from the truth, or from the MAP of House speeches (if they are on this machine). Cosines of
random pairs, lengths of vectors and the log posterior: the median, the worst of twenty and the worst, each the
smaller of bulk and tail ESS. A sweep takes the same time whatever the value.

Usage: python benchmarks/overrelax.py [--values 0 0.5 0.7 0.9] [--words 100000] [--sweeps 1000]
"""

import numpy as np
from chain import Chain, make_sampler
from report import options as read_options
from report import write
from threadpoolctl import threadpool_limits

from bayesvec._parallel import Threads, default_threads
from bayesvec.errors import BayesvecError
from bayesvec.estimates.convergence import ess_bulk, ess_tail
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
        print(f"House speeches are skipped: {error}")
        return
    found = find_map(counts, spherical(1.0), 50, seed=1, threads=default_threads())
    yield f"House speeches, {words:,} words, V=2,000, K=50", counts, 1.0, 50, (found.rho, found.alpha)


def watched(state, pairs, words):
    rho = state.rho.astype(np.float64)
    length = np.sqrt(np.einsum("wk,wk->w", rho, rho))
    first, second = pairs.T
    return np.einsum("pk,pk->p", rho[first], rho[second]) / (length[first] * length[second]), length[words]


def measure(counts, precision, dim, start, value, *, sweeps, threads):
    sampler = make_sampler(counts, spherical(precision), dim, overrelax=value)
    generator = np.random.default_rng(0)
    words = generator.choice(counts.num_words, size=min(100, counts.num_words), replace=False)
    pairs = np.stack([generator.choice(counts.num_words, size=2, replace=False) for _ in range(200)])
    kept = {"cosines": [], "lengths": [], "log posterior": []}
    for number in range(CHAINS):
        chain = Chain(sampler, threads, number, rho=start[0], alpha=start[1])
        chain.sweep(sweeps // 4)
        rows = []
        for _ in range(sweeps):
            chain.sweep()
            rows.append((*watched(chain.state, pairs, words), [chain.info.log_posterior]))
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
    options = read_options(__doc__, values=[0.0, 0.5, 0.7, 0.9], words=100_000, sweeps=1000)
    results = {}
    with threadpool_limits(1), Threads(default_threads()) as threads:
        for name, counts, precision, dim, start in worlds(options.words):
            results[name] = {}
            for value in options.values:
                found = measure(counts, precision, dim, start, value, sweeps=options.sweeps, threads=threads)
                results[name][f"{value:g}"] = found
                line = "; ".join(
                    f"{what} {each['median']:.0f}, {each['low']:.0f}, {each['worst']:.0f}"
                    for what, each in found.items()
                )
                print(f"{name}, {value:g}: ESS of 1000 sweeps (median, 5%, worst): {line}", flush=True)
    write("overrelax", results)


if __name__ == "__main__":
    main()
