"""How well chains mix and agree on real text: R-hat and ESS of cosines, by the dimension and the start.

Of all pairs of the 200 most frequent words, and of 20,000 random pairs of words: the share with R-hat above 1.05, the
worst ESS (the smaller of bulk and tail), its 1% and 5% quantiles and median, effective draws per second of processor
time, and how far the means of the chains are apart, in posterior standard deviations. Beside them, how far apart the
chains are in log posterior, and what differs between their mean vectors: the share of the first direction, of the
differences between chains and of those between halves of a chain, and the words that differ most. Chains start after
a short run, as by default, near the MAP, or at random. Texts are read from the folder named by BAYESVEC_DATA.

Usage: python benchmarks/mixing.py [--corpus house|sotu] [--words 1000000] [--vocab 1000] [--dims 10 20 50]
       [--chains 5] [--warmup 200] [--draws 200] [--starts auto random] [--threads 2] [--name mixing-house]
"""

import sys
import time

import numpy as np
import report
from corpora import FILES, data_folder, documents

import bayesvec as bv
from bayesvec.estimates.convergence import ess_bulk, ess_tail, rhat
from bayesvec.estimates.per_draw import cosines

FREQUENT = 200  # words
RANDOM = 20_000  # pairs
HIGH = 1.05  # R-hat


def pairs_of(counts):
    """Return the two kinds of pairs: of frequent words, and random."""
    frequency = np.bincount(counts.by_word.rows(), counts.by_word.n_pos, minlength=counts.num_words)
    most = np.argsort(-frequency, kind="stable")[:FREQUENT]
    first, second = np.triu_indices(len(most), 1)
    rng = np.random.default_rng(0)
    one = rng.integers(0, counts.num_words, RANDOM)
    other = (one + rng.integers(1, counts.num_words, RANDOM)) % counts.num_words
    return {"frequent": (most[first], most[second]), "random": (one, other)}


def apart(draws):
    """Return how far the means of the chains are apart, as the root mean square over quantities, in sd within."""
    between, within = draws.mean(axis=1).var(axis=0, ddof=1), draws.var(axis=1).mean(axis=0)
    return np.sqrt(np.mean(between / within))


def directions(post):
    """Return in how many directions the mean vectors of chains differ, and which words differ most.

    The rows are the words' vectors, aligned to one reference. Differences between the two halves of each chain show
    what Monte Carlo error alone looks like.
    """
    draws, shape = post.draws, (post.draws.num_chains, 2, len(post.words), post.draws.dim)
    half, means = draws.num_draws // 2, np.zeros(shape)
    for chain, first, block in draws.blocks("rho"):
        for number, draw in enumerate(block, first):
            if number < 2 * half:
                means[chain, number // half] += draw / half
    chains = means.mean(axis=1)
    between = chains - chains.mean(axis=0)
    words = np.linalg.norm(between, axis=2).max(axis=0)
    return {
        "share of the first direction, between chains": first_share(between),
        "share of the first direction, between halves": first_share(means[:, 0] - means[:, 1]),
        "words that differ most": [post.words[row] for row in np.argsort(-words)[:12]],
    }


def first_share(differences):
    """Return the share of the first principal direction of vectors, (..., K)."""
    squares = np.linalg.svd(differences.reshape(-1, differences.shape[-1]), compute_uv=False) ** 2
    return round(float(squares[0] / squares.sum()), 3)


def figures(draws, names, spent):
    """Return the figures of some quantities, and the slowest of them; ``draws`` is (chain, draw, quantity)."""
    ess = np.minimum(ess_bulk(draws), ess_tail(draws))
    rhats = rhat(draws)
    low, one, five, median = np.quantile(ess, [0.0, 0.01, 0.05, 0.5])
    return {
        "rhat above 1.05": round(float(np.mean(rhats > HIGH)), 5),
        "worst rhat": round(float(rhats.max()), 3),
        "worst ess": round(float(low), 1),
        "ess 1%": round(float(one), 1),
        "ess 5%": round(float(five), 1),
        "median ess": round(float(median), 1),
        "median ess per second": round(float(median) / spent, 3),
        "chains apart, in sd": round(float(apart(draws)), 3),
        "slowest": [names[number] for number in np.argsort(ess)[:8]],
    }


def measure(counts, dim, start, options):
    """Run the chains; return the figures of each kind of pairs."""
    began = time.process_time()
    post = bv.fit(
        counts,
        dim=dim,
        chains=options.chains,
        draws=options.draws,
        warmup=options.warmup,
        init=start,
        store="rho",
        threads=options.threads,
        progress=False,
    )
    spent = time.process_time() - began
    found = {"seconds of processor time": round(spent, 1)}
    log_posterior = post.draws.stats("log_posterior")  # (chain, draw)
    within = log_posterior.std(axis=1).mean()
    found["log posteriors apart, in sd"] = round(float(log_posterior.mean(axis=1).std() / within), 2)
    found |= directions(post)
    for kind, (first, second) in pairs_of(counts).items():
        names = [f"{counts.words[a]} {counts.words[b]}" for a, b in zip(first, second, strict=True)]
        found[kind] = figures(cosines(post.draws, first, second), names, spent)
    return found


def main():
    options = report.options(
        __doc__,
        corpus="house",
        words=1_000_000,
        vocab=1000,
        dims=[10, 20, 50],
        chains=5,
        warmup=200,
        draws=200,
        starts=["auto", "random"],
        threads=2,
        name="",
    )
    folder = data_folder(FILES[options.corpus])
    texts = documents(folder, options.corpus, options.words)
    counts = bv.count(documents=texts, vocab=options.vocab, seed=0, progress=False)
    results = {"settings": vars(options), "pairs": counts.num_pairs}
    for dim in options.dims:
        for start in options.starts:
            results[f"K = {dim}, {start}"] = found = measure(counts, dim, start, options)
            sys.stdout.write(f"K = {dim}, {start}: {found}\n")
            sys.stdout.flush()
            report.write(options.name or f"mixing-{options.corpus}", results)


if __name__ == "__main__":
    main()
