"""Speed of a Gibbs sweep: against the paper's algorithm in NumPy, against the machine's sgemm, over threads.

Everything that is compared is timed in one run, alternating, and only ratios are reported as results. Text is House
speeches, counted with the defaults, if the folder named by BAYESVEC_DATA has them; else it is simulated.

Usage: python benchmarks/sweep.py [--quick] [--words 1000000]      (--quick: smaller sizes)
"""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import polyagamma
from chain import Chain, make_sampler
from corpora import FILES, documents
from report import options, seconds, write
from threadpoolctl import threadpool_limits

import bayesvec as bv
from bayesvec._parallel import Threads, default_threads
from bayesvec.datasets.files import VARIABLE
from bayesvec.inference.contract import Near, Problem
from bayesvec.inference.gibbs.sampler import prepare
from bayesvec.kernels import rng
from bayesvec.kernels.polyagamma import fill_polyagamma
from bayesvec.model.density import Model
from bayesvec.model.map import conditional_sizes
from bayesvec.priors import covariance, spherical
from bayesvec.simulation.pairs import simulate

CORES = default_threads()


def paper_side(indptr, other, n, kappa, precision, values, dim, steps, generator):
    """Redraw one side by Algorithm 1: from N(0, 1/K), S steps, in batches of 100 rows."""
    num_rows = len(indptr) - 1
    out = np.empty((num_rows, dim))
    for first in range(0, num_rows, 100):
        last = min(first + 100, num_rows)
        begin, end = indptr[first], indptr[last]
        gathered = values[other[begin:end]]
        row_of = np.repeat(np.arange(last - first), np.diff(indptr[first : last + 1]))
        cuts = indptr[first : last + 1] - begin
        right = np.stack([gathered[a:b].T @ kappa[begin + a : begin + b] for a, b in pairwise(cuts)])
        beta = generator.normal(size=(last - first, dim)) / np.sqrt(dim)
        for _ in range(steps):
            eta = np.einsum("ik,ik->i", gathered, beta[row_of])
            omega = polyagamma.random_polyagamma(n[begin:end], eta, random_state=generator)
            weighted = gathered * omega[:, None]
            q = np.stack([gathered[a:b].T @ weighted[a:b] for a, b in pairwise(cuts)])
            q += precision * np.eye(dim)
            covariance = np.linalg.inv(q)
            mean = np.einsum("rij,rj->ri", covariance, right)
            noise = generator.normal(size=mean.shape)
            beta = mean + np.einsum("rij,rj->ri", np.linalg.cholesky(covariance), noise)
        out[first:last] = beta
    return out


def paper_sweep(counts, precision, rho, alpha, dim, steps, generator):
    for side, values, which in ((counts.by_word, alpha, 0), (counts.by_context, rho, 1)):
        n = side.n_pos + side.n_neg
        kappa = side.n_pos - 0.5 * n
        new = paper_side(side.indptr, side.other, n, kappa, precision, values, dim, steps, generator)
        rho, alpha = (new, alpha) if which == 0 else (rho, new)
    return rho, alpha


def against_paper(vocab, dim, pairs, zipf, ours_sweeps):
    """Return draws per second on all cores, chains side by side, against Algorithm 1 (S = 10) in NumPy."""
    counts, _ = simulate(vocab=vocab, dim=dim, pairs=pairs, zipf=zipf, seed=0)
    precision = float(dim)
    sampler = make_sampler(counts, spherical(precision), dim)
    chains = [Chain(sampler, Threads(1), chain) for chain in range(CORES)]
    single = Chain(sampler, Threads(1))
    generator = np.random.default_rng(0)
    rho, alpha = (generator.normal(size=(vocab, dim)) / np.sqrt(dim) for _ in range(2))
    with threadpool_limits(1):
        for chain in (*chains, single):
            chain.sweep(2)

    def both():
        with ThreadPoolExecutor(CORES) as pool:
            list(pool.map(lambda chain: chain.sweep(ours_sweeps), chains))

    paper_seconds, all_seconds, one_seconds = [], [], []
    for _ in range(3):
        paper_seconds.append(seconds(lambda: paper_sweep(counts, precision, rho, alpha, dim, 10, generator)))
        with threadpool_limits(1):
            all_seconds.append(seconds(both) / (ours_sweeps * CORES))
            one_seconds.append(seconds(lambda: single.sweep(ours_sweeps)) / ours_sweeps)
    return {
        "vocab": vocab,
        "dim": dim,
        "pairs": pairs,
        "zipf": zipf,
        "distinct_pairs": counts.num_pairs,
        "ratio": median(paper_seconds) / median(all_seconds),
        "ratio_one_core_of_ours": median(paper_seconds) / median(one_seconds),
        "our_draws_per_second": 1 / median(all_seconds),
        "paper_draws_per_second": 1 / median(paper_seconds),
    }


