"""Whether it matters which contexts are fixed: the paper's figure of the sensitivity to the rotational fix."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesvec.convergence import rhat
from bayesvec.experiments import data
from bayesvec.experiments.bench import Bench
from bayesvec.experiments.cells import Cell, Results, unpack
from bayesvec.experiments.congress_cosines import (
    POOL,
    VERSION,
    WORDS,
    all_cells,
    cosine_table,
    draw_cosines,
)
from bayesvec.experiments.congress_cosines import run as run_cosines
from bayesvec.experiments.markdown import NOT_RUN, NOTHING, grid, paragraphs
from bayesvec.experiments.ways import WAYS

__all__ = ["NAME", "NOTE", "PAPER", "POOL", "SHOWS", "VERSION", "cells", "figures", "run", "table"]

NAME = "anchors"
SHOWS = "Figure 9 (fig:cossim_speak_law_sensitivity)"
NOTE = f"""\
The data is that of `congress-cosines` (whose records these are), K = 50, 500,000 samples: {data.CONGRESS}.
The paper fixes the last K contexts at the MAP in one run and K random ones in another, and finds an R-hat of
1.0012 between the two for both cosines. Here R-hat is the rank-normalised split R-hat over all four chains of
two runs (Vehtari et al. 2021), for the paper's algorithm (restart, S = 10), for ours with contexts fixed, and
between fixed and free. Not possible (n/a) where the MAP of those contexts spans fewer than K directions."""

PAPER = {("speak", "law"): 1.0012, ("that", "it"): 1.0012}
WAYS_SHOWN = ("gibbs", "gibbs-last", "gibbs-random", "paper", "paper-random")
COMPARED = (
    ("paper", "paper-random"),
    ("gibbs-last", "gibbs-random"),
    ("gibbs", "gibbs-last"),
    ("gibbs", "gibbs-random"),
    ("gibbs", "paper"),
)


def cells(quick: bool) -> list[Cell]:
    """Return the cells with contexts fixed, and the free one; those of the smaller K."""
    found = [cell for cell in all_cells(quick) if cell.settings["method"] in WAYS_SHOWN]
    least = min(cell.settings["dim"] for cell in found)
    return [cell for cell in found if cell.settings["dim"] == least]


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit the samples and keep the cosines of the paper's words."""
    return run_cosines(settings, bench)


def table(results: Results) -> str:
    """Return the cosines, and R-hat between runs."""
    (dim,) = results.each("dim")
    rows = []
    for one, other in COMPARED:
        both = [results.get(method=way) for way in (one, other)]
        texts = [NOT_RUN] * len(WORDS)
        if all(values is not None for values in both):
            texts = [_between(both, i) for i in range(len(WORDS))]
        rows.append([f"{WAYS[one].label} / {WAYS[other].label}", *texts])
        if (one, other) == COMPARED[0]:
            rows.append(["(paper)", *(f"{PAPER[pair]:.4f}" for pair in WORDS)])
    head = ["R-hat between two runs", *(", ".join(pair) for pair in WORDS)]
    return paragraphs(cosine_table(results, dim), grid(head, rows))


def _between(both: list[Any], i: int) -> str:
    """Return R-hat over the chains of two runs, from the draws that their records keep."""
    if any("impossible" in values for values in both):
        return NOTHING
    chains = [unpack(chain) for values in both for chain in values["cosines"][i]["chains"]]
    length = min(map(len, chains))
    return f"{float(rhat(np.array([chain[-length:] for chain in chains]))):.4f}"


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the paper's picture, if anything has been run."""
    return {"anchors": lambda: draw_cosines(results)} if results.done else {}
