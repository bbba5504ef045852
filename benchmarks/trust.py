"""Time from text to a posterior that passes `check`, against one gensim fit and a bootstrap of fifty.

Both count the same documents with the same vocabulary, window, negatives and subsampling, on the same processors.
bayesvec runs as a command with all other defaults, until it is long enough or at a limit; gensim (skip-gram,
negative sampling, 5 epochs, two workers) is one point estimate, and the bootstrap is fifty of them. Every fit is a
process of its own, text to vectors. Peak memory, and the disk that a run takes, stand beside the times. With several
sizes of words, vocabulary or dimension the table ends in the slopes of log time over the log of each.

Stan, nutpie and SMURFF are compared elsewhere (benchmarks/ess.py has nutpie).

Usage: python benchmarks/trust.py [--corpus house|sotu] [--words 1000000 ...] [--vocab 5000 ...] [--dim 50 ...]
       [--repeat 3] [--fits 50] [--seed 1] [--name trust]
       (--repeat: gensim fits of which the median is taken; --name: of the record)
"""

import itertools
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import report
from corpora import FILES, data_folder, documents

EPOCHS, WORKERS = 5, 2
ONE_LINE = str.maketrans("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", " " * 10)

# a process of its own, so that its time and memory are those of one fit: file, V, K, seed
GENSIM = f"""
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from gensim.models import Word2Vec
from gensim.utils import RULE_DISCARD, RULE_KEEP
from bayesvec.text.tokens import make_tokenizer
path, vocab, dim, seed = sys.argv[1], *map(int, sys.argv[2:])
cut = make_tokenizer("words", None).cut
sentences = [cut(line) for line in Path(path).read_text(encoding="utf-8").split(chr(10))]
kept = {{word for word, _ in Counter(chain.from_iterable(sentences)).most_common(vocab)}}
Word2Vec(
    sentences, vector_size=dim, window=5, min_count=1, sg=1, negative=5, sample=1e-3, epochs={EPOCHS},
    workers={WORKERS}, seed=seed, trim_rule=lambda word, *_: RULE_KEEP if word in kept else RULE_DISCARD,
)
"""


def disk(folder):
    """Return the bytes of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def fit(path, folder, vocab, dim, seed):
    """Fit with all other defaults; return the cost and whether the run was long enough."""
    out = folder / "run"
    given = ["--vocab", vocab, "--dim", dim, "--seed", seed, "--out", out, "--force", "--quiet", "--json"]
    figures, printed = report.run([*report.BAYESVEC, "fit", path, *given])
    kept = json.loads(printed)
    return {
        **figures,
        "disk_mb": disk(out) / 1e6,
        "pairs": kept["pairs"],
        "draws": kept["draws"],
        "warmup": kept["settings"]["warmup"],
        "thin": kept["settings"]["thin"],
        "long_enough": kept["check"]["ok"],
        "verdict": kept["check"]["verdict"],
    }


def gensim(path, vocab, dim, repeat):
    """Return the median cost of one fit of gensim."""
    runs = [
        report.run([sys.executable, "-c", GENSIM, path, vocab, dim, seed + 1])[0] for seed in range(repeat)
    ]
    return {name: median(run[name] for run in runs) for name in runs[0]}


def slopes(rows):
    """Return the slope of log time over the log of each size that varies, the others as they are."""
    found = {}
    for name in ("words", "vocab", "dim"):
        if len({row[name] for row in rows}) > 1:
            names = [other for other in ("words", "vocab", "dim") if len({row[other] for row in rows}) > 1]
            x = np.log([[row[other] for other in names] + [np.e] for row in rows])
            for what in ("bayesvec", "gensim"):
                y = np.log([row[what]["seconds"] for row in rows])
                found[f"{what}, {name}"] = float(np.linalg.lstsq(x, y, rcond=None)[0][names.index(name)])
    return found


def main():
    options = report.options(
        __doc__, corpus="house", words=[1_000_000], vocab=[5000], dim=[50], repeat=3, fits=50, seed=1, name=""
    )
    folder = data_folder(FILES[options.corpus])
    rows = []
    for words in options.words:
        texts = [text.translate(ONE_LINE) for text in documents(folder, options.corpus, words)]
        for vocab, dim in itertools.product(options.vocab, options.dim):
            with tempfile.TemporaryDirectory() as name:
                path = Path(name) / "documents.txt"
                path.write_text("\n".join(texts) + "\n", encoding="utf-8")
                one = gensim(path, vocab, dim, options.repeat)
                ours = fit(path, Path(name), vocab, dim, options.seed)
            ratio = ours["seconds"] / one["seconds"]
            row = {"words": words, "vocab": vocab, "dim": dim, "bayesvec": ours, "gensim": one}
            rows.append(row | {"times_one_fit": ratio, "of_bootstrap": ratio / options.fits})
            print(
                f"{words:,} words, V = {vocab:,}, K = {dim}: {ours['seconds']:.0f} s "
                f"({'' if ours['long_enough'] else 'not '}long enough), {ratio:.0f} times one gensim fit of "
                f"{one['seconds']:.1f} s, {ratio / options.fits:.2f} of {options.fits}; peak "
                f"{ours['peak_mb']:.0f} MB against {one['peak_mb']:.0f}, {ours['disk_mb']:.0f} MB on disk",
                flush=True,
            )
    found = slopes(rows)
    for name, slope in found.items():
        print(f"slope of log seconds: {name}: {slope:.2f}")
    name = "trust" if options.corpus == "house" else f"trust-{options.corpus}"
    report.write(options.name or name, {"settings": vars(options), "rows": rows, "slopes": found})


if __name__ == "__main__":
    main()
