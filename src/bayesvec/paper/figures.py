"""Pictures of experiments: figures of their own, without a display and without state that is shared."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.plots import COLOURS, DASHES, density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 130

# One colour and one dash for each way in all pictures; Gibbs, NUTS and MFVI have the paper's green, blue, orange.
STYLES: dict[str, dict[str, Any]] = {
    "gibbs": {"color": COLOURS[2], "linestyle": DASHES[0]},
    "nuts": {"color": COLOURS[0], "linestyle": DASHES[1]},
    "mfvi-stan": {"color": COLOURS[1], "linestyle": DASHES[2]},
    "mfvi": {"color": COLOURS[4], "linestyle": DASHES[3]},
    "map": {"color": COLOURS[6], "linestyle": DASHES[4]},
    "paper": {"color": COLOURS[3], "linestyle": DASHES[5]},
    "blockvi": {"color": COLOURS[5], "linestyle": DASHES[3]},
    "laplace": {"color": "0.5", "linestyle": DASHES[4]},
    "gibbs-plain": {"color": COLOURS[5], "linestyle": DASHES[3]},
    "gibbs-anew": {"color": COLOURS[1], "linestyle": DASHES[2]},
    "gibbs-last": {"color": COLOURS[0], "linestyle": DASHES[1]},
    "gibbs-random": {"color": COLOURS[5], "linestyle": DASHES[2]},
    "paper-random": {"color": COLOURS[4], "linestyle": DASHES[3]},
}


def panels(
    columns: int, *, rows: int = 1, width: float = 4.4, height: float = 3.6, one_scale: bool = False
) -> "tuple[Figure, Any]":
    """Return a new figure and its axes, (rows, columns), the heights of all on one scale or each on its own."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=one_scale)
    for ax in axes.flat:
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure, axes


def legend_below(figure: "Figure", ax: "Axes") -> None:
    """Put the legend of ``ax`` under all panels, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    columns = max(1, int(figure.get_figwidth() // 2.9))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def draw_density(ax: "Axes", draws: Float64, label: str, style: dict[str, Any]) -> None:
    """Draw the density of some cosines, a line where they are all the same."""
    if np.ptp(draws) == 0:
        ax.axvline(float(draws[0]), label=label, **style)
        return
    grid, height = density(draws, (-1.0, 1.0))
    ax.plot(grid, height, label=label, linewidth=1.8, **style)


def draw_curve(
    ax: "Axes", points: Iterable[tuple[float, float | None]], label: str, style: dict[str, Any]
) -> None:
    """Draw figures over a size, a dot for each cell that has been run; nothing if there are none."""
    found = sorted(((x, y) for x, y in points if y is not None), key=itemgetter(0))
    if found:
        ax.plot(*zip(*found, strict=True), marker="o", markersize=3, label=label, **style)


def slope_guide(ax: "Axes", sizes: Sequence[float], at: float) -> None:
    """Draw a thin line of slope -1/2 through the height ``at`` at the last of the sizes."""
    x = np.array([max(min(sizes), max(sizes) / 30), max(sizes)], dtype=np.float64)
    ax.plot(x, at * np.sqrt(x[-1] / x), color="0.7", linewidth=0.8, zorder=0, label="slope -1/2")


def save(figure: "Figure", path: Path) -> None:
    """Write a picture, whole or not at all."""
    import os

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    figure.savefig(partial, format="png", dpi=DPI, metadata={"Software": None})
    os.replace(partial, path)
