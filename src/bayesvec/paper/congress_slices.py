"""Words of Congress over twenty years and in two parties: one fit each, beyond the paper."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bayesvec import priors
from bayesvec.datasets.congress import STOPWORDS
from bayesvec.estimates.estimate import Estimate
from bayesvec.fitting import fit
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Results, Values
from bayesvec.paper.costs import sweep_seconds
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs
from bayesvec.paper.workspace import Bench
from bayesvec.posterior.posterior import Posterior

NAME = POOL = "congress-slices"
SHOWS = "Beyond the paper: grouped and dynamic priors (which it names and does not fit)"
VERSION = 2
NOTE = """\
Speeches of the US House, 2001 to 2020, Democrats and Republicans; words as spoken, lower case, the 2,000 most
common, window 2, subsampling at 10^-4, one negative sample for each positive one. A word has a vector in each
slice and contexts are shared: over the years the vectors of a word walk at random, in the two parties they lie
around a shared one. All precisions are learned with the vectors. Two chains. The change of a word is the distance
of its vectors in the two slices over the usual length of a vector, or the part of it in the direction of the mean
of the word's difference, which leaves out the noise of the other axes. Its probability is that of being among the
tenth of all words that change most, and the lists are of the surest of these, without stopwords. R-hat
and ESS are the worst over the slices of a row."""

# What is asked of each kind of slices: pairs of words whose cosine may have changed.
ASKED = {
    "year": (
        ("climate", "crisis"),
        ("border", "security"),
        ("gun", "violence"),
        ("iraq", "war"),
        ("climate", "change"),
        ("russia", "president"),
        ("health", "affordable"),
        ("voting", "rights"),
    ),
    "party": (
        ("government", "freedom"),
        ("tax", "cuts"),
        ("tax", "relief"),
        ("immigrants", "illegal"),
        ("climate", "crisis"),
        ("abortion", "women"),
        ("life", "choice"),
        ("debt", "crisis"),
    ),
}
# the prior of each kind of slices, and the name of the precision of its steps
PRIORS: dict[str, tuple[Callable[..., priors.Prior], str]] = {
    "year": (priors.dynamic, "drift_precision"),
    "party": (priors.grouped, "group_precision"),
}
SURE = 20  # words that are told
# how the change of a word is measured, and what is said of the words that did
CHANGES = {
    "direction": "Words that differ most between {} and {} along the mean of their difference",
    "distance": "By the whole distance between {} and {}",
}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each kind of slices."""
    if quick:
        few: dict[str, Any] = {"words": 300_000, "vocab": 1500, "dim": 5, "draws": 50, "warmup": 50}
        return [_cell("party", **few)]
    return [_cell("year", draws=450, warmup=300, thin=2), _cell("party")]


