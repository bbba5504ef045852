"""Pictures of a posterior. Each function draws into axes (new ones if none are given) and returns them.

Colours are those of Okabe & Ito (2008), which colour-blind readers can tell apart; lines also differ in
dashes, so that a grey print can be read.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec.errors import OptionError
from bayesvec.estimate import LEVEL, Estimate, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.posterior import Posterior
    from bayesvec.questions.neighbors import Neighbor
    from bayesvec.trials import Calibration

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("solid", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 3)))
_GRID = 512


def plot_similarity(
    posteriors: "Posterior | Mapping[str, Posterior]",
    pairs: Sequence[tuple[str, str]],
    *,
    ax: "Axes | None" = None,
    level: float = LEVEL,
) -> "Axes":
    """Draw the posterior densities of a few cosines, of one run or of several over each other.

    Parameters
    ----------
    posteriors : Posterior or mapping of str to Posterior
        A run, or runs by the name that the legend gives them.
    pairs : sequence of (str, str)
        Pairs of words, one colour each; runs differ in dashes.
    ax : Axes, optional
        Where to draw.
    level : float, optional
        Probability of the interval that is shaded.
    """
    runs = dict(posteriors) if isinstance(posteriors, Mapping) else {"": posteriors}
    if not runs:
        raise OptionError("there are no runs to draw; give at least one")
    ax = _axes(ax)
    for number, (name, posterior) in enumerate(runs.items()):
        for i, ((one, other), estimate) in enumerate(zip(pairs, posterior.similarities(pairs), strict=True)):
            label = f"{one} – {other}" + (f" ({name})" if name else "")  # noqa: RUF001
            dashes = DASHES[(number if len(runs) > 1 else i) % len(DASHES)]
            _density_line(ax, estimate, label, COLOURS[i % len(COLOURS)], dashes, level, bounds=(-1.0, 1.0))
    _finish_density(ax, "cosine similarity", level)
    return ax


def plot_estimates(
    estimates: Sequence[Estimate],
    *,
    ax: "Axes | None" = None,
    level: float = LEVEL,
    bounds: tuple[float, float] | None = None,
    xlabel: str = "value",
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
        Where the values must lie, such as (0, 1) for probabilities.
    xlabel : str, optional
        Label of the horizontal axis.
    """
    if not estimates:
        raise OptionError("there are no estimates to draw; give at least one")
    ax = _axes(ax)
    for i, estimate in enumerate(estimates):
        colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        _density_line(ax, estimate, estimate.label, colour, dashes, level, bounds=bounds)
    _finish_density(ax, xlabel, level)
    return ax


def plot_neighbors(neighbors: Table["Neighbor"], *, ax: "Axes | None" = None) -> "Axes":
    """Draw a table of neighbours as a forest plot: mean and interval of each, P(in the top n) at the right.

    Parameters
    ----------
    neighbors : Table of Neighbor
        From `Posterior.neighbors`.
    ax : Axes, optional
        Where to draw.
    """
    ax = _axes(ax, height=0.6 + 0.3 * len(neighbors))
    places = list(range(len(neighbors)))
    low, mean, high = (np.array(neighbors[name]) for name in ("low", "mean", "high"))
    ax.errorbar(
        mean,
        places,
        xerr=[np.maximum(mean - low, 0.0), np.maximum(high - mean, 0.0)],  # a skewed mean may lie outside
        fmt="o",
        color=COLOURS[0],
        ecolor=COLOURS[0],
        elinewidth=1.6,
        capsize=3,
        markersize=5,
    )
    for place, probability in zip(places, neighbors["probability"], strict=True):
        ax.text(1.02, place, f"{probability:.2f}", transform=ax.get_yaxis_transform(), va="center")
    ax.text(1.02, -1.0, f"P(top {len(neighbors)})", transform=ax.get_yaxis_transform(), va="center")
    ax.set_yticks(places, [_safe(word) for word in neighbors["word"]])
    ax.set_ylim(len(neighbors) - 0.5, -0.5)
    ax.set_xlabel("cosine similarity")
    ax.set_ylabel("neighbour")
    ax.grid(axis="x", alpha=0.3)
    return ax


