"""Ranks of the truth in simulation-based calibration."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Int64
from bayesvec.plots.style import COLOURS, DASHES, pick, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesvec.diagnostics.calibration import Calibration


def plot_ranks_sbc(calibration: "Calibration", *, axes: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Draw the ranks of the truth among the draws, over all simulations: flat if the method is calibrated.

    A valley means that intervals are too narrow, a hill too wide, a slope that draws are biased. The bars are
    twice the standard error over simulations (quantities of one simulation depend on each other).

    Parameters
    ----------
    calibration : Calibration
        From `calibrate`.
    axes : Axes, one for each kind of quantity, optional
        Where to draw.
    """
    from bayesvec.diagnostics.calibration import PLURAL

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
        ax.stairs(height, edges, fill=True, color=pick(COLOURS, i), alpha=0.45)
        middle = (edges[1:] + edges[:-1]) / 2
        ax.errorbar(middle, height, yerr=2 * error, fmt="none", ecolor=pick(COLOURS, i), elinewidth=1.2)
        ax.axhline(1.0, color="0.3", linewidth=1.0, linestyle=DASHES[1])
        ax.set_xlim(0.0, 1.0)
        ax.set_title(f"{100 * calibration.level:.3g}% intervals cover {share}", fontsize="medium")
        ax.set_xlabel(f"rank of the truth, {PLURAL[kind]}")
        tidy(ax)
    axes[0].set_ylabel("frequency (1: uniform)")
    axes[0].set_ylim(bottom=0.0)
    return list(axes)


def rank_shares(values: Int64, num_draws: int, bins: int = 20) -> tuple[Any, Any, Any]:
    """Return the frequency of ranks in each bin relative to the expected one, its standard error, and the edges.

    Parameters
    ----------
    values : ndarray of int64, (world, M)
        Ranks from 0 to ``num_draws``.
    num_draws : int
        Number of draws among which they were ranked.
    bins : int, optional
        The largest number of bins.
    """
    bins = max(2, min(bins, num_draws + 1, values.size // 25))
    bin_of = np.arange(num_draws + 1) * bins // (num_draws + 1)
    expected = np.bincount(bin_of, minlength=bins) / (num_draws + 1)
    share = (
        np.stack([(bin_of[values] == i).mean(axis=1) for i in range(bins)], axis=1) / expected
    )  # (world, bin)
    edges = np.concatenate([[0.0], np.cumsum(expected)])
    return share.mean(axis=0), share.std(axis=0, ddof=1) / np.sqrt(len(values)), edges
