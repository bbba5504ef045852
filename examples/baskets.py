"""Films that the same people like (MovieLens 100K): which go together, and how sure that is.

Usage: python examples/baskets.py                       (downloads the data from GroupLens, 5 MB, once)
       python examples/baskets.py --data path/ml-100k   (or the folder or zip file that you have)

The data is for research, and is not to be passed on: Harper & Konstan (2015), doi 10.1145/2827872. Without a network,
get ml-100k.zip from https://grouplens.org/datasets/movielens/100k/ and name it with --data, or put it into the folder
that the environment variable BAYESVEC_DATA names.
"""

import argparse
import sys
from pathlib import Path

import bayesvec as bv
from bayesvec import plots
from bayesvec.errors import InputError


def main() -> int:
    """Count, fit, check, ask, draw."""
    options = read_options()
    try:
        counts = bv.datasets.movielens(options.data, min_ratings=options.min_ratings)
    except InputError as error:
        print(f"The data is not here: {error}", file=sys.stderr)
        return 2
    print(f"{counts}\n")

    post = bv.fit(counts, dim=options.dim, draws=options.draws, warmup=options.warmup, progress=False)
    print(f"{post.check()}\n")

    film = options.film if options.film in post else post.words[0]  # else the one that is rated most often
    neighbors = post.neighbors(film, n=6)
    print(f"{neighbors.title}\n{neighbors}\n")

    near, far = neighbors[0].word, neighbors[-1].word
    difference = post.similarity(film, near) - post.similarity(film, far)
    print(f"P({film} is nearer to {near} than to {far}) = {difference.probability_above(0):.2f}")

    ax = plots.plot_map(post, [film, *(row.word for row in neighbors)])
    plots.save_figure(ax, str(options.out))
    print(f"\nThe films are drawn in {options.out}: an ellipse holds 90% of a film's draws.")
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder ml-100k or the file ml-100k.zip")
    parser.add_argument("--film", default="Alien (1979)", help="a film to ask about")
    parser.add_argument("--min-ratings", type=int, default=100, help="films with at least so many ratings")
    parser.add_argument("--dim", type=int, default=5)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("films.png"), help="the picture: png, pdf or svg")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
