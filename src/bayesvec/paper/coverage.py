"""Coverage of 90% intervals in simulated worlds: the paper's Table 1."""

from functools import partial
from typing import Any

from bayesvec.paper import simulated
from bayesvec.paper.cells import Cell
from bayesvec.paper.experiment import Experiment, Figures, InPaper, Results, Values
from bayesvec.paper.markdown import grid, known, lines, mean, number, paragraphs, size, standard_error
from bayesvec.paper.simulated import POOL, variant_rows
from bayesvec.paper.variants import VARIANTS

SHOWS = "Table 1 (tab:coverage)"
NOTE = """\
Coverage (%) of the true values by 90% intervals, over all pairs of ten worlds with uniform pairs (two with
`--quick`); all variants and all N use the same worlds. One chain per world: 2,000 draws after 500 sweeps (NUTS:
1,000 after 400). An interval runs from the n-th smallest to the n-th largest draw, where n is 5% of the draws;
the standard error of the coverage, over worlds, is in brackets. Fixed contexts narrow the intervals of cosines (see
Laplace at N = 1M); Algorithm 1 also mixes slowly. The paper has no cosines and no blockvi."""
CUT = """\
NUTS at N other than 1k, 10k, 100k and 1M (on two cores, half a minute to 15 minutes per cell at K = 5 and 1 to 22
minutes at K = 10, by the cells that were run), and at K = 20 or V = 200 (about a day); Laplace at K = 10 and 20,
V = 200 (an hour); MFVI at convergence and blockvi at other N and K (10 minutes; blockvi at K = 5, N = 2k and at
K = 10, N = 1k has records but is not shown); Gibbs with contexts fixed (4 minutes). The paper's row is shown even
where we did not run the method."""

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
_QUANTITIES = {"coverage_probability": "co-occurrence probabilities", "coverage_cosine": "cosines"}


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the study that have intervals and uniform pairs."""
    return [
        cell
        for cell in simulated.cells(quick)
        if cell.settings["world"] == "uniform" and cell.settings["method"] != "map"
    ]


def table(results: Results) -> str:
    """Return the coverage of probabilities beside the paper's and of cosines, and summaries of all cells."""
    parts = []
    for dim, vocab in results.each("dim", "vocab"):
        of_shape = results.having(dim=dim, vocab=vocab)
        sizes = sorted(of_shape.each("pairs"))
        for metric, what in _QUANTITIES.items():
            printed = PAPER.get((dim, vocab), {}) if metric == "coverage_probability" else {}
            rows = variant_rows(of_shape, sizes, partial(_percent, metric), printed)
            parts += [f"**{what.capitalize()}**", grid([f"K={dim}, V={vocab}", *map(size, sizes)], rows)]
    return paragraphs(
        *parts, lines(*(_range(results, *each) for each in _QUANTITIES.items()), *_mixing(results))
    )


def _percent(metric: str, values: Values) -> str:
    """Return the mean over worlds, its standard error, and how many they are if some have no value."""
    shares = values[metric]
    found = mean(shares)
    if found is None:
        return number(None)
    error = standard_error(shares)
    spread = "" if error is None else f" ({100 * error:.1f})"
    few = f", {len(known(shares))} worlds" if len(known(shares)) < len(shares) else ""
    return f"{100 * found:.1f}{spread}{few}"


def _range(results: Results, metric: str, what: str) -> str:
    """Return the range of the coverage of Gibbs, over the cells that have been run."""
    gibbs = results.having(method="gibbs")
    found = [result.values[metric] for result in gibbs.all if result.values is not None]
    means = [100 * value for value in map(mean, found) if value is not None]
    if not means:
        return ""
    errors = [100 * error for error in map(standard_error, found) if error is not None]
    return (
        f"Gibbs, {what}: {len(means)} of {len(gibbs)} cells run, {min(means):.1f} to {max(means):.1f}, "
        f"mean {sum(means) / len(means):.2f} (largest standard error of a cell, over worlds: "
        f"{max(errors, default=float('nan')):.1f})."
    )


def _mixing(results: Results) -> list[str]:
    """Return the worst ESS of each variant, over the cells that have one."""
    found = []
    for name in results.each("method"):
        worst = [
            (1000 * ess / result.cell.settings["draws"], result.cell.settings["pairs"])
            for result in results.having(method=name).all
            for ess in known((result.values or {}).get("ess_worst"))
        ]
        if worst:
            least, pairs = min(worst)
            found.append(
                f"{VARIANTS[name].label}: the smallest ESS, over {simulated.MIXING} probabilities and "
                f"{simulated.MIXING} cosines in each world, is {least:.0f} per 1,000 draws (at N = {size(pairs)})."
            )
    return found


def figures(results: Results) -> Figures:
    """Return the figure of coverage over N, for the shapes with several variants run."""
    run: dict[tuple[int, int], set[str]] = {}
    for result in results.all:
        settings = result.cell.settings
        if known((result.values or {}).get("coverage_probability")):
            run.setdefault((settings["dim"], settings["vocab"]), set()).add(settings["method"])
    shapes = [shape for shape in results.each("dim", "vocab") if len(run.get(shape, ())) > 1]
    return {"coverage": partial(_draw, results, shapes)} if shapes else {}


def _draw(results: Results, shapes: list[tuple[int, int]]) -> Any:
    from bayesvec.paper.figures import draw_variants, label, legend_below, panels

    def percent(metric: str, values: Values) -> float | None:
        share = mean(values[metric])
        return None if share is None else 100 * share

    figure, axes = panels(2, rows=len(shapes), height=3.2, sharey=True)
    for row, (dim, vocab) in zip(axes, shapes, strict=True):
        for ax, (metric, what) in zip(row, _QUANTITIES.items(), strict=True):
            draw_variants(ax, results.having(dim=dim, vocab=vocab), partial(percent, metric))
            ax.axhline(90.0, color="0.7", linewidth=0.8, zorder=0)
            label(ax, f"K={dim}, V={vocab}: {what}", "N", log="x")
        row[0].set_ylabel("coverage of 90% intervals (%)")
    legend_below(figure, axes[0][0])
    return figure


IN_PAPER = InPaper(
    sum(len(row) for rows in PAPER.values() for row in rows.values()),
    "values",
    lambda settings: (
        tuple(settings[name] for name in ("dim", "vocab", "method", "pairs"))
        if settings["method"] in simulated.COUNTERPARTS
        else None
    ),
)
EXPERIMENT = Experiment(
    "coverage", SHOWS, NOTE, cells, simulated.run, table, figures, cut=CUT, pool=POOL, in_paper=IN_PAPER
)
