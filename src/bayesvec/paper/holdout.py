"""Hold-out scores: what MovieLens and Congress share."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayesvec.counts.pairs import PairCounts
from bayesvec.paper.cells import Settings
from bayesvec.paper.experiment import Results, Values
from bayesvec.paper.fits import COSINES, fit_variant, mixing
from bayesvec.paper.markdown import grid, number, paragraphs
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace

# The estimates that can be scored.
MEAN, PREDICTIVE, MODE = "posterior_mean", "predictive", "map"


def fit_and_score(
    train: PairCounts, test: PairCounts, settings: Settings, workspace: Workspace
) -> dict[str, Any]:
    """Fit one part by the variant of a cell and score the other.

    Returns
    -------
    dict
        ``posterior_mean``, ``predictive`` and ``map`` (as available): log likelihood per held-out sample; the
        sizes of both parts; R-hat and ESS of some cosines, if there are chains; the summary of the method.
    """
    post = fit_variant(train, settings, workspace)
    score = post.score(test)
    scores = {name: getattr(score, name) for name in (MEAN, PREDICTIVE, MODE)}
    return {
        **post.draws.outcome.summary,
        "trained": train.num_observations,
        "held_out": test.num_observations,
        "distinct_pairs": train.num_pairs,
        **mixing(post),
        **{name: value for name, value in scores.items() if value is not None},
    }


def score_tables(
    results: Results,
    title: str,
    by: Sequence[str],
    key: str,
    heads: Mapping[Any, str],
    printed: Callable[[Settings, Any], Mapping[str, float | None]],
) -> str:
    """Return a table for each value of some settings, the best estimates, and how well the chains mixed.

    Parameters
    ----------
    results : Results
        All cells.
    title : str
        The name of a table, a format of the settings that distinguish the tables.
    by : sequence of str
        These settings.
    key : str
        The setting of the columns.
    heads : Mapping
        The head of each column, by its value.
    printed : callable
        The paper's scores in a column of a table, by variant and estimate such as ``gibbs posterior_mean``.
    """
    parts = []
    for where in results.settings(*by):
        of_table, name = results.having(**where), title.format(**where)
        columns = sorted(of_table.each(key))
        rows = _rows(of_table, key, columns, [printed(where, column) for column in columns])
        parts.append(grid([name, *(heads[column] for column in columns)], rows))
        if best := _best(of_table, key, columns):
            parts.append(f"{name[0].upper()}{name[1:]}: {best}")
    return paragraphs(*parts, _mixing(results))


def _rows(
    results: Results, key: str, columns: Sequence[Any], in_paper: Sequence[Mapping[str, float | None]]
) -> list[list[str]]:
    """Return a row for each estimate, the paper's below ours, and one for no model at all."""

    def show(kind: str) -> Callable[[Values], str]:
        return lambda values: number(values.get(kind), ".4f") + ("" if values.get("converged", True) else "*")

    rows = []
    for variant in results.each("method"):
        for kind, what in _estimates(variant):
            texts = results.across(key, columns, show(kind), method=variant)
            rows.append([f"{VARIANTS[variant].label}{what}", *texts])
            if all(f"{variant} {kind}" in scores for scores in in_paper):
                rows.append(["(paper)", *(number(scores[f"{variant} {kind}"], ".4f") for scores in in_paper)])
    return [*rows, ["no model: even odds for every sample", *[f"{-math.log(2.0):.4f}"] * len(columns)]]


def _estimates(variant: str) -> list[tuple[str, str]]:
    if variant == "map":
        return [(MODE, "")]
    mean = "posterior mean" if VARIANTS[variant].method in ("gibbs", "nuts") else "mean"
    return [(MEAN, f": {mean}"), (PREDICTIVE, ": predictive")]


def _best(results: Results, key: str, columns: Sequence[Any]) -> str:
    """Return where Gibbs beats the MAP, and the estimate with the highest score in each column."""
    found, best = [], []
    for column in columns:
        in_column = results.having(**{key: column})
        gibbs, mode = (in_column.get(method=variant) for variant in ("gibbs", "map"))
        if gibbs is not None and mode is not None:
            found.append((gibbs[MEAN] > mode[MODE], gibbs[PREDICTIVE] > max(gibbs[MEAN], mode[MODE])))
        scores = [
            (values[kind], f"{VARIANTS[variant].label}{what}")
            for variant in in_column.each("method")
            for kind, what in _estimates(variant)
            if (values := in_column.get(method=variant)) and values.get(kind) is not None
        ]
        best += [max(scores)[1]] if scores else []
    if not found:
        return ""
    mean, predictive = (sum(flags) for flags in zip(*found, strict=True))
    return (
        f"of {len(found)} sizes with both, the posterior mean of Gibbs beats the MAP at {mean} and its predictive "
        f"beats both at {predictive}. Best of all that have been run, by column: {'; '.join(best)}."
    )


def _mixing(results: Results) -> str:
    """Return how well the chains mixed, over all fits that have been run."""
    found = [
        result.values
        for result in results.all
        if result.values is not None
        and "rhat" in result.values
        and VARIANTS[result.cell.settings["method"]].method in ("gibbs", "nuts")
    ]
    if not found:
        return ""
    return (
        f"Chains: over {len(found)} fits, the largest R-hat of {COSINES} cosines is "
        f"{max(values['rhat'] for values in found):.2f} and the smallest median ESS "
        f"{min(values['ess_median'] for values in found):.0f}."
    )
