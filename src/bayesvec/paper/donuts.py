"""Rings of unidentified vectors, and their removal: the paper's Figures 1 and 8."""

from typing import Any

import numpy as np

from bayesvec.estimates.convergence import rhat
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import world_seconds
from bayesvec.paper.experiment import Experiment, InPaper, Results, Values, figures_of
from bayesvec.paper.markdown import grid, number
from bayesvec.paper.records import pack, unpack
from bayesvec.paper.simulated import draw_world, world_label
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace

SHOWS = "Figure 1 (fig:sim_donuts) and Figure 8 (fig:symmetry_K5)"
NOTE = """\
The first two coordinates of one word's vector: word 1 of V = 10 at K = 2, N = 20,000, and word 4 of V = 100 at K
= 5, N = 50,000; 1,000 draws from two chains. The paper shows Stan's HMC, free and with contexts fixed, without
numbers. "Aligned" draws are rotated to one reference, which is what `identify="procrustes"` stores. "Mean over
length" is the length of the mean vector over the mean length: near 0 for a ring around the origin, near 1 for a
cloud away from it. A large R-hat, that of the first coordinate, means that a chain has not explored all of its
ring or cloud."""

WORLDS = ((2, 10, 20_000, 0), (5, 100, 50_000, 3))  # K, V, N and the word, counted from 0
# By variant and whether its draws are aligned: how they are called.
PANELS = {
    ("nuts", False): ", as drawn",
    ("nuts-last", False): "",
    ("gibbs", False): ", as drawn",
    ("gibbs", True): ", aligned",
    ("gibbs-last", False): "",
    ("paper", False): "",
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each world and panel."""
    length = 150 if quick else 500
    grid = [(*world, *panel) for world in WORLDS for panel in PANELS]
    return make_cells(
        name_settings("dim vocab pairs row method turned", grid, chains=2, draws=length, warmup=length),
        lambda settings: world_label(settings) + " aligned" * settings["turned"],
        world_seconds,
        lambda settings: 1,
    )


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Draw from the posterior and keep two coordinates of one word."""
    drawn, _ = draw_world(settings, workspace)
    rho = drawn.aligned()[0] if settings["turned"] else drawn.rho
    vector = rho[:, :, settings["row"], :2].astype(np.float64)  # (chain, draw, 2)
    mean = vector.mean(axis=(0, 1))
    return {
        "x": pack(vector[..., 0], 3),
        "y": pack(vector[..., 1], 3),
        "mean": mean,
        "mean_over_length": np.linalg.norm(mean) / np.linalg.norm(vector, axis=-1).mean(),
        "rhat": float(rhat(vector[..., 0])),
    }


def table(results: Results) -> str:
    """Return what distinguishes a ring from a cloud."""

    def show(values: Values) -> list[str]:
        return [number(values["mean_over_length"], ".2f"), number(values["rhat"], ".2f")]

    rows = [
        [
            f"K={dim}: {VARIANTS[name].label}{PANELS[name, aligned]}",
            *results.row(2, show, dim=dim, method=name, turned=aligned),
        ]
        for dim, name, aligned in results.each("dim", "method", "turned")
    ]
    return grid(["vectors", "mean over length", "R-hat"], rows)


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import panels

    figure, axes = panels(3, rows=2, width=3.2, height=3.3)
    ((dim, row),) = results.each("dim", "row")
    drawn = [result.values for result in results.all if result.values is not None]
    edge = 1.05 * max((np.abs(unpack(values[x])).max() for values in drawn for x in "xy"), default=1.0)
    for ax, (name, aligned) in zip(axes.flat, PANELS, strict=True):
        ax.set_title(VARIANTS[name].label + PANELS[name, aligned], fontsize="small")
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(-edge, edge), ylim=(-edge, edge))
        ax.set_xlabel(f"coordinate 1 of word {row + 1}", fontsize="small")
        _scatter(ax, results, method=name, turned=aligned)
    for ax in axes[:, 0]:
        ax.set_ylabel("coordinate 2", fontsize="small")
    figure.suptitle(f"K = {dim}; one colour per chain, the cross is the posterior mean", fontsize="medium")
    return figure


def _scatter(ax: Any, results: Results, **settings: Any) -> None:
    """Draw the points of one panel, or why there are none."""
    from bayesvec.plots import COLOURS

    result = results.only(**settings)
    if result is None or result.values is None:
        text = "impossible" if result is not None and result.record is not None else "not run"
        ax.text(0.5, 0.5, text, ha="center", transform=ax.transAxes)
        return
    chains = [np.split(unpack(result.values[x]), result.cell.settings["chains"]) for x in "xy"]
    for colour, x, y in zip(COLOURS, *chains, strict=False):
        ax.plot(x, y, ".", markersize=2.5, alpha=0.5, color=colour)
    ax.plot(*result.values["mean"], "x", color="red", markersize=8, markeredgewidth=2)
    ax.axhline(0, color="0.85", linewidth=0.6, zorder=0)
    ax.axvline(0, color="0.85", linewidth=0.6, zorder=0)


IN_PAPER = InPaper(
    4,
    "panels",
    lambda settings: (
        (settings["dim"], settings["method"]) if settings["method"] in ("nuts", "nuts-last") else None
    ),
)
figures = figures_of(_draw, "donuts-k{dim}", "dim")
EXPERIMENT = Experiment("donuts", SHOWS, NOTE, cells, run, table, figures, in_paper=IN_PAPER)
