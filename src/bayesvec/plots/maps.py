"""A map of chosen words: the plane that best shows their posterior means, with the draws around them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Array, Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.plots.labels import place_labels
from bayesvec.plots.style import COLOURS, DASHES, MARKERS, new_axes, pick, tidy
from bayesvec.plots.table import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.posterior import Posterior


_FEWEST = 3  # words that span a plane


@dataclass(frozen=True, eq=False)
class Projection:
    """A plane in the space of vectors.

    Attributes
    ----------
    centre : ndarray, (K,)
        The origin of the plane.
    axes : ndarray, (2, K)
        Two orthonormal directions.
    share : ndarray, (2,)
        Share of the variance of the fitted vectors along each.
    """

    centre: Float64
    axes: Float64
    share: Float64

    def __call__(self, vectors: Array) -> Float64:
        """Return the coordinates (..., 2) of vectors (..., K) in the plane."""
        return np.asarray((vectors - self.centre) @ self.axes.T)


def fit_projection(vectors: npt.ArrayLike) -> Projection:
    """Return the plane of the first two principal components of vectors (n, K).

    The sign of a component is arbitrary; here the vector farthest out along it is on its positive side.
    """
    x = np.asarray(vectors, dtype=np.float64)
    centre = x.mean(axis=0)
    moved = x - centre
    squares, directions = np.linalg.eigh(moved.T @ moved)  # (K, K): much faster than the SVD of (n, K)
    axes = directions[:, :-3:-1].T  # (2, K), the largest first
    place = moved @ axes.T
    farthest = np.abs(place).argmax(axis=0)
    signs = np.where(place[farthest, [0, 1]] < 0, -1.0, 1.0)
    total = float(squares.sum())
    share = np.maximum(squares[:-3:-1], 0.0) / total if total > 0 else np.zeros(2)
    return Projection(centre, axes * signs[:, None], share)


def plot_map(
    posterior: "Posterior",
    words: Sequence[str],
    *,
    ax: "Axes | None" = None,
    at: str | None = None,
    level: float = LEVEL,
    shown: int = 150,
) -> "Axes":
    """Draw words in the plane that best shows their posterior means, each with the cloud of its draws.

    The plane is that of the first two principal components of the words' posterior means; the draws are
    projected along the same axes. The ellipse around a word holds ``level`` of its cloud if that is normal.

    Parameters
    ----------
    posterior : Posterior
        The run; not one with ``identify="none"``, whose draws are rotated against each other.
    words : sequence of str
        Three or more different words.
    ax : Axes, optional
        Where to draw.
    at : str, optional
        The slice of the words, in a run over groups or time.
    level : float, optional
        Probability of the ellipses.
    shown : int, optional
        The largest number of draws of each word that are drawn as points.
    """
    from matplotlib.patches import Ellipse

    tails(level)
    vectors = _read(posterior, words, at)  # (draw, n, K)
    projection = fit_projection(vectors.mean(axis=0))
    cloud = projection(vectors)  # (draw, n, 2)
    means = cloud.mean(axis=0)
    ax = new_axes(ax, height=5.2)
    some = evenly(len(cloud), shown)
    for i in range(len(words)):
        colour = pick(COLOURS, i)
        if len(cloud) > 2:  # a point has no cloud
            # rasterised: thousands of points would be most of a PDF or SVG
            dots: Any = {"s": 3, "color": colour, "alpha": 0.25, "linewidths": 0, "rasterized": True}
            ax.scatter(*cloud[some, i].T, **dots)
            place, width, height, angle = ellipse(cloud[:, i], level)
            style = {"facecolor": "none", "edgecolor": colour, "linestyle": pick(DASHES, i), "linewidth": 1.4}
            ax.add_patch(Ellipse(place, width, height, angle=angle, **style))
        ax.plot(*means[i], marker=pick(MARKERS, i), color=colour, markersize=8, markeredgecolor="white")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    first, second = (f"{100 * share:.0f}% of the variance of the means" for share in projection.share)
    clouds = f"; ellipses: {100 * level:g}%" if len(cloud) > 2 else ""
    ax.set_xlabel(f"first axis ({first}{clouds})")
    ax.set_ylabel(f"second axis ({second})")
    tidy(ax)
    place_labels(ax, means, words)
    return ax


def evenly(number: int, most: int) -> Int64:
    """Return at most ``most`` indices, evenly spread over ``number``."""
    return np.unique(np.linspace(0, number - 1, min(most, number)).astype(np.int64))


def ellipse(points: Float64, level: float = LEVEL) -> tuple[tuple[float, float], float, float, float]:
    r"""Return centre, lengths of the two axes and angle in degrees of the ellipse of a normal cloud.

    With the covariance :math:`\sum_j s_j^2 u_j u_j^\top` of the points, a normal with it puts ``level`` within
    :math:`\sqrt{-2 \log(1 - level)}` standard deviations :math:`s_j` along each :math:`u_j`.

    Parameters
    ----------
    points : ndarray, (n, 2)
        Three or more points.
    level : float, optional
        Probability of the ellipse.
    """
    long, short, angle = ellipses(np.cov(points.T)[None], level)[0]
    x, y = points.mean(axis=0)
    return (float(x), float(y)), float(long), float(short), float(angle)


def ellipses(covariances: Float64, level: float = LEVEL) -> Float64:
    """Return the lengths of the long and the short axis and the angle in degrees, (n, 3); see `ellipse`.

    Parameters
    ----------
    covariances : ndarray, (n, 2, 2)
        Of n clouds.
    level : float, optional
        Probability of the ellipses.
    """
    variances, directions = np.linalg.eigh(covariances)
    reach = float(np.sqrt(-2.0 * np.log1p(-level)))
    short, long = 2 * reach * np.sqrt(np.maximum(variances, 0.0)).T
    return np.column_stack([long, short, np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))])


def _read(posterior: "Posterior", words: Sequence[str], at: str | None) -> Float64:
    """Read the vectors of the words in all draws, (draw, n, K)."""
    draws = posterior.draws
    if len(words) < _FEWEST:
        raise OptionError(f"a map needs {_FEWEST} words or more; got {len(words)}")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise OptionError(f"a map needs different words; got {twice!r} twice")
    if draws.dim < 2:
        raise OptionError("a map needs vectors of 2 dimensions or more; these have 1")
    check_identified(posterior, "a map")
    vectors = draws.read("rho", rows=posterior.rows(words, at=at)).astype(np.float64)
    return vectors.reshape(-1, len(words), draws.dim)


def check_identified(posterior: "Posterior", what: str) -> None:
    """Raise if the draws of a run are rotated against each other."""
    if posterior.draws.settings.identify == "none":
        raise OptionError(
            f"{posterior.path} has identify='none': its draws are rotated against each other, so their mean is "
            f"meaningless; {what} needs a run with identify='procrustes' or 'fixed'"
        )


PLOTS = (
    Plot(
        "map",
        "words in a plane, with the clouds of their draws",
        "three words or more",
        lambda request: plot_map(request.run, request.words, at=request.at, level=request.level),
        "RUN king queen tax law",
        least=_FEWEST,
        options=("at",),
    ),
)
