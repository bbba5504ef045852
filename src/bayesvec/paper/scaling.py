"""Distance from the truth over N / V, for all sizes of the model: the paper's figure of the Gibbs sampler."""

from collections.abc import Callable
from typing import Any

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.convergence import slope_texts
from bayesvec.paper.markdown import NOT_RUN, grid, mean, number, paragraphs, size
from bayesvec.paper.simulated import POOL, VERSION, run
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS

__all__ = ["NAME", "NOTE", "POOL", "SHOWS", "VERSION", "cells", "figures", "run", "table"]

NAME = "scaling"
SHOWS = "Figure 3 (fig:sim_rmse_loglog)"
NOTE = f"""\
RMSE_co of the mean vectors (see `convergence`) for every size of the model, uniform pairs, ten worlds each (two
in the quick size); the same draws as in the table of coverage. The paper prints the figure without numbers and
says that the slope over N is close to -0.5 for all K and V; we read it as saying too that doubling V about
doubles RMSE_co. The error of VK parameters for each side of N samples is proportional to the root of VK / N, so
doubling V is a factor of 1.41 once the data outweigh the prior, and the slope is -0.5 only then: with K = 20 that
is beyond a million samples. The slope is over N from 50,000 on (from 20,000 on in the quick size) where all of
these have been run, "at the end" between the two largest N. {GIBBS}. {ALGORITHM}."""


def cells(quick: bool) -> list[Cell]:
    """Return the cells of Gibbs with uniform pairs, and those of the paper's variant."""
    return [
        cell
        for cell in simulated.cells(quick)
        if cell.settings["world"] == "uniform" and cell.settings["method"] in ("gibbs", "paper")
    ]


def table(results: Results) -> str:
    """Return RMSE_co of the mean vectors by K, V and N, the slope, and the ratio of V = 200 to V = 100."""
    sizes = sorted(results.each("pairs"))
    rows = []
    for way, dim, vocab in sorted(results.each("method", "dim", "vocab"), key=lambda x: (x[0] != "gibbs", x)):
        errors = [_error(results, way, dim, vocab, pairs) for pairs in sizes]
        texts = [
            (NOT_RUN if results.has(method=way, dim=dim, vocab=vocab, pairs=pairs) else "")
            if results.get(method=way, dim=dim, vocab=vocab, pairs=pairs) is None
            else number(error, ".4f")
            for pairs, error in zip(sizes, errors, strict=True)
        ]
        planned = len(results.having(method=way, dim=dim, vocab=vocab))
        name = f"K={dim}, V={vocab}, {WAYS[way].label}"
        rows.append([name, *texts, *slope_texts(sizes, errors, planned)])
    rows.append(["(paper: Gibbs)", *[""] * len(sizes), "≈ -0.5", ""])
    return paragraphs(
        grid(["RMSE_co", *map(size, sizes), "slope", "at the end"], rows), _ratios(results, sizes)
    )


def _error(results: Results, way: str, dim: int, vocab: int, pairs: int) -> float | None:
    found = results.get(method=way, dim=dim, vocab=vocab, pairs=pairs)
    return mean((found or {}).get("rmse_plugin"))


def _ratios(results: Results, sizes: list[int]) -> str:
    """Say what doubling V does at the largest size, for each K of which both have been run."""
    told = []
    for dim in results.each("dim"):
        small, large = (_error(results, "gibbs", dim, vocab, sizes[-1]) for vocab in (100, 200))
        if small is not None and large is not None:
            told.append(f"{large / small:.2f} (K={dim})")
    if not told:
        return ""
    where = f"at N = {size(sizes[-1])}"
    return f"RMSE_co at V = 200 over that at V = 100, {where}: {', '.join(told)}; the paper: about 2."


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the paper's picture, if anything has been run."""
    return {"scaling": lambda: _draw(results.having(method="gibbs"))} if results.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import draw_curve, legend_below, panels, slope_guide
    from bayesvec.plots import COLOURS, DASHES

    figure, axes = panels(1, width=6.0, height=4.4)
    ax, ends = axes[0][0], []
    for i, (dim, vocab) in enumerate(results.each("dim", "vocab")):
        points = [
            (pairs / vocab, _error(results, "gibbs", dim, vocab, pairs))
            for pairs in sorted(results.each("pairs"))
        ]
        draw_curve(ax, points, f"K={dim}, V={vocab}", {"color": COLOURS[i], "linestyle": DASHES[i]})
        ends += [(x, y) for x, y in points if y is not None][-1:]
    if ends:
        slope_guide(ax, [ends[0][0] / 100, ends[0][0]], min(y for _, y in ends))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("N / V")
    ax.set_ylabel("RMSE_co of the mean vectors")
    legend_below(figure, ax)
    return figure
