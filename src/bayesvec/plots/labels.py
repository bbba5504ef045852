"""Words beside their points, moved apart where they would cover each other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.plots.style import boxes_allowed, fonts_for, safe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

_DISTANCES = (6.0, 14.0, 24.0, 36.0, 50.0)  # points from a point to its label, in order of preference
_DIRECTIONS = 16
_MARK = 4.0  # points from the centre of a marker to its edge
_APART = 1.0  # pixels between two labels, at least
_NEAR = 10.0  # points from a label to its point that need no line


def place_labels(
    ax: "Axes", points: Float64, texts: Sequence[str], *, fontsize: Any = "medium"
) -> "list[Annotation]":
    """Write a text beside each point, one after another where there is still room.

    Each takes the nearest of a fixed set of places at which it covers no label, no point and no edge of the
    axes; if there is none, the place that covers least. The limits of the axes must be final.

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
    from matplotlib.text import Text

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
        sizes = [np.array(Text.get_window_extent(label).size) for label in labels]
    scale = figure.dpi / 72
    pixels = np.asarray(ax.transData.transform(points))
    taken = np.hstack([pixels - _MARK * scale, pixels + _MARK * scale])  # (box, 4): left, bottom, right, top
    for label, point, size in zip(labels, pixels, sizes, strict=True):
        shifts = _shifts(size, scale)
        middles, half = point + shifts, size / 2 + _APART
        boxes = np.hstack([middles - half, middles + half])  # (place, 4)
        inside = _overlap(boxes, np.array([ax.get_window_extent().extents]))[:, 0]
        covered = _overlap(boxes, taken).sum(axis=1) + (4 * half.prod() - inside)
        best = int(np.argmin(np.where(covered < 1e-6, 0.0, covered)))  # the first of the best
        label.set_position(tuple(shifts[best] / scale))
        if np.hypot(*np.maximum(np.abs(shifts[best]) - size / 2, 0)) <= _NEAR * scale and label.arrow_patch:
            label.arrow_patch.set_visible(False)
        taken = np.vstack([taken, boxes[best]])
    return labels


def _shifts(size: Float64, scale: float) -> Float64:
    """Return the shifts from a point to the centre of its label in pixels, (place, 2), the nearest first."""
    steps = np.arange(_DIRECTIONS)
    angles = 2 * np.pi * ((steps + 1) // 2 * (-1) ** steps) / _DIRECTIONS  # to the right first
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([directions * (distance * scale + size / 2) for distance in _DISTANCES])


def _overlap(boxes: Float64, others: Float64) -> Float64:
    """Return the area that each box shares with each of others, (box, other)."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.maximum(high - low, 0.0).prod(axis=2))
