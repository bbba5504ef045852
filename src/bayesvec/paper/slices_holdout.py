"""What priors over groups and time gain on held-out speeches: beyond the paper, which names but does not fit them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesvec import priors
from bayesvec._types import Array, Bool, Int64
from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.counts.rows import word_of_rows
from bayesvec.diagnostics.clusters import find_clusters
from bayesvec.diagnostics.holdout import MEAN, PREDICTIVE, log_probabilities
from bayesvec.estimates.convergence import rhat
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells
from bayesvec.paper.costs import congress_pairs, sweep_seconds
from bayesvec.paper.experiment import Experiment, Results, Values
from bayesvec.paper.fits import fit_counts, mixing
from bayesvec.paper.holdout import difference, estimate, scores_of
from bayesvec.paper.markdown import NOT_RUN, NOTHING, grid, number, paragraphs, size
from bayesvec.paper.workspace import Workspace
from bayesvec.posterior.posterior import Posterior

Places = tuple[Int64, Int64]  # of pairs in the whole, and in a part

SHOWS = "Beyond the paper: grouped and dynamic priors (which it names and does not fit)"
NOTE = """\
Speeches by Democrats and Republicans from the Congress data, as many words as the column says; 15% of the
speeches are held out. "Pooled" has one vector per word; "separate" fits each slice on its own, with its own
contexts; "grouped" and "dynamic" are one fit with a vector per word and slice, around a shared one or on a random
walk over the years, and shared contexts. All precisions are learned, so nothing was tuned. Two chains; fits of
many slices mix more slowly and keep every sixth sweep, the others every second. R-hat is the largest of 200
cosines, and of the learned precisions."""

CUT = """\
Two million words, and half a million by year (two hours on two cores; the pooled and the separate fit of half a
million by year have records but are not shown). These records were made before rows were overrelaxed (the
posterior is the same, the mixing was slower) and do not keep the scores of documents, so there are no standard
errors (25 minutes)."""

SHOWN = {"year": ("pooled", "separate", "grouped", "dynamic"), "party": ("pooled", "separate", "grouped")}
NUM_SLICES = {"year": 20, "party": 2}
SIZES = {"year": (100_000,), "party": (100_000, 500_000)}  # words
PRIORS: dict[str, Any] = {
    "grouped": lambda counts: priors.grouped(counts, precision="learn", group_precision="learn"),
    "dynamic": lambda counts: priors.dynamic(counts, precision="learn", drift_precision="learn"),
}
SHOW: dict[str, Callable[[Values], str]] = {
    "predictive": lambda values: str(estimate(values, PREDICTIVE)),
    "posterior mean": lambda values: str(estimate(values, MEAN)),
    "R-hat of cosines": lambda values: number(values["rhat"], ".2f"),
    "R-hat of precisions": lambda values: number(values["rhat_learned"], ".2f"),
}


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
    everything: Places = np.arange(test.num_pairs), np.arange(test.num_pairs)
    parts = [(train, test, everything)]
    if settings["method"] == "pooled":
        parts = [(_part(train)[0], *_part(test))]
    elif settings["method"] == "separate":
        parts = [(_part(train, name)[0], *_part(test, name)) for name in _slices(test)]
    logs = {kind: np.empty((2, test.num_pairs)) for kind in (MEAN, PREDICTIVE)}
    mixed = []
    for number_of, (trained, held_out, (here, there)) in enumerate(parts):
        workspace.report(f"fit {number_of + 1} of {len(parts)}")
        post = _fit(trained, settings, workspace, f"run{number_of}")
        for kind, both in log_probabilities(post.draws, held_out).items():
            logs[kind][:, here] = both[:, there]
        mixed.append(mixing(post) | {"rhat_learned": _learned_rhat(post)})
    clusters = find_clusters(test)
    return {
        **scores_of(test, logs, clusters, clusters.kind),
        "rhat": max(found["rhat"] for found in mixed),
        "rhat_learned": max(found["rhat_learned"] for found in mixed),
        "ess_median": min(found["ess_median"] for found in mixed),
        "trained": train.num_observations,
        "held_out": test.num_observations,
        "distinct_pairs": sum(trained.num_pairs for trained, *_ in parts),
        "rows": sum(trained.num_words for trained, *_ in parts),
    }


def _fit(train: PairCounts, settings: Settings, workspace: Workspace, run: str) -> Posterior:
    """Fit one part; all precisions are learned."""
    make = PRIORS.get(settings["method"])
    prior = {"prior_precision": "learn"} if make is None else {"prior": make(train)}
    return fit_counts(train, settings, workspace, run=run, **prior)


def _learned_rhat(post: Posterior) -> float:
    """Return the largest R-hat of the learned precisions."""
    scales = np.stack([post.draws.stats(name) for name in post.draws.scale_names], axis=-1)
    return float(np.nanmax(rhat(scales)))


def _slices(counts: PairCounts) -> list[str]:
    """Return the slices that have samples."""
    sizes = np.diff(counts.by_word.indptr)
    return sorted({name for name, pairs in zip(counts.groups or (), sizes, strict=True) if pairs})


def _part(counts: PairCounts, name: str | None = None) -> tuple[PairCounts, Places]:
    """Return the counts by word, summed over the slices or of one of them; words and contexts stay.

    Also return which pairs these are of, and the place of each among them.
    """
    chosen: Bool = np.array([name in (None, group) for group in counts.groups or ()])
    words = word_of_rows(counts)
    place = {word: i for i, word in enumerate(dict.fromkeys(words))}
    side = counts.by_word
    kept = np.flatnonzero(chosen[side.rows()])
    word = np.array([place[word] for word in words])[side.rows()[kept]]
    part = from_pairs(
        word,
        side.other[kept],
        n_pos=side.n_pos[kept],
        n_neg=side.n_neg[kept],
        words=tuple(place),
        contexts=counts.contexts,
    )
    found, wanted = _keys(part.by_word.rows(), part.by_word.other), _keys(word, side.other[kept])
    order = np.argsort(found)
    return part, (kept, order[np.searchsorted(found, wanted, sorter=order)])


def _keys(word: Array, context: Array) -> Int64:
    """Return a number for each pair."""
    return word.astype(np.int64) << 32 | context.astype(np.int64)


def table(results: Results) -> str:
    """Return the scores by kind of slices, variant and number of words, and the differences from pooled vectors."""
    parts = []
    for slices in results.each("slices"):
        of_table = results.having(slices=slices)
        sizes = sorted(of_table.each("words"))
        head = [f"{size(words)} words" for words in sizes]
        rows = [
            [f"{variant}: {title}", *of_table.across("words", sizes, show, method=variant)]
            for variant in of_table.each("method")
            for title, show in SHOW.items()
        ]
        parts += [
            grid([f"by {slices}", *head], rows),
            grid([f"by {slices}: difference, predictive", *head], _differences(of_table, sizes)),
        ]
    return paragraphs(*parts)


def _differences(results: Results, sizes: Sequence[int]) -> list[list[str]]:
    """Return what each variant gains over pooled vectors, on the same samples."""

    def show(words: int, variant: str) -> str:
        one, pooled = (results.get(words=words, method=name) for name in (variant, "pooled"))
        if one is None or pooled is None:
            return NOT_RUN
        found = difference(one, PREDICTIVE, pooled, PREDICTIVE)
        return NOTHING if found is None else found.signed

    others = [variant for variant in results.each("method") if variant != "pooled"]
    return [[f"{variant} - pooled", *(show(words, variant) for words in sizes)] for variant in others]


EXPERIMENT = Experiment("slices-holdout", SHOWS, NOTE, cells, run, table, cut=CUT)
