"""Word similarity on real text: posterior means against gensim's word2vec, and what the counting is worth.

Spearman's correlation of cosines with human judgements (MEN, WordSim-353), of three point estimates: the mean of the
cosines, the cosine of the mean vectors, and that after centring. gensim (skip-gram, negative sampling, on the same
tokens, vocabulary, window and number of negatives) is trained for 5 and for 20 epochs, the mean of some seeds. House
speeches or State of the Union addresses, and the judgements, are read from the folder named by BAYESVEC_DATA.

Usage: python benchmarks/similarity.py [--corpus house|sotu] [--words 1000000] [--vocab 5000] [--dim 50] [--warmup 60]
       [--draws 100] [--seeds 3] [--ablation]      (--ablation: other ways of counting beside the default)
"""

import sys
import time
from collections import Counter
from itertools import chain

import numpy as np
import report
from corpora import FILES, data_folder, documents
from scipy.stats import spearmanr

import bayesvec as bv

SETS = {"MEN": "EN-MEN-TR-3k.txt", "WS353": "EN-WS-353-ALL.txt"}
PAPER = {"window": 2, "negatives": 1, "negative_power": 1.0, "subsample": None}
VARIANTS = {
    "the paper's": PAPER,
    "window 5": PAPER | {"window": 5},
    "window 5, 5 negatives": PAPER | {"window": 5, "negatives": 5},
    "window 5, 5 negatives, power 0.75": PAPER | {"window": 5, "negatives": 5, "negative_power": 0.75},
    "default": {},
    "default, 2 negatives": {"negatives": 2},
    "default, window 2": {"window": 2},
    "default, window 10": {"window": 10},
}


def judged(folder, words, cosine):
    """Return Spearman's correlation with each set of judgements; ``cosine`` takes two arrays of rows."""
    row = {word: number for number, word in enumerate(words)}
    found = {}
    for name, file in SETS.items():
        lines = [line.split() for line in (folder / "wordsim" / file).read_text().splitlines()]
        known = [
            (row[a.lower()], row[b.lower()], float(s))
            for a, b, s in lines
            if {a.lower(), b.lower()} <= row.keys()
        ]
        first, second, scores = map(np.array, zip(*known, strict=True))
        found[name] = round(float(spearmanr(cosine(first, second), scores).statistic), 4)
        found[f"{name} pairs"] = len(known)
    return found


def of_vectors(vectors):
    """Return a function that gives the cosines of rows of ``vectors``."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return lambda first, second: np.einsum("ij,ij->i", unit[first], unit[second])


def of_posterior(folder, texts, counting, options):
    """Fit with the settings given; return the correlations of each point estimate, and the cost."""
    counts = bv.count(documents=texts, vocab=options.vocab, seed=0, progress=False, **counting)
    began = time.perf_counter()
    post = bv.fit(
        counts,
        dim=options.dim,
        chains=1,
        draws=options.draws,
        warmup=options.warmup,
        store="rho",
        progress=False,
    )
    seconds = time.perf_counter() - began
    mean = post.mean_vectors()[0]

    def mean_cosine(first, second):
        total = np.zeros(len(first))
        for _, _, block in post.draws.blocks("rho"):
            total += sum(of_vectors(draw.astype(np.float64))(first, second) for draw in block)
        return total / post.draws.num_draws

    return {
        "pairs": counts.num_pairs,
        "seconds": round(seconds, 1),
        "mean cosine": judged(folder, counts.words, mean_cosine),
        "cosine of means": judged(folder, counts.words, of_vectors(mean)),
        "centred": judged(folder, counts.words, of_vectors(mean - mean.mean(axis=0))),
    }


def of_gensim(folder, texts, options, epochs):
    """Train gensim on the same tokens and vocabulary; return the mean correlations over seeds, and the cost."""
    from gensim.models import Word2Vec
    from gensim.utils import RULE_DISCARD, RULE_KEEP

    from bayesvec.text.tokens import make_tokenizer

    tokenizer = make_tokenizer("words", None)
    sentences = [tokenizer.cut(text) for text in texts]
    kept = {word for word, _ in Counter(chain.from_iterable(sentences)).most_common(options.vocab)}
    found, seconds = [], 0.0
    for seed in range(options.seeds):
        began = time.perf_counter()
        model = Word2Vec(
            sentences,
            vector_size=options.dim,
            window=5,
            min_count=1,
            trim_rule=lambda word, *_: RULE_KEEP if word in kept else RULE_DISCARD,
            sg=1,
            negative=5,
            sample=1e-3,
            epochs=epochs,
            workers=2,
            seed=seed + 1,
        )
        seconds += time.perf_counter() - began
        found.append(judged(folder, model.wv.index_to_key, of_vectors(model.wv.vectors)))
    means = {name: round(float(np.mean([each[name] for each in found])), 4) for name in found[0]}
    return {"seconds": round(seconds / options.seeds, 1), "cosine": means}


def main():
    options = report.options(
        __doc__,
        corpus="house",
        words=1_000_000,
        vocab=5000,
        dim=50,
        warmup=60,
        draws=100,
        seeds=3,
        ablation=False,
    )
    folder = data_folder("wordsim", FILES[options.corpus])
    texts = documents(folder, options.corpus, options.words)
    results = {"settings": vars(options), "gensim": {}, "bayesvec": {}}
    for epochs in (5, 20):
        results["gensim"][f"{epochs} epochs"] = found = of_gensim(folder, texts, options, epochs)
        sys.stdout.write(f"gensim, {epochs} epochs: {found}\n")
    for name in VARIANTS if options.ablation else ["default"]:
        results["bayesvec"][name] = found = of_posterior(folder, texts, VARIANTS[name], options)
        sys.stdout.write(f"{name}: {found}\n")
        sys.stdout.flush()
    report.write(f"similarity-{options.corpus}", results)


if __name__ == "__main__":
    main()
