"""Words of Congress over twenty years and in two parties, one fit each: beyond the paper."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from bayesvec.counts.pairs import PairCounts
from bayesvec.datasets.congress import STOPWORDS, congress_speeches
from bayesvec.estimates.estimate import Estimate
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.costs import sweep_seconds
from bayesvec.paper.experiment import Experiment, Figures, Results, Values
from bayesvec.paper.fits import fit_counts
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs
from bayesvec.paper.slices_holdout import PRIORS, SHOWS
from bayesvec.paper.workspace import Workspace
from bayesvec.posterior.posterior import Posterior
from bayesvec.text.count import count

NOTE = """\
House speeches of Democrats and Republicans, the 2,000 most frequent words, not stemmed, window 2, subsampling at
10^-4. One fit with a vector per word and slice, on a random walk over the years (dynamic prior) or around a
shared one (grouped prior); all precisions are learned; two chains. The change of a word is the distance of its
vectors in the two slices relative to the typical length of a vector, or its component along the mean difference,
which leaves out the noise of the other axes. The lists have the words most certain to be in the top tenth,
without stopwords. R-hat and ESS are the worst over slices."""

# Pairs of words whose cosine may have changed, by kind of slices.
ASKED = {
    "year": (
        "climate crisis, border security, gun violence, iraq war, climate change, russia president, "
        "health affordable, voting rights"
    ),
    "party": (
        "government freedom, tax cuts, tax relief, immigrants illegal, climate crisis, abortion women, "
        "life choice, debt crisis"
    ),
}
LISTED = 20  # words per list
# How the change of a word is measured, and the title of the list.
CHANGES = {
    "direction": "Words that differ most between {} and {} along the mean difference",
    "distance": "By the whole distance between {} and {}",
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each kind of slices."""
    given: dict[str, Any] = {"subsample": 1e-4, "chains": 2}
    if quick:
        quick_size = {"words": 300_000, "vocab": 1500, "dim": 5, "draws": 50, "warmup": 50, "thin": 1}
        grid = [{**given, **quick_size, "slices": "party"}]
    else:
        given |= {"words": None, "vocab": 2000, "dim": 50}
        grid = [
            {**given, "slices": "year", "draws": 450, "warmup": 300, "thin": 2},
            {**given, "slices": "party", "draws": 200, "warmup": 150, "thin": 1},
        ]
    return make_cells(grid, lambda settings: "{slices} K={dim} V={vocab}".format(**settings), _seconds)


