"""Plots of a posterior. Each function draws into axes (new ones if none are given) and returns them.

Colours are those of Okabe & Ito (2008), which colour-blind readers can distinguish; lines also differ in
dashes and points in markers, so that a greyscale print is readable.
"""

from bayesvec.plots.calibration import plot_ranks_sbc, rank_shares
from bayesvec.plots.checks import ess_growth, plot_check, plot_ess
from bayesvec.plots.densities import density, plot_estimates, plot_similarity
from bayesvec.plots.forests import plot_forest, plot_neighbors, plot_projection
from bayesvec.plots.heatmaps import plot_heatmap
from bayesvec.plots.maps import ellipse, fit_projection, plot_map
from bayesvec.plots.rings import plot_rings
from bayesvec.plots.saving import save_figure
from bayesvec.plots.style import COLOURS, DASHES, MARKERS
from bayesvec.plots.traces import plot_trace, rank_histograms
from bayesvec.plots.trajectories import plot_drift, plot_neighbor_changes, plot_trajectory
from bayesvec.plots.uncertainty import plot_uncertainty

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "density",
    "ellipse",
    "ess_growth",
    "fit_projection",
    "plot_check",
    "plot_drift",
    "plot_ess",
    "plot_estimates",
    "plot_forest",
    "plot_heatmap",
    "plot_map",
    "plot_neighbor_changes",
    "plot_neighbors",
    "plot_projection",
    "plot_ranks_sbc",
    "plot_rings",
    "plot_similarity",
    "plot_trace",
    "plot_trajectory",
    "plot_uncertainty",
    "rank_histograms",
    "rank_shares",
    "save_figure",
]
