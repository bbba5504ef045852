"""Word similarity on real text: posterior means against gensim's word2vec.

Spearman's correlation of cosines with human judgements (MEN, WordSim-353 and others, and their mean over the sets of
which at least 50 pairs are known), of four point estimates: the mean of the cosines, the cosine of the mean vectors,
that after centring, and that of the point estimate which ``export`` writes; also with weight 1. gensim (skip-gram,
negative sampling, on the same tokens, vocabulary, window and number of negatives) is trained for 5 and for 20 epochs;
correlations are means over seeds. Differences from it have standard errors by resampling the judged pairs (a little
small, as pairs share words). House speeches or State of the Union addresses, and the judgements, are read from the
folder named by BAYESVEC_DATA.

Usage: python benchmarks/similarity.py [--corpus house|sotu] [--words 1000000] [--vocab 5000] [--dim 50] [--warmup 60]
       [--draws 100] [--seeds 3]
"""

import time

import numpy as np
import report
from corpora import FILES, data_folder, documents
from scipy.stats import spearmanr

import bayesvec as bv
from bayesvec.text.tokens import make_tokenizer
from bayesvec.vectors.point import point_vectors

RESAMPLES = 500
LEAST = 50  # judged pairs of a set
MEAN = "mean"  # over the sets
SETS = {
    "MEN": "EN-MEN-TR-3k.txt",
    "WS353": "EN-WS-353-ALL.txt",
    "MTurk-287": "EN-MTurk-287.txt",
    "MTurk-771": "EN-MTurk-771.txt",
    "SimLex-999": "EN-SIMLEX-999.txt",
    "SimVerb-3500": "EN-SimVerb-3500.txt",
    "YP-130": "EN-YP-130.txt",
    "Verb-143": "EN-VERB-143.txt",
    "RW": "EN-RW-STANFORD.txt",
}


def judgements(folder, words):
    """Return the judged pairs of words that are known, and their scores, by the name of the set."""
    found = {}
    for name, file in SETS.items():
        lines = [line.lower().split() for line in (folder / "wordsim" / file).read_text().splitlines()]
        found[name] = [(a, b, float(score)) for a, b, score in lines if {a, b} <= words]
    return {name: pairs for name, pairs in found.items() if len(pairs) >= LEAST or name in list(SETS)[:2]}


def cosines(judged, words, cosine):
    """Return the cosines of the pairs of each set; ``cosine`` takes two arrays of rows."""
    row = {word: number for number, word in enumerate(words)}
    rows = {name: np.array([(row[a], row[b]) for a, b, _ in pairs]).T for name, pairs in judged.items()}
    return {name: cosine(*each) for name, each in rows.items()}


def correlations(judged, found):
    """Return Spearman's correlation of cosines with the judgements of each set, and their mean."""
    each = {
        name: float(spearmanr(found[name], [score for *_, score in pairs]).statistic)
        for name, pairs in judged.items()
    }
    return {name: round(value, 4) for name, value in each.items()} | {
        MEAN: round(np.mean([*each.values()]), 4)
    }


def differences(judged, ours, theirs):
    """Return by how much our correlations are higher than the mean of theirs, with standard errors over pairs."""
    generator, results, found = np.random.default_rng(0), {}, []
    for name, pairs in judged.items():
        scores = np.array([score for *_, score in pairs])

        def difference(chosen, name=name, scores=scores):
            own, *others = (
                spearmanr(each[name][chosen], scores[chosen]).statistic for each in (ours, *theirs)
            )
            return own - np.mean(others)

        resampled = [difference(generator.integers(0, len(scores), len(scores))) for _ in range(RESAMPLES)]
        whole = difference(np.arange(len(scores)))
        found.append((whole, np.var(resampled)))
        results[name] = {"difference": round(float(whole), 4), "error": round(float(np.std(resampled)), 4)}
    mean, variance = np.mean(found, axis=0)
    error = (variance / len(found)) ** 0.5  # the sets are judged apart
    return results | {MEAN: {"difference": round(float(mean), 4), "error": round(float(error), 4)}}


def of_vectors(vectors):
    """Return a function that gives the cosines of rows of ``vectors``."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return lambda first, second: np.einsum("ij,ij->i", unit[first], unit[second])


def of_posterior(judged, texts, options, **settings):
    """Fit with these settings; return the correlations of each point estimate with the cost, and the cosines."""
    counts = bv.count(documents=texts, vocab=options.vocab, seed=0, progress=False)
    began = time.perf_counter()
    post = bv.fit(
        counts,
        dim=options.dim,
        chains=1,
        draws=options.draws,
        warmup=options.warmup,
        store="rho",
        progress=False,
        **settings,
    )
    seconds = time.perf_counter() - began
    mean = post.mean_vectors()[0]

    def mean_cosine(first, second):
        total = np.zeros(len(first))
        for _, _, block in post.draws.blocks("rho"):
            total += sum(of_vectors(draw.astype(np.float64))(first, second) for draw in block)
        return total / post.draws.num_draws

    estimates = {
        "mean cosine": mean_cosine,
        "cosine of means": of_vectors(mean),
        "centred": of_vectors(mean - mean.mean(axis=0)),
        "point": of_vectors(point_vectors(post.draws).values),
    }
    found = {name: cosines(judged, counts.words, cosine) for name, cosine in estimates.items()}
    cost = {"pairs": counts.num_pairs, "seconds": round(seconds, 1)}
    return cost | {name: correlations(judged, each) for name, each in found.items()}, found


def of_gensim(judged, sentences, kept, options, epochs):
    """Train gensim on the same tokens and vocabulary.

    Returns the mean correlations over seeds with the cost, and the cosines of each seed.
    """
    from gensim.models import Word2Vec
    from gensim.utils import RULE_DISCARD, RULE_KEEP

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
        found.append(cosines(judged, model.wv.index_to_key, of_vectors(model.wv.vectors)))
    each = [correlations(judged, one) for one in found]
    means = {name: round(float(np.mean([one[name] for one in each])), 4) for name in each[0]}
    return {"seconds": round(seconds / options.seeds, 1), "cosine": means}, found


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
    )
    folder = data_folder("wordsim", FILES[options.corpus])
    texts = documents(folder, options.corpus, options.words)
    tokenizer = make_tokenizer("words", None)
    sentences = [tokenizer.cut(text) for text in texts]
    kept = set(bv.count(documents=texts, vocab=options.vocab, seed=0, progress=False).words)
    judged = judgements(folder, kept)
    results = {"settings": vars(options), "judged": {name: len(pairs) for name, pairs in judged.items()}}
    results |= {"gensim": {}}
    theirs = {}
    for epochs in (5, 20):
        found, theirs[epochs] = of_gensim(judged, sentences, kept, options, epochs)
        results["gensim"][f"{epochs} epochs"] = found
        print(f"gensim, {epochs} epochs: {found}", flush=True)
    found, ours = of_posterior(judged, texts, options)
    found["point - gensim"] = {
        f"{epochs} epochs": differences(judged, ours["point"], each) for epochs, each in theirs.items()
    }
    results["bayesvec"] = found
    print(f"bayesvec: {found}", flush=True)
    results["weight 1"], _ = of_posterior(judged, texts, options, weight=1.0)
    print(f"with weight 1: {results['weight 1']}", flush=True)
    report.write(f"similarity-{options.corpus}", results)


if __name__ == "__main__":
    main()
