"""Posteriors of two cosines by several ways, over each other: the paper's figure on simulated data."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesvec.paper.cells import Cell, Results, pack, unpack
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, size
from bayesvec.paper.sampling import draw_world
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.simulation.pairs import simulate

NAME = POOL = "cosines"
SHOWS = "Figure 4 (fig:sim_K5_V100_cossim)"
VERSION = 1
NOTE = f"""\
Cosines between the vectors of words 1 and 2, and of words 42 and 44, in the first world: K = 5, V = 100, N =
100,000, the prior precision K; 2,000 draws by two chains. The paper prints the curves without numbers, and
its worlds are not ours: what can be compared is which methods agree. It says that those of HMC and Gibbs are
very similar and that those of MFVI differ drastically. Its MFVI is Stan's with the default rule for stopping;
ours at the optimum is beside it. {GIBBS}. {ALGORITHM}."""

PAPER = {"words": ((1, 2), (42, 44))}
WORDS = ((0, 1), (41, 43))  # the same, counted from 0
WAYS_SHOWN = ("gibbs", "nuts", "mfvi-stan", "mfvi", "paper")
KEPT = 1000  # draws of each cosine that a record keeps


def cells(quick: bool) -> list[Cell]:
    """Return one cell for each way."""
    pairs, draws, warmup = (20_000, 250, 200) if quick else (100_000, 1000, 1000)
    found = []
    for way in WAYS_SHOWN:
        settings = {
            "dim": 5,
            "vocab": 100,
            "pairs": pairs,
            "method": way,
            "options": options_of(way),
            "chains": 2,
            "draws": draws,
            "warmup": warmup,
            "seed": 0,
        }
        cost = fit_seconds(way, 5, 100, pairs, sweeps=draws + warmup, at_once=2, fits=2)
        found.append(Cell(f"K=5 V=100 N={size(pairs)} {way}", settings, cost, 0))
    return found


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Draw from the posterior of the first world and keep the cosines."""
    counts, truth = simulate(
        settings["vocab"], settings["dim"], pairs=settings["pairs"], seed=settings["seed"]
    )

    drawn = draw_world(settings, counts, bench)
    if isinstance(drawn, str):
        return {"impossible": drawn}
    similarity = truth.similarity()
    return {
        "cosines": [described(_cosine(drawn.rho, *pair)) for pair in WORDS],
        "truth": [float(similarity[pair]) for pair in WORDS],
        **drawn.told,
    }


def _cosine(rho: Any, one: int, other: int) -> Any:
    x, y = (rho[:, :, row].astype(np.float64) for row in (one, other))
    return np.sum(x * y, axis=-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1))


def described(draws: Any) -> dict[str, Any]:
    """Return mean, sd, 90% interval, R-hat and ESS of draws (chain, draw), and some of the draws themselves."""
    from bayesvec.estimates.convergence import ess_bulk, rhat

    low, high = np.quantile(draws, [0.05, 0.95])
    step = max(1, draws.size // KEPT)
    return {
        "mean": float(draws.mean()),
        "sd": float(draws.std(ddof=1)),
        "low": float(low),
        "high": float(high),
        "rhat": float(rhat(draws)),
        "ess": float(ess_bulk(draws)),
        "chains": [pack(chain[::step]) for chain in draws],
    }


def table(results: Results) -> str:
    """Return mean, sd and interval of both cosines by each way, and the truth."""
    rows, truth = [], None
    for way in results.each("method"):
        values = results.get(method=way)
        if values is None or "impossible" in values:
            rows.append([WAYS[way].label, *[NOT_RUN if values is None else NOTHING] * 4])
            continue
        truth = values["truth"]
        rows.append([WAYS[way].label, *(text for one in values["cosines"] for text in in_words(one))])
    if truth is not None:
        rows.append(["truth", *(text for one in truth for text in (f"{one:.3f}", ""))])
    head = ["cosine"] + [
        text for one, other in PAPER["words"] for text in (f"{one}, {other}", "90% interval")
    ]
    return grid(head, rows)


def in_words(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return mean and sd, and the interval, of what `described` returned."""
    return f"{one['mean']:.3f} (sd {one['sd']:.3f})", f"{one['low']:.3f} to {one['high']:.3f}"


def all_draws(one: Mapping[str, Any]) -> Any:
    """Return the draws that a record keeps, of all chains."""
    return np.concatenate([unpack(chain) for chain in one["chains"]])


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the paper's picture, if anything has been run."""
    return {"cosines": lambda: _draw(results)} if results.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import STYLES, draw_density, legend_below, panels

    figure, axes = panels(len(WORDS))
    for i, (ax, words) in enumerate(zip(axes[0], PAPER["words"], strict=True)):
        for way in results.each("method"):
            values = results.get(method=way)
            if values is not None and "impossible" not in values:
                draw_density(ax, all_draws(values["cosines"][i]), WAYS[way].label, STYLES[way])
        truths = [
            (result.values or {})["truth"][i] for result in results.all if "truth" in (result.values or {})
        ]
        if truths:
            ax.axvline(truths[0], color="0.4", linewidth=0.9, label="truth")
        ax.set_title(f"words {words[0]} and {words[1]}", fontsize="medium")
        ax.set_xlabel("cosine similarity")
        ax.set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("posterior density")
    legend_below(figure, axes[0][0])
    return figure
