"""Draws per second on MovieLens: the paper's Table 4."""

from collections.abc import Callable, Mapping
from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import counts_seconds
from bayesvec.paper.markdown import grid, paragraphs, size
from bayesvec.paper.throughput import ROUNDS, rate_rows, said, time_draws
from bayesvec.paper.variants import options_of
from bayesvec.paper.workspace import Bench

NAME = POOL = "movielens-throughput"
SHOWS = "Table 4 (tab:throughput_movielens)"
VERSION = 2
NOTE = f"""\
{data.MOVIELENS}; the paper's version A: ratings of 3 or more are positives, all ordered pairs of a user's
movies, negatives from frequency^0.75; of its 19 million samples N are taken at random (version B has fewer
than 10^6). Prior precision 1. Words per second are draws per second times V. What is timed, and what the ways
are, is as in `throughput`. The paper's HMC at K = 100 did not finish before a time limit, so its rate is an
upper bound."""

# (K, N): samples and words per second; the paper gives HMC at K=100 as "less than".
PAPER: dict[tuple[int, int], dict[str, tuple[str, str]]] = {
    (20, 50_000): {"HMC": ("0.8333", "502.5"), "Gibbs": ("0.278", "167.5")},
    (100, 1_000_000): {"HMC": ("< 0.0069*", "< 4.19*"), "Gibbs": ("0.0267", "16.15")},
}
_MOVIES = 603


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each setting of the paper and each way."""
    if quick:
        return [_cell(20, 50_000, way, seconds=0.5, nuts=(0, 0)) for way in ("gibbs", "paper")]
    lengths = {20: (300, 200), 100: (150, 40)}
    return [
        _cell(dim, pairs, way, seconds=6.0, nuts=lengths[dim])
        for dim, pairs in PAPER
        for way in ("gibbs", "paper", "nuts")
    ]


def _cell(dim: int, pairs: int, way: str, *, seconds: float, nuts: tuple[int, int]) -> Cell:
    settings: dict[str, Any] = {
        "recipe": "A",
        "pairs": pairs,
        "dim": dim,
        "method": way,
        "options": options_of(way),
        "seed": 0,
    }
    cost = 6.0
    if way == "nuts":
        settings |= {"warmup": nuts[0], "draws": nuts[1]}
        cost += counts_seconds(way, dim, 2 * _MOVIES, min(0.7 * pairs, 200_000), sweeps=sum(nuts))
    else:
        settings |= {"seconds": seconds}
        cost += 2.5 * ROUNDS * seconds
    return Cell(f"K={dim} N={size(pairs)} {way}", settings, cost, 1 if way == "nuts" else 0)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Time the draws of one way on some of the samples."""
    seed = settings["seed"]
    counts = data.thinned(data.movielens(settings["recipe"], seed), settings["pairs"], seed)
    return time_draws(counts, settings, bench, prior_precision=1.0)


def table(results: Results) -> str:
    """Return draws and words per second beside the paper's."""
    rows: list[list[str]] = []
    ratios = []
    for dim, pairs in results.each("dim", "pairs"):
        printed = PAPER[dim, pairs]
        name = f"K={dim}, N={size(pairs)}"
        gibbs = float(printed["Gibbs"][0])
        more, least = rate_rows(results.having(dim=dim, pairs=pairs), name, _MOVIES, gibbs)
        rows += more
        rows += [[f"{name} (paper: {method})", *rates, ""] for method, rates in printed.items()]
        ratios.append(least)
    head = ["setting", "draws/s", "words/s", "over the paper's Gibbs"]
    return paragraphs(grid(head, rows), said(ratios))


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """There is no picture of this table."""
    return {}
