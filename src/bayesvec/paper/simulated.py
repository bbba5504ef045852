"""Simulated worlds: the cells that coverage, convergence and scaling share, and two chains on one world.

The three experiments ask different questions of the same draws, so no cell is computed twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import AnchorError, NumericalError
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import world_seconds
from bayesvec.paper.experiment import Results, Values
from bayesvec.paper.markdown import NOT_RUN, mean, number, size
from bayesvec.paper.metrics import against_truth, effective
from bayesvec.paper.sampling import Drawn, draw
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace
from bayesvec.simulation.pairs import Truth, simulate

POOL = "simulated"
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000)
FOUR_SIZES = (1_000, 10_000, 100_000, 1_000_000)
FEW_SIZES = FOUR_SIZES[1:]
SHAPES = ((5, 100), (10, 100), (20, 100), (5, 200), (10, 200), (20, 200))  # (K, V) of the paper
COMPARED = {  # the variants, their sizes and their shapes
    "gibbs": (SIZES, SHAPES),
    "nuts": (FOUR_SIZES, SHAPES[:2]),
    "mfvi-stan": (SIZES, SHAPES),
    "mfvi": (FOUR_SIZES[-1:], SHAPES[:1]),
    "blockvi": ((FOUR_SIZES[0], FOUR_SIZES[-1]), SHAPES[:1]),
    "laplace": (SIZES, SHAPES[:4]),
}
PAPER_SIZES = (100_000,)  # of Algorithm 1
METRICS = (
    *("coverage_probability", "coverage_cosine", "rmse_plugin", "rmse_probability"),
    *("ess_median", "ess_worst"),
)
COUNTERPARTS = {"gibbs": "Gibbs", "nuts": "HMC", "mfvi-stan": "MFVI", "laplace": "Laplace"}  # in the paper
MIXING = 100  # probabilities, and cosines, of which the ESS is taken
LARGE = (50_000, 20_000)  # the slope is measured from here on; the second for the quick size


def cells(quick: bool) -> list[Cell]:
    """Return all cells of the study; each experiment takes those that it shows."""
    grid = [(*model, pairs) for *model, sizes in (_quick_grid() if quick else _grid()) for pairs in sizes]
    return make_cells(
        (
            {**settings, **_lengths(settings["method"], quick)}
            for settings in name_settings("dim vocab method world pairs", grid, worlds=2 if quick else 10)
        ),
        lambda settings: world_label(settings) + (" zipf" if settings["world"] == "zipf" else ""),
        world_seconds,
        _rank,
    )


def _grid() -> Iterator[tuple[Any, ...]]:
    """Yield K, V, variant, world and sizes."""
    for shape in SHAPES:
        for variant, (sizes, shapes) in COMPARED.items():
            if shape in shapes:
                yield *shape, variant, "uniform", sizes
    yield 5, 100, "paper", "uniform", PAPER_SIZES
    yield 5, 100, "laplace-last", "uniform", FEW_SIZES[-1:]
    yield 5, 100, "map", "uniform", SIZES
    for variant in ("gibbs", "map"):
        yield 5, 100, variant, "zipf", SIZES
    yield 5, 100, "paper", "zipf", PAPER_SIZES


def _quick_grid() -> Iterator[tuple[Any, ...]]:
    sizes = (2_000, 20_000, 200_000)
    yield 5, 100, "gibbs", "uniform", sizes
    for variant in (*COMPARED, "paper"):
        if variant != "gibbs":
            yield 5, 100, variant, "uniform", sizes[1:2]
    yield 10, 200, "gibbs", "uniform", sizes[1:]
    for variant, world in (("map", "uniform"), ("gibbs", "zipf"), ("map", "zipf")):
        yield 5, 100, variant, world, sizes


def _lengths(variant: str, quick: bool) -> dict[str, int]:
    method = VARIANTS[variant].method
    draws, warmup = (400, 200) if quick else (1000, 400) if method == "nuts" else (2000, 500)
    return {
        "draws": 1 if variant == "map" else draws,
        "warmup": warmup if method in ("gibbs", "nuts") else 0,
    }


def _rank(settings: Settings) -> int:
    if settings["method"] in ("gibbs", "map"):
        return 0
    return (
        1 if settings["method"] in ("nuts", "mfvi-stan", "laplace") and settings["world"] == "uniform" else 2
    )


def world_label(settings: Settings) -> str:
    """Return the label of a cell on simulated worlds."""
    return "K={dim} V={vocab} N={N} {method}".format(N=size(settings["pairs"]), **settings)


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit each world and compare the draws with its truth; None for a world where that is impossible."""

    def fit_world(number: int) -> dict[str, float] | str:
        counts, truth = _simulate(settings, number)
        try:
            drawn = _draw(settings, counts, workspace, draws=settings["draws"], warmup=settings["warmup"])
        except (AnchorError, NumericalError) as reason:  # such as a singular Hessian at the mode
            return str(reason)
        found = against_truth(drawn, truth)
        if VARIANTS[settings["method"]].method in ("gibbs", "nuts"):
            mixed = effective(drawn, MIXING, parameters=False)
            found["ess_median"] = min(each["median"] for each in mixed.values())
            found["ess_worst"] = min(each["worst"] for each in mixed.values())
        return found

    found = workspace.map(fit_world, range(settings["worlds"]))
    values: dict[str, Any] = {
        name: [None if isinstance(world, str) else world.get(name) for world in found] for name in METRICS
    }
    reasons = sorted({world for world in found if isinstance(world, str)})
    return values | ({"impossible": reasons} if reasons else {})


