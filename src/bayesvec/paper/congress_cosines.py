"""Posteriors of two cosines in speeches of Congress: the paper's Figure 5."""

from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.cosines import cosine_table, describe, draw_cosines
from bayesvec.paper.costs import congress_seconds
from bayesvec.paper.experiment import Experiment, InPaper, Results, figures_of
from bayesvec.paper.fits import FIT, fit_variant
from bayesvec.paper.markdown import paragraphs, size
from bayesvec.paper.workspace import Workspace

SHOWS = "Figure 5 (fig:cossim_speak_law_k50)"
NOTE = """\
500,000 random samples of the Congress data; prior precision 1; two chains of 500 draws after 500 sweeps.
R-hat is over the two chains. The paper prints no numbers: it reports that Gibbs and HMC are
similar, and that MFVI differs from both in mean and has a smaller variance."""

CUT = """\
Figure 6, which repeats this at K = 100 (12 minutes on two cores); NUTS (two hours until its chains agree); MFVI at
convergence (5 minutes)."""

WORDS = (("speak", "law"), ("that", "it"))
FIXED = ("gibbs-last", "gibbs-random", "paper-random")  # of the experiment anchors
SHOWN = ("gibbs", "mfvi-stan", "blockvi", "paper", *FIXED)


def all_cells(quick: bool) -> list[Cell]:
    """Return the cells of this experiment and of `anchors`."""
    if quick:
        given = {"words": data.QUICK_CONGRESS_WORDS, "vocab": 1000, "pairs": 100_000}
        lengths = {"mfvi-stan": (200, 0), "blockvi": (200, 0), "paper": (30, 30), "paper-random": (30, 30)}
        names = ("gibbs", "mfvi-stan", "blockvi", "paper", *FIXED)
        grid = [(10, name, *lengths.get(name, (80, 80))) for name in names]
    else:
        given = {"words": data.CONGRESS_WORDS, "vocab": 5000, "pairs": 500_000}
        grid = [(50, name, 500, 500) for name in SHOWN]
    return make_cells(
        name_settings("dim method draws warmup", grid, **FIT, **given),
        lambda settings: "K={dim} N={N} {method}".format(N=size(settings["pairs"]), **settings),
        congress_seconds,
        _rank,
    )


def _rank(settings: Settings) -> int:
    return 2 if settings["method"].startswith("paper") else 1


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the paper's figures."""
    return [cell for cell in all_cells(quick) if cell.settings["method"] not in FIXED]


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit the samples and keep the cosines of the paper's words."""
    counts = data.congress(settings["words"], settings["vocab"], settings["seed"])
    counts = data.thinned(counts, settings["pairs"], settings["seed"])
    post = fit_variant(counts, settings, workspace, store="rho")
    return {
        "samples": counts.num_observations,
        "distinct_pairs": counts.num_pairs,
        "cosines": [describe(estimate.draws) for estimate in post.similarities(WORDS)],
    }


def cosines_at(results: Results, dim: int) -> str:
    """Return the table of one K."""
    names = [", ".join(pair) for pair in WORDS]
    return cosine_table(results.having(dim=dim), f"K={dim}: cosine", names, with_rhat=True)


def draw_pairs(results: Results) -> Any:
    """Draw the posteriors of both cosines."""
    return draw_cosines(results, [f"{one!r} and {other!r}" for one, other in WORDS])


def table(results: Results) -> str:
    """Return mean, sd, interval and R-hat of both cosines by each variant."""
    return paragraphs(*(cosines_at(results, dim) for dim in results.each("dim")))


figures = figures_of(draw_pairs, "congress-cosines-k{dim}", "dim")
IN_PAPER = InPaper(
    5,
    "posteriors of each cosine in Figures 5 and 6",
    lambda settings: (
        (settings["dim"], settings["method"]) if settings["method"] in ("gibbs", "mfvi-stan") else None
    ),
)
EXPERIMENT = Experiment("congress-cosines", SHOWS, NOTE, cells, run, table, figures, CUT, in_paper=IN_PAPER)
