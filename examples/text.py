"""From a text to neighbours, similarities and a difference, each with its uncertainty, and a figure.

Usage: python examples/text.py                                 (Python's own documentation, less than a minute)
       python examples/text.py speeches.txt --words tax,war    (your text: one document per line)
"""

import argparse
from pathlib import Path

import bayesvec as bv
from bayesvec import plots


def main() -> None:
    """Count, fit, check, query, plot."""
    options = read_options()
    texts = {"texts": options.text} if options.text else {"documents": bv.datasets.python_docs()}
    counts = bv.count(**texts, vocab=options.vocab, progress=False)
    print(f"{counts}\n")

    post = bv.fit(counts, dim=options.dim, draws=options.draws, warmup=options.warmup, progress=False)
    print(f"{post.check()}\n")  # look at this before believing any answer

    word = (options.words or ["file" if not options.text else counts.words[0]])[0]
    neighbors = post.neighbors(word, n=8)
    print(f"{neighbors.title}\n{neighbors}\n")

    others = options.words[1:] or [neighbors[0].word, neighbors[-1].word]
    for estimate in post.similarity(word, others):
        print(estimate)
    if len(others) > 1:
        first, second = post.similarity(word, others[:2])
        probability = (first - second).probability_above(0)
        print(f"P({word} is nearer to {others[0]} than to {others[1]}) = {probability:.2f}")

    plots.save_figure(plots.plot_neighbors(neighbors), str(options.out))
    print(f"\nPlotted the neighbours in {options.out}.")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="*", type=Path, help="text files (default: Python's documentation)")
    parser.add_argument("--words", default="", help="a word, and others to compare it with")
    parser.add_argument("--vocab", type=int, default=500)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--draws", type=int, default=1200)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("text.png"), help="the figure: png, pdf or svg")
    options = parser.parse_args()
    options.words = [word for word in options.words.split(",") if word]
    return options


if __name__ == "__main__":
    main()
