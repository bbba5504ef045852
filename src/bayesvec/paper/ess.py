"""Effective sample sizes: the paper's Table 2, and effective draws per second over N and K."""

from functools import partial
from statistics import fmean
from typing import Any

from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import world_seconds
from bayesvec.paper.experiment import Experiment, Figures, InPaper, Results, Values
from bayesvec.paper.markdown import grid, number, paragraphs, size
from bayesvec.paper.metrics import effective
from bayesvec.paper.sampling import compile_variant
from bayesvec.paper.simulated import FEW_SIZES, draw_world, variant_rows, world_label
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace

SHOWS = "Table 2 (tab:ess)"
NOTE = """\
ESS per 1,000 draws after 1,000 of warm-up, median (worst) over 1,000 co-occurrence probabilities, 1,000 cosines
and all parameters that are not fixed; two chains on the first world, each measured by itself. The paper takes the
ESS of Gelman et al. (2013) and does not say over what its median is. The last table is not in the paper:
effective draws per second of two chains on two threads, by the smaller of bulk and tail ESS over both chains,
warm-up not counted; 2,000 draws per chain after 500 (Algorithm 1: 500 after 300, NUTS: 500 after 400). All
variants run on our kernels."""

CUT = """\
NUTS with contexts fixed, as in the paper (a few minutes on two cores); effective draws per second of NUTS at K = 10
and 20 (15 minutes on a machine without other work). The records of Gibbs are from before the orbit move sheared the
axes, which makes frequent words mix faster."""

# Median ESS per 1,000 draws, K = 5, V = 100.
PAPER_SIZES = (1_000, 2_000, 5_000, 20_000, 50_000)
PAPER = {
    "HMC": (886.6, 913.8, 931.6, 964.3, 993.7),
    "Gibbs": (579.8, 327.9, 207.0, 286.9, 547.7),
}
TABLE = (
    *("gibbs", "gibbs-plain", "gibbs-anew", "gibbs-fixed", "gibbs-last"),
    *("paper", "nuts"),
)
SPEED = {  # draws and warm-up
    "gibbs": (2000, 500),
    "gibbs-plain": (2000, 500),
    "gibbs-anew": (2000, 500),
    "paper": (500, 300),
    "nuts": (500, 400),
}
QUANTITIES = {"probability": "probabilities", "cosine": "cosines", "parameter": "parameters"}


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the paper's table, then those of the speed over N and K."""
    if quick:
        grid: list[Any] = [
            ("table", 5, 5_000, name) for name in ("gibbs", "gibbs-plain", "gibbs-last", "nuts")
        ]
        grid += [("table", 5, 20_000, name) for name in ("gibbs", "paper")]
        grid += [("speed", 10, 100_000, name) for name in ("gibbs", "gibbs-plain", "paper")]
        grid = [(*row, 200, 200) for row in grid]
    else:
        grid = [("table", 5, pairs, name, 1000, 1000) for name in TABLE for pairs in PAPER_SIZES]
        worlds = [(dim, pairs) for dim in (5, 10, 20) for pairs in FEW_SIZES]
        grid += [
            ("speed", *world, name, *lengths)
            for world in worlds
            for name, lengths in SPEED.items()
            if name != "nuts" or world[0] == 5
        ]
    quantities = 200 if quick else 1000
    return make_cells(
        name_settings("part dim pairs method draws warmup", grid, vocab=100, chains=2, quantities=quantities),
        lambda settings: f"{world_label(settings)} {settings['part']}",
        lambda settings: world_seconds(settings) + 8e-6 * settings["draws"] * quantities,
        lambda settings: int(settings["part"] == "speed"),
    )


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Draw two chains at a time and measure how many of their draws are effective, and how fast they came."""
    compile_variant(settings["method"], settings["dim"], workspace)
    drawn, _ = draw_world(settings, workspace)
    values: dict[str, Any] = {
        "seconds": drawn.seconds,
        "warmup_seconds": drawn.warmup_seconds,
        **drawn.summary,
    }
    if settings["part"] == "speed":
        both = effective(drawn, settings["quantities"], parameters=False)
        return values | {
            quantity: {
                f"{kind}_per_second": found[f"least_{kind}"] / drawn.seconds for kind in ("median", "worst")
            }
            for quantity, found in both.items()
        }
    single = workspace.map(
        lambda chain: effective(drawn.chain(chain), settings["quantities"]), range(settings["chains"])
    )
    return values | {
        quantity: {
            f"{part}{kind}": over(found[quantity][f"{part}{kind}"] for found in single)
            for part in ("", "tail_")
            for kind, over in (("median", fmean), ("worst", min))
        }
        for quantity in QUANTITIES
    }


def table(results: Results) -> str:
    """Return ESS per 1,000 draws of each quantity, then effective draws per second."""
    part = results.having(part="table")
    tables = [_ess_table(part, "ESS", "", quantity) for quantity in QUANTITIES]
    tables += [_ess_table(part, "Tail ESS", "tail_", quantity) for quantity in ("probability", "cosine")]
    return paragraphs(*tables, _speed_table(results.having(part="speed")))


def _ess_table(results: Results, name: str, kind: str, quantity: str) -> str:
    sizes = sorted(results.each("pairs"))
    (draws,) = results.each("draws")

    def show(values: Values) -> str:
        median, worst = (values[quantity][kind + part] * 1000 / draws for part in ("median", "worst"))
        return f"{median:.0f} ({worst:.0f})"

    printed = PAPER if quantity == "probability" and not kind else {}
    rows = variant_rows(results, sizes, show, printed, PAPER_SIZES)
    return grid([f"{name} of {QUANTITIES[quantity]}, median (worst)", *map(size, sizes)], rows)


def _speed_table(results: Results) -> str:
    def show(values: Values) -> list[str]:
        rates = [
            values[quantity][f"{kind}_per_second"]
            for quantity in ("probability", "cosine")
            for kind in ("median", "worst")
        ]
        return [number(rate, ",.0f" if rate is not None and rate >= 100.0 else ".3g") for rate in rates]

    rows = [
        [
            f"K={dim}, V={vocab}, N={size(pairs)}: {VARIANTS[name].label}",
            *results.row(4, show, dim=dim, vocab=vocab, pairs=pairs, method=name),
        ]
        for dim, vocab, pairs, name in results.each("dim", "vocab", "pairs", "method")
    ]
    head = ["effective draws per second", "probabilities: median", "worst", "cosines: median", "worst"]
    return grid(head, rows)


def figures(results: Results) -> Figures:
    """Return the figure of effective draws per second, if any have been run."""
    speed = results.having(part="speed")
    return {"ess": partial(_draw, speed)} if speed.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import draw_variants, label, legend_below, panels

    shapes = results.each("dim", "vocab")
    figure, axes = panels(len(shapes), width=3.9)
    for ax, (dim, vocab) in zip(axes[0], shapes, strict=True):
        of_shape = results.having(dim=dim, vocab=vocab)
        draw_variants(ax, of_shape, lambda values: values["cosine"]["worst_per_second"])
        label(ax, f"K={dim}, V={vocab}", "N", log="xy")
    axes[0][0].set_ylabel("worst cosine: ESS per second")
    legend_below(figure, axes[0][0])
    return figure


IN_PAPER = InPaper(
    10,
    "values (NUTS free, not with contexts fixed)",
    lambda settings: (
        (settings["method"], settings["pairs"])
        if settings["part"] == "table" and settings["method"] in ("paper", "nuts")
        else None
    ),
)
EXPERIMENT = Experiment("ess", SHOWS, NOTE, cells, run, table, figures, CUT, version=2, in_paper=IN_PAPER)
