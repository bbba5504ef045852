"""Whether it matters which contexts are fixed: the paper's figure of the sensitivity to the rotational fix."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesvec.estimates.convergence import rhat
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Results, unpack
from bayesvec.paper.congress_cosines import (
    POOL,
    VERSION,
    WORDS,
    all_cells,
    cosine_table,
    draw_cosines,
    run,
)
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, paragraphs
from bayesvec.paper.variants import ALGORITHM, WAYS

__all__ = ["NAME", "NOTE", "PAPER", "POOL", "SHOWS", "VERSION", "cells", "figures", "run", "table"]

NAME = "anchors"
SHOWS = "Figure 9 (fig:cossim_speak_law_sensitivity)"
NOTE = f"""\
The data is that of `congress-cosines` (whose records these are), K = 50, 500,000 samples: {data.CONGRESS}.
The paper fixes the last K contexts at the MAP in one run and K random ones in another, and finds an R-hat of
1.0012 between the two for both cosines. Here R-hat is the rank-normalised split R-hat over all four chains of
two runs (Vehtari et al. 2021), from the draws that the records keep, for the paper's algorithm, for ours with
contexts fixed, between the two, and between fixed and free; a chain that mixes badly raises it too, so in
brackets is the difference of the two means over its Monte Carlo standard error. {ALGORITHM}."""

PAPER = {("speak", "law"): 1.0012, ("that", "it"): 1.0012}
WAYS_SHOWN = ("gibbs", "gibbs-last", "gibbs-random", "paper", "paper-random")
COMPARED = (
    ("paper", "paper-random"),
    ("gibbs-last", "gibbs-random"),
    ("paper", "gibbs-random"),
    ("gibbs", "gibbs-last"),
    ("gibbs", "gibbs-random"),
    ("gibbs", "paper"),
)


def cells(quick: bool) -> list[Cell]:
    """Return the cells with contexts fixed, and the free one; those of the smaller K."""
    found = [cell for cell in all_cells(quick) if cell.settings["method"] in WAYS_SHOWN]
    least = min(cell.settings["dim"] for cell in found)
    return [cell for cell in found if cell.settings["dim"] == least]


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
    """Return R-hat over the chains of two runs, and by how many standard errors their means differ."""
    if any("impossible" in values for values in both):
        return NOTHING
    chains = [unpack(chain) for values in both for chain in values["cosines"][i]["chains"]]
    length = min(map(len, chains))
    one, other = (values["cosines"][i] for values in both)
    error = np.sqrt(one["sd"] ** 2 / one["ess"] + other["sd"] ** 2 / other["ess"])
    between = float(rhat(np.array([chain[-length:] for chain in chains])))
    return f"{between:.4f} ({(one['mean'] - other['mean']) / error:+.1f})"


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the paper's picture, if anything has been run."""
    return {"anchors": lambda: draw_cosines(results)} if results.done else {}
