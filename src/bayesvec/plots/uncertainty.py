"""Uncertain words: the spread of their vectors against their frequency."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._validate import whole
from bayesvec.errors import OptionError
from bayesvec.estimates.table import Table
from bayesvec.plots.labels import place_labels
from bayesvec.plots.style import by_run, legend_above, look, new_axes, safe, tidy
from bayesvec.plots.table import Plot, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_uncertainty(
    tables: "Table[Any] | Mapping[str, Table[Any]]",
    *,
    words: "list[str] | tuple[str, ...] | None" = None,
    named: int = 12,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the spread of word vectors against the frequency of the words, and the usual spread for the frequency.

    Parameters
    ----------
    tables : Table of Uncertainty, or mapping of str to such tables
        From `Posterior.uncertainty`, best for all words; of several runs by their names.
    words : list of str, optional
        The words to name; those that are most uncertain for their frequency if not given.
    named : int, optional
        Number of words to name if ``words`` is not given.
    ax : Axes, optional
        Where to draw.
    """
    runs = by_run(tables)
    named = whole("n", named, 0)
    ax = new_axes(ax, width=7.2, height=4.6)
    for number, (run, table) in enumerate(runs.items()):
        seen, spread, usual = (np.array(table[name], dtype=float) for name in ("seen", "spread", "usual"))
        order = np.argsort(seen, kind="stable")
        order = order[seen[order] > 0]  # the logarithmic scale has no place for 0
        dots = {**look(number, "color", "marker"), "alpha": 0.35, "linewidths": 0}
        label = safe(run) if run else "word"
        ax.scatter(seen[order], spread[order], s=12, label=label, rasterized=len(order) > 500, **dots)
        usual_label = f"usual for the count{f' ({safe(run)})' if run else ''}"
        ax.plot(
            seen[order], usual[order], label=usual_label, linewidth=1.8, **look(number, "color", "linestyle")
        )
    ax.set_xscale("log")
    ax.set_xlabel("positive samples of the word")
    ax.set_ylabel("spread of its vector (0 known, 1 unknown)")
    tidy(ax)
    legend_above(ax, columns=4)
    _name(ax, next(iter(runs.values())), words, named)
    return ax


def _name(ax: "Axes", table: Table[Any], words: Any, named: int) -> None:
    """Write some of the words of a table beside their points."""
    place = {word: row for row, word in enumerate(table["word"])}
    seen, spread, usual = (np.array(table[name], dtype=float) for name in ("seen", "spread", "usual"))
    if words is None:
        order = np.argsort(usual - spread, kind="stable")
        rows = [int(row) for row in order if seen[row] > 0][:named]
    else:
        unknown = [word for word in words if word not in place]
        if unknown:
            raise OptionError(f"{unknown[0]!r} is not in the table; name words that are")
        rows = [place[word] for word in words if seen[place[word]] > 0]
    if rows:
        points = np.column_stack([seen[rows], spread[rows]])
        ax.plot(*points.T, linestyle="none", marker="o", color="black", markersize=4, fillstyle="none")
        place_labels(ax, points, [table["word"][row] for row in rows], fontsize="small")


def _uncertainty(request: Request) -> "Axes":
    for posterior in request.runs.values() if request.words else ():
        posterior.rows(request.words)  # raises with the closest words
    tables = request.of_runs(lambda posterior: posterior.uncertainty(n=len(posterior.words)))
    return plot_uncertainty(tables, words=request.words or None, named=request.n)


PLOTS = (
    Plot(
        "uncertainty",
        "spread of vectors against frequency",
        "words to name, or none",
        _uncertainty,
        "RUN king",
        options=("with",),
    ),
)
