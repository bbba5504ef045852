"""The simulation study: a method on worlds of one size, for the experiments coverage, convergence and scaling.

They ask different questions of the same draws, so they share these cells: none is computed twice.
"""

from collections.abc import Mapping
from typing import Any

from bayesvec.errors import AnchorError, NumericalError
from bayesvec.paper.cells import Cell
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.markdown import size
from bayesvec.paper.measures import against_truth, effective
from bayesvec.paper.sampling import draw
from bayesvec.paper.variants import WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.simulation.pairs import simulate

POOL = "simulated"
VERSION = 1

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000)
SHAPES = ((5, 100), (10, 100), (20, 100), (5, 200), (10, 200), (20, 200))  # (K, V) of the paper
COMPARED = (
    "nuts",
    "mfvi-stan",
    "mfvi",
    "blockvi",
    "laplace",
)  # beside Gibbs, where K is 5 or 10 and V is 100
MEASURES = (
    "coverage_probability",
    "coverage_cosine",
    "rmse_plugin",
    "rmse_probability",
    "ess_median",
    "ess_worst",
)
MIXING = 100  # probabilities, and cosines, of which the ESS is taken


def cells(quick: bool) -> list[Cell]:
    """Return all cells of the study; each experiment takes those that it shows."""
    return _quick() if quick else _full()


def _full() -> list[Cell]:
    found = []
    for dim, vocab in SHAPES:
        found += [_cell(dim, vocab, pairs, "gibbs") for pairs in SIZES]
        if vocab == 100 and dim <= 10:
            found += [_cell(dim, vocab, pairs, way) for way in COMPARED for pairs in SIZES]
            found += [_cell(dim, vocab, pairs, "paper") for pairs in (10_000, 100_000, 1_000_000)]
    for way in ("gibbs-last", "laplace-last"):
        found += [_cell(5, 100, pairs, way) for pairs in (10_000, 100_000, 1_000_000)]
    found += [_cell(5, 100, pairs, "map") for pairs in SIZES]
    for way in ("gibbs", "nuts", "mfvi-stan", "mfvi", "map"):
        found += [_cell(5, 100, pairs, way, world="zipf") for pairs in SIZES]
    found += [_cell(5, 100, pairs, "paper", world="zipf") for pairs in (100_000, 1_000_000)]
    return found


def _quick() -> list[Cell]:
    few: dict[str, Any] = {"worlds": 2, "draws": 400, "warmup": 200}
    sizes = (2_000, 20_000, 200_000)
    found = [_cell(5, 100, pairs, "gibbs", **few) for pairs in sizes]
    for way in (*COMPARED, "paper"):
        found += [_cell(5, 100, 20_000, way, **few)]
    found += [_cell(10, 200, pairs, "gibbs", **few) for pairs in sizes[1:]]
    found += [_cell(5, 100, pairs, "map", **few) for pairs in sizes]
    for way in ("gibbs", "map"):
        found += [_cell(5, 100, pairs, way, world="zipf", **few) for pairs in sizes]
    return found


def _cell(
    dim: int,
    vocab: int,
    pairs: int,
    way: str,
    *,
    world: str = "uniform",
    worlds: int = 10,
    draws: int | None = None,
    warmup: int | None = None,
) -> Cell:
    usual = (1000, 400) if WAYS[way].method == "nuts" else (2000, 500)
    settings: dict[str, Any] = {
        "world": world,
        "dim": dim,
        "vocab": vocab,
        "pairs": pairs,
        "method": way,
        "options": options_of(way),
        "worlds": worlds,
        "draws": 1 if way == "map" else draws or usual[0],
        "warmup": warmup or usual[1] if WAYS[way].method in ("gibbs", "nuts") else 0,
        "seed": 0,
    }
    label = f"K={dim} V={vocab} N={size(pairs)} {way}" + (" zipf" if world == "zipf" else "")
    named = way in ("gibbs", "map") or (way in ("nuts", "mfvi-stan", "laplace") and world == "uniform")
    rank = 0 if way in ("gibbs", "map") else 1 if named else 2
    sweeps = settings["draws"] + settings["warmup"]
    cost = fit_seconds(way, dim, vocab, pairs, sweeps=sweeps, at_once=2, fits=worlds)
    return Cell(label, settings, cost + worlds * sweeps * vocab**2 * 1e-8, rank)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit each world and hold the draws against its truth; None for a world where the way does not exist."""

    def of_world(number: int) -> dict[str, float] | str:
        counts, truth = simulate(
            settings["vocab"],
            settings["dim"],
            pairs=settings["pairs"],
            zipf=settings["world"] == "zipf",
            seed=settings["seed"] + number,
        )
        try:
            drawn = draw(
                settings["method"],
                counts,
                settings["dim"],
                prior_precision=float(settings["dim"]),
                draws=settings["draws"],
                warmup=settings["warmup"],
                bench=bench,
            )
        except (AnchorError, NumericalError) as reason:  # such as a mode at which the Hessian is singular
            return str(reason)
        found = against_truth(drawn, truth)
        if WAYS[settings["method"]].method in ("gibbs", "nuts"):
            mixed = effective(drawn, MIXING, parameters=False)
            found["ess_median"] = min(each["median"] for each in mixed.values())
            found["ess_worst"] = min(each["worst"] for each in mixed.values())
        return found

    found = bench.over(range(settings["worlds"]), of_world)
    values: dict[str, Any] = {
        name: [None if isinstance(world, str) else world.get(name) for world in found] for name in MEASURES
    }
    reasons = sorted({world for world in found if isinstance(world, str)})
    return values | ({"impossible": reasons} if reasons else {})
