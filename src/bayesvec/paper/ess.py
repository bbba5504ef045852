"""Effective sample sizes: the paper's Table 2, and beyond it effective draws per second over N and K."""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import fit_seconds
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs, size
from bayesvec.paper.measures import effective
from bayesvec.paper.sampling import compile_way, draw_world
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS, options_of
from bayesvec.paper.workspace import Bench
from bayesvec.simulation.pairs import simulate

NAME = POOL = "ess"
SHOWS = "Table 2 (tab:ess)"
VERSION = 2
NOTE = f"""\
Effective sample size out of 1,000 draws after 1,000 of warm-up: the median, and in brackets the worst, over
1,000 co-occurrence probabilities, 1,000 cosines, and all parameters that are not fixed (of free draws after
each was turned to one reference). Two chains on the first world, each measured by itself. The paper does not
say over what its median is, and takes the ESS of Gelman et al. (2013); ours is the rank-normalised bulk ESS
of Vehtari et al. (2021), and beside it their tail ESS, that of the 5% and 95% quantiles, which an interval
needs. {GIBBS}; "drawn anew" is without going to the other side of the mean. {ALGORITHM}. The last table is not in the
paper: effective draws per second of two chains side by side on two threads, by the smaller of bulk and tail ESS
over both chains together, the clock running over the draws after warm-up, median and worst over the same
probabilities and cosines; 2,000 draws of a chain after 500, of Algorithm 1 500 after 300, of NUTS 500 after 400.
All ways run on our kernels, the paper's too."""

# Median ESS out of 1000 draws, K=5, V=100.
PAPER_SIZES = (1_000, 2_000, 5_000, 20_000, 50_000)
PAPER = {
    "HMC": (886.6, 913.8, 931.6, 964.3, 993.7),
    "Gibbs": (579.8, 327.9, 207.0, 286.9, 547.7),
}
_BESIDE = {"gibbs": "Gibbs", "nuts": "HMC"}

TABLE_WAYS = (
    "gibbs",
    "gibbs-plain",
    "gibbs-anew",
    "gibbs-fixed",
    "gibbs-last",
    "paper",
    "nuts",
    "nuts-last",
)
SPEED_LENGTHS = {  # warm-up and draws
    "gibbs": (500, 2000),
    "gibbs-plain": (500, 2000),
    "gibbs-anew": (500, 2000),
    "paper": (300, 500),
    "nuts": (400, 500),
}
QUANTITIES = (("probability", "probabilities"), ("cosine", "cosines"), ("parameter", "parameters"))


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the paper's table, then those of the speed over N and K."""
    if quick:
        few = {"draws": 200, "warmup": 200, "quantities": 200}
        found = [
            _cell(5, 100, 5_000, way, "table", **few)
            for way in ("gibbs", "gibbs-plain", "gibbs-last", "nuts")
        ]
        found += [_cell(5, 100, 20_000, way, "table", **few) for way in ("gibbs", "paper")]
        return found + [
            _cell(10, 100, 100_000, way, "speed", **few) for way in ("gibbs", "gibbs-plain", "paper")
        ]
    found = [
        _cell(5, 100, pairs, way, "table", draws=1000, warmup=1000, quantities=1000)
        for way in TABLE_WAYS
        for pairs in PAPER_SIZES
    ]
    for dim, vocab in ((5, 100), (10, 100), (20, 100)):
        for pairs in (10_000, 100_000, 1_000_000):
            for way, (warmup, draws) in SPEED_LENGTHS.items():
                found.append(
                    _cell(dim, vocab, pairs, way, "speed", draws=draws, warmup=warmup, quantities=1000)
                )
    return found