def sgemm_rate(threads, size=3000):
    x = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    with threadpool_limits(threads):
        x @ x
        return 2 * size**3 / seconds(lambda: x @ x, 2)


def text_counts(words, vocab):
    """Count text with the defaults; return its name and the counts."""
    folder = Path(os.environ.get(VARIABLE, ""))
    if (folder / FILES["house"]).exists():
        texts = documents(folder, "house", words)
        return "House speeches", bv.count(documents=texts, vocab=vocab, progress=False)
    texts, _ = bv.simulate_documents(words // 100, 100, vocab=vocab, seed=0)
    return "simulated", bv.count(documents=texts, vocab=vocab, progress=False)


def against_machine(counts, prior, dim, repeats):
    """Return the rate of useful operations of a sweep over that of a large sgemm; threads; Polya-Gamma."""
    sampler = make_sampler(counts, prior, dim)
    work = 2 * counts.num_pairs * dim**2
    one, two = Chain(sampler, Threads(1)), Chain(sampler, Threads(CORES))
    ratios, speedups = [], []
    with threadpool_limits(1):
        one.sweep(), two.sweep()
    for _ in range(repeats):
        rate = sgemm_rate(CORES)
        with threadpool_limits(1):
            slow, fast = seconds(one.sweep), seconds(two.sweep)
        ratios.append(work / fast / rate)
        speedups.append(slow / fast)
    same = bool(
        np.array_equal(one.state.rho, two.state.rho) and np.array_equal(one.state.alpha, two.state.alpha)
    )
    return {
        "vocab": counts.num_words,
        "dim": dim,
        "distinct_pairs": counts.num_pairs,
        "share_of_sgemm": median(ratios),
        "threads_speedup": median(speedups),
        "threads_identical": same,
        "polya_gamma": polya_gamma_ratio(sampler, two.state),
    }


def by_dynamics(counts, dim, repeats):
    """Return the time of a sweep by Hamiltonian dynamics over that of one by Polya-Gamma variables.

    Its useful operations, over the rate of a large sgemm, are the two products with each pair's vector in each
    gradient. Both sweeps are those of the default prior, on all cores.
    """
    prior, threads = covariance(dim), Threads(CORES)
    augmented = Chain(make_sampler(counts, prior, dim), threads)
    with threadpool_limits(1):
        augmented.sweep(10)
    rho, alpha, scales = augmented.state
    theta = np.concatenate([rho, alpha]).astype(np.float64)
    sizes = np.split(conditional_sizes(Model(counts, prior.at(scales), threads=threads), theta), [len(rho)])
    sampler = prepare(Problem(counts, prior, dim, near=Near(rho, alpha, *sizes, scales=scales)))
    moved = Chain(sampler, threads, rho=rho, alpha=alpha, scales=scales)
    moved.number = 1  # number 0 would be by Polya-Gamma variables
    work = 0
    for half in (sampler.by_word, sampler.by_context):
        shapes = half.near.shapes
        work += 4 * dim * int(((shapes.steps + 1) * np.diff(half.side.indptr)[shapes.row]).sum())
    ratios, shares = [], []
    with threadpool_limits(1):
        moved.sweep()
    for _ in range(repeats):
        rate = sgemm_rate(CORES)
        with threadpool_limits(1):
            one, other = seconds(moved.sweep), seconds(augmented.sweep)
        ratios.append(one / other)
        shares.append(work / one / rate)
    return {"time_over_augmented": median(ratios), "share_of_sgemm": median(shares)}


def polya_gamma_ratio(sampler, state):
    """Return the time per draw at this setting's own (n, eta), against the package's default, on one core each."""
    side = sampler.by_word.side
    row_of = np.repeat(np.arange(len(side.indptr) - 1), np.diff(side.indptr))
    eta = np.einsum("ik,ik->i", state.rho[row_of], state.alpha[side.other])
    out = np.empty_like(eta)
    key = rng.make_key(1, rng.USER)
    generator = np.random.default_rng(0)
    fill_polyagamma(side.n[:64], eta[:64], key, 0, 0, sampler.tables, out[:64])
    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds(lambda: fill_polyagamma(side.n, eta, key, 0, 0, sampler.tables, out)))
        theirs.append(seconds(lambda: polyagamma.random_polyagamma(side.n, eta, random_state=generator)))
    return {"ours_over_package": median(ours) / median(theirs), "ns_a_draw": 1e9 * median(ours) / len(eta)}


