"""Heatmaps: a quantity of all pairs of some words, with its uncertainty."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL
from bayesvec.plots.quantities import scale_of
from bayesvec.plots.style import LETTER, fonts_for, new_axes, safe
from bayesvec.plots.table import Plot, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.estimates.matrix import Matrix

MOST_WITH_TEXT = 14  # words; with more, cells are too small for numbers


def plot_heatmap(matrix: "Matrix", *, ax: "Axes | None" = None, level: float = LEVEL) -> "Axes":
    """Draw a matrix of estimates as a heatmap: the mean as colour and number, the interval below it.

    Pairs whose interval contains 0 are set in italics: their sign is not known.

    Parameters
    ----------
    matrix : Matrix
        From `Posterior.similarities`.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the intervals.
    """
    if len(matrix) < 2:
        raise OptionError("a heatmap needs two words or more")
    number, names = len(matrix), [safe(word) for word in matrix.words]
    margin = 1.6 + LETTER * max(map(len, names))
    cell = 0.85 if number <= MOST_WITH_TEXT else 0.3
    ax = new_axes(ax, width=margin + cell * number, height=0.9 + LETTER * 5 + 0.7 * cell * number)
    hidden = np.triu(np.ones((number, number), dtype=bool))
    mean = np.ma.array(matrix.mean, mask=hidden)[1:, :-1]
    size = float(np.abs(mean).max()) or 1.0
    image = ax.imshow(mean, cmap="PuOr_r", vmin=-size, vmax=size, aspect="auto")
    family = fonts_for(matrix.words)
    ax.set_xticks(
        range(number - 1), names[:-1], fontfamily=family, rotation=45, ha="right", rotation_mode="anchor"
    )
    ax.set_yticks(range(number - 1), names[1:], fontfamily=family)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel("word")
    shown = scale_of(matrix.estimates).axis
    if number <= MOST_WITH_TEXT and matrix.estimates[0].draws.size > 1:
        shown += f", {100 * level:g}% interval below it"
    ax.set_xlabel(shown)
    if number <= MOST_WITH_TEXT:
        _write_cells(ax, matrix, level, size)
    else:
        figure: Any = ax.get_figure(root=True)
        bar = figure.colorbar(image, ax=ax, shrink=0.8)
        bar.outline.set_visible(False)
    return ax


def _write_cells(ax: "Axes", matrix: "Matrix", level: float, size: float) -> None:
    """Write the mean and the interval of each pair into its cell."""
    for row, word in enumerate(matrix.words[1:]):
        for column, other in enumerate(matrix.words[: row + 1]):
            each = matrix[word, other]
            low, high = each.interval(level)
            colour = "white" if abs(each.mean) > 0.55 * size else "black"
            style = "italic" if low <= 0.0 <= high else "normal"
            point = np.isnan(low)
            look: dict[str, Any] = {"ha": "center", "color": colour, "style": style}
            ax.text(column, row, f"{each.mean:.2f}", va="center" if point else "bottom", **look)
            if not point:
                text = f"{low:.2f} to {high:.2f}"
                ax.text(column, row + 0.06, text, va="top", fontsize="x-small", **look)


def _draw(request: Request) -> "Axes":
    return plot_heatmap(request.run.similarities(request.words, at=request.at), level=request.level)


PLOTS = (
    Plot(
        "heatmap",
        "cosines among words",
        "two words or more",
        _draw,
        "RUN king tax law",
        least=2,
        options=("at",),
    ),
)
