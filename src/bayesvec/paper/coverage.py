"""Coverage of 90% intervals on simulated worlds: the paper's Table 1."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.markdown import NOT_RUN, grid, known, mean, number, paragraphs, size, standard_error
from bayesvec.paper.simulated import POOL, SIZES, VERSION, run
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS

__all__ = ["NAME", "NOTE", "PAPER", "POOL", "SHOWS", "VERSION", "cells", "figures", "run", "table"]

NAME = "coverage"
SHOWS = "Table 1 (tab:coverage)"
NOTE = f"""\
Coverage (%) of the true value by 90% intervals, over all pairs of ten worlds with uniform pairs (two in the
quick size), the same worlds for all ways and all N; the prior precision is K, as the worlds have it. Ours: 2,000
draws after 500 sweeps (NUTS: 1,000 after 400), one chain a world; an interval goes from the n-th smallest to the
n-th largest draw, n being 5% of them. {GIBBS}. {ALGORITHM}; where it mixes badly, its coverage says so as well
as what fixing the contexts does. The paper's MFVI is Stan's with its default rule for stopping ("stopped as Stan
does"); ours climbs the same bound to its optimum. The paper has no cosines and no blockvi, and its Laplace has
the last K contexts fixed; ours is free unless it says so. NUTS, MFVI and Laplace are for K = 5 and 10, V = 100
only: where the paper has them for other sizes its rows stand alone."""

# Coverage by (K, V) and method, at the sizes of `simulated.SIZES`.
PAPER = {
    (5, 100): {
        "HMC": (89.9, 89.8, 89.7, 89.7, 89.7, 89.9, 89.9, 90.2, 89.9),
        "MFVI": (90.2, 88.3, 84.0, 84.5, 84.2, 85.8, 86.6, 83.3, 79.5),
        "Gibbs": (89.7, 89.6, 89.7, 89.5, 89.6, 89.9, 89.6, 90.1, 89.7),
        "Laplace": (94.9, 94.6, 98.6, 97.7, 96.4, 94.9, 91.9, 90.5, 90.3),
    },
    (10, 100): {
        "HMC": (90.0, 90.0, 90.0, 90.0, 90.0, 90.1, 90.2, 90.0, 90.1),
        "MFVI": (92.5, 91.9, 90.4, 88.0, 83.7, 85.4, 85.6, 85.1, 83.0),
        "Gibbs": (89.9, 89.9, 89.9, 89.9, 89.9, 89.9, 89.6, 89.9, 90.1),
        "Laplace": (89.9, 89.9, 89.7, 89.4, 98.0, 96.5, 95.2, 90.8, 90.1),
    },
    (20, 100): {
        "HMC": (90.0, 89.9, 90.0, 89.9, 90.0, 90.0, 89.9, 89.7, 89.9),
        "MFVI": (93.3, 93.2, 92.8, 92.3, 90.9, 87.3, 83.5, 85.3, 84.5),
        "Gibbs": (89.4, 89.4, 89.4, 89.4, 89.4, 89.4, 89.4, 89.7, 90.0),
        "Laplace": (79.9, 79.9, 79.6, 79.4, 33.6, 64.9, 95.7, 91.1, 89.4),
    },
    (5, 200): {
        "HMC": (90.2, 90.2, 90.2, 90.3, 90.2, 90.2, 90.1, 90.1, 90.0),
        "MFVI": (91.5, 90.6, 87.7, 84.0, 84.5, 83.9, 86.2, 85.4, 83.1),
        "Gibbs": (90.1, 90.1, 90.1, 90.1, 90.0, 90.0, 89.9, 89.7, 89.9),
        "Laplace": (97.5, 97.5, 97.8, 99.5, 98.7, 97.9, 96.3, 91.2, 90.5),
    },
    (10, 200): {
        "HMC": (88.7, 88.8, 88.8, 88.8, 88.9, 89.0, 89.3, 90.4, 90.2),
        "MFVI": (92.3, 92.1, 91.4, 90.0, 87.4, 82.6, 84.4, 85.6, 84.9),
        "Gibbs": (89.5, 89.5, 89.5, 89.6, 89.7, 89.7, 89.7, 89.7, 89.7),
        "Laplace": (95.0, 95.0, 95.0, 94.6, 94.8, 99.1, 97.9, 94.1, 91.7),
    },
    (20, 200): {
        "HMC": (90.1, 90.1, 90.2, 90.1, 90.2, 90.2, 90.1, 90.1, 90.1),
        "MFVI": (93.5, 93.5, 93.5, 93.2, 92.6, 90.5, 87.7, 85.1, 84.4),
        "Gibbs": (90.1, 90.1, 90.1, 90.1, 90.1, 90.1, 90.0, 89.8, 89.8),
        "Laplace": (89.8, 90.0, 90.0, 89.8, 89.8, 89.4, 94.8, 96.5, 94.9),
    },
}
# The row of the paper that stands under each of ours.
_BESIDE = {"gibbs": "Gibbs", "nuts": "HMC", "mfvi-stan": "MFVI", "laplace": "Laplace"}


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the study that have intervals and uniform pairs."""
    return [
        cell
        for cell in simulated.cells(quick)
        if cell.settings["world"] == "uniform" and cell.settings["method"] != "map"
    ]


def table(results: Results) -> str:
    """Return the coverage of probabilities beside the paper's, of cosines, and both over all cells."""
    parts = []
    for dim, vocab in results.each("dim", "vocab"):
        of_shape = results.having(dim=dim, vocab=vocab)
        sizes = sorted(of_shape.each("pairs"))
        head = [f"K={dim}, V={vocab}", *map(size, sizes)]
        parts += [
            "**Co-occurrence probabilities**\n\n"
            + grid(head, _rows(of_shape, "coverage_probability", sizes)),
            "**Cosines**\n\n" + grid(head, _rows(of_shape, "coverage_cosine", sizes)),
        ]
    return paragraphs(*parts, _summary(results))


def _rows(results: Results, measure: str, sizes: list[int]) -> list[list[str]]:
    rows = []
    ((dim, vocab),) = results.each("dim", "vocab")
    printed = PAPER.get((dim, vocab), {}) if measure == "coverage_probability" else {}
    ours = results.each("method")
    for way in ours:
        texts = []
        for pairs in sizes:
            values = results.get(method=way, pairs=pairs)
            missing = NOT_RUN if results.has(method=way, pairs=pairs) else ""
            texts.append(missing if values is None else _percent(values[measure]))
        rows.append([WAYS[way].label, *texts])
        if _BESIDE.get(way) in printed:
            rows.append(_paper_row(_BESIDE[way], printed, sizes))
    beside = {_BESIDE.get(way) for way in ours}
    return rows + [_paper_row(name, printed, sizes) for name in printed if name not in beside]


def _paper_row(name: str, printed: Mapping[str, Sequence[float]], sizes: list[int]) -> list[str]:
    by_size = dict(zip(SIZES, printed[name], strict=True))
    return [f"(paper: {name})", *(number(by_size[n]) if n in by_size else "" for n in sizes)]


def _percent(shares: list[float | None]) -> str:
    """Return the mean over worlds, and over how many if some have none."""
    found = mean(shares)
    if found is None:
        return number(None)
    few = f" ({len(known(shares))} worlds)" if len(known(shares)) < len(shares) else ""
    return f"{100 * found:.1f}{few}"


def _summary(results: Results) -> str:
    """Say how far the cells of Gibbs are from 90%, as far as they have been run."""
    gibbs = results.having(method="gibbs")
    lines = []
    for measure, what in (
        ("coverage_probability", "co-occurrence probabilities"),
        ("coverage_cosine", "cosines"),
    ):
        found = [result.values[measure] for result in gibbs.all if result.values is not None]
        means = [100 * value for value in map(mean, found) if value is not None]
        if means:
            errors = [100 * error for error in map(standard_error, found) if error is not None]
            lines.append(
                f"Gibbs, {what}: {len(means)} of {len(gibbs)} cells run, from {min(means):.1f} to {max(means):.1f}, "
                f"their mean {sum(means) / len(means):.2f} (standard error of a cell over worlds: "
                f"{max(errors, default=float('nan')):.1f} at the most)."
            )
    return "  \n".join([*lines, *_mixing(results)])


def _mixing(results: Results) -> list[str]:
    """Say how many of the draws of each way were effective, of the cells that know."""
    lines = []
    for way in results.each("method"):
        cells = [result for result in results.having(method=way).all if result.values is not None]
        worst = [
            (1000 * ess / result.cell.settings["draws"], result.cell.settings["pairs"])
            for result in cells
            for ess in known((result.values or {}).get("ess_worst"))
        ]
        if worst:
            least, pairs = min(worst)
            lines.append(
                f"{WAYS[way].label}: the worst ESS of {simulated.MIXING} probabilities and as many cosines of a "
                f"world is at least {least:.0f} of 1,000 draws (least at N = {size(pairs)})."
            )
    return lines


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the picture of coverage over N, of the shapes for which several ways have been run."""
    shapes = [
        shape
        for shape in results.each("dim", "vocab")
        if sum(
            any(known((r.values or {}).get("coverage_probability")) for r in of_way.all)
            for way in results.each("method")
            if (of_way := results.having(dim=shape[0], vocab=shape[1], method=way))
        )
        > 1
    ]
    return {"coverage": lambda: _draw(results, shapes)} if shapes else {}


def _draw(results: Results, shapes: list[tuple[int, int]]) -> Any:
    from bayesvec.paper.figures import STYLES, draw_curve, legend_below, panels

    figure, axes = panels(2, rows=len(shapes), height=3.2, one_scale=True)
    kinds = (("coverage_probability", "co-occurrence probabilities"), ("coverage_cosine", "cosines"))
    for row, (dim, vocab) in zip(axes, shapes, strict=True):
        for ax, (measure, what) in zip(row, kinds, strict=True):
            of_shape = results.having(dim=dim, vocab=vocab)
            for way in (way for way in of_shape.each("method") if way in STYLES):
                cells = of_shape.having(method=way).all
                shares = [mean((result.values or {}).get(measure)) for result in cells]
                points = [
                    (result.cell.settings["pairs"], None if share is None else 100 * share)
                    for result, share in zip(cells, shares, strict=True)
                ]
                draw_curve(ax, points, WAYS[way].label, STYLES[way])
            ax.axhline(90.0, color="0.7", linewidth=0.8, zorder=0)
            ax.set_xscale("log")
            ax.set_title(f"K={dim}, V={vocab}: {what}", fontsize="medium")
            ax.set_xlabel("N")
        row[0].set_ylabel("coverage of 90% intervals (%)")
    legend_below(figure, axes[0][0])
    return figure
