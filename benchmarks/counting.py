"""What each default of counting is worth on real text: window, negatives, subsampling and vocabulary, one at a time.

Each variant is fitted to the same documents by one chain, with the same weight of a sample, and judged by

- word similarity: Spearman's correlation of the cosines of the centred mean vectors with human judgements;
- hold-out: mean log probability of a context within 5 words of a word, in documents that were not fitted, averaged
  over draws, less that of the frequencies alone. Counting changes what a logit means, so they are turned into
  probabilities: with k negatives in proportion to q(v), and words kept with probability s(v), the logit estimates
  log P(v | w) s(v) / (k q(v)) up to a constant of w. The standard error is over groups of held-out documents;
- cost: the number of distinct pairs, to which the time of a sweep is proportional;
- width: the median posterior standard deviation of the cosines of random pairs, in units of their spread over pairs;
- negatives: for some variants, the share of the variance of such a cosine that is due to the negatives drawn (and to
  which words subsampling kept): of a second fit with another seed of counting.

Usage: python benchmarks/counting.py [--corpus house|python-docs] [--words 1000000] [--dim 50] [--warmup 30]
       [--draws 40] [--weight 0.7] [--variants default ...] [--name counting-house]
"""

import numpy as np
import report
from corpora import FILES, PYTHON_DOCS, data_folder, documents
from scipy.special import logsumexp
from similarity import correlations, cosines, judgements, of_vectors

import bayesvec as bv
from bayesvec.counts.options import PairOptions
from bayesvec.counts.windows import keep_probability, negative_weight
from bayesvec.vectors.point import point_vectors

HELD_OUT = 0.2  # of the documents
GROUPS = 20  # of held-out documents
AVERAGED = 20  # draws
PAIRS = 2000
VOCAB = 5000  # also that of the judged and of the held-out words
PAPER = {"window": 2, "negatives": 1, "negative_power": 1.0, "subsample": None}
VARIANTS = {
    "default": {},
    "window 2": {"window": 2},
    "window 10": {"window": 10},
    "1 negative": {"negatives": 1},
    "2 negatives": {"negatives": 2},
    "10 negatives": {"negatives": 10},
    "power 1": {"negative_power": 1.0},
    "power 0.5": {"negative_power": 0.5},
    "no subsampling": {"subsample": None},
    "subsample 1e-4": {"subsample": 1e-4},
    "vocab 10,000": {"vocab": 10_000},
    "the paper's": PAPER,
}
TWICE = {"default", "1 negative"}


def fit(texts, settings, options, seed=0):
    """Count the texts and run one chain."""
    counts = bv.count(documents=texts, seed=seed, progress=False, **({"vocab": VOCAB} | settings))
    post = bv.fit(
        counts,
        dim=options.dim,
        chains=1,
        draws=options.draws,
        warmup=options.warmup,
        weight=options.weight,
        progress=False,
    )
    return counts, post


def log_base(counts, size):
    """Return log q(v) / s(v) of the first ``size`` contexts, up to a constant."""
    chosen = PairOptions(**counts.source.options)
    frequency = counts.source.frequency
    keep = keep_probability(frequency, chosen.threshold(counts.num_words, int(frequency.sum())))
    return np.log(negative_weight(frequency, chosen.negative_power)[:size] / keep[:size])


def held_out_pairs(texts, words):
    """Return (words, contexts, samples) of each group of held-out documents, windows of 5 without subsampling."""
    found = []
    for group in range(GROUPS):
        counts = bv.count(
            documents=texts[group::GROUPS], vocabulary=words, negatives=0, subsample=None, progress=False
        )
        found.append((counts.by_word.rows(), counts.by_word.other, counts.by_word.n_pos))
    return found


def hold_out(counts, post, pairs, words):
    """Return the mean log probability of held-out contexts less that of frequencies alone, and its standard error."""
    assert counts.words[: len(words)] == tuple(words)
    size, chosen = len(words), np.linspace(0, post.rho.shape[1] - 1, AVERAGED).astype(int)
    base = log_base(counts, size)
    total = np.zeros((size, size))
    for draw in chosen:
        logits = post.rho[0, draw, :size] @ post.alpha[0, draw, :size].T + base  # (words, contexts)
        total += np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    log_probability = np.log(total / len(chosen))
    alone = np.log(counts.source.frequency[:size] / counts.source.frequency[:size].sum())
    scores = []
    for word, context, samples in pairs:
        gain = log_probability[word, context] - alone[context]
        scores.append(float(np.average(gain, weights=samples)))
    return {
        "mean": round(float(np.mean(scores)), 4),
        "error": round(float(np.std(scores, ddof=1) / GROUPS**0.5), 4),
    }


def of_random_pairs(post, size):
    """Return mean and variance of the cosines of random pairs of the first ``size`` words."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, size, PAIRS)
    second = (first + rng.integers(1, size, PAIRS)) % size
    draws = np.array([of_vectors(draw)(first, second) for draw in post.rho[0, :, :size]])  # (draw, pair)
    return draws.mean(axis=0), draws.var(axis=0, ddof=1)


def measure(name, texts, pairs, judged, words, options):
    """Return the figures of one variant."""
    settings = VARIANTS[name]
    counts, post = fit(texts, settings, options)
    centred = of_vectors(point_vectors(post.draws, what="centred").values)
    found = {
        "pairs": counts.num_pairs,
        "similarity": correlations(judged, cosines(judged, counts.words, centred)),
    }
    found["hold-out"] = hold_out(counts, post, pairs, words)
    means, variances = of_random_pairs(post, len(words))
    found["width"] = round(float(np.median(np.sqrt(variances)) / means.std()), 3)
    if name in TWICE:
        again, _ = of_random_pairs(fit(texts, settings, options, seed=1)[1], len(words))
        monte_carlo = 2 * variances / options.draws  # nearly: cosines mix as fast as independent draws
        drawn = 0.5 * np.maximum(np.square(means - again).mean() - monte_carlo.mean(), 0.0)
        found["due to negatives"] = round(float(drawn / (drawn + variances.mean())), 3)
    return found


def main():
    options = report.options(
        __doc__,
        corpus="house",
        words=1_000_000,
        dim=50,
        warmup=30,
        draws=40,
        weight=0.7,
        variants=list(VARIANTS),
        name="",
    )
    folder = data_folder("wordsim", *([] if options.corpus == PYTHON_DOCS else [FILES[options.corpus]]))
    texts = documents(folder, options.corpus, round(options.words / (1 - HELD_OUT)))
    kept = round(len(texts) * (1 - HELD_OUT))
    words = bv.count(documents=texts[:kept], vocab=VOCAB, progress=False).words
    judged = judgements(folder, set(words))
    pairs = held_out_pairs(texts[kept:], list(words))
    results = {"settings": vars(options), "judged": {name: len(each) for name, each in judged.items()}}
    for name in options.variants:
        results[name] = measure(name, texts[:kept], pairs, judged, words, options)
        print(f"{name}: {results[name]}", flush=True)
        report.write(options.name or f"counting-{options.corpus}", results)


if __name__ == "__main__":
    main()
