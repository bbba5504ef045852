"""What priors over groups and time gain on held-out speeches: beyond the paper, which names but does not fit them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bayesvec import priors
from bayesvec._types import Bool
from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.counts.rows import word_of_rows
from bayesvec.diagnostics.holdout import MEAN, PREDICTIVE
from bayesvec.estimates.convergence import rhat
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.costs import congress_pairs, sweep_seconds
from bayesvec.paper.experiment import Experiment, Results, Values
from bayesvec.paper.fits import fit_counts, mixing
from bayesvec.paper.markdown import grid, number, paragraphs, size
from bayesvec.paper.workspace import Workspace

SHOWS = "Beyond the paper: grouped and dynamic priors (which it names and does not fit)"
NOTE = """\
Democrats and Republicans of the Congress data, up to so
many words; 15% of the speeches are held out. "Pooled" has one vector per word, "separate" fits each slice by
itself, its contexts too; "grouped" and "dynamic" are one fit with a vector per word and slice, around a shared
one or on a random walk over the years, and shared contexts. All precisions are learned, so nothing was tuned. Two
chains; fits of many slices mix more slowly and keep every sixth sweep, the others every second. R-hat is the
largest of 200 cosines, and of the learned precisions."""

CUT = """\
Two million words, and half a million by year (two hours on two cores). These records were made before rows were
overrelaxed: the posterior is the same, the mixing was slower, and there are no standard errors."""

SHOWN = {"year": ("pooled", "separate", "grouped", "dynamic"), "party": ("pooled", "separate", "grouped")}
NUM_SLICES = {"year": 20, "party": 2}
SIZES = {"year": (100_000,), "party": (100_000, 500_000)}  # words
PRIORS: dict[str, Any] = {
    "grouped": lambda counts: priors.grouped(counts, precision="learn", group_precision="learn"),
    "dynamic": lambda counts: priors.dynamic(counts, precision="learn", drift_precision="learn"),
}
METRICS = (  # name, title, format
    (PREDICTIVE, "predictive", ".4f"),
    (MEAN, "posterior mean", ".4f"),
    ("rhat", "R-hat of cosines", ".2f"),
    ("rhat_learned", "R-hat of precisions", ".2f"),
)


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each kind of slices, number of words and variant."""
    given = {"vocab": 2000, "dim": 50, "chains": 2, "draws": 75, "warmup": 150}
    if quick:
        given = {"vocab": 300, "dim": 5, "chains": 2, "draws": 20, "warmup": 20}
    grid = (
        {**given, "slices": slices, "words": words, "method": name, "thin": 6 if name in PRIORS else 2}
        for slices in (["party"] if quick else SHOWN)
        for words in ([20_000] if quick else SIZES[slices])
        for name in SHOWN[slices]
    )
    return make_cells(
        grid,
        lambda settings: f"{settings['slices']} words={size(settings['words'])} {settings['method']}",
        _seconds,
    )


