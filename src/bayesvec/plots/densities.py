"""Posterior densities of estimates, overlaid."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.plots.quantities import scale_of
from bayesvec.plots.style import by_run, legend_above, look, new_axes, safe, tidy
from bayesvec.plots.table import QUANTITIES, Plot, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior.posterior import Posterior

_GRID = 512


def plot_similarity(
    posteriors: "Posterior | Mapping[str, Posterior]",
    pairs: Sequence[tuple[str, str]],
    *,
    ax: "Axes | None" = None,
    at: str | None = None,
    level: float = LEVEL,
) -> "Axes":
    """Draw the posterior densities of a few cosines, of one run or of several overlaid.

    Parameters
    ----------
    posteriors : Posterior or mapping of str to Posterior
        A run, or runs by their names in the legend.
    pairs : sequence of (str, str)
        Pairs of words, one colour each; runs differ in dashes, and in colours if there is only one pair.
    ax : Axes, optional
        Where to draw.
    at : str, optional
        The slice of the words, in runs over groups or time.
    level : float, optional
        Probability of the interval that is shaded.
    """
    runs = by_run(posteriors)
    estimates = {name: posterior.similarities(pairs, at=at) for name, posterior in runs.items()}
    ax = new_axes(ax)
    for number, (name, cosines) in enumerate(estimates.items()):
        for i, ((one, other), cosine) in enumerate(zip(pairs, cosines, strict=True)):
            style = look(i, "color", "linestyle")
            if len(runs) > 1:  # dashes distinguish runs, colours and markers pairs
                style |= look(number, "linestyle")
                if len(pairs) == 1:
                    style |= look(number, "color")
                else:
                    style |= {**look(i, "marker"), "markevery": (20 * number, 80), "markersize": 5}
            label = f"{one} – {other}" + (f" ({name})" if name else "")  # noqa: RUF001
            _density_line(ax, cosine, label, style, level, bounds=(-1.0, 1.0))
    _finish(ax, "cosine similarity", level)
    return ax


def plot_estimates(
    estimates: Sequence[Estimate],
    *,
    ax: "Axes | None" = None,
    level: float = LEVEL,
    bounds: tuple[float, float] | None = None,
    xlabel: str | None = None,
) -> "Axes":
    """Draw the posterior densities of any estimates.

    Parameters
    ----------
    estimates : sequence of Estimate
        What to draw, each with its label in the legend.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the interval that is shaded.
    bounds : (float, float), optional
        Where the values must lie, such as (0, 1) for probabilities; by default that of their quantity.
    xlabel : str, optional
        Label of the horizontal axis; by default that of their quantity.
    """
    if not estimates:
        raise OptionError("there are no estimates to draw; give at least one")
    scale = scale_of(estimates)
    ax = new_axes(ax)
    for i, estimate in enumerate(estimates):
        style = look(i, "color", "linestyle")
        _density_line(ax, estimate, estimate.label, style, level, bounds=bounds or scale.bounds)
    _finish(ax, xlabel or scale.axis, level)
    return ax


def density(draws: Float64, bounds: tuple[float, float] | None = None) -> tuple[Float64, Float64]:
    """Return a grid and a Gaussian kernel density estimate on it, with Silverman's (1986) bandwidth.

    Parameters
    ----------
    draws : ndarray
        Values, not all equal.
    bounds : (float, float), optional
        Where values must lie; the kernel is reflected there.
    """
    values = np.sort(draws, axis=None)
    quartiles = np.quantile(values, [0.25, 0.75])
    spread = min(values.std(ddof=1), (quartiles[1] - quartiles[0]) / 1.34) or values.std(ddof=1)
    width = 0.9 * spread * len(values) ** -0.2
    low, high = values[0] - 3 * width, values[-1] + 3 * width
    if bounds is not None:
        below, above = 2 * bounds[0] - values, 2 * bounds[1] - values
        values = np.concatenate([values, below[below > low], above[above < high]])
        low, high = max(low, bounds[0]), min(high, bounds[1])
    grid = np.linspace(low, high, _GRID)
    height = np.zeros(_GRID)
    for part in np.array_split(values, 1 + len(values) // 4096):
        height += np.exp(-0.5 * ((grid[:, None] - part) / width) ** 2).sum(axis=1)
    return grid, height / (draws.size * width * np.sqrt(2 * np.pi))


def _density_line(
    ax: "Axes",
    estimate: Estimate,
    label: str,
    style: dict[str, Any],
    level: float,
    *,
    bounds: tuple[float, float] | None,
) -> None:
    style = {**style, "linewidth": 1.8, "label": safe(label)}
    if np.ptp(estimate.draws) == 0:  # one point has no density
        ax.axvline(estimate.mean, **{**style, "markevery": None})
        return
    grid, height = density(estimate.draws, bounds)
    ax.plot(grid, height, **style)
    low, high = estimate.interval(level)
    inside = (grid >= low) & (grid <= high)
    ax.fill_between(grid[inside], height[inside], color=style["color"], alpha=0.15, linewidth=0)


def _finish(ax: "Axes", xlabel: str, level: float) -> None:
    ax.set_xlabel(f"{xlabel} (shaded: {100 * level:g}% interval)")
    ax.set_ylabel("posterior density")
    ax.set_ylim(bottom=0.0)
    legend_above(ax)
    tidy(ax)


def _similarity(request: Request) -> "Axes":
    pairs = list(zip(request.words[::2], request.words[1::2], strict=True))
    runs = request.of_runs(lambda posterior: posterior)
    return plot_similarity(runs, pairs, at=request.at, level=request.level)


PLOTS = (
    Plot(
        "similarity",
        "densities of cosines",
        "pairs of words",
        _similarity,
        "RUN king queen tax law --with RUN2",
        least=2,
        step=2,
        options=("with", "at"),
    ),
    Plot(
        "density",
        "densities of any quantities",
        QUANTITIES,
        lambda request: plot_estimates(request.estimates(), level=request.level),
        "RUN 'cosine(king, queen)' 'cosine(king, tax)'",
        least=1,
    ),
)
