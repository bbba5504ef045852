"""Quantities over groups and time: lines with bands, and the words that differ most between two slices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Bool, Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.texts import probability_text
from bayesvec.plots.forests import draw_forest, draw_probabilities, forest_axes, mark_zero, write_beside
from bayesvec.plots.quantities import scale_of
from bayesvec.plots.style import (
    DASHES,
    LETTER,
    fonts_for,
    legend_above,
    look,
    new_axes,
    pick,
    safe,
    share_of_width,
    tidy,
)
from bayesvec.plots.table import QUANTITIES, Plot, Request
from bayesvec.posterior.slices import FEW_SEEN, are_numbers, is_few

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.estimates.table import Table
    from bayesvec.posterior.neighbor_changes import NeighborChanges
    from bayesvec.posterior.questions.drift import Drift
    from bayesvec.posterior.slices import Trajectory

FAINT = 0.35  # opacity where data are few
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
        rare = np.isin(path.slices, path.few)
        if ordered:
            breaks = _breaks(path)
            for part in np.split(np.arange(len(at)), breaks):
                _draw_bands(ax, at[part], low[part], high[part], rare[part], colour)
            broken = [np.insert(values, breaks, np.nan) for values in (at, mean)]
            ax.plot(*broken, linestyle=pick(DASHES, number), **style)
        else:  # side by side, so that bars do not hide each other
            at = at + SPREAD * ((number + 0.5) / len(every) - 0.5)
            ax.vlines(at, low, high, color=colour, alpha=np.where(rare, FAINT, 1.0).tolist())
            ax.plot(at, mean, linestyle="none", **style)
        if rare.any():
            hollow = style | {"label": "", "markerfacecolor": "white"}
            ax.plot(at[rare], mean[rare], linestyle="none", **hollow)
    if not in_time:
        _name_slices(ax, order, [places[name] for name in order])
    else:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name = scale_of([estimate for path in every for estimate in path.estimates]).axis
    few = any(path.few for path in every)
    note = f" (hollow: a word was seen fewer than {FEW_SEEN} times)" if few else ""
    ax.set_xlabel(f"{'slice' if ordered else 'group'}{note}")
    ax.set_ylabel(f"{name}, {100 * level:g}% {'band' if ordered else 'interval'}")
    if not ordered:
        ax.set_xlim(-0.6, len(order) - 0.4)
    ax.grid(axis="y", alpha=0.3)
    tidy(ax)
    legend_above(ax, columns=3)
    return ax


def _breaks(path: "Trajectory") -> Int64:
    """Return the places before which slices of the run are missing: a word does not occur there."""
    number = {name: place for place, name in enumerate(path.every_slice)}
    return np.flatnonzero(np.diff([number[name] for name in path.slices]) != 1) + 1


def _draw_bands(ax: "Axes", at: Float64, low: Float64, high: Float64, few: Bool, colour: str) -> None:
    """Draw a band between slices, fainter towards a slice with few data; a bar at a slice without neighbours."""
    if len(at) == 1:
        ax.vlines(at, low, high, color=colour, alpha=FAINT if few[0] else 1.0)
        return
    parts = [slice(i, i + 2) for i in range(len(at) - 1)] if few.any() else [slice(None)]
    for part in parts:
        alpha = 0.06 if few[part].any() else 0.18
        ax.fill_between(at[part], low[part], high[part], color=colour, alpha=alpha, linewidth=0)


def _name_slices(ax: "Axes", names: list[str], places: list[float]) -> None:
    """Write the names of the slices below the axis, at an angle where they would overlap."""
    wide = LETTER * (2 + max(map(len, names))) * len(names) > 0.8 * share_of_width(ax)
    angle: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if wide else {}
    ax.set_xticks(places, [safe(name) for name in names], fontfamily=fonts_for(names), **angle)


def _draw_changes(ax: "Axes | None", table: "Table[Any]", **options: Any) -> "Axes":
    """Draw the changes of words in a table as a forest, and return the axes."""
    ax = forest_axes(ax, table["word"], 1)
    mean, low, high = (np.array(table[name], dtype=np.float64) for name in ("change", "low", "high"))
    draw_forest(ax, table["word"], {"": (mean, low, high)}, **options)
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
    xlabel = f"{drift.measure} between {safe(drift.first)} and {safe(drift.last)}, {100 * level:g}% interval"
    ax = _draw_changes(ax, table, xlabel=xlabel, ylabel="word")
    for label, row in zip(ax.get_yticklabels(), table, strict=True):
        if is_few(row.seen_first) or is_few(row.seen_last):
            label.set_alpha(FAINT)
    below_zero = np.nanmin(np.array([table["low"], table["change"]], dtype=np.float64)) < 0
    ax.set_xlim(left=min(0.0, ax.get_xlim()[0]) if below_zero else 0.0)
    mark_zero(ax)
    draw_probabilities(ax, table, f"P(top {100 * drift.share:g}%)")
    return ax


def plot_neighbor_changes(
    changes: "NeighborChanges", *, ax: "Axes | None" = None, level: float = LEVEL
) -> "Axes":
    """Draw the neighbours that a word gains (above) and loses (below) from one slice to another as a forest.

    Parameters
    ----------
    changes : NeighborChanges
        From `Posterior.neighbor_changes`.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the table's intervals, for the label of the axis.
    """
    table = changes.table
    xlabel = f"cosine with {safe(changes.word)}, {safe(changes.last)} - {safe(changes.first)}"
    ax = _draw_changes(ax, table, xlabel=xlabel, ylabel="neighbour", level=level)
    mark_zero(ax)
    for place, name in ((0, "gained"), (1, "lost")):
        texts = [probability_text(value, table.draws) for value in table[name]]
        if not np.isnan(table[name]).all():
            write_beside(ax, texts, f"P({name})", column=place)
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


def _neighbor_changes(request: Request) -> "Axes":
    first, last = request.between or (None, None)
    changes = request.run.neighbor_changes(request.words[0], first, last, request.n, level=request.level)
    return plot_neighbor_changes(changes, level=request.level)


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
    Plot(
        "differ",
        "words that differ most between two groups, as drift",
        "no words",
        _drift,
        "SLICED -n 2 --between R,D",
        most=0,
        options=("between", "by"),
    ),
    Plot(
        "gained",
        "neighbours that a word gains and loses between two slices",
        "one word",
        _neighbor_changes,
        "SLICED tax -n 1 --between R,D",
        least=1,
        most=1,
        options=("between",),
    ),
)
