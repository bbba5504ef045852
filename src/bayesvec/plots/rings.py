"""The ring of a posterior that is not identified, next to one that is (the paper's donuts)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.plots.labels import place_labels
from bayesvec.plots.maps import check_identified, evenly
from bayesvec.plots.style import COLOURS, legend_above, look, new_panels, pick, safe, tidy
from bayesvec.plots.table import Plot, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.posterior import Posterior


def plot_rings(
    free: "Posterior",
    identified: "Posterior",
    words: Sequence[str],
    *,
    axes: "Sequence[Axes] | None" = None,
    shown: int = 1500,
) -> "list[Axes]":
    """Draw two coordinates of word vectors in a run that is not identified, next to one that is.

    The posterior does not change when all vectors are rotated together, so without identification a word lies
    anywhere on a ring (K = 2; on a shell if K is larger) and its mean is near the origin.

    Parameters
    ----------
    free : Posterior
        A run with ``identify="none"``.
    identified : Posterior
        A run with another ``identify``, of the same counts.
    words : sequence of str
        One or more words.
    axes : two Axes, optional
        Where to draw.
    shown : int, optional
        The largest number of draws of each word that are drawn.
    """
    if free.draws.settings.identify != "none":
        raise OptionError(f"{free.path} is identified; the first run must have identify='none'")
    check_identified(identified, "the second panel")
    for posterior in (free, identified):
        if posterior.draws.dim < 2:
            raise OptionError(f"{posterior.path} has vectors of 1 dimension; rings need 2 or more")
    how = identified.draws.settings.identify
    clouds = [_coordinates(posterior, words) for posterior in (free, identified)]
    panels = new_panels(axes, width=8.6, height=5.2)
    reach = 1.05 * max(float(np.abs(cloud).max()) for cloud in clouds)
    for ax, cloud, title in zip(panels, clouds, ("not identified", f"identified ({how})"), strict=True):
        _draw(ax, cloud, words, shown)
        ax.set_title(title, fontsize="medium")
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
    _legend(panels[0])
    place_labels(panels[1], clouds[1].mean(axis=0), words)
    return panels


def _legend(ax: "Axes") -> None:
    """Put the words above the axes, their dots as dark as many overlaid ones look."""
    legend_above(ax, columns=3, gap=2.0)  # the title stands in the gap
    legend: Any = ax.get_legend()
    for handle in legend.legend_handles[:-1]:
        handle.set_alpha(0.9)
        handle.set_sizes([36.0])


def _coordinates(posterior: "Posterior", words: Sequence[str]) -> Float64:
    """Return the first two coordinates of the words in all draws, (draw, n, 2)."""
    vectors = posterior.draws.read("rho", rows=posterior.rows(words))
    return vectors[..., :2].reshape(-1, len(words), 2).astype(np.float64)


def _draw(ax: "Axes", cloud: Float64, words: Sequence[str], shown: int) -> None:
    some = evenly(len(cloud), shown)
    for i, word in enumerate(words):
        style: Any = {
            **look(i, "color", "marker"),
            "s": 12,
            "alpha": 0.4,
            "linewidths": 0,
            "rasterized": True,
        }
        ax.scatter(*cloud[some, i].T, label=safe(word), **style)
    for i, mean in enumerate(cloud.mean(axis=0)):
        cross = {"marker": "X", "markersize": 10, "color": pick(COLOURS, i), "markeredgecolor": "black"}
        label = "posterior mean" if i == len(words) - 1 else None
        ax.plot(*mean, linestyle="none", label=label, **cross)
    for line in (ax.axhline, ax.axvline):
        line(0.0, color="0.7", linewidth=0.6, zorder=0)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel("first coordinate")
    ax.set_ylabel("second coordinate")
    tidy(ax)


def _rings(request: Request) -> "list[Axes]":
    every = list(request.runs.values())
    free = [post for post in every if post.draws.settings.identify == "none"]
    others = [post for post in every if post not in free]
    if len(free) != 1 or len(others) != 1:
        raise OptionError(
            "plot rings takes two runs (--with RUN), one with identify='none' and one identified; "
            f"got {len(free)} and {len(others)}"
        )
    return plot_rings(free[0], others[0], request.words)


PLOTS = (
    Plot(
        "rings",
        "a run that is not identified, and one that is",
        "words, and --with RUN",
        _rings,
        "RUN king --with RUN2",
        least=1,
        options=("with",),
    ),
)