def _seconds(settings: Settings) -> float:
    rows, distinct = (21, 6.6e6) if settings["slices"] == "year" else (3, settings["words"] or 3.0e6)
    sweeps: int = settings["warmup"] + settings["thin"] * settings["draws"]
    return 30.0 + 1.3 * sweeps * sweep_seconds(settings["dim"], settings["vocab"] * rows, distinct)


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit all slices at once; ask for cosines in each slice and for the words that changed most."""
    counts = _count(settings)
    slices = settings["slices"]
    prior = PRIORS["dynamic" if slices == "year" else "grouped"](counts)
    post = fit_counts(counts, settings, workspace, prior=prior, store="rho")
    known = set(counts.contexts)
    asked = [pair for pair in asked_of(slices) if known.issuperset(pair)]
    return {
        "rows": counts.num_words,
        "distinct_pairs": counts.num_pairs,
        "samples": counts.num_observations,
        "cosines": {", ".join(pair): _trajectory(post, pair) for pair in asked},
        "changes": {by: _changes(post, by) for by in CHANGES},
        "learned": {name: _learned(post, name) for name in post.draws.scale_names},
    }


def asked_of(slices: str) -> list[tuple[str, ...]]:
    """Return the pairs of words asked for."""
    return [tuple(pair.split()) for pair in ASKED[slices].split(", ")]


def _count(settings: Settings) -> PairCounts:
    """Count the speeches of both parties by year or party, words neither stemmed nor stripped."""
    speeches = congress_speeches(parties=("D", "R"), max_words=settings["words"], seed=settings["seed"])
    return count(
        documents=speeches.documents,
        groups=getattr(speeches, settings["slices"]).tolist(),
        window=2,
        negatives=1,
        negative_power=1.0,
        progress=False,
        **{name: settings[name] for name in ("vocab", "subsample", "seed")},
    )


def _learned(post: Posterior, name: str) -> dict[str, float]:
    """Return a learned precision with its interval and diagnostics."""
    estimate = Estimate(post.draws.stats(name))
    low, high = estimate.interval(0.9)
    return {"mean": estimate.mean, "low": low, "high": high, "rhat": estimate.rhat, "ess": estimate.ess}


def _trajectory(post: Posterior, pair: tuple[str, ...]) -> dict[str, Any]:
    """Return a cosine in each slice, and its difference between the last and the first."""
    found = post.trajectory(f"cosine({pair[0]}, {pair[1]})")
    change = found.difference()
    estimates = found.estimates
    intervals = [estimate.interval(0.9) for estimate in estimates]
    return {
        "slices": list(found.slices),
        "mean": [estimate.mean for estimate in estimates],
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
        "rhat": max(estimate.rhat for estimate in estimates),
        "ess": min(estimate.ess for estimate in estimates),
        "change": [change.mean, *change.interval(0.9)],
        "probability_above": change.probability_above(0.0),
    }


def _changes(post: Posterior, by: str) -> dict[str, Any]:
    """Return the words that changed most, the most certain first."""
    found = post.drift(n=LISTED + len(STOPWORDS), by=by)
    listed = [row for row in found.table if row.word not in STOPWORDS][:LISTED]
    return {
        "words": [{"word": row.word, "change": row.change, "probability": row.probability} for row in listed],
        "between": [found.first, found.last],
        "claimed": found.claimed,
        "expected_false": found.expected_false,
    }


def table(results: Results) -> str:
    """Return the cosines in the first and the last slice, and the words that changed most."""
    return paragraphs(*(_table(result.cell.settings["slices"], result.values) for result in results.all))


def _table(slices: str, values: Values | None) -> str:
    if values is None:
        return grid([f"by {slices}: cosine", "first", "last", "change", "P(change > 0)"], [[NOT_RUN] * 5])
    one, other = values["changes"]["direction"]["between"]
    rows = [
        [
            pair,
            _at(found, one),
            _at(found, other),
            "{:+.2f} ({:+.2f} to {:+.2f})".format(*found["change"]),
            number(found["probability_above"], ".3f"),
            number(found["rhat"], ".3f"),
            number(found["ess"], ".0f"),
        ]
        for pair, found in values["cosines"].items()
    ]
    head = [f"by {slices}: cosine", one, other, "change", "P(change > 0)", "R-hat", "ESS"]
    learned = ", ".join(
        f"{name.replace('_', ' ')} {found['mean']:.1f} ({found['low']:.1f} to {found['high']:.1f}, R-hat "
        f"{found['rhat']:.2f}, ESS {found['ess']:.0f})"
        for name, found in values["learned"].items()
    )
    return paragraphs(
        grid(head, rows),
        *(_listed(title, values["changes"][by]) for by, title in CHANGES.items()),
        f"Learned: {learned}. {values['rows']:,} rows, {values['distinct_pairs']:,} distinct pairs, "
        f"{values['samples']:,} samples.",
    )


def _listed(title: str, changes: Mapping[str, Any]) -> str:
    """Return the words that changed most with their probabilities, and how many changes can be claimed."""
    words = ", ".join(f"{row['word']} ({row['probability']:.2f})" for row in changes["words"])
    return (
        f"{title.format(*changes['between'])}, with the probability of being in the top tenth of all words: "
        f"{words}. Claims at a probability of 0.95, including stopwords: {changes['claimed']}, of which "
        f"{changes['expected_false']:.1f} are expected to be false."
    )


def _at(found: Mapping[str, Any], name: str) -> str:
    """Return a cosine in one slice, with its interval."""
    if name not in found["slices"]:
        return NOTHING
    at = found["slices"].index(name)
    return f"{found['mean'][at]:.2f} ({found['low'][at]:.2f} to {found['high'][at]:.2f})"


def figures(results: Results) -> Figures:
    """Return the figure of the cosines over the years, if they have been run."""
    values = results.get(slices="year")
    return {} if values is None else {"congress-slices": partial(_draw, values)}


def _draw(values: Values) -> Any:
    from bayesvec.paper.figures import label, panels
    from bayesvec.plots import COLOURS, DASHES

    figure, axes = panels(2, rows=2, height=2.8)
    for ax, colour, (pair, found) in zip(axes.flat, COLOURS, values["cosines"].items(), strict=False):
        years = [int(name) for name in found["slices"]]
        ax.fill_between(years, found["low"], found["high"], color=colour, alpha=0.25, linewidth=0)
        ax.plot(years, found["mean"], color=colour, linestyle=DASHES[0])
        label(ax, " and ".join(pair.split(", ")))
        ax.set_xticks(range(min(years), max(years) + 1, 5))
        ax.grid(axis="y", alpha=0.3)
    for ax in axes[:, 0]:
        ax.set_ylabel("cosine, 90% band")
    return figure


EXPERIMENT = Experiment("congress-slices", SHOWS, NOTE, cells, run, table, figures, version=2)