def _cell(
    slices: str,
    *,
    words: int | None = None,
    vocab: int = 2000,
    dim: int = 50,
    draws: int = 200,
    warmup: int = 150,
    thin: int = 1,
) -> Cell:
    settings = {
        "slices": slices,
        "words": words,
        "vocab": vocab,
        "dim": dim,
        "subsample": 1e-4,
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "thin": thin,
        "seed": 0,
    }
    rows, distinct = (
        (vocab * 21, 6.6e6) if slices == "year" else (vocab * 3, 3.0e6 if words is None else words)
    )
    cost = 30.0 + (warmup + draws * thin) * 1.3 * sweep_seconds(dim, rows, distinct)
    return Cell(f"{slices} K={dim} V={vocab}", settings, cost, 0)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit all slices at once, ask for the cosines in each, and for the words that changed most."""
    counts = data.congress_as_spoken(
        settings["words"], settings["vocab"], settings["subsample"], settings["slices"], settings["seed"]
    )
    slices = settings["slices"]
    make, steps = PRIORS[slices]
    prior = make(counts, precision="learn", **{steps: "learn"})
    bench.work.mkdir(parents=True, exist_ok=True)
    post = fit(
        counts,
        settings["dim"],
        prior=prior,
        store="rho",
        out=bench.work / "run",
        resume=True,
        threads=bench.threads,
        progress=False,
        **{key: settings[key] for key in ("chains", "draws", "warmup", "thin", "seed")},
    )
    known = set(counts.contexts)
    asked = [pair for pair in ASKED[slices] if known.issuperset(pair)]
    return {
        "rows": counts.num_words,
        "distinct_pairs": counts.num_pairs,
        "samples": counts.num_observations,
        "cosines": {", ".join(pair): _trajectory(post, pair) for pair in asked},
        "changes": {by: _changes(post, by) for by in CHANGES},
        "learned": {name: _learned(post, name) for name in post.draws.scale_names},
    }


def _learned(post: Posterior, name: str) -> dict[str, float]:
    """Return a learned precision with its interval and diagnostics."""
    estimate = Estimate(post.draws.stats(name))
    low, high = estimate.interval(0.9)
    return {"mean": estimate.mean, "low": low, "high": high, "rhat": estimate.rhat, "ess": estimate.ess}


def _trajectory(post: Posterior, pair: tuple[str, str]) -> dict[str, Any]:
    """Return a cosine in each slice, and how it differs between the last and the first."""
    found = post.trajectory(f"cosine({pair[0]}, {pair[1]})")
    change = found.difference()
    estimates = found.estimates
    return {
        "slices": list(found.slices),
        "mean": [estimate.mean for estimate in estimates],
        "low": [estimate.interval(0.9)[0] for estimate in estimates],
        "high": [estimate.interval(0.9)[1] for estimate in estimates],
        "rhat": max(estimate.rhat for estimate in estimates),
        "ess": min(estimate.ess for estimate in estimates),
        "change": [change.mean, *change.interval(0.9)],
        "probability_above": change.probability_above(0.0),
    }


def _changes(post: Posterior, by: str) -> dict[str, Any]:
    """Return the words that changed most, the surest first."""
    found = post.drift(n=SURE + len(STOPWORDS), by=by)
    told = [row for row in found.table if row.word not in STOPWORDS][:SURE]
    return {
        "words": [{"word": row.word, "change": row.change, "probability": row.probability} for row in told],
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
        *(_words(said, values["changes"][by]) for by, said in CHANGES.items()),
        f"Learned: {learned}. {values['rows']:,} rows, {values['distinct_pairs']:,} distinct pairs, "
        f"{values['samples']:,} samples.",
    )


def _words(said: str, changes: Mapping[str, Any]) -> str:
    """Return the words that changed most with their probabilities, and how many may be claimed to."""
    words = ", ".join(f"{row['word']} ({row['probability']:.2f})" for row in changes["words"])
    return (
        f"{said.format(*changes['between'])}, with the probability of being among the tenth of all words that do: "
        f"{words}. Claims at a probability of 0.95, of stopwords too: {changes['claimed']}, of which "
        f"{changes['expected_false']:.1f} are expected to be false."
    )


def _at(found: Mapping[str, Any], name: str) -> str:
    """Return a cosine in one slice, with its interval."""
    if name not in found["slices"]:
        return NOTHING
    at = found["slices"].index(name)
    return f"{found['mean'][at]:.2f} ({found['low'][at]:.2f} to {found['high'][at]:.2f})"


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the cosines over the years, if they are there."""
    values = results.get(slices="year") if results.has(slices="year") else None
    return {} if values is None else {"congress-slices": partial(draw_years, values)}


def draw_years(values: Values) -> Any:
    """Draw a few cosines over the years with 90% bands."""
    from bayesvec.paper.figures import panels
    from bayesvec.plots import COLOURS, DASHES

    figure, axes = panels(2, rows=2, height=2.8)
    for place, (ax, pair) in enumerate(zip(axes.flat, list(values["cosines"])[: axes.size], strict=False)):
        found = values["cosines"][pair]
        years = [int(name) for name in found["slices"]]
        ax.fill_between(years, found["low"], found["high"], color=COLOURS[place], alpha=0.25, linewidth=0)
        ax.plot(years, found["mean"], color=COLOURS[place], linestyle=DASHES[0])
        ax.set_title(" and ".join(pair.split(", ")), fontsize="medium")
        ax.set_xticks(range(min(years), max(years) + 1, 5))
        ax.grid(axis="y", alpha=0.3)
    for ax in axes[:, 0]:
        ax.set_ylabel("cosine, 90% band")
    return figure
