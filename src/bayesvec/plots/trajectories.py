"""Quantities over groups and time: lines with bands, and the words that differ most between two slices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL
from bayesvec.plots.forests import draw_forest, draw_probabilities, forest_axes
from bayesvec.plots.quantities import scale_of
from bayesvec.plots.style import DASHES, fonts_for, legend_above, look, new_axes, pick, safe, tidy
from bayesvec.plots.table import QUANTITIES, Plot, Request
from bayesvec.posterior.slices import are_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.questions.drift import Drift
    from bayesvec.posterior.slices import Trajectory

SPREAD = 0.5  # width of the quantities at one unordered slice, in units of the distance between slices


def plot_trajectory(
    trajectories: "Sequence[Trajectory] | Trajectory", *, ax: "Axes | None" = None, level: float = LEVEL
) -> "Axes":
    """Draw quantities over the slices of a run: mean and interval, with a band if the slices are ordered.

    Parameters
    ----------
    trajectories : Trajectory or sequence of Trajectory
        From `Posterior.trajectory`.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the bands or bars.
    """
    every = list(trajectories) if isinstance(trajectories, Sequence) else [trajectories]
    if not every:
        raise OptionError("there are no trajectories to draw; give at least one")
    ax = new_axes(ax)
    ordered = all(path.ordered for path in every)
    order = _slices(every)
    in_time = ordered and are_numbers(order)
    places = {name: float(name) if in_time else float(place) for place, name in enumerate(order)}
    for number, path in enumerate(every):
        at = np.array([places[name] for name in path.slices])
        low, high = np.array([estimate.interval(level) for estimate in path.estimates]).T
        mean = np.array([estimate.mean for estimate in path.estimates])
        style = {**look(number, "color", "marker"), "markersize": 4, "label": safe(path.label)}
        colour = style["color"]
        if ordered:
            ax.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(at, mean, linestyle=pick(DASHES, number), **style)
        else:  # side by side, so that bars do not hide each other
            at = at + SPREAD * ((number + 0.5) / len(every) - 0.5)
            ax.vlines(at, low, high, color=colour)
            ax.plot(at, mean, linestyle="none", **style)
    if not in_time:
        ax.set_xticks(
            [places[name] for name in order], [safe(name) for name in order], fontfamily=fonts_for(order)
        )
    else:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name = scale_of([estimate for path in every for estimate in path.estimates]).axis
    ax.set_xlabel("slice" if ordered else "group")
    ax.set_ylabel(f"{name}, {100 * level:g}% {'band' if ordered else 'interval'}")
    if not ordered:
        ax.set_xlim(-0.6, len(order) - 0.4)
    ax.grid(axis="y", alpha=0.3)
    tidy(ax)
    legend_above(ax, columns=3)
    return ax


def plot_drift(drift: "Drift", *, ax: "Axes | None" = None, level: float = LEVEL) -> "Axes":
    """Draw the words that differ most between two slices as a forest, with the probability of each.

    Parameters
    ----------
    drift : Drift
        From `Posterior.drift`.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the table's intervals, for the label of the axis.
    """
    table = drift.table
    ax = forest_axes(ax, table["word"], 1)
    mean, low, high = (np.array(table[name], dtype=np.float64) for name in ("change", "low", "high"))
    xlabel = f"{drift.measure} between {safe(drift.first)} and {safe(drift.last)}, {100 * level:g}% interval"
    draw_forest(ax, table["word"], {"": (mean, low, high)}, xlabel=xlabel, ylabel="word")
    draw_probabilities(ax, table, f"P(top {100 * drift.share:g}%)")
    return ax


def _slices(trajectories: "Sequence[Trajectory]") -> list[str]:
    """Return the slices in which any of the trajectories is known, in the run's order."""
    known = {name for path in trajectories for name in path.slices}
    return [name for name in trajectories[0].every_slice if name in known]


def _trajectory(request: Request) -> "Axes":
    return plot_trajectory([request.run.trajectory(term) for term in request.words], level=request.level)


def _drift(request: Request) -> "Axes":
    first, last = request.between or (None, None)
    answer = request.run.drift(first, last, request.n, by=request.by, level=request.level)
    return plot_drift(answer, level=request.level)


PLOTS = (
    Plot(
        "trajectory",
        "quantities over groups or time",
        QUANTITIES,
        _trajectory,
        "SLICED 'cosine(tax, law)' 'cosine(tax, war)'",
        least=1,
    ),
    Plot(
        "drift",
        "words that differ most between two slices",
        "no words",
        _drift,
        "SLICED -n 2 --between R,D",
        most=0,
        options=("between", "by"),
    ),
)
