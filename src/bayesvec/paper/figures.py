"""Figures of experiments: no display, no shared state."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._atomic import placed
from bayesvec._types import Float64
from bayesvec.paper.cells import Settings
from bayesvec.paper.experiment import Results, Values
from bayesvec.paper.variants import VARIANTS
from bayesvec.plots import COLOURS, DASHES, density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 130

# Colour and dash of each variant in all figures; Gibbs, NUTS and MFVI have the paper's green, blue and orange.
_STYLES = {
    "gibbs": (COLOURS[2], 0),
    "nuts": (COLOURS[0], 1),
    "mfvi-stan": (COLOURS[1], 2),
    "mfvi": (COLOURS[4], 3),
    "map": (COLOURS[6], 4),
    "paper": (COLOURS[3], 5),
    "blockvi": (COLOURS[5], 3),
    "laplace": ("0.5", 4),
    "gibbs-plain": (COLOURS[5], 3),
    "gibbs-anew": (COLOURS[1], 2),
    "gibbs-last": (COLOURS[0], 1),
    "gibbs-random": (COLOURS[5], 2),
    "paper-random": (COLOURS[4], 3),
}
STYLES = {name: {"color": colour, "linestyle": DASHES[dash]} for name, (colour, dash) in _STYLES.items()}


def panels(
    columns: int, *, rows: int = 1, width: float = 4.4, height: float = 3.6, sharey: bool = False
) -> "tuple[Figure, Any]":
    """Return a new figure and its axes, (rows, columns)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=sharey)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def label(ax: "Axes", title: str = "", x: str = "", *, log: str = "") -> None:
    """Set the title and the label of the x axis; ``log`` names the axes with a logarithmic scale."""
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel(x)
    for axis in log:
        getattr(ax, f"set_{axis}scale")("log")


def legend_below(figure: "Figure", ax: "Axes") -> None:
    """Put the legend of ``ax`` under all panels, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    columns = max(1, int(figure.get_figwidth() // 2.9))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def draw_density(ax: "Axes", draws: Float64, name: str, style: dict[str, Any]) -> None:
    """Draw the density of cosines; a vertical line if they are all equal."""
    if np.ptp(draws) == 0:
        ax.axvline(float(draws[0]), label=name, **style)
        return
    grid, height = density(draws, (-1.0, 1.0))
    ax.plot(grid, height, label=name, linewidth=1.8, **style)


def draw_curve(
    ax: "Axes",
    results: Results,
    y: Callable[[Values], float | None],
    name: str,
    style: dict[str, Any],
    *,
    x: Callable[[Settings], float] = lambda settings: float(settings["pairs"]),
) -> list[tuple[float, float]]:
    """Draw a value over N, a dot for each cell that has one; return the points."""
    values = [(x(result.cell.settings), y(result.values)) for result in results.all if result.values]
    points = sorted(((at, value) for at, value in values if value is not None), key=itemgetter(0))
    if points:
        ax.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name, **style)
    return points


def draw_variants(
    ax: "Axes", results: Results, y: Callable[[Values], float | None]
) -> list[list[tuple[float, float]]]:
    """Draw a value over N, a curve for each variant that has a style; return the points of each."""
    return [
        draw_curve(ax, results.having(method=name), y, VARIANTS[name].label, STYLES[name])
        for name in results.each("method")
        if name in STYLES
    ]


def slope_guide(ax: "Axes", sizes: Sequence[float], at: float) -> None:
    """Draw a thin line of slope -1/2 through the height ``at`` at the last of the sizes."""
    x = np.array([max(min(sizes), max(sizes) / 30), max(sizes)], dtype=np.float64)
    ax.plot(x, at * np.sqrt(x[-1] / x), color="0.7", linewidth=0.8, zorder=0, label="slope -1/2")


def save(figure: "Figure", path: Path) -> None:
    """Write a picture, whole or not at all."""
    with placed(path) as partial:
        figure.savefig(partial, format="png", dpi=DPI, metadata={"Software": None})
