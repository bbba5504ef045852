"""Posteriors of two cosines in speeches of Congress: the paper's figures for K = 50 and K = 100."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.cosines import all_draws, described, in_words
from bayesvec.paper.costs import congress_pairs, counts_seconds
from bayesvec.paper.holdout import fit_way
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs, size
from bayesvec.paper.variants import ALGORITHM, GIBBS, WAYS, options_of
from bayesvec.paper.workspace import Bench

NAME = POOL = "congress-cosines"
SHOWS = "Figure 5 (fig:cossim_speak_law_k50) and Figure 6 (fig:cossim_speak_law)"
VERSION = 1
NOTE = f"""\
{data.CONGRESS}, and of their samples 500,000 at random. Prior precision 1; two chains of 500 draws after 500
sweeps (NUTS: 200 after 200). The paper prints the curves without numbers; it says that Gibbs and HMC are
similar, and that MFVI differs from both in mean and has a smaller variance. Its MFVI is Stan's with the
default rule for stopping. {GIBBS}. {ALGORITHM}. R-hat is over the two chains."""

WORDS = (("speak", "law"), ("that", "it"))
WAYS_SHOWN = {
    50: ("gibbs", "nuts", "mfvi-stan", "mfvi", "blockvi", "paper"),
    100: ("gibbs", "mfvi-stan", "blockvi"),
}
FIXED = ("gibbs-last", "gibbs-random", "paper-random")  # further ways of the experiment anchors, at K = 50


def all_cells(quick: bool) -> list[Cell]:
    """Return the cells of this experiment and those that `anchors` adds."""
    if quick:
        small: dict[str, Any] = {"words": data.POOL_WORDS_QUICK, "vocab": 1000, "pairs": 100_000}
        lengths = {"paper": 30, "paper-random": 30, "gibbs": 80, "gibbs-last": 80, "gibbs-random": 80}
        return [
            _cell(10, way, **small, draws=lengths.get(way, 200), warmup=lengths.get(way, 0))
            for way in ("gibbs", "mfvi-stan", "blockvi", "paper", *FIXED)
        ]
    full: dict[str, Any] = {"words": data.POOL_WORDS, "vocab": 5000, "pairs": 500_000}
    found = []
    for dim, ways in WAYS_SHOWN.items():
        for way in (*ways, *(FIXED if dim == 50 else ())):
            length = 200 if way == "nuts" else 500
            found.append(_cell(dim, way, **full, draws=length, warmup=length))
    return found


def _cell(dim: int, way: str, *, words: int, vocab: int, pairs: int, draws: int, warmup: int) -> Cell:
    settings = {
        "words": words,
        "vocab": vocab,
        "pairs": pairs,
        "method": way,
        "options": options_of(way),
        "dim": dim,
        "prior_precision": 1.0,
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "thin": 1,
        "seed": 0,
    }
    cost = 20.0 if words > 10**6 else 2.0
    cost += counts_seconds(way, dim, 2 * vocab, congress_pairs(pairs), sweeps=draws + warmup)
    rank = 3 if way == "nuts" else 2 if way.startswith("paper") else 1
    return Cell(f"K={dim} N={size(pairs)} {way}", settings, cost, rank)


def cells(quick: bool) -> list[Cell]:
    """Return the cells of the paper's figures."""
    return [cell for cell in all_cells(quick) if cell.settings["method"] not in FIXED]


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit the samples and keep the cosines of the paper's words."""
    counts = data.congress(settings["words"], settings["vocab"], settings["seed"])
    counts = data.thinned(counts, settings["pairs"], settings["seed"])
    bench.work.mkdir(parents=True, exist_ok=True)
    made = {"samples": counts.num_observations, "distinct_pairs": counts.num_pairs}
    post = fit_way(settings["method"], counts, settings, bench, store="rho")
    if isinstance(post, str):
        return made | {"impossible": post}
    return made | {"cosines": [described(estimate.draws) for estimate in post.similarities(WORDS)]}


def table(results: Results) -> str:
    """Return mean, sd, interval and R-hat of both cosines by each way."""
    return paragraphs(*(cosine_table(results.having(dim=dim), dim) for dim in results.each("dim")))


def cosine_table(results: Results, dim: int) -> str:
    """Return the cosines of one K."""
    rows = []
    for way in results.each("method"):
        values = results.get(method=way)
        if values is None or "impossible" in values:
            rows.append([WAYS[way].label, *[NOT_RUN if values is None else NOTHING] * 6])
            continue
        texts = [text for one in values["cosines"] for text in (*in_words(one), number(one["rhat"], ".3f"))]
        rows.append([WAYS[way].label, *texts])
    head = [f"K={dim}: cosine"]
    head += [text for pair in WORDS for text in (", ".join(pair), "90% interval", "R-hat")]
    return grid(head, rows)


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return a picture for each K of which anything has been run."""
    done = [dim for dim in results.each("dim") if results.having(dim=dim).done]
    return {f"congress-cosines-k{dim}": partial(draw_cosines, results.having(dim=dim)) for dim in done}


def draw_cosines(results: Results) -> Any:
    """Draw the posteriors of both cosines by each way over each other."""
    from bayesvec.paper.figures import STYLES, draw_density, legend_below, panels

    figure, axes = panels(len(WORDS))
    for i, (ax, words) in enumerate(zip(axes[0], WORDS, strict=True)):
        for way in results.each("method"):
            values = results.get(method=way)
            if values is not None and "impossible" not in values:
                draw_density(ax, all_draws(values["cosines"][i]), WAYS[way].label, STYLES[way])
        ax.set_title(f"{words[0]!r} and {words[1]!r}", fontsize="medium")
        ax.set_xlabel("cosine similarity")
        ax.set_ylim(bottom=0.0)
    axes[0][0].set_ylabel("posterior density")
    legend_below(figure, axes[0][0])
    return figure
