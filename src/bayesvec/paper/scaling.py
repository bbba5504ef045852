"""RMSE_co over N / V for all sizes of the model: the paper's Figure 3."""

from collections.abc import Sequence
from typing import Any

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import Experiment, InPaper, Results, figures_of
from bayesvec.paper.markdown import grid, mean, paragraphs, size
from bayesvec.paper.simulated import POOL, error_row, find_errors
from bayesvec.paper.variants import VARIANTS

SHOWS = "Figure 3 (fig:sim_rmse_loglog)"
NOTE = """\
RMSE_co of the mean vectors and its slope (see `convergence`), uniform pairs, ten worlds for each size of the
model (two with `--quick`); the draws are those of `coverage`. The paper prints no numbers: it reports slopes
close to -0.5 for all K and V, and we read it as also saying that doubling V about doubles RMSE_co. The error of
VK parameters per side from N samples is proportional to the square root of VK / N, so doubling V means a factor
of 1.41 once the data outweigh the prior. Only then is the slope -0.5; with K = 20 that takes more than a million
samples."""


def cells(quick: bool) -> list[Cell]:
    """Return the cells of Gibbs and of Algorithm 1 with uniform pairs."""
    return [
        cell
        for cell in simulated.cells(quick)
        if cell.settings["world"] == "uniform" and cell.settings["method"] in ("gibbs", "paper")
    ]


def table(results: Results) -> str:
    """Return RMSE_co by K, V and N, the slope, and the ratio of V = 200 to V = 100."""
    sizes = sorted(results.each("pairs"))
    models = sorted(results.each("method", "dim", "vocab"), key=lambda x: (x[0] != "gibbs", x))
    rows = [
        error_row(
            f"K={dim}, V={vocab}, {VARIANTS[name].label}", results, sizes, method=name, dim=dim, vocab=vocab
        )
        for name, dim, vocab in models
    ]
    rows.append(["(paper: Gibbs)", *[""] * len(sizes), "≈ -0.5", ""])
    head = ["RMSE_co", *map(size, sizes), "slope", "at the end"]
    return paragraphs(grid(head, rows), _ratios(results, sizes))


def _ratios(results: Results, sizes: Sequence[int]) -> str:
    """Return the effect of doubling V at the largest size, for each K of which both have been run."""
    found = []
    for dim in results.each("dim"):
        small, large = (
            find_errors(results, sizes[-1:], method="gibbs", dim=dim, vocab=vocab)[0] for vocab in (100, 200)
        )
        if small is not None and large is not None:
            found.append(f"{large / small:.2f} (K={dim})")
    if not found:
        return ""
    where = f"at N = {size(sizes[-1])}"
    return (
        f"Ratio of RMSE_co at V = 200 to that at V = 100, {where}: {', '.join(found)}; in the paper about 2."
    )


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import draw_curve, label, legend_below, panels, slope_guide
    from bayesvec.plots import COLOURS, DASHES

    results = results.having(method="gibbs")
    figure, axes = panels(1, width=6.0, height=4.4)
    ax, ends = axes[0][0], []
    for i, (dim, vocab) in enumerate(results.each("dim", "vocab")):
        points = draw_curve(
            ax,
            results.having(dim=dim, vocab=vocab),
            lambda values: mean(values["rmse_plugin"]),
            f"K={dim}, V={vocab}",
            {"color": COLOURS[i], "linestyle": DASHES[i]},
            x=lambda settings: settings["pairs"] / settings["vocab"],
        )
        ends += points[-1:]
    if ends:
        slope_guide(ax, [ends[0][0] / 100, ends[0][0]], min(y for _, y in ends))
    label(ax, x="N / V", log="xy")
    ax.set_ylabel("RMSE_co of the mean vectors")
    legend_below(figure, ax)
    return figure


IN_PAPER = InPaper(
    6,
    "curves",
    lambda settings: (settings["dim"], settings["vocab"]) if settings["method"] == "gibbs" else None,
)
figures = figures_of(_draw, "scaling")
EXPERIMENT = Experiment(
    "scaling", SHOWS, NOTE, cells, simulated.run, table, figures, pool=POOL, in_paper=IN_PAPER
)
