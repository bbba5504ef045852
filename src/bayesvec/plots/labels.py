"""Words beside their points, moved apart where they would cover each other."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.plots.style import boxes_allowed, fonts_for, safe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_DISTANCES = (6.0, 14.0, 24.0, 36.0, 50.0)  # points, from the nearest that does
_DIRECTIONS = 16
_MARK = 4.0  # points from the middle of a marker to its edge
_APART = 1.0  # pixels between two labels at the least

Box = tuple[float, float, float, float]  # left, bottom, right, top, in pixels


def place_labels(
    ax: "Axes", points: Float64, texts: Sequence[str], *, fontsize: Any = "medium"
) -> "list[Annotation]":
    """Write a text beside each point, the first where it likes and the others where there is still room.

    Each takes the nearest of a fixed set of places at which it covers no label, no point and no edge of the
    axes; where there is none, the place that covers least. The limits of the axes must be settled.

    Parameters
    ----------
    ax : Axes
        Where to write.
    points : ndarray, (n, 2)
        In data coordinates.
    texts : sequence of str
        One for each point.
    fontsize : optional
        As matplotlib takes it.
    """
    figure: Any = ax.get_figure(root=True)
    family = fonts_for(texts)
    labels = [
        ax.annotate(
            safe(text),
            (x, y),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=fontsize,
            fontfamily=family,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.6},
            arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
        )
        for (x, y), text in zip(points, texts, strict=True)
    ]
    with boxes_allowed():
        figure.draw_without_rendering()  # the layout moves axes; sizes are known only then
        sizes = [_size(label) for label in labels]
    pixels = np.asarray(ax.transData.transform(points))
    edges = ax.get_window_extent()
    reach = _MARK * figure.dpi / 72
    taken: list[Box] = [(x - reach, y - reach, x + reach, y + reach) for x, y in pixels]
    for label, point, size in zip(labels, pixels, sizes, strict=True):
        shift, box = _best(point, size, taken, (edges.x0, edges.y0, edges.x1, edges.y1), figure.dpi / 72)
        label.set_position((shift[0] * 72 / figure.dpi, shift[1] * 72 / figure.dpi))
        gap = math.hypot(max(abs(shift[0]) - size[0] / 2, 0), max(abs(shift[1]) - size[1] / 2, 0))
        if gap <= 10 * figure.dpi / 72 and label.arrow_patch is not None:
            label.arrow_patch.set_visible(False)  # it stands beside its point
        taken.append(box)
    return labels


def _size(label: "Annotation") -> tuple[float, float]:
    from matplotlib.text import Text

    box = Text.get_window_extent(label)
    return box.width, box.height


def _best(
    point: Float64, size: tuple[float, float], taken: list[Box], edges: Box, scale: float
) -> tuple[tuple[float, float], Box]:
    """Return the shift from the point to the middle of its text, and the text's box, in pixels."""
    best: tuple[float, tuple[float, float], Box] | None = None
    for distance in _DISTANCES:
        for step in range(_DIRECTIONS):
            angle = 2 * math.pi * ((step + 1) // 2 * (-1) ** step) / _DIRECTIONS  # to the right first
            shift = (
                math.cos(angle) * (distance * scale + size[0] / 2),
                math.sin(angle) * (distance * scale + size[1] / 2),
            )
            box = _around((point[0] + shift[0], point[1] + shift[1]), size)
            covered = sum(_overlap(box, other) for other in taken) + _beyond(box, edges)
            if covered == 0:
                return shift, box
            if best is None or covered < best[0]:
                best = (covered, shift, box)
    assert best is not None
    return best[1], best[2]


def _around(middle: tuple[float, float], size: tuple[float, float]) -> Box:
    half_width, half_height = size[0] / 2 + _APART, size[1] / 2 + _APART
    return middle[0] - half_width, middle[1] - half_height, middle[0] + half_width, middle[1] + half_height


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _beyond(box: Box, edges: Box) -> float:
    """Return how much of a box lies outside the axes."""
    return (box[2] - box[0]) * (box[3] - box[1]) - _overlap(box, edges)
