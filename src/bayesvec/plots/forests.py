"""Forest plots: a line for each quantity, its mean and its interval."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.table import Table
from bayesvec.estimates.texts import probability_text
from bayesvec.plots.quantities import scale_of
from bayesvec.plots.style import (
    LETTER,
    by_run,
    fonts_for,
    legend_above,
    look,
    new_axes,
    safe,
    share_of_width,
    tidy,
)
from bayesvec.plots.table import QUANTITIES, Plot, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.questions.neighbors import Neighbor

Estimates = Sequence[Estimate]
Intervals = tuple[Float64, Float64, Float64]  # mean, low, high


def plot_forest(
    estimates: "Estimates | Mapping[str, Estimates]",
    *,
    ax: "Axes | None" = None,
    level: float = LEVEL,
    xlabel: str | None = None,
    ylabel: str = "quantity",
) -> "Axes":
    """Draw any estimates as a forest plot: mean and interval of each, of one run or of several.

    Parameters
    ----------
    estimates : sequence of Estimate, or mapping of str to such sequences
        What to draw, from top to bottom; or the same quantities of several runs, by the runs' names.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the intervals.
    xlabel, ylabel : str, optional
        Labels of the axes; the horizontal one is taken from the estimates' labels if not given.
    """
    runs = by_run(estimates)
    _check_same(runs)
    first = next(iter(runs.values()))
    names = [estimate.label for estimate in first]
    series = {name: _intervals(each, level) for name, each in runs.items()}
    ax = forest_axes(ax, names, len(runs))
    draw_forest(ax, names, series, xlabel=xlabel or scale_of(first).axis, level=level, ylabel=ylabel)
    return ax


def plot_projection(
    estimates: "Estimates | Mapping[str, Estimates]",
    axis: Sequence[tuple[str, str]],
    *,
    words: Sequence[str] | None = None,
    ax: "Axes | None" = None,
    level: float = LEVEL,
) -> "Axes":
    """Draw the positions of words on an axis, each with its interval, sorted by position.

    Parameters
    ----------
    estimates : sequence of Estimate, or mapping of str to such sequences
        From `Posterior.projection`; of several runs by their names (sorted by the first).
    axis : sequence of (str, str)
        The pairs of words that the axis was built from; they name its poles, the first words the right one.
    words : sequence of str, optional
        The words, one for each estimate; taken from the estimates' labels if not given.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the intervals.
    """
    if not axis:
        raise OptionError("the axis is empty; give at least one pair of words")
    runs = by_run(estimates)
    _check_same(runs)
    first = next(iter(runs.values()))
    order = np.argsort([-estimate.mean for estimate in first], kind="stable")
    every = [_word(estimate.label) for estimate in first] if words is None else list(words)
    names = [every[i] for i in order]
    series = {name: _intervals([each[i] for i in order], level) for name, each in runs.items()}
    ax = forest_axes(ax, names, len(runs), more=0.4)
    xlabel = "position on the axis (cosine)"
    draw_forest(ax, names, series, xlabel=xlabel, ylabel="word", level=level, gap=2.0)  # room for the poles
    mark_zero(ax)
    poles = [_pole([pair[side] for pair in axis]) for side in (0, 1)]
    family = fonts_for(poles)
    for x, place, text in ((0.0, "left", f"← {poles[1]}"), (1.0, "right", f"{poles[0]} →")):
        ax.annotate(
            safe(text),
            (x, 1.0),
            xycoords="axes fraction",
            xytext=(0, 4),
            textcoords="offset points",
            ha=place,
            fontfamily=family,
        )
    return ax


def plot_neighbors(
    neighbors: Table["Neighbor"], *, ax: "Axes | None" = None, level: float | None = None, word: str = ""
) -> "Axes":
    """Draw a table of neighbours as a forest plot: mean and interval of each, P(in the top n) at the right.

    Parameters
    ----------
    neighbors : Table of Neighbor
        From `Posterior.neighbors`.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the table's intervals, for the label of the axis.
    word : str, optional
        The word whose neighbours they are, for the same label.
    """
    ax = forest_axes(ax, neighbors["word"], 1)
    mean, low, high = (np.array(neighbors[name], dtype=np.float64) for name in ("mean", "low", "high"))
    draw_forest(
        ax,
        neighbors["word"],
        {"": (mean, low, high)},
        xlabel=f"cosine with {safe(word)}" if word else "cosine similarity",
        ylabel="neighbour",
        level=level,
    )
    draw_probabilities(ax, neighbors, f"P(top {len(neighbors)})")
    return ax


def draw_forest(
    ax: "Axes",
    names: Sequence[str],
    series: Mapping[str, Intervals],
    *,
    xlabel: str,
    ylabel: str,
    level: float | None = None,
    gap: float = 0.5,
) -> None:
    """Draw each series with its own colour and marker, one below the other within the line of a quantity."""
    places = np.arange(len(names), dtype=np.float64)
    for number, (run, (mean, low, high)) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * 0.7 / len(series)
        style = look(number, "color", "marker")
        known = ~np.isnan(low)  # one point has no interval
        ax.hlines(places[known] + shift, low[known], high[known], color=style["color"], linewidth=1.8)
        ax.plot(mean, places + shift, label=safe(run), linestyle="none", markersize=5, **style)
    ax.set_yticks(places, [safe(name) for name in names], fontfamily=fonts_for(names))
    ax.set_ylim(len(names) - 0.5, -0.5)
    with_intervals = level is not None and any(not np.isnan(low).all() for _, low, _ in series.values())
    ax.set_xlabel(f"{xlabel}, {100 * level:g}% interval" if with_intervals else xlabel)  # type: ignore[operator]
    ax.set_ylabel(ylabel)
    ax.grid(axis="x", alpha=0.3)
    ax.tick_params(axis="y", length=0)
    tidy(ax)
    if len(series) > 1:
        legend_above(ax, columns=3, gap=gap)


def draw_probabilities(ax: "Axes", table: Table[Any], name: str) -> None:
    """Write the ``probability`` of each row to the right of its line; a single point has none."""
    if np.isnan(table["probability"]).all():
        return
    write_beside(ax, [probability_text(value, table.draws) for value in table["probability"]], name)


def write_beside(ax: "Axes", texts: Sequence[str], name: str, *, column: int = 0) -> None:
    """Write a text at the right of each line and its name above them; columns are counted from the axes."""
    x = 1.02 + column * 1.3 / share_of_width(ax)  # in widths of the axes, which are most of the figure
    for place, text in enumerate(texts):
        ax.text(x, place, text, transform=ax.get_yaxis_transform(), va="center_baseline", clip_on=False)
    ax.annotate(
        name, (x, 1.0), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", va="bottom"
    )


def mark_zero(ax: "Axes") -> None:
    """Draw a vertical line at zero."""
    ax.axvline(0.0, color="0.5", linewidth=0.8, zorder=0)


def _intervals(estimates: "Estimates", level: float) -> Intervals:
    low, high = np.array([estimate.interval(level) for estimate in estimates]).T
    return np.array([estimate.mean for estimate in estimates]), low, high


def _check_same(runs: "Mapping[str, Estimates]") -> None:
    """Raise unless all runs have the same quantities."""
    wanted = None
    for name, estimates in runs.items():
        labels = [estimate.label for estimate in estimates]
        if not labels:
            raise OptionError("there are no estimates to draw; give at least one")
        if wanted is not None and labels != wanted:
            raise OptionError(
                f"{name} has other quantities than the first run; all runs must have the same, in the same order"
            )
        wanted = labels


def forest_axes(ax: "Axes | None", names: Sequence[str], runs: int, more: float = 0.0) -> "Axes":
    """Return ``ax``, or new axes with room for the names beside them."""
    width = max(6.4, 4.0 + LETTER * max(map(len, names)))
    return new_axes(ax, width=width, height=0.8 + more + len(names) * max(0.3, 0.18 * runs))


def _word(label: str) -> str:
    """Return the word of a label such as ``projection(doctor; he:she)``."""
    return label.partition("(")[2].rpartition(";")[0].strip() or label


def _pole(words: Sequence[str]) -> str:
    """Name a pole by its words, the first few if they are many."""
    distinct = list(dict.fromkeys(words))
    return ", ".join(distinct[:3]) + (", …" if len(distinct) > 3 else "")


def _forest(request: Request) -> "Axes":
    return plot_forest(request.of_runs(request.estimates), level=request.level)


def _contrast(request: Request) -> "Axes":
    from bayesvec.posterior.slices import between

    assert request.between is not None
    first, last = request.between
    differences = between(request.run, request.words, first, last)
    names = [term.strip() for term in request.words]
    ax = forest_axes(None, names, 1)
    series = {"": _intervals(differences, request.level)}
    xlabel = f"difference, {safe(last)} - {safe(first)}"
    draw_forest(ax, names, series, xlabel=xlabel, ylabel="quantity", level=request.level)
    mark_zero(ax)
    if not request.run.is_point:
        size = request.run.num_draws
        write_beside(
            ax, [probability_text(each.probability_above(0.0), size) for each in differences], "P(above 0)"
        )
    return ax


def _neighbors(request: Request) -> "Axes":
    word = request.words[0]
    table = request.run.neighbors(word, request.n, at=request.at, level=request.level)
    named = word if request.at is None else f"{word}@{request.at}"
    return plot_neighbors(table, level=request.level, word=named)


def _projection(request: Request) -> "Axes":
    from bayesvec.posterior.terms import read_axis

    axis = read_axis(request.axis)
    placed = request.of_runs(lambda posterior: posterior.projection(request.words, axis, at=request.at))
    return plot_projection(placed, axis, words=request.words, level=request.level)


PLOTS = (
    Plot(
        "forest",
        "means and intervals of any quantities",
        QUANTITIES,
        _forest,
        "RUN 'norm(king)' 'norm(tax)' --with RUN2",
        least=1,
        options=("with",),
    ),
    Plot(
        "contrast",
        "differences between two slices",
        f"{QUANTITIES}, and --between",
        _contrast,
        "SLICED 'cosine(tax, law)' 'norm(tax)' --between D,R",
        least=1,
        options=("between",),
        needs=("between",),
    ),
    Plot(
        "neighbors",
        "the nearest words",
        "one word",
        _neighbors,
        "RUN king -n 3 --level 0.5",
        least=1,
        most=1,
        options=("at",),
    ),
    Plot(
        "projection",
        "words on an axis",
        "words, and --axis",
        _projection,
        "RUN tax law --axis king:queen",
        least=1,
        options=("with", "at", "axis"),
        needs=("axis",),
    ),
)
