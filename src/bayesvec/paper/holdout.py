"""Hold-out scores: what MovieLens and Congress share."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.measures import random_pairs
from bayesvec.errors import AnchorError
from bayesvec.estimates.convergence import ess_bulk, rhat
from bayesvec.estimates.per_draw import cosines
from bayesvec.fitting import fit
from bayesvec.paper.cells import Results, Values
from bayesvec.paper.markdown import NOT_RUN, NOTHING, number
from bayesvec.paper.variants import WAYS, Way
from bayesvec.paper.workspace import Bench
from bayesvec.posterior.posterior import Posterior
from bayesvec.storage.outcome import read_outcome

COSINES = 200  # over which R-hat and ESS are taken

# What can be scored of a way, and what it is called.
MEAN, PREDICTIVE, MODE = "posterior_mean", "predictive", "map"


def fit_way(
    name: str, counts: PairCounts, settings: Mapping[str, Any], bench: Bench, *, store: str = "both"
) -> Posterior | str:
    """Fit counts into the cell's own folder, where a run that was stopped goes on; or say why that cannot be.

    Parameters
    ----------
    name : str
        The way.
    counts : PairCounts
        The data.
    settings : Mapping
        ``dim``, ``prior_precision``, ``chains``, ``draws``, ``warmup``, ``thin``, ``seed``, ``options``.
    bench : Bench
        Its folder and threads are used.
    store : str
        What of the draws is kept, as in `fit`.
    """
    way: Way = WAYS[name]
    given = {key: settings[key] for key in ("prior_precision", "chains", "draws", "warmup", "thin", "seed")}
    try:
        return fit(
            counts,
            settings["dim"],
            method=way.method,
            identify=way.identify,
            anchors=way.anchors or "qr",
            options=settings["options"],
            store=store,
            out=bench.work / "run",
            resume=True,
            threads=bench.threads,
            progress=False,
            **given,
        )
    except AnchorError as error:
        return str(error)


def score_way(
    train: PairCounts, test: PairCounts, settings: Mapping[str, Any], bench: Bench
) -> dict[str, Any]:
    """Fit one part and score the other; see `fit_way` for the settings.

    Returns
    -------
    dict
        ``posterior_mean``, ``predictive`` and ``map`` (those there are): log likelihood of a held-out sample;
        how large both parts are; R-hat and ESS of some cosines, if the way has chains; what it says of its
        long work, if it does any.
    """
    bench.work.mkdir(parents=True, exist_ok=True)
    sizes = {
        "trained": train.num_observations,
        "held_out": test.num_observations,
        "distinct_pairs": train.num_pairs,
    }
    post = fit_way(settings["method"], train, settings, bench)
    if isinstance(post, str):
        return sizes | {"impossible": post}
    score = post.score(test)
    found = {name: getattr(score, name) for name in (MEAN, PREDICTIVE, MODE)}
    told = read_outcome(post.draws.path).summary  # of its long work
    scores = {name: value for name, value in found.items() if value is not None}
    return told | sizes | mixing_of(post) | scores


def mixing_of(post: Posterior) -> dict[str, float]:
    """Return R-hat and ESS of cosines chosen at random; nothing of a point."""
    if post.draws.num_draws < 4:
        return {}
    values = cosines(post.draws, *random_pairs(len(post.words), None, COSINES, seed=0))
    return {
        "rhat": float(np.nanmax(rhat(values))),
        "ess_median": float(np.nanmedian(ess_bulk(values))),
        "ess_worst": float(np.nanmin(ess_bulk(values))),
    }


def score_rows(
    results: Results, key: str, columns: Sequence[Any], printed: Mapping[str, Sequence[float | None]]
) -> list[list[str]]:
    """Return a row for each estimate of each way, the paper's under ours, and one for no model at all.

    Parameters
    ----------
    results : Results
        The cells of one table.
    key : str
        The setting that differs from column to column.
    columns : sequence
        Its values.
    printed : mapping of str to sequence
        The paper's rows by the way and estimate they belong to, such as ``gibbs posterior_mean``.
    """
    rows = []
    for way in results.each("method"):
        for kind, what in _estimates(way):
            texts = [_score_text(results, way, kind, {key: column}) for column in columns]
            rows.append([f"{WAYS[way].label}{what}", *texts])
            if f"{way} {kind}" in printed:
                rows.append(["(paper)", *(number(value, ".4f") for value in printed[f"{way} {kind}"])])
    return [*rows, ["no model: even odds for every sample", *[f"{-math.log(2.0):.4f}"] * len(columns)]]


def _estimates(way: str) -> list[tuple[str, str]]:
    if way == "map":
        return [(MODE, "")]
    mean = "posterior mean" if WAYS[way].method in ("gibbs", "nuts") else "mean"
    return [(MEAN, f": {mean}"), (PREDICTIVE, ": predictive")]


def _score_text(results: Results, way: str, kind: str, where: Mapping[str, Any]) -> str:
    values = results.get(method=way, **where)
    if values is None:
        return NOT_RUN if results.has(method=way, **where) else ""
    if "impossible" in values:
        return NOTHING
    return number(values.get(kind), ".4f") + ("" if values.get("converged", True) else "*")


def ahead(results: Results, key: str, columns: Sequence[Any], name: str) -> str:
    """Say where the posterior mean of Gibbs is ahead of the MAP, and the predictive ahead of both."""
    found = []
    for column in columns:
        gibbs, mode = (results.get(method=way, **{key: column}) for way in ("gibbs", "map"))
        if gibbs is not None and mode is not None:
            found.append((gibbs[MEAN] > mode[MODE], gibbs[PREDICTIVE] > max(gibbs[MEAN], mode[MODE])))
    if not found:
        return ""
    mean, predictive = (sum(flags) for flags in zip(*found, strict=True))
    best = [_best(results.having(**{key: column})) for column in columns]
    return (
        f"{name}: of {len(found)} sizes with both, the posterior mean of Gibbs is ahead of the MAP at {mean}, "
        f"its predictive ahead of both at {predictive}. Ahead of all that have been run, from the first column to "
        f"the last: {'; '.join(filter(None, best))}."
    )


def _best(results: Results) -> str:
    """Say which estimate of which way has the highest score."""
    scores = []
    for way in results.each("method"):
        values = results.get(method=way) or {}
        scores += [
            (values[kind], f"{WAYS[way].label}{what}")
            for kind, what in _estimates(way)
            if values.get(kind) is not None
        ]
    return max(scores)[1] if scores else ""


def mixing(results: Results) -> str:
    """Say how well the chains of the fits mixed, over all that have been run."""
    found: list[Values] = [
        result.values
        for result in results.all
        if result.values is not None
        and "rhat" in result.values
        and WAYS[result.cell.settings["method"]].method in ("gibbs", "nuts")
    ]
    if not found:
        return ""
    worst = max(found, key=lambda values: values["rhat"])
    return (
        f"Chains: the largest R-hat of {COSINES} cosines is {worst['rhat']:.2f} over {len(found)} fits, "
        f"their smallest median ESS {min(values['ess_median'] for values in found):.0f}."
    )
