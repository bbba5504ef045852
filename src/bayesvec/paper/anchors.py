"""Whether it matters which contexts are fixed: the paper's Figure 9."""

import numpy as np

from bayesvec.estimates.convergence import rhat
from bayesvec.paper.cells import Cell
from bayesvec.paper.congress_cosines import WORDS, all_cells, cosines_at, draw_pairs, run
from bayesvec.paper.experiment import Experiment, InPaper, Results, figures_of
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, paragraphs
from bayesvec.paper.records import unpack
from bayesvec.paper.variants import VARIANTS

SHOWS = "Figure 9 (fig:cossim_speak_law_sensitivity)"
NOTE = """\
Data and records are those of `congress-cosines`, K = 50. The paper fixes the last K contexts at the MAP in one
run and K random ones in another, and reports an R-hat of 1.0012 between the two for both cosines. Our R-hat is
over the four chains of two runs, from the draws that the records keep. Poor mixing raises it too, so the
difference of the two means over its Monte Carlo standard error is in brackets."""

PAPER = {("speak", "law"): 1.0012, ("that", "it"): 1.0012}
CUT = """\
Algorithm 1 with K random contexts fixed, the paper's second run (25 minutes on two cores); Gibbs with the same
contexts fixed stands in for it."""

SHOWN = ("gibbs", "gibbs-last", "gibbs-random", "paper")
COMPARED = (
    ("paper", "gibbs-random"),
    ("gibbs", "gibbs-random"),
    ("gibbs", "paper"),
)


def cells(quick: bool) -> list[Cell]:
    """Return the cells with fixed contexts and the free one, of the smaller K."""
    found = [cell for cell in all_cells(quick) if cell.settings["method"] in SHOWN]
    least = min(cell.settings["dim"] for cell in found)
    return [cell for cell in found if cell.settings["dim"] == least]


def table(results: Results) -> str:
    """Return the cosines, and R-hat between runs."""
    (dim,) = results.each("dim")
    rows = []
    for one, other in COMPARED:
        texts = [_between(results, one, other, i) for i in range(len(WORDS))]
        rows.append([f"{VARIANTS[one].label} / {VARIANTS[other].label}", *texts])
        if (one, other) == COMPARED[0]:
            rows.append(["(paper)", *(f"{PAPER[pair]:.4f}" for pair in WORDS)])
    head = ["R-hat between two runs", *(", ".join(pair) for pair in WORDS)]
    return paragraphs(cosines_at(results, dim), grid(head, rows))


def _between(results: Results, one: str, other: str, i: int) -> str:
    """Return R-hat over the chains of two runs, and the difference of their means in standard errors."""
    both = [result for name in (one, other) for result in results.having(method=name).all]
    if any(result.record is None for result in both):
        return NOT_RUN
    found = [result.values["cosines"][i] for result in both if result.values is not None]
    if len(found) < 2:
        return NOTHING
    chains = [unpack(chain) for cosine in found for chain in cosine["chains"]]
    length = min(map(len, chains))
    between = float(rhat(np.array([chain[-length:] for chain in chains])))
    error = np.sqrt(sum(cosine["sd"] ** 2 / cosine["ess"] for cosine in found))
    return f"{between:.4f} ({(found[0]['mean'] - found[1]['mean']) / error:+.1f})"


figures = figures_of(draw_pairs, "anchors")
IN_PAPER = InPaper(2, "runs", lambda settings: settings["method"] if settings["method"] == "paper" else None)
EXPERIMENT = Experiment(
    "anchors", SHOWS, NOTE, cells, run, table, figures, CUT, pool="congress-cosines", in_paper=IN_PAPER
)
