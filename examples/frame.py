"""A column of texts in a data frame (pandas here; Polars and Arrow work alike), fitted in one step.

Usage: python examples/frame.py                                        (Python's own documentation)
       python examples/frame.py reviews.csv --text-column review       (your table)
"""

import argparse
from pathlib import Path

import pandas as pd

import bayesvec as bv
from bayesvec import plots


def main() -> None:
    """Fit a column of a data frame, check, query, plot."""
    options = read_options()
    if options.table is None:
        frame = pd.DataFrame({options.text_column: bv.datasets.python_docs()})
    else:
        frame = pd.read_csv(options.table)
    frame = frame[frame[options.text_column].str.len() > 20]  # select and clean as usual

    # The same as bv.fit(bv.count(frame, text_column=..., vocab=...), dim=...); a list of strings works too.
    settings = {"dim": options.dim, "draws": options.draws, "warmup": options.warmup, "progress": False}
    post = bv.fit(frame, text_column=options.text_column, vocab=options.vocab, **settings)
    print(f"{post.check()}\n")

    word = options.word or post.words[0]
    neighbors = post.neighbors(word, n=5)
    print(f"{neighbors.title}\n{neighbors}\n")
    print(post.similarity(word, neighbors[0].word))

    plots.save_figure(plots.plot_neighbors(neighbors), str(options.out))
    print(f"\nPlotted the neighbours in {options.out}.")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path, help="a CSV file (default: Python's documentation)")
    parser.add_argument("--text-column", default="text", help="the column with the texts")
    parser.add_argument("--word", help="the word whose neighbours to find (default: the most frequent)")
    parser.add_argument("--vocab", type=int, default=None)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("frame.png"), help="the figure: png, pdf or svg")
    return parser.parse_args()


if __name__ == "__main__":
    main()
