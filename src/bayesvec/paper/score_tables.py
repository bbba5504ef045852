"""Tables of hold-out scores: a row for each estimate, differences on the same samples, and the chains."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bayesvec.diagnostics.holdout import MEAN, MODE, PREDICTIVE
from bayesvec.paper.cells import Settings
from bayesvec.paper.experiment import Results, Values
from bayesvec.paper.fits import COSINES, COVARIANCE, DEFAULTS
from bayesvec.paper.holdout import Estimate, difference, estimate, precision_of
from bayesvec.paper.markdown import NOTHING, grid, number, paragraphs
from bayesvec.paper.simulated import COUNTERPARTS
from bayesvec.paper.variants import VARIANTS

_PRECISION_OF = {"gibbs": "learned precision"}
POOR = 1.1  # R-hat above which chains have not converged
Printed = Callable[[Settings, Any], Mapping[str, float | None]]
Side = tuple[str, Any, str]  # variant, precision of the prior, estimate

# What is compared on the same held-out samples: the first minus the second.
CONTRASTS: tuple[tuple[str, Side, Side], ...] = (
    ("Gibbs, posterior mean - MAP", ("gibbs", 1.0, MEAN), ("map", 1.0, MODE)),
    ("Gibbs, predictive - posterior mean", ("gibbs", 1.0, PREDICTIVE), ("gibbs", 1.0, MEAN)),
    ("blockvi - Gibbs, predictive", ("blockvi", 1.0, PREDICTIVE), ("gibbs", 1.0, PREDICTIVE)),
    (
        "Gibbs, predictive, learned - precision 1",
        ("gibbs", "learn", PREDICTIVE),
        ("gibbs", 1.0, PREDICTIVE),
    ),
    (
        "Gibbs, predictive, learned - precision 10",
        ("gibbs", "learn", PREDICTIVE),
        ("gibbs", 10.0, PREDICTIVE),
    ),
    (
        "Gibbs, predictive, covariance - learned",
        ("gibbs", COVARIANCE, PREDICTIVE),
        ("gibbs", "learn", PREDICTIVE),
    ),
    (
        "Gibbs, predictive, covariance and weight - covariance",
        ("gibbs", DEFAULTS, PREDICTIVE),
        ("gibbs", COVARIANCE, PREDICTIVE),
    ),
    (
        "Gibbs, posterior mean, covariance and weight - learned",
        ("gibbs", DEFAULTS, MEAN),
        ("gibbs", "learn", MEAN),
    ),
    ("learned: Gibbs, posterior mean - MAP", ("gibbs", "learn", MEAN), ("map", "learn", MODE)),
    (
        "learned: blockvi - Gibbs, predictive",
        ("blockvi", "learn", PREDICTIVE),
        ("gibbs", "learn", PREDICTIVE),
    ),
)


def score_tables(
    results: Results,
    title: str,
    by: Sequence[str],
    key: str,
    heads: Mapping[Any, str],
    printed: Printed = lambda where, column: {},
    titles: Mapping[str, str] | None = None,
    *,
    sizes: bool = False,
) -> str:
    """Return a table for each value of some settings, with its differences, and how well the chains mixed.

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
    printed : callable, optional
        The paper's scores in a column of a table, by variant and estimate such as ``gibbs posterior_mean``.
    titles : Mapping, optional
        Other titles instead of those that the format gives.
    sizes : bool
        Whether to show the number of training samples.
    """
    parts = []
    for where in results.settings(*by):
        of_table, name = results.having(**where), title.format(**where)
        name = (titles or {}).get(name, name)
        columns = sorted(of_table.each(key))
        head = [heads[column] for column in columns]
        rows = _rows(of_table, key, columns, [printed(where, column) for column in columns], sizes=sizes)
        parts.append(grid([name, *head], rows))
        differences = _differences(of_table, key, columns)
        if differences:
            parts.append(grid([f"{name}: difference", *head], differences))
        if best := _best(of_table, key, dict(zip(columns, head, strict=True))):
            parts.append(f"{name[0].upper()}{name[1:]}: {best}")
    return paragraphs(*parts, _mixing(results))


def _rows(
    results: Results,
    key: str,
    columns: Sequence[Any],
    in_paper: Sequence[Mapping[str, float | None]],
    *,
    sizes: bool,
) -> list[list[str]]:
    """Return a row for each estimate, the paper's below ours, its further ones, and one for no model at all."""

    def show(kind: str) -> Callable[[Values], str]:
        return lambda values: (
            f"{estimate(values, kind) or NOTHING}{'' if values.get('converged', True) else '*'}"
        )

    names = [name for name in in_paper[0] if all(name in scores for scores in in_paper)]
    printed = {name: [number(scores[name], ".4f") for scores in in_paper] for name in names}
    rows = []
    for settings in results.settings("method", "prior_precision"):
        variant = settings["method"]
        for kind, what in _estimates(variant):
            texts = results.across(key, columns, show(kind), **settings)
            rows.append([f"{VARIANTS[variant].label}{precision_of(settings)}{what}", *texts])
            name = f"{variant} {kind}"
            if settings["prior_precision"] == 1.0 and name in printed:
                rows.append(["(paper)", *printed.pop(name)])
        if settings["prior_precision"] == "learn":
            shown = results.across(
                key, columns, lambda values: number(values.get("learned_precision"), ".2f"), **settings
            )
            rows.append([_PRECISION_OF.get(variant, "precision used"), *shown])
        if settings == {"method": "gibbs", "prior_precision": DEFAULTS}:
            shown = results.across(
                key, columns, lambda values: number(values.get("weight"), ".2f"), **settings
            )
            rows.append(["weight", *shown])
    for name, texts in printed.items():  # what we have not run
        variant, kind = name.split()
        rows.append([f"(paper: {COUNTERPARTS[variant]}{dict(_estimates(variant))[kind]})", *texts])
    if sizes:
        shown = results.across(
            key,
            columns,
            lambda values: number(values.get("trained"), ",d"),
            method="gibbs",
            prior_precision=1.0,
        )
        rows.append(["training samples", *shown])
    return [*rows, ["no model: even odds for every sample", *[f"{-math.log(2.0):.4f}"] * len(columns)]]


