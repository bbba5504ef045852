"""What priors over groups and time gain on held-out speeches: beyond the paper, which names but does not fit them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesvec import priors
from bayesvec._types import Bool
from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.counts.rows import word_of_rows
from bayesvec.estimates.convergence import rhat
from bayesvec.fitting import fit
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Results
from bayesvec.paper.costs import congress_pairs, sweep_seconds
from bayesvec.paper.holdout import MEAN, PREDICTIVE, mixing_of
from bayesvec.paper.markdown import NOT_RUN, grid, number, paragraphs, size
from bayesvec.paper.workspace import Bench

NAME = POOL = "slices-holdout"
SHOWS = "Beyond the paper: grouped and dynamic priors (which it names and does not fit)"
VERSION = 1
NOTE = """\
Speeches of the US House, 2001 to 2020, Democrats and Republicans, with the paper's preprocessing; speeches are
taken at random until there are so many words, and 15% of the speeches are held out whole. Log likelihood of a
held-out sample; larger is better. "Pooled" has one vector a word for all slices; "separate" fits each slice by
itself, its contexts too; "grouped" and "dynamic" are one fit with a vector for each word in each slice, around a
shared one or on a random walk over the years, and shared contexts. All precisions are learned in all of them, so
nothing was tuned. Two chains; one fit of many slices mixes more slowly and so keeps every sixth sweep, the others
every second. "Posterior mean" is at the mean of the vectors, "predictive" averages each pair's
probability over the draws. R-hat is the largest of 200 cosines, and of the
learned precisions (over all fits, if separate)."""

SLICES = {"year": ("pooled", "separate", "grouped", "dynamic"), "party": ("pooled", "separate", "grouped")}
NUM_SLICES = {"year": 20, "party": 2}
SIZES = (100_000, 500_000, 2_000_000)  # words
VOCAB, DIM = 2000, 50
COUNT_SECONDS = 15.0  # of reading and counting


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each kind of slices, number of words and way."""
    if quick:
        few: dict[str, Any] = {"vocab": 300, "dim": 5, "draws": 20, "warmup": 20}
        return [_cell("party", 20_000, way, **few) for way in SLICES["party"]]
    return [_cell(slices, words, way) for slices in SLICES for words in SIZES for way in SLICES[slices]]


def _cell(
    slices: str,
    words: int,
    way: str,
    *,
    vocab: int = VOCAB,
    dim: int = DIM,
    draws: int = 75,
    warmup: int = 150,
) -> Cell:
    thin = 2 if way in ("pooled", "separate") else 6
    settings = {
        "slices": slices,
        "words": words,
        "method": way,
        "vocab": vocab,
        "dim": dim,
        "chains": 2,
        "draws": draws,
        "warmup": warmup,
        "thin": thin,
        "seed": 0,
    }
    parts = 1 if way == "pooled" else NUM_SLICES[slices]
    distinct = parts * congress_pairs(int(6.5 * words / parts))
    sweeps = warmup + thin * draws
    cost = COUNT_SECONDS + sweeps * sweep_seconds(dim, vocab * (parts + 1), distinct)
    return Cell(f"{slices} words={size(words)} {way}", settings, cost, 0 if words < 10**6 else 1)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Fit 85% of the speeches in one way and score the others."""
    counts = data.congress(
        settings["words"],
        settings["vocab"],
        settings["seed"],
        group=settings["slices"],
        parties=("D", "R"),
    )
    test, train = counts.split(
        "document", fractions=(data.HELD_OUT, 1.0 - data.HELD_OUT), seed=settings["seed"]
    )
    way = settings["method"]
    if way == "separate":
        pieces = [(_slice(train, name), _slice(test, name)) for name in _slices(test)]
    elif way == "pooled":
        pieces = [(_pooled(train), _pooled(test))]
    else:
        pieces = [(train, test)]
    scores = []
    for number_of, (trained, held_out) in enumerate(pieces):
        bench.report(f"fit {number_of + 1} of {len(pieces)}")
        scores.append(_score(trained, held_out, settings, bench, number_of))
    weights = [held_out.num_observations for _, held_out in pieces]
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
        "distinct_pairs": sum(trained.num_pairs for trained, _ in pieces),
        "rows": sum(trained.num_words for trained, _ in pieces),
    }


def _score(
    train: PairCounts, test: PairCounts, settings: Mapping[str, Any], bench: Bench, number_of: int
) -> dict[str, Any]:
    """Fit one part and score the other."""
    bench.work.mkdir(parents=True, exist_ok=True)
    made = {
        "grouped": lambda: priors.grouped(train, precision="learn", group_precision="learn"),
        "dynamic": lambda: priors.dynamic(train, precision="learn", drift_precision="learn"),
    }
    way = settings["method"]
    prior = {"prior": made[way]()} if way in made else {"prior_precision": "learn"}
    post = fit(
        train,
        settings["dim"],
        out=bench.work / f"run{number_of}",
        resume=True,
        threads=bench.threads,
        progress=False,
        **{key: settings[key] for key in ("chains", "draws", "warmup", "thin", "seed")},
        **prior,
    )
    score = post.score(test)
    scales = np.stack([post.draws.stats(name) for name in post.draws.scale_names], axis=-1)
    learned = {"rhat_learned": float(np.nanmax(rhat(scales)))}
    return {MEAN: score.posterior_mean, PREDICTIVE: score.predictive, **mixing_of(post), **learned}


def _slices(counts: PairCounts) -> list[str]:
    """Return the slices that have samples."""
    sizes = np.diff(counts.by_word.indptr)
    return sorted({name for name, pairs in zip(counts.groups or (), sizes, strict=True) if pairs})


def _slice(counts: PairCounts, name: str) -> PairCounts:
    """Return the counts of one slice, with the words and contexts of the whole."""
    return _rows(counts, np.array(counts.groups) == name)


def _pooled(counts: PairCounts) -> PairCounts:
    """Return the counts with the slices of a word added up."""
    return _rows(counts, np.ones(counts.num_words, dtype=bool))


def _rows(counts: PairCounts, chosen: Bool) -> PairCounts:
    """Return counts by word of some word rows."""
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
    """Return the scores by kind of slices, way and number of words."""
    parts = []
    for slices in results.each("slices"):
        of_table = results.having(slices=slices)
        sizes = sorted(of_table.each("words"))
        rows = [
            [f"{way}: {what}", *(_text(of_table.get(method=way, words=words), name, spec) for words in sizes)]
            for way in of_table.each("method")
            for name, what, spec in (
                (PREDICTIVE, "predictive", ".4f"),
                (MEAN, "posterior mean", ".4f"),
                ("rhat", "R-hat of cosines", ".2f"),
                ("rhat_learned", "R-hat of precisions", ".2f"),
            )
        ]
        parts.append(grid([f"by {slices}", *(f"{size(words)} words" for words in sizes)], rows))
        parts.append(_best(of_table, sizes, slices))
    return paragraphs(*parts)


def _text(values: Mapping[str, Any] | None, name: str, spec: str) -> str:
    return NOT_RUN if values is None else number(values[name], spec)


def _best(results: Results, sizes: list[int], slices: str) -> str:
    """Say which way is ahead at each size at which all have been run."""
    told = []
    for words in sizes:
        found = {way: results.get(method=way, words=words) for way in results.each("method")}
        scores = {way: values[PREDICTIVE] for way, values in found.items() if values is not None}
        if len(scores) == len(found):
            told.append(f"{max(scores, key=scores.__getitem__)} at {size(words)} words")
    return f"By {slices}, ahead in the predictive: {', '.join(told)}." if told else ""


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """There is no picture of this table."""
    return {}