def growth(base, sizes):
    """Return the slope of log sweep time over the log of distinct pairs, of the vocabulary or of the dimension.

    Those of the vocabulary are at a fixed number of distinct pairs for each word.
    """
    found = {}
    for name, values in sizes.items():
        points = []
        for value in values:
            world = base | {name: value}
            world["pairs"] = world["pairs"] * world["vocab"] // base["vocab"]
            counts, _ = simulate(**world, zipf=True, seed=0)
            chain = Chain(make_sampler(counts, spherical(float(world["dim"])), world["dim"]), Threads(CORES))
            with threadpool_limits(1):
                chain.sweep()
                size = counts.num_pairs if name == "pairs" else value
                points.append((size, min(seconds(chain.sweep) for _ in range(5))))
        x, y = np.log(np.array(points)).T
        found[name] = {"sizes": [point[0] for point in points], "slope": float(np.polyfit(x, y, 1)[0])}
    return found


def main():
    given = options(__doc__, quick=False, words=1_000_000)
    quick = given.quick
    vocab, pairs = (2000, 10**6) if quick else (5000, 10**7)
    world, _ = simulate(vocab=vocab, dim=100, pairs=pairs, zipf=True, seed=0)
    name, text = text_counts(given.words // 10 if quick else given.words, vocab)
    results = {
        "against_paper": [
            against_paper(100, 5, 50_000, False, 200),
            against_paper(200, 20, 500_000, False, 40),
            against_paper(603, 100, 100_000 if quick else 1_000_000, True, 4),
        ],
        "against_machine": {"pairs": pairs, **against_machine(world, spherical(100.0), 100, 5)},
        "text": {"source": name, "words": given.words},
        "on_text": [
            against_machine(text, spherical("learn"), dim, 5) | {"dynamics": by_dynamics(text, dim, 5)}
            for dim in (20, 50, 100)
        ],
        "growth": growth(
            {"vocab": 2000, "dim": 50, "pairs": 10**6},
            {"pairs": (10**5, 10**6, 3 * 10**6), "vocab": (1000, 2000, 4000), "dim": (25, 50, 100)},
        ),
    }
    for row in results["against_paper"]:
        size = f"V={row['vocab']} K={row['dim']} N={row['pairs']:,}"
        print(f"{size}: {row['ratio']:.0f}x the draws per second of the paper's algorithm in NumPy")
    for where, row in (("Zipf", results["against_machine"]), *((name, row) for row in results["on_text"])):
        print(
            f"{where}, {row['distinct_pairs']:,} pairs, K={row['dim']}: {row['share_of_sgemm']:.2f} of the machine's "
            f"sgemm rate, {CORES} threads over one {row['threads_speedup']:.2f}x, identical: "
            f"{row['threads_identical']}"
        )
    for row in results["on_text"]:
        print(
            f"{name}, K={row['dim']}: a sweep by Hamiltonian dynamics takes "
            f"{row['dynamics']['time_over_augmented']:.2f} of the time, at "
            f"{row['dynamics']['share_of_sgemm']:.2f} of the sgemm rate"
        )
    machine = results["against_machine"]
    print(f"Polya-Gamma, time over the package's: {machine['polya_gamma']['ours_over_package']:.3f}")
    for what, found in results["growth"].items():
        print(f"growth of a sweep over {what}: slope {found['slope']:.2f}")
    write("sweep", results)


if __name__ == "__main__":
    main()