def plot_trace(estimate: Estimate, *, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the draws of each chain in order, and how their ranks are spread over all chains.

    Chains that explore the same posterior have flat rank histograms (Vehtari et al. 2021).

    Parameters
    ----------
    estimate : Estimate
        What to look at.
    axes : two Axes, optional
        Where to draw.
    """
    if axes is None:
        from matplotlib import pyplot

        _, pair = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        axes = list(pair)
    trace, ranks = axes
    counts, edges = rank_histograms(estimate.draws)
    for chain, draws in enumerate(estimate.draws):
        colour, dashes = COLOURS[chain % len(COLOURS)], DASHES[chain % len(DASHES)]
        trace.plot(np.arange(len(draws)), draws, color=colour, linewidth=0.6, label=f"chain {chain}")
        style: dict[str, Any] = {
            "color": colour,
            "linestyle": dashes,
            "linewidth": 1.6,
            "label": f"chain {chain}",
        }
        ranks.stairs(counts[chain], edges, baseline=None, **style)
    ranks.axhline(float(counts.mean()), color="0.5", linewidth=0.8)
    ranks.set_ylim(bottom=0.0)
    trace.set_xlabel("draw")
    trace.set_ylabel(_safe(estimate.label))
    ranks.set_xlabel("rank among all draws")
    ranks.set_ylabel("draws of the chain")
    ranks.legend(frameon=False, loc="lower center", ncols=4)
    return [trace, ranks]


def plot_ranks_sbc(calibration: "Calibration", *, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the ranks of the truth among the draws, over all worlds: flat if the method is calibrated.

    A valley means intervals too narrow, a hill too wide, a slope that draws are shifted. The bars are twice
    the standard error over worlds (quantities of one world depend on each other).

    Parameters
    ----------
    calibration : Calibration
        From `calibrate`.
    axes : Axes, one for each kind of quantity, optional
        Where to draw.
    """
    from bayesvec.trials import PLURAL

    ranks = calibration.ranks
    if axes is None:
        from matplotlib import pyplot

        size = (4.2 * len(calibration.coverage), 3.4)
        _, grid = pyplot.subplots(
            1, len(calibration.coverage), figsize=size, sharey=True, layout="constrained", squeeze=False
        )
        axes = list(grid[0])
        axes[0].get_figure(root=True).suptitle(  # type: ignore[union-attr]
            f"{calibration.method}, {len(ranks.values)} worlds: "
            f"{'calibrated' if calibration.ok else 'not calibrated'} (p = {calibration.test.p_value:.2g})"
        )
    kinds = np.array(ranks.kinds)
    for i, (ax, (kind, share)) in enumerate(zip(axes, calibration.coverage.items(), strict=True)):
        height, error, edges = rank_shares(ranks.values[:, kinds == kind], ranks.num_draws)
        ax.stairs(height, edges, fill=True, color=COLOURS[i], alpha=0.45)
        middle = (edges[1:] + edges[:-1]) / 2
        ax.errorbar(middle, height, yerr=2 * error, fmt="none", ecolor=COLOURS[i], elinewidth=1.2)
        ax.axhline(1.0, color="0.3", linewidth=1.0, linestyle=DASHES[1])
        ax.set_xlim(0.0, 1.0)
        ax.set_title(f"{100 * calibration.level:.3g}% intervals cover {share}", fontsize="medium")
        ax.set_xlabel(f"rank of the truth, {PLURAL[kind]}")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    axes[0].set_ylabel("frequency (1: uniform)")
    axes[0].set_ylim(bottom=0.0)
    return list(axes)


def rank_shares(values: npt.NDArray[np.int64], num_draws: int, bins: int = 20) -> tuple[Any, Any, Any]:
    """Return how often ranks fall in each bin over what is expected, its standard error, and the edges.

    Parameters
    ----------
    values : ndarray of int64, (world, M)
        Ranks from 0 to ``num_draws``.
    num_draws : int
        Draws among which they were ranked.
    bins : int, optional
        Bins at the most.
    """
    bins = max(2, min(bins, num_draws + 1, values.size // 25))
    bin_of = np.arange(num_draws + 1) * bins // (num_draws + 1)
    expected = np.bincount(bin_of, minlength=bins) / (num_draws + 1)
    share = (
        np.stack([(bin_of[values] == i).mean(axis=1) for i in range(bins)], axis=1) / expected
    )  # (world, bin)
    edges = np.concatenate([[0.0], np.cumsum(expected)])
    return share.mean(axis=0), share.std(axis=0, ddof=1) / np.sqrt(len(values)), edges


def rank_histograms(draws: npt.NDArray[np.float64], bins: int = 20) -> tuple[Any, Any]:
    """Return how many draws of each chain fall in equal ranges of rank, (chain, bins), and their edges."""
    bins = max(1, min(bins, draws.size // 5))
    ranks = np.argsort(np.argsort(draws, axis=None, kind="stable"), kind="stable").reshape(draws.shape)
    edges = np.linspace(0, draws.size, bins + 1)
    return np.stack([np.histogram(chain, edges)[0] for chain in ranks]), edges


def density(
    draws: npt.NDArray[np.float64], bounds: tuple[float, float] | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return a grid and a Gaussian kernel density estimate on it, with Silverman's (1986) bandwidth.

    Parameters
    ----------
    draws : ndarray
        Values that are not all the same.
    bounds : (float, float), optional
        Where values must lie; what the kernel puts beyond is reflected.
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


def save_figure(ax: "Axes", path: str) -> None:
    """Write the figure of ``ax`` to ``path``; the ending says the format (png, pdf, svg)."""
    import os
    from pathlib import Path

    final = Path(path)
    kind = final.suffix.lower().removeprefix(".")
    if kind not in ("png", "pdf", "svg"):
        raise OptionError(f"{path} ends in {final.suffix!r}; a picture can be .png, .pdf or .svg")
    partial = final.with_name(f".{final.name}.partial")
    try:
        ax.get_figure(root=True).savefig(partial, format=kind, dpi=200, bbox_inches="tight")  # type: ignore[union-attr]
        os.replace(partial, final)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OptionError(f"cannot write {path}: {error.strerror}; choose another place") from None


def _axes(ax: "Axes | None", height: float = 3.6) -> "Axes":
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(6.4, height), layout="constrained")[1]


def _density_line(
    ax: "Axes",
    estimate: Estimate,
    label: str,
    colour: str,
    dashes: Any,
    level: float,
    *,
    bounds: tuple[float, float] | None,
) -> None:
    style = {"color": colour, "linestyle": dashes, "linewidth": 1.8, "label": _safe(label)}
    if np.ptp(estimate.draws) == 0:  # one point has no density
        ax.axvline(estimate.mean, **style)
        return
    grid, height = density(estimate.draws, bounds)
    ax.plot(grid, height, **style)
    low, high = estimate.interval(level)
    inside = (grid >= low) & (grid <= high)
    ax.fill_between(grid[inside], height[inside], color=colour, alpha=0.15, linewidth=0)


def _finish_density(ax: "Axes", xlabel: str, level: float) -> None:
    ax.set_xlabel(f"{xlabel} (shaded: {100 * level:g}% interval)")
    ax.set_ylabel("posterior density")
    ax.set_ylim(bottom=0.0)
    ax.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0))  # above: it hides no curve
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _safe(text: str) -> str:
    """Keep a dollar sign from being read as mathematics, a leading underscore as a hidden label."""
    escaped = text.replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped
