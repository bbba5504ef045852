"""Rings of vectors that are not identified, and their removal: the paper's figures for K = 2 and K = 5."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from bayesvec.estimates.convergence import rhat
from bayesvec.paper.cells import Cell, Results, pack, unpack
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, size
from bayesvec.paper.sampling import draw_world
from bayesvec.paper.variants import ALGORITHM, WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.simulation.pairs import simulate

NAME = POOL = "donuts"
SHOWS = "Figure 1 (fig:sim_donuts) and Figure 8 (fig:symmetry_K5)"
VERSION = 1
NOTE = f"""\
The first two coordinates of one word's vector: word 1 of V = 10 at K = 2, N = 20,000, and word 4 of V = 100
at K = 5, N = 50,000; the prior precision is K; 1,000 draws by two chains. The paper's are drawn by Stan's HMC
(ours: NUTS), left as they come and with contexts fixed at a MAP estimate; it prints no numbers. Beside them
are our Gibbs sampler, free, and the same draws each turned to one reference ("turned"), which is what
`identify="procrustes"` stores, and the paper's Gibbs sampler. {ALGORITHM}. "Mean over length" is the length of
the mean of the two coordinates over the mean of their length: near 0 for a ring around the origin, near 1 for
one cloud away from it. R-hat is that of the first coordinate over two chains: where it is large, the chain has
not gone all the way around its ring, or with contexts fixed not over all of its cloud."""

WORLDS = ((2, 10, 20_000, 0), (5, 100, 50_000, 3))  # K, V, N and the word, counted from 0
CHAINS = 2
# A way, and whether its draws are turned to one reference.
VARIANTS = (
    ("nuts", False),
    ("nuts-last", False),
    ("gibbs", False),
    ("gibbs", True),
    ("gibbs-last", False),
    ("paper", False),
)


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each world and variant."""
    draws, warmup = (150, 150) if quick else (500, 500)
    found = []
    for dim, vocab, pairs, row in WORLDS:
        for way, turned in VARIANTS:
            settings = {
                "dim": dim,
                "vocab": vocab,
                "pairs": pairs,
                "row": row,
                "method": way,
                "options": options_of(way),
                "turned": turned,
                "chains": CHAINS,
                "draws": draws,
                "warmup": warmup,
                "seed": 0,
            }
            cost = fit_seconds(way, dim, vocab, pairs, sweeps=draws + warmup, at_once=2, fits=2)
            label = f"K={dim} V={vocab} N={size(pairs)} {way}" + (" turned" if turned else "")
            found.append(Cell(label, settings, cost, 1))
    return found


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Draw from the posterior and keep two coordinates of one word."""
    counts, _ = simulate(settings["vocab"], settings["dim"], pairs=settings["pairs"], seed=settings["seed"])

    drawn = draw_world(settings, counts, bench)
    if isinstance(drawn, str):
        return {"impossible": drawn}
    rho = drawn.turned()[0] if settings["turned"] else drawn.rho
    vector = rho[:, :, settings["row"], :2].astype(np.float64)  # (chain, draw, 2)
    return {
        "x": pack(vector[..., 0], 3),
        "y": pack(vector[..., 1], 3),
        "mean": vector.mean(axis=(0, 1)),
        "mean_over_length": np.linalg.norm(vector.mean(axis=(0, 1))) / np.linalg.norm(vector, axis=-1).mean(),
        "rhat": float(rhat(vector[..., 0])),
    }


def _name(way: str, turned: bool) -> str:
    return WAYS[way].label + (", turned" if turned else ", as drawn" if WAYS[way].anchors is None else "")


def table(results: Results) -> str:
    """Return what tells a ring from a cloud, for each variant."""
    rows = []
    for dim, way, turned in results.each("dim", "method", "turned"):
        values = results.get(dim=dim, method=way, turned=turned)
        if values is None or "impossible" in values:
            texts = [NOT_RUN if values is None else NOTHING] * 2
        else:
            texts = [number(values["mean_over_length"], ".2f"), number(values["rhat"], ".2f")]
        rows.append([f"K={dim}: {_name(way, turned)}", *texts])
    return grid(["vectors", "mean over length", "R-hat"], rows)


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return a picture for each K of which anything has been run."""
    done = [dim for dim in results.each("dim") if results.having(dim=dim).done]
    return {f"donuts-k{dim}": partial(_draw, results.having(dim=dim)) for dim in done}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import panels
    from bayesvec.plots import COLOURS

    figure, axes = panels(3, rows=2, width=3.2, height=3.3)
    ((dim, row),) = results.each("dim", "row")
    drawn = [r.values for r in results.all if r.values is not None and "x" in r.values]
    edge = 1.05 * max((np.abs(unpack(values[x])).max() for values in drawn for x in "xy"), default=1.0)
    for ax, (way, turned) in zip(axes.flat, VARIANTS, strict=True):
        values = results.get(method=way, turned=turned)
        ax.set_title(_name(way, turned), fontsize="small")
        ax.set_aspect("equal", adjustable="box")
        ax.set_xlim(-edge, edge)
        ax.set_ylim(-edge, edge)
        ax.set_xlabel(f"coordinate 1 of word {row + 1}", fontsize="small")
        if values is None or "impossible" in values:
            ax.text(
                0.5, 0.5, "not run" if values is None else "not possible", ha="center", transform=ax.transAxes
            )
            continue
        chains = [np.split(unpack(values[x]), CHAINS) for x in "xy"]
        for colour, x, y in zip(COLOURS, *chains, strict=False):
            ax.plot(x, y, ".", markersize=2.5, alpha=0.5, color=colour)
        ax.plot(*values["mean"], "x", color="red", markersize=8, markeredgewidth=2)
        ax.axhline(0, color="0.85", linewidth=0.6, zorder=0)
        ax.axvline(0, color="0.85", linewidth=0.6, zorder=0)
    for ax in axes[:, 0]:
        ax.set_ylabel("coordinate 2", fontsize="small")
    figure.suptitle(f"K = {dim}; a colour for each chain, the cross is the posterior mean", fontsize="medium")
    return figure
