"""RMSE_co over the amount of data, uniform and Zipf: the paper's Figure 2."""

from collections.abc import Sequence
from typing import Any

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import Experiment, InPaper, Results, figures_of
from bayesvec.paper.markdown import grid, lines, mean, paragraphs, size
from bayesvec.paper.simulated import POOL, error_row, find_errors
from bayesvec.paper.variants import VARIANTS

SHOWS = "Figure 2 (fig:sim_K5_V100_rmse_loglog)"
NOTE = """\
RMSE_co is the root mean squared error of the co-occurrence probabilities of all pairs, averaged over ten worlds
(two with `--quick`) with K = 5 and V = 100; the figure shows that of the mean vectors. The paper prints no
numbers: it reports a slope close to -0.5 for HMC, MAP and Gibbs but not for MFVI, and a worse MAP where data are
few. The mean probabilities minimise the expected squared error and need no identification. The slope is over N
from 50,000 on (20,000 with `--quick`) where all of these have been run; "at the end" is between the two largest
N."""

CUT = """\
NUTS on Zipf worlds and at N other than 1k, 10k, 100k and 1M (about 80 minutes on two cores, by the cells that were
run); MFVI on Zipf worlds, and at convergence at other N (10 minutes); Algorithm 1 at other N (4 minutes per cell)."""

SHOWN = ("gibbs", "nuts", "mfvi-stan", "mfvi", "map", "paper")
_ESTIMATES = (("rmse_plugin", "mean vectors"), ("rmse_probability", "mean probabilities"))


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the study with K = 5 and V = 100."""
    return [
        cell
        for cell in simulated.cells(quick)
        if (cell.settings["dim"], cell.settings["vocab"]) == (5, 100) and cell.settings["method"] in SHOWN
    ]


def table(results: Results) -> str:
    """Return RMSE_co by variant, estimate and N, the slopes, and comparisons with the MAP and with Stan's rule."""
    parts = []
    for world in results.each("world"):
        of_world = results.having(world=world)
        sizes = sorted(of_world.each("pairs"))
        rows = []
        for name in of_world.each("method"):
            title = VARIANTS[name].label
            if name == "map":
                rows.append(error_row(title, of_world, sizes, method=name))
                continue
            for metric, what in _ESTIMATES:
                rows.append(error_row(f"{title}, {what}", of_world, sizes, metric, method=name))
        rows.append(["(paper: HMC, MAP, Gibbs)", *[""] * len(sizes), "≈ -0.5", ""])
        parts += [
            grid([f"{world}, RMSE_co", *map(size, sizes), "slope", "at the end"], rows),
            lines(
                *(_against_map(of_world, world, sizes, *estimate) for estimate in _ESTIMATES),
                _against_stan(of_world, world, sizes),
            ),
        ]
    return paragraphs(*parts)


def _against_stan(results: Results, world: str, sizes: Sequence[int]) -> str:
    """Return what the stopping rule does to MFVI, at the largest size where both have been run."""
    errors = [find_errors(results, sizes, method=name) for name in ("mfvi-stan", "mfvi", "gibbs")]
    for n, stan, best, gibbs in reversed(list(zip(sizes, *errors, strict=True))):
        if stan is not None and best is not None and gibbs is not None:
            return (
                f"{world}, MFVI over Gibbs at N = {size(n)}: the ratio of RMSE_co is {stan / gibbs:.2f} with Stan's "
                f"stopping rule, {best / gibbs:.2f} at convergence."
            )
    return ""


def _against_map(results: Results, world: str, sizes: Sequence[int], metric: str, what: str) -> str:
    """Return the ratio of Gibbs to the MAP, over the sizes at which both have been run."""
    ours = find_errors(results, sizes, metric, method="gibbs")
    modes = find_errors(results, sizes, method="map")
    ratios = {n: a / b for n, a, b in zip(sizes, ours, modes, strict=True) if a is not None and b is not None}
    if not ratios:
        return ""
    worse = [f"{size(n)} ({ratio:.3f})" for n, ratio in ratios.items() if ratio > 1.0]
    return (
        f"{world}, {what} of Gibbs over MAP: the ratio of RMSE_co is {min(ratios.values()):.3f} to "
        f"{max(ratios.values()):.3f} over {len(ratios)} sizes; "
        + (f"worse than MAP at {', '.join(worse)}." if worse else "never worse than MAP.")
    )


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import draw_variants, label, legend_below, panels, slope_guide

    worlds = results.each("world")
    figure, axes = panels(len(worlds))
    for ax, world in zip(axes[0], worlds, strict=True):
        of_world = results.having(world=world)
        sizes = sorted(of_world.each("pairs"))
        curves = draw_variants(ax, of_world, lambda values: mean(values["rmse_plugin"]))
        lowest = [y for points in curves for x, y in points[-1:] if x == sizes[-1]]
        if lowest:
            slope_guide(ax, sizes, min(lowest))
        label(ax, f"{world} pairs, K=5, V=100", "N", log="xy")
    axes[0][0].set_ylabel("RMSE_co of the mean vectors")
    legend_below(figure, axes[0][0])
    return figure


IN_PAPER = InPaper(
    8,
    "curves (NUTS at four N)",
    lambda settings: (
        (settings["method"], settings["world"])
        if settings["method"] in ("gibbs", "nuts", "mfvi-stan", "map")
        else None
    ),
)
EXPERIMENT = Experiment(
    *("convergence", SHOWS, NOTE, cells, simulated.run, table, figures_of(_draw, "convergence"), CUT),
    pool=POOL,
    in_paper=IN_PAPER,
)