def _estimates(variant: str) -> list[tuple[str, str]]:
    if variant == "map":
        return [(MODE, "")]
    mean = "posterior mean" if VARIANTS[variant].method in ("gibbs", "nuts") else "mean"
    return [(MEAN, f": {mean}"), (PREDICTIVE, ": predictive")]


def _differences(results: Results, key: str, columns: Sequence[Any]) -> list[list[str]]:
    """Return the contrasts that have at least one column."""
    rows = []
    for name, one, other in CONTRASTS:
        found = [_contrast(results.having(**{key: column}), one, other) for column in columns]
        if any(found):
            rows.append([name, *("" if each is None else each.signed for each in found)])
    return rows


def _contrast(results: Results, one: Side, other: Side) -> Estimate | None:
    first, second = (results.get(method=side[0], prior_precision=side[1]) for side in (one, other))
    return None if first is None or second is None else difference(first, one[2], second, other[2])


def _best(results: Results, key: str, columns: Mapping[Any, str]) -> str:
    """Return where Gibbs is ahead of the MAP, both at the paper's precision, and the best of each column."""
    means, predictives = [], []
    best: dict[str, list[str]] = {}  # columns in which it is
    for column, head in columns.items():
        in_column = results.having(**{key: column})
        gibbs, mode = (in_column.get(method=name, prior_precision=1.0) for name in ("gibbs", "map"))
        if gibbs is not None and mode is not None:
            others = ((MEAN, mode, MODE), (PREDICTIVE, gibbs, MEAN), (PREDICTIVE, mode, MODE))
            signs = [gap and gap.sign for gap in (difference(gibbs, *other) for other in others)]
            if None not in signs:  # the records have standard errors
                means.append(signs[0] == 1)
                predictives.append(signs[1:] == [1, 1])
        if found := _leaders(in_column):
            best.setdefault(" or ".join(found), []).append(head)
    ranking = _ranking(best)
    if not means:
        return ranking
    return (
        f"by the 95% intervals of the differences, the posterior mean of Gibbs is ahead of the MAP in {sum(means)} "
        f"of {len(means)} columns and its predictive ahead of both in {sum(predictives)}. {ranking}"
    )


def _ranking(best: Mapping[str, Sequence[str]]) -> str:
    """Return the best estimates with their columns, each named once."""
    if not best:
        return ""
    if len(best) == 1:
        return f"Best score with a standard error, in every column: {next(iter(best))}."
    each = (f"{name} ({', '.join(heads)})" for name, heads in best.items())
    return f"Best score with a standard error: {'; '.join(each)}."


def _leaders(results: Results) -> list[str]:
    """Return the estimate with the best score, and those that it is not certain to be ahead of.

    Scores without a standard error are left out.
    """
    scores = [
        ((values, kind), f"{VARIANTS[settings['method']].label}{precision_of(settings)}{what}")
        for settings in results.settings("method", "prior_precision")
        for kind, what in _estimates(settings["method"])
        if (values := results.get(**settings)) and kind in values.get("clusters", {})
    ]
    scores.sort(key=lambda score: -score[0][0][score[0][1]])
    gaps = [(difference(*scores[0][0], *other), name) for other, name in scores]
    return [name for gap, name in gaps if gap is None or gap.sign != 1]


def _mixing(results: Results) -> str:
    """Return how well the chains mixed, over all fits that have been run."""
    found = [
        (result.values, result.cell.label)
        for result in results.all
        if result.values is not None
        and "rhat" in result.values
        and VARIANTS[result.cell.settings["method"]].method in ("gibbs", "nuts")
    ]
    if not found:
        return ""
    largest, label = max((values["rhat"], label) for values, label in found)
    text = (
        f"Chains: over {len(found)} fits, the largest R-hat of {COSINES} cosines is {largest:.2f} and the smallest "
        f"median ESS {min(values['ess_median'] for values, _ in found):.0f}."
    )
    poor = sum(values["rhat"] > POOR for values, _ in found)
    if not poor:
        return text
    return (
        f"{text} R-hat is above {POOR} in {poor} of them (the largest in {label}): these chains have not converged, "
        "so read their scores with caution."
    )
