"""Draws per second on MovieLens: the paper's Table 4."""

from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings
from bayesvec.paper.experiment import Experiment, InPaper, Results
from bayesvec.paper.throughput import rate_cells, rate_table, time_draws
from bayesvec.paper.workspace import Workspace

SHOWS = "Table 4 (tab:throughput_movielens)"
NOTE = """\
The paper's version A of MovieLens: ratings of 3 or more are positives, all ordered pairs of a user's movies,
negatives from frequency^0.75; N of its 19 million samples, at random (version B has fewer than 10^6). Prior
precision 1. Timing is as in `throughput`. The paper's HMC at K = 100 exceeded a time limit, so its rate is an
upper bound."""
CUT = """\
NUTS (5 minutes at K = 20, half an hour at K = 100 on two cores without other work)."""

# (K, N): samples and words per second; the paper gives HMC at K = 100 as "less than".
PAPER = {
    (20, 50_000): {"HMC": ("0.8333", "502.5"), "Gibbs": ("0.278", "167.5")},
    (100, 1_000_000): {"HMC": ("< 0.0069*", "< 4.19*"), "Gibbs": ("0.0267", "16.15")},
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each setting of the paper and each variant."""
    worlds = [
        {"recipe": "A", "dim": dim, "pairs": pairs, "seconds": 0.5 if quick else 6.0}
        for dim, pairs in list(PAPER)[: 1 if quick else None]
    ]
    return rate_cells(worlds, "K={dim} N={N} {method}")


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Time the draws of one variant on some of the samples."""
    seed = settings["seed"]
    counts = data.thinned(data.movielens(settings["recipe"], seed), settings["pairs"], seed)
    return time_draws(counts, settings, workspace, prior_precision=1.0)


def table(results: Results) -> str:
    """Return draws and words per second, and their ratio to the paper's."""
    return rate_table(results, "K={dim}, N={N}", PAPER, ("dim", "pairs"), vocab=data.MOVIES)


IN_PAPER = InPaper(
    2 * len(PAPER),
    "rates",
    lambda settings: (settings["dim"], settings["pairs"]) if settings["method"] == "paper" else None,
)
EXPERIMENT = Experiment(
    "movielens-throughput", SHOWS, NOTE, cells, run, table, cut=CUT, version=2, in_paper=IN_PAPER
)
