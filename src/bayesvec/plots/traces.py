"""Draws in order, and their ranks over chains."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.plots.style import COLOURS, fonts_for, look, new_panels, pick, safe, tidy
from bayesvec.plots.table import QUANTITIES, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_trace(
    estimates: Estimate | Sequence[Estimate], *, axes: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Draw the draws of each chain in order, and the distribution of their ranks over all chains.

    Chains that explore the same posterior have flat rank histograms (Vehtari et al. 2021).

    Parameters
    ----------
    estimates : Estimate or sequence of Estimate
        Any quantities: a row of two panels for each.
    axes : sequence of Axes, optional
        Where to draw: two for each estimate.

    Returns
    -------
    list of Axes
        Trace and ranks of the first, of the second, ...
    """
    several = [estimates] if isinstance(estimates, Estimate) else list(estimates)
    if not several:
        raise OptionError("there are no estimates to draw; give at least one")
    panels = new_panels(axes, rows=len(several), width=9.0, height=2.9)
    for estimate, trace, ranks in zip(several, panels[::2], panels[1::2], strict=True):
        _draw(estimate, trace, ranks)
    return panels


def _draw(estimate: Estimate, trace: "Axes", ranks: "Axes") -> None:
    counts, edges = rank_histograms(estimate.draws)
    for chain, draws in enumerate(estimate.draws):
        colour = pick(COLOURS, chain)
        trace.plot(
            np.arange(len(draws)), draws, color=colour, linewidth=0.6, alpha=0.8, label=f"chain {chain}"
        )
        style = look(chain, "color", "linestyle")
        ranks.stairs(counts[chain], edges, baseline=None, label=f"chain {chain}", linewidth=1.6, **style)
    ranks.axhline(float(counts.mean()), color="0.5", linewidth=0.8)
    ranks.set_ylim(0.0, 1.3 * float(counts.max()))
    trace.set_xlabel("draw")
    trace.set_ylabel(safe(estimate.label), fontfamily=fonts_for([estimate.label]))
    ranks.set_xlabel("rank among all draws")
    ranks.set_ylabel("draws of the chain")
    ranks.legend(frameon=False, loc="upper center", ncols=4)
    for ax in (trace, ranks):
        tidy(ax)


def rank_histograms(draws: Float64, bins: int = 20) -> tuple[Any, Any]:
    """Return the number of draws of each chain in equal ranges of rank, (chain, bins), and their edges."""
    bins = max(1, min(bins, draws.size // 5))
    ranks = np.argsort(np.argsort(draws, axis=None, kind="stable"), kind="stable").reshape(draws.shape)
    edges = np.linspace(0, draws.size, bins + 1)
    return np.stack([np.histogram(chain, edges)[0] for chain in ranks]), edges


PLOTS = (
    Plot(
        "trace",
        "draws in order, and their ranks",
        QUANTITIES,
        lambda request: plot_trace(request.estimates()),
        "RUN 'cosine(king, queen)' 'norm(king)'",
        least=1,
    ),
)
