"""Your own counts: which plants grow under which trees (made-up numbers).

Usage: python examples/counts.py
"""

import argparse
from pathlib import Path

import bayesvec as bv
from bayesvec import plots

PLANTS = ("moss", "fern", "heather", "sedge", "nettle")
# Of forty plots with the tree, how many have the plant; the others are the negative samples.
PLOTS = 40
FOUND = {
    "beech": (31, 24, 2, 5, 12),
    "oak": (27, 22, 4, 8, 17),
    "birch": (12, 18, 21, 13, 6),
    "pine": (9, 11, 34, 7, 1),
    "alder": (10, 15, 1, 33, 22),
    "willow": (8, 9, 2, 29, None),  # no data on nettles under willows
}


def main() -> None:
    """Make the counts, fit, check, query, plot."""
    options = read_options()
    pairs = [
        (tree, plant, n, PLOTS - n)
        for tree, row in FOUND.items()
        for plant, n in zip(PLANTS, row, strict=True)
        if n is not None
    ]
    columns = dict(zip(("word", "context", "n_pos", "n_neg"), zip(*pairs, strict=True), strict=True))
    counts = bv.from_table(columns)
    print(f"{counts}\n")

    post = bv.fit(counts, dim=2, draws=options.draws, warmup=options.warmup, progress=False)
    print(f"{post.check()}\n")

    for estimate in post.similarities([("beech", "oak"), ("beech", "pine"), ("alder", "willow")]):
        print(estimate)
    seen = post.cooccurrence("alder", "nettle")
    unseen = post.cooccurrence("willow", "nettle")
    print(f"{seen}\n{unseen}  <- a pair without data: a prediction from the other pairs")

    ax = plots.plot_estimates([seen, unseen])
    plots.save_figure(ax, str(options.out))
    print(f"\nPlotted the two probabilities in {options.out}.")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=8000)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("counts.png"), help="the figure: png, pdf or svg")
    return parser.parse_args()


if __name__ == "__main__":
    main()