def _simulate(settings: Settings, number: int = 0) -> tuple[PairCounts, Truth]:
    vocab, dim, pairs = (settings[name] for name in ("vocab", "dim", "pairs"))
    zipf = settings.get("world") == "zipf"
    return simulate(vocab, dim, pairs=pairs, zipf=zipf, seed=settings["seed"] + number)


def draw_world(settings: Settings, workspace: Workspace) -> tuple[Drawn, Truth]:
    """Draw two chains on the first world, as many at a time as there are threads; also return the truth."""
    counts, truth = _simulate(settings)
    given = {name: settings[name] for name in ("draws", "warmup", "chains")}
    with threadpool_limits(limits=1, user_api="blas"):
        return _draw(settings, counts, workspace, threads=workspace.threads, **given), truth


def _draw(settings: Settings, counts: PairCounts, workspace: Workspace, **given: Any) -> Drawn:
    dim = settings["dim"]
    return draw(settings["method"], counts, dim, prior_precision=float(dim), workspace=workspace, **given)


def variant_rows(
    results: Results,
    sizes: Sequence[int],
    show: Callable[[Values], str],
    printed: Mapping[str, Sequence[float]],
    printed_sizes: Sequence[int] = SIZES,
) -> list[list[str]]:
    """Return a row over N for each variant, the paper's below ours and its further rows at the end.

    Parameters
    ----------
    results : Results
        The cells of the table.
    sizes : sequence of int
        N of each column.
    show : callable
        The text of a cell, from its values.
    printed : Mapping
        The paper's rows by its name of the method.
    printed_sizes : sequence of int
        N of these rows.
    """
    in_paper = {}
    for name, row in printed.items():
        texts = dict(zip(printed_sizes, map(number, row), strict=True))
        in_paper[name] = [f"(paper: {name})", *(texts.get(pairs, "") for pairs in sizes)]
    rows = []
    for name in results.each("method"):
        rows.append([VARIANTS[name].label, *results.across("pairs", sizes, show, method=name)])
        if COUNTERPARTS.get(name) in in_paper:
            rows.append(in_paper.pop(COUNTERPARTS[name]))
    return [*rows, *in_paper.values()]


def find_errors(
    results: Results, sizes: Sequence[int], metric: str = "rmse_plugin", **settings: Any
) -> list[float | None]:
    """Return the mean RMSE_co over worlds at each size, None where it is missing."""
    return [mean((results.get(pairs=pairs, **settings) or {}).get(metric)) for pairs in sizes]


def error_row(
    name: str, results: Results, sizes: Sequence[int], metric: str = "rmse_plugin", **settings: Any
) -> list[str]:
    """Return RMSE_co at each size, its slope over the large sizes and that between the two largest."""
    texts = results.across("pairs", sizes, lambda values: number(mean(values[metric]), ".4f"), **settings)
    planned = [pairs for pairs in sizes if results.only(pairs=pairs, **settings) is not None]
    errors = find_errors(results, planned, metric, **settings)
    least = LARGE[0] if sum(pairs >= LARGE[0] for pairs in sizes) > 1 else LARGE[1]
    missing = NOT_RUN if None in errors else ""
    slopes = [find_slope(planned, errors, start) for start in (least, planned[-2:][0])]
    return [name, *texts, *(missing if slope is None else f"{slope:.3f}" for slope in slopes)]


def find_slope(sizes: Sequence[int], errors: Sequence[float | None], least: int) -> float | None:
    """Return the least-squares slope of log error over log N from ``least`` on; None if any is missing."""
    points = [(n, e) for n, e in zip(sizes, errors, strict=True) if n >= least]
    if len(points) < 2 or any(error is None for _, error in points):
        return None
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])