def _seconds(settings: Settings) -> float:
    parts = 1 if settings["method"] == "pooled" else NUM_SLICES[settings["slices"]]
    distinct = parts * congress_pairs(6.5 * settings["words"] / parts)
    sweeps: int = settings["warmup"] + settings["thin"] * settings["draws"]
    return 15.0 + sweeps * sweep_seconds(settings["dim"], settings["vocab"] * (parts + 1), distinct)


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit 85% of the speeches by one variant and score the others."""
    words, vocab, seed = (settings[name] for name in ("words", "vocab", "seed"))
    counts = data.congress(words, vocab, seed, group=settings["slices"], parties=("D", "R"))
    test, train = counts.split("document", fractions=(data.HELD_OUT, 1.0 - data.HELD_OUT), seed=seed)
    parts = [(train, test)]
    if settings["method"] == "pooled":
        parts = [(_rows(train), _rows(test))]
    elif settings["method"] == "separate":
        parts = [(_rows(train, name), _rows(test, name)) for name in _slices(test)]
    scores = []
    for number_of, (trained, held_out) in enumerate(parts):
        workspace.report(f"fit {number_of + 1} of {len(parts)}")
        scores.append(_score(trained, held_out, settings, workspace, f"run{number_of}"))
    weights = [held_out.num_observations for _, held_out in parts]
    return {
        **{
            name: float(np.average([score[name] for score in scores], weights=weights))
            for name in (MEAN, PREDICTIVE)
        },
        "rhat": max(score["rhat"] for score in scores),
        "rhat_learned": max(score["rhat_learned"] for score in scores),
        "ess_median": min(score["ess_median"] for score in scores),
        "trained": train.num_observations,
        "held_out": test.num_observations,
        "distinct_pairs": sum(trained.num_pairs for trained, _ in parts),
        "rows": sum(trained.num_words for trained, _ in parts),
    }


def _score(
    train: PairCounts, test: PairCounts, settings: Settings, workspace: Workspace, run: str
) -> dict[str, Any]:
    """Fit one part and score the other."""
    make = PRIORS.get(settings["method"])
    prior = {"prior_precision": "learn"} if make is None else {"prior": make(train)}
    post = fit_counts(train, settings, workspace, run=run, **prior)
    score = post.score(test)
    scales = np.stack([post.draws.stats(name) for name in post.draws.scale_names], axis=-1)
    return {
        MEAN: score.posterior_mean,
        PREDICTIVE: score.predictive,
        **mixing(post),
        "rhat_learned": float(np.nanmax(rhat(scales))),
    }


def _slices(counts: PairCounts) -> list[str]:
    """Return the slices that have samples."""
    sizes = np.diff(counts.by_word.indptr)
    return sorted({name for name, pairs in zip(counts.groups or (), sizes, strict=True) if pairs})


def _rows(counts: PairCounts, name: str | None = None) -> PairCounts:
    """Return the counts by word, summed over the slices or of one of them; words and contexts stay."""
    chosen: Bool = np.array([name in (None, group) for group in counts.groups or ()])
    words = word_of_rows(counts)
    place = {word: i for i, word in enumerate(dict.fromkeys(words))}
    side = counts.by_word
    row = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    kept = chosen[row]
    return from_pairs(
        np.array([place[word] for word in words])[row[kept]],
        side.other[kept],
        n_pos=side.n_pos[kept],
        n_neg=side.n_neg[kept],
        words=tuple(place),
        contexts=counts.contexts,
    )


def table(results: Results) -> str:
    """Return the scores by kind of slices, variant and number of words."""
    parts = []
    for slices in results.each("slices"):
        of_table = results.having(slices=slices)
        sizes = sorted(of_table.each("words"))
        rows = [
            [
                f"{variant}: {title}",
                *of_table.across("words", sizes, partial(_show, name, spec), method=variant),
            ]
            for variant in of_table.each("method")
            for name, title, spec in METRICS
        ]
        head = [f"by {slices}", *(f"{size(words)} words" for words in sizes)]
        parts += [grid(head, rows), _best(of_table, sizes, slices)]
    return paragraphs(*parts)


def _show(name: str, spec: str, values: Values) -> str:
    return number(values[name], spec)


def _best(results: Results, sizes: Sequence[int], slices: str) -> str:
    """Return the best variant at each size at which all have been run."""
    best = []
    for words in sizes:
        of_size = results.having(words=words)
        scores = {
            result.cell.settings["method"]: result.values[PREDICTIVE]
            for result in of_size.all
            if result.values is not None
        }
        if len(scores) == len(of_size):
            best.append(f"{max(scores, key=scores.__getitem__)} at {size(words)} words")
    return f"By {slices}, best predictive score: {', '.join(best)}." if best else ""


EXPERIMENT = Experiment("slices-holdout", SHOWS, NOTE, cells, run, table, cut=CUT)