def _cell(
    dim: int, vocab: int, pairs: int, way: str, part: str, *, draws: int, warmup: int, quantities: int
) -> Cell:
    settings = {
        "part": part,
        "dim": dim,
        "vocab": vocab,
        "pairs": pairs,
        "method": way,
        "options": options_of(way),
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "quantities": quantities,
        "seed": 0,
    }
    measured = 2e-6 * 2 * draws * (2 * quantities + 2 * vocab * dim)
    cost = fit_seconds(way, dim, vocab, pairs, sweeps=draws + warmup, at_once=2, fits=2) + measured
    return Cell(
        f"K={dim} V={vocab} N={size(pairs)} {way} {part}", settings, cost, 0 if part == "table" else 1
    )


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Draw two chains side by side and measure how many of their draws are effective, and how fast they came."""
    dim, chains = settings["dim"], settings["chains"]
    counts, _ = simulate(settings["vocab"], dim, pairs=settings["pairs"], seed=settings["seed"])
    compile_way(settings["method"], dim, bench)

    drawn = draw_world(settings, counts, bench)
    if isinstance(drawn, str):
        return {"impossible": drawn}
    values: dict[str, Any] = {"seconds": drawn.seconds, "warmup_seconds": drawn.warmup_seconds, **drawn.told}
    if settings["part"] == "speed":
        together = effective(drawn, settings["quantities"], parameters=False)
        for quantity, found in together.items():
            values[quantity] = {
                f"{kind}_per_second": found[f"least_{kind}"] / drawn.seconds for kind in ("median", "worst")
            }
        return values
    alone = bench.over(range(chains), lambda chain: effective(drawn.chain(chain), settings["quantities"]))
    for quantity, _ in QUANTITIES:
        values[quantity] = {
            f"{part}{kind}": over(found[quantity][f"{part}{kind}"] for found in alone)
            for part in ("", "tail_")
            for kind, over in (("median", fmean), ("worst", min))
        }
    return values


def table(results: Results) -> str:
    """Return ESS out of 1,000 draws by what it is of, then effective draws per second."""
    part = results.having(part="table")
    sizes = sorted(part.each("pairs"))
    tables = []
    for kind, of_kind in (("", "ESS"), ("tail_", "Tail ESS")):
        for quantity, what in QUANTITIES if not kind else QUANTITIES[:2]:
            rows = []
            for way in part.each("method"):
                texts = [_ess_text(part, way, pairs, quantity, kind) for pairs in sizes]
                rows.append([WAYS[way].label, *texts])
                if way in _BESIDE and quantity == "probability" and not kind:
                    printed = dict(zip(PAPER_SIZES, PAPER[_BESIDE[way]], strict=True))
                    texts = [number(printed.get(pairs)) for pairs in sizes]
                    rows.append([f"(paper: {_BESIDE[way]})", *texts])
            tables.append(grid([f"{of_kind} of {what}, median (worst)", *map(size, sizes)], rows))
    return paragraphs(*tables, _least(part), _speed(results.having(part="speed")))


def _ess_text(results: Results, way: str, pairs: int, quantity: str, kind: str) -> str:
    values = results.get(method=way, pairs=pairs)
    if values is None:
        return NOT_RUN if results.has(method=way, pairs=pairs) else ""
    if "impossible" in values:
        return NOTHING
    per_thousand = 1000 / results.having(method=way, pairs=pairs).all[0].cell.settings["draws"]
    found = values[quantity]
    return f"{found[f'{kind}median'] * per_thousand:.0f} ({found[f'{kind}worst'] * per_thousand:.0f})"


def _least(results: Results) -> str:
    """Say how the medians of Gibbs compare with the paper's, of the sizes that have been run."""
    lines = []
    for quantity, what in QUANTITIES[:2]:
        ratios = []
        for pairs, printed in zip(PAPER_SIZES, PAPER["Gibbs"], strict=True):
            values = results.get(method="gibbs", pairs=pairs)
            if values is not None:
                draws = results.having(method="gibbs", pairs=pairs).all[0].cell.settings["draws"]
                ratios.append(values[quantity]["median"] * 1000 / draws / printed)
        if ratios:
            lines.append(
                f"Median ESS of {what} under Gibbs over the paper's Gibbs: {min(ratios):.2f} to {max(ratios):.2f} "
                f"in {len(ratios)} of {len(PAPER_SIZES)} columns."
            )
    return "  \n".join(lines)


def _speed(results: Results) -> str:
    head = ["effective draws per second", "probabilities: median", "worst", "cosines: median", "worst"]
    rows = []
    for dim, vocab, pairs in results.each("dim", "vocab", "pairs"):
        of_world = results.having(dim=dim, vocab=vocab, pairs=pairs)
        for way in of_world.each("method"):
            values = of_world.get(method=way)
            if values is None or "impossible" in values:
                texts = [NOT_RUN if values is None else NOTHING] * 4
            else:
                texts = [
                    _rate_text(values[quantity][f"{kind}_per_second"])
                    for quantity in ("probability", "cosine")
                    for kind in ("median", "worst")
                ]
            rows.append([f"K={dim}, V={vocab}, N={size(pairs)}: {WAYS[way].label}", *texts])
    return grid(head, rows)


def _rate_text(rate: float | None) -> str:
    return number(rate, ",.0f" if rate is not None and rate >= 100.0 else ".3g")


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the picture of effective draws per second, if any have been run."""
    speed = results.having(part="speed")
    return {"ess": lambda: _draw(speed)} if speed.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import STYLES, legend_below, panels

    shapes = results.each("dim", "vocab")
    figure, axes = panels(len(shapes), width=3.9)
    for ax, (dim, vocab) in zip(axes[0], shapes, strict=True):
        of_shape = results.having(dim=dim, vocab=vocab)
        for way in of_shape.each("method"):
            points = [
                (result.cell.settings["pairs"], result.values["cosine"]["worst_per_second"])
                for result in of_shape.having(method=way).all
                if result.values is not None
                and "impossible" not in result.values
                and result.values["cosine"]["worst_per_second"] is not None
            ]
            if points:
                x, y = zip(*points, strict=True)
                ax.plot(x, y, marker="o", markersize=4, label=WAYS[way].label, **STYLES[way])
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"K={dim}, V={vocab}", fontsize="medium")
        ax.set_xlabel("N")
    axes[0][0].set_ylabel("worst cosine: effective draws a second")
    legend_below(figure, axes[0][0])
    return figure
