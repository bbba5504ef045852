"""Distance from the truth over the amount of data: the paper's figure of RMSE_co, uniform and Zipf."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.markdown import NOT_RUN, grid, mean, number, paragraphs, size
from bayesvec.paper.simulated import POOL, VERSION, run
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS

__all__ = ["NAME", "NOTE", "POOL", "SHOWS", "VERSION", "cells", "figures", "run", "table"]

NAME = "convergence"
SHOWS = "Figure 2 (fig:sim_K5_V100_rmse_loglog)"
NOTE = f"""\
RMSE_co, the root mean squared error of the co-occurrence probabilities of all pairs, for K = 5 and V = 100,
averaged over ten worlds (two in the quick size); the prior precision is K. The paper prints the figure
without numbers, and says of it that the slope is close to -0.5 for HMC, MAP and Gibbs, not for MFVI, and that
MAP is behind where data are few. Its MFVI is Stan's with the default rule for stopping. "Mean vectors" is the
paper's estimate, which the picture shows: the posterior mean of the vectors, put into the model (each of our
free draws is turned to one reference first; those of Algorithm 1 have the last K contexts fixed). "Mean
probabilities" is the posterior mean of the probabilities themselves, which needs no identification and is what
minimises the squared error on average. The slope is over N from 50,000 on (from 20,000 on in the quick size)
where all of these have been run, "at the end" between the two largest N. {GIBBS}. {ALGORITHM}."""

WAYS_SHOWN = ("gibbs", "nuts", "mfvi-stan", "mfvi", "map", "paper")
LARGE = 50_000  # from here on the slope is measured
LARGE_QUICK = 20_000
_ESTIMATES = (("rmse_plugin", "mean vectors"), ("rmse_probability", "mean probabilities"))


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the study with K = 5 and V = 100."""
    return [
        cell
        for cell in simulated.cells(quick)
        if (cell.settings["dim"], cell.settings["vocab"]) == (5, 100)
        and cell.settings["method"] in WAYS_SHOWN
    ]


def find_slope(sizes: list[int], errors: list[float | None], least: int) -> float | None:
    """Return the slope of log error over log N by least squares, from ``least`` on; None if any is missing."""
    points = [(n, e) for n, e in zip(sizes, errors, strict=True) if n >= least]
    if len(points) < 2 or any(error is None for _, error in points):
        return None
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def slope_texts(sizes: list[int], errors: list[float | None], planned: int) -> tuple[str, str]:
    """Return the slope over the large sizes and the one between the two largest, as text.

    Parameters
    ----------
    sizes : list of int
        All sizes of the table, in order.
    errors : list of float or None
        The error at each, if it has been run.
    planned : int
        How many of the sizes are to be run at all.
    """
    least = LARGE if sum(n >= LARGE for n in sizes) > 1 else LARGE_QUICK
    slopes = [find_slope(sizes, errors, start) for start in (least, sizes[-2])]
    missing = NOT_RUN if planned == len(sizes) else ""
    first, last = (missing if slope is None else f"{slope:.3f}" for slope in slopes)
    return first, last


def table(results: Results) -> str:
    """Return RMSE_co by way, estimate and N, the slopes, and what the MAP is behind."""
    parts = []
    for world in results.each("world"):
        of_world = results.having(world=world)
        sizes = sorted(of_world.each("pairs"))
        head = [f"{world}, RMSE_co", *map(size, sizes), "slope", "at the end"]
        rows = []
        for way in of_world.each("method"):
            for measure, what in _ESTIMATES if way != "map" else (("rmse_plugin", ""),):
                errors = _errors(of_world, way, measure, sizes)
                texts = [
                    (NOT_RUN if of_world.has(method=way, pairs=pairs) else "")
                    if of_world.get(method=way, pairs=pairs) is None
                    else number(error, ".4f")
                    for pairs, error in zip(sizes, errors, strict=True)
                ]
                planned = len(of_world.having(method=way))
                name = f"{WAYS[way].label}, {what}" if what else WAYS[way].label
                rows.append([name, *texts, *slope_texts(sizes, errors, planned)])
        rows.append(["(paper: HMC, MAP, Gibbs)", *[""] * len(sizes), "≈ -0.5", ""])
        parts.append(grid(head, rows))
        parts.append(
            "  \n".join([*_against_map(of_world, world, sizes), *_against_stan(of_world, world, sizes)])
        )
    return paragraphs(*parts)


def _errors(results: Results, way: str, measure: str, sizes: list[int]) -> list[float | None]:
    return [mean((results.get(method=way, pairs=pairs) or {}).get(measure)) for pairs in sizes]


def _against_stan(results: Results, world: str, sizes: list[int]) -> list[str]:
    """Say what the rule for stopping does to MFVI, at the largest size at which both have been run."""
    errors = {way: _errors(results, way, "rmse_plugin", sizes) for way in ("mfvi-stan", "mfvi", "gibbs")}
    for n, stan, best, gibbs in reversed(list(zip(sizes, *errors.values(), strict=True))):
        if stan is not None and best is not None and gibbs is not None:
            return [
                f"{world}, MFVI at N = {size(n)}: RMSE_co is {stan / gibbs:.2f} of that of Gibbs if it is stopped "
                f"as Stan does, {best / gibbs:.2f} at its optimum."
            ]
    return []


def _against_map(results: Results, world: str, sizes: list[int]) -> list[str]:
    """Say where the posterior mean of Gibbs is ahead of the MAP, of the sizes at which both have been run."""
    at_map = _errors(results, "map", "rmse_plugin", sizes)
    lines = []
    for measure, what in _ESTIMATES:
        ours = _errors(results, "gibbs", measure, sizes)
        both = [
            (n, a / b) for n, a, b in zip(sizes, ours, at_map, strict=True) if a is not None and b is not None
        ]
        if both:
            behind = [f"{size(n)} ({ratio:.3f})" for n, ratio in both if ratio > 1.0]
            lines.append(
                f"{world}, {what} of Gibbs: RMSE_co is {min(r for _, r in both):.3f} to "
                f"{max(r for _, r in both):.3f} of the MAP's over {len(both)} sizes; "
                + (f"behind it at {', '.join(behind)}." if behind else "never behind it.")
            )
    return lines


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the paper's picture, if anything has been run."""
    return {"convergence": lambda: _draw(results)} if results.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import STYLES, draw_curve, legend_below, panels, slope_guide

    worlds = results.each("world")
    figure, axes = panels(len(worlds))
    for ax, world in zip(axes[0], worlds, strict=True):
        of_world = results.having(world=world)
        sizes = sorted(of_world.each("pairs"))
        lowest = []
        for way in of_world.each("method"):
            planned = [n for n in sizes if of_world.has(method=way, pairs=n)]
            errors = _errors(of_world, way, "rmse_plugin", planned)
            draw_curve(ax, zip(planned, errors, strict=True), WAYS[way].label, STYLES[way])
            lowest += [error for error in errors[-1:] if error is not None]
        if lowest:
            slope_guide(ax, sizes, min(lowest))
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"{world} pairs, K=5, V=100", fontsize="medium")
        ax.set_xlabel("N")
    axes[0][0].set_ylabel("RMSE_co of the mean vectors")
    legend_below(figure, axes[0][0])
    return figure
