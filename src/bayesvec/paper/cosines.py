"""Posteriors of two cosines by several variants, in a simulated world: the paper's Figure 4."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec.estimates.convergence import ess_bulk, rhat
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.costs import world_seconds
from bayesvec.paper.experiment import Experiment, InPaper, Results, Values, figures_of
from bayesvec.paper.markdown import grid, number
from bayesvec.paper.records import pack, unpack
from bayesvec.paper.simulated import draw_world, world_label
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace

SHOWS = "Figure 4 (fig:sim_K5_V100_cossim)"
NOTE = """\
Cosines of words 1 and 2 and of words 42 and 44 in the first world: K = 5, V = 100, N = 100,000; 2,000 draws from
two chains. The paper prints no numbers and its worlds are not ours, so only the agreement between methods can be
compared: it reports that HMC and Gibbs are very similar and that MFVI differs drastically."""

WORDS = ((1, 2), (42, 44))
SHOWN = ("gibbs", "nuts", "mfvi-stan", "mfvi", "paper")
KEPT = 1000  # draws of each cosine that a record keeps


def cells(quick: bool) -> list[Cell]:
    """Return one cell for each variant."""
    pairs, draws, warmup = (20_000, 250, 200) if quick else (100_000, 1000, 1000)
    world = {"dim": 5, "vocab": 100, "pairs": pairs, "chains": 2, "draws": draws, "warmup": warmup}
    return make_cells(({**world, "method": name} for name in SHOWN), world_label, world_seconds)


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Draw from the posterior of the first world and keep the cosines."""
    drawn, truth = draw_world(settings, workspace)
    similarity = truth.similarity()
    pairs = [(one - 1, other - 1) for one, other in WORDS]
    return {
        "cosines": [describe(_cosine(drawn.rho, *pair)) for pair in pairs],
        "truth": [float(similarity[pair]) for pair in pairs],
        **drawn.summary,
    }


def _cosine(rho: Any, one: int, other: int) -> Any:
    x, y = (rho[:, :, row].astype(np.float64) for row in (one, other))
    return np.sum(x * y, axis=-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1))


def describe(draws: Any) -> dict[str, Any]:
    """Return mean, sd, 90% interval, R-hat and ESS of draws (chain, draw), and some of the draws."""
    low, high = np.quantile(draws, [0.05, 0.95])
    step = max(1, draws.size // KEPT)
    return {
        "mean": float(draws.mean()),
        "sd": float(draws.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "rhat": float(rhat(draws)),
        "ess": float(ess_bulk(draws)),
        "chains": [pack(chain[::step]) for chain in draws],
    }


def cosine_table(results: Results, title: str, names: Sequence[str], *, with_rhat: bool) -> str:
    """Return mean, sd, interval and R-hat of each cosine by variant, and the truth if there is one."""
    columns = ("90% interval", "R-hat") if with_rhat else ("90% interval",)
    width = 1 + len(columns)

    def show(values: Values) -> list[str]:
        return [text for one in values["cosines"] for text in _texts(one)[:width]]

    rows = [
        [VARIANTS[name].label, *results.row(width * len(names), show, method=name)]
        for name in results.each("method")
    ]
    if truth := _truth(results):
        rows.append(["truth", *(text for one in truth for text in (f"{one:.3f}", *[""] * len(columns)))])
    return grid([title, *(text for name in names for text in (name, *columns))], rows)


def _texts(one: Mapping[str, Any]) -> list[str]:
    interval = f"{one['low']:.3f} to {one['high']:.3f}"
    return [f"{one['mean']:.3f} (sd {one['sd']:.3f})", interval, number(one["rhat"], ".3f")]


def _truth(results: Results) -> list[float]:
    return next((values["truth"] for result in results.all if "truth" in (values := result.values or {})), [])


def draw_cosines(results: Results, titles: Sequence[str]) -> Any:
    """Draw the posterior densities of each cosine by all variants, and the truth if there is one."""
    from bayesvec.paper.figures import STYLES, draw_density, label, legend_below, panels

    figure, axes = panels(len(titles))
    truth = _truth(results)
    for i, (ax, title) in enumerate(zip(axes[0], titles, strict=True)):
        for name in results.each("method"):
            values = results.get(method=name)
            if values is not None:
                draws = np.concatenate([unpack(chain) for chain in values["cosines"][i]["chains"]])
                draw_density(ax, draws, VARIANTS[name].label, STYLES[name])
        if truth:
            ax.axvline(truth[i], color="0.4", linewidth=0.9, label="truth")
        label(ax, title, "cosine similarity")
        ax.set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("posterior density")
    legend_below(figure, axes[0][0])
    return figure


def table(results: Results) -> str:
    """Return mean, sd and interval of both cosines by each variant, and the truth."""
    return cosine_table(results, "cosine", [f"{one}, {other}" for one, other in WORDS], with_rhat=False)


def _draw(results: Results) -> Any:
    return draw_cosines(results, [f"words {one} and {other}" for one, other in WORDS])


IN_PAPER = InPaper(
    3,
    "methods",
    lambda settings: settings["method"] if settings["method"] in ("gibbs", "nuts", "mfvi-stan") else None,
)
figures = figures_of(_draw, "cosines")
EXPERIMENT = Experiment("cosines", SHOWS, NOTE, cells, run, table, figures, in_paper=IN_PAPER)
