"""Films that the same people like (MovieLens 100K), with the uncertainty of every similarity.

Usage: python examples/baskets.py                       (downloads the data from GroupLens, 5 MB, once)
       python examples/baskets.py --data path/ml-100k   (or a folder or zip file that you already have)

The data are for research and may not be redistributed: Harper & Konstan (2015), doi 10.1145/2827872. Without a
network connection, get ml-100k.zip from https://grouplens.org/datasets/movielens/100k/ and pass it with --data, or
put it in the folder named by the environment variable BAYESVEC_DATA.
"""

import argparse
import sys
from pathlib import Path

import bayesvec as bv
from bayesvec import plots
from bayesvec.errors import InputError


def main() -> int:
    """Count, fit, check, query, plot."""
    options = read_options()
    try:
        counts = bv.datasets.movielens(options.data, min_ratings=options.min_ratings)
    except InputError as error:
        print(f"Data not found: {error}", file=sys.stderr)
        return 2
    print(f"{counts}\n")

    post = bv.fit(counts, dim=options.dim, draws=options.draws, warmup=options.warmup, progress=False)
    print(f"{post.check()}\n")

    film = options.film if options.film in post else post.words[0]  # by default the one with the most ratings
    neighbors = post.neighbors(film, n=6)
    print(f"{neighbors.title}\n{neighbors}\n")

    near, far = neighbors[0].word, neighbors[-1].word
    difference = post.similarity(film, near) - post.similarity(film, far)
    print(f"P({film} is nearer to {near} than to {far}) = {difference.probability_above(0):.2f}")

    ax = plots.plot_map(post, [film, *(row.word for row in neighbors)])
    plots.save_figure(ax, str(options.out))
    print(f"\nWrote a map of the films to {options.out}; each ellipse contains 90% of a film's draws.")
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder ml-100k or the file ml-100k.zip")
    parser.add_argument("--film", default="Alien (1979)", help="the film whose neighbours to find")
    parser.add_argument("--min-ratings", type=int, default=100, help="minimum number of ratings of a film")
    parser.add_argument("--dim", type=int, default=5)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("films.png"), help="the figure: png, pdf or svg")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
