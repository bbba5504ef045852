"""Coverage on real text: whether intervals from a sample of speeches hold what all others give."""

import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.paper import data
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.costs import sweep_seconds
from bayesvec.paper.experiment import Experiment, Result, Results, Values
from bayesvec.paper.fits import fit_counts
from bayesvec.paper.markdown import NOT_RUN, grid, lines, mean, number, paragraphs, size, standard_error
from bayesvec.paper.real_metrics import agreed, compare
from bayesvec.paper.real_samples import (
    QUANTITIES,
    measure,
    quantities,
    samples_and_rest,
    simulate_like,
    speeches,
)
from bayesvec.paper.workspace import Workspace
from bayesvec.priors import covariance
from bayesvec.priors.learned import TAILS

SHOWS = "Coverage of 90% intervals on real text; not in the paper"
NOTE = """\
The reference is the posterior mean given all House speeches outside the samples, less pairs on which its chains
disagree (R-hat above 1.05). In brackets, and under "difference": intervals of sample minus reference that hold 0,
which allows for the error of the reference. Random pairs: no dependence within documents. Simulated: signs from a
draw of the reference, so that the model is true; both have weight 1. Tails: covariance prior with heavy tails. z:
reference minus the sample's mean, in posterior sd; slope: of the reference on the means; variance: of means between
samples over the posterior variance."""

KINDS = {"document": "speeches", "pair": "random pairs", "simulated": "simulated"}
TOTAL_WORDS = 20_600_000


# how many samples of each size, and how long chains are
_MANY_SAMPLES = {"numbers": [2, 3, 1], "draws": 80, "warmup": 100, "reference_chains": 4}
# Of fewer draws the outer quantiles are too near to the middle. Random pairs and simulated signs take the place of
# those of "apart" samples only; in other cells of all of the middle size.
_MANY_DRAWS = {"numbers": [1, 2, 1], "draws": 200, "warmup": 100, "reference_chains": 2, "apart": 1}
_QUICK = {"numbers": [2, 2, 2], "draws": 40, "warmup": 40, "reference_chains": 4}


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each vocabulary, K and prior; its samples of all sizes share one reference."""
    common: Settings
    grid: list[tuple[tuple[Any, ...], Settings]]
    if quick:
        common = {"words": 60_000, "sizes": [1_000, 3_000, 12_000], "pairs": 200}
        priors = ("spherical", 1.0), ("covariance", "auto"), ("tails", "auto")
        grid = [((100, 5, *each), _QUICK) for each in priors]
    else:
        common = {"words": None, "sizes": [100_000, 500_000, 2_000_000], "pairs": 3000}
        grid = [
            ((500, 50, "covariance", "auto"), _MANY_SAMPLES),
            ((500, 50, "spherical", 1.0), _MANY_SAMPLES),
            ((1000, 20, "covariance", "auto"), _MANY_SAMPLES),
            ((1000, 20, "spherical", 1.0), _MANY_SAMPLES),
            ((1000, 50, "covariance", "auto"), _MANY_DRAWS),
            ((1000, 50, "tails", "auto"), _MANY_DRAWS),
        ]
    return make_cells(
        (
            settings
            for row, lengths in grid
            for settings in name_settings(
                "vocab dim prior weight", [row], **common, **lengths, thin=1, chains=2
            )
        ),
        lambda settings: "V={vocab} K={dim} {prior} weight={weight}".format(**settings),
        _seconds,
    )


def _seconds(settings: Settings) -> float:
    vocab, sweeps = settings["vocab"], settings["warmup"] + settings["draws"]
    apart = settings.get("apart", settings["numbers"][1])
    fits = settings["chains"] * (sum(settings["numbers"]) + 2 * apart)
    total = settings["words"] or TOTAL_WORDS
    one = sweep_seconds(settings["dim"], 2 * vocab, 0.8 * vocab**2)
    return float(total / 1e5 + sweeps * one * (fits + 2 * settings["reference_chains"]) / 2)


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Fit the rest and the samples; compare their quantities."""
    seed, sizes = settings["seed"], settings["sizes"]
    whole = speeches(settings["words"], settings["vocab"], seed)
    samples, rest = samples_and_rest(whole, sizes, settings["numbers"], seed)
    weight = _context_weights(rest)
    longer = {**settings, "chains": settings["reference_chains"], "warmup": 2 * settings["warmup"]}
    reference = _fitted(rest, "reference", longer, weight, workspace)
    rho, alpha = reference["rho"], reference["alpha"]
    truth = {
        name: values[None, None] for name, values in measure(rho, alpha, weight, settings["pairs"]).items()
    }
    rows = []
    for words in sizes:
        kinds: dict[str, Sequence[PairCounts]] = {"document": samples[words]}
        if words == sizes[1]:  # what the parts of the error come from
            some = samples[words][: settings.get("apart")]
            seeds = range(seed + 1, seed + 1 + len(some))
            kinds["pair"] = [
                data.thinned(rest, each.num_observations, own) for each, own in zip(some, seeds, strict=True)
            ]
            kinds["simulated"] = [
                simulate_like(each, rho, alpha, own) for each, own in zip(some, seeds, strict=True)
            ]
        for kind, parts in kinds.items():
            fits = []
            for i, part in enumerate(parts):
                workspace.report(f"{size(words)} words, {KINDS[kind]} {i + 1} of {len(parts)}")
                fits.append(_fitted(part, f"{kind}-{words}-{i}", settings, weight, workspace))
            rows.append(
                {"words": words, "kind": kind, **_row(fits, truth if kind == "simulated" else reference)}
            )
    return {
        "reference": {
            "words": int(rest.recipe["tokens"]),
            "pairs": rest.num_pairs,
            "precision": float(reference["precision"]),
            "weight": float(reference["weight"]),
            "disagree": {name: 1.0 - agreed(reference[name]).mean() for name in QUANTITIES},
        },
        "rows": rows,
    }


def _context_weights(counts: PairCounts) -> Float64:
    """Return the share of each context in the positive samples."""
    side = counts.by_context
    total = np.append(0, np.cumsum(side.n_pos, dtype=np.float64))[side.indptr]
    return np.asarray(np.diff(total) / total[-1])


def _fitted(
    counts: PairCounts, name: str, settings: Settings, weight: Float64, workspace: Workspace
) -> dict[str, Any]:
    """Return the draws of all quantities, the learned precision, and the vectors of the last draw.

    What has been computed before a stop is read from the folder of the cell.
    """
    workspace.folder.mkdir(parents=True, exist_ok=True)
    kept = workspace.folder / f"{name}.npz"
    if not kept.exists():
        prior = _prior(settings["prior"], settings["dim"])
        post = fit_counts(counts, settings, workspace, run=name, weight=settings["weight"], **prior)
        draws, last = post.draws, slice(settings["draws"] - 1, None)
        scales = [draws.stats(scale) for scale in draws.scale_names if scale != TAILS]
        found = {
            **quantities(post, weight, settings["pairs"]),
            "precision": np.exp(np.mean(np.log(scales))),
            "weight": draws.settings.weight,
            "rho": draws.read("rho", draws=last)[0, 0],
            "alpha": draws.read("alpha", draws=last)[0, 0],
        }
        partial = kept.with_suffix(".part.npz")
        np.savez(partial, **found)
        partial.replace(kept)
        shutil.rmtree(workspace.folder / name)
    with np.load(kept) as found:
        return dict(found)


def _prior(name: str, dim: int) -> dict[str, Any]:
    if name == "spherical":
        return {"prior_precision": "learn"}
    return {"prior": covariance(dim, tails="learn" if name == "tails" else None)}


def _row(fits: Sequence[dict[str, Any]], target: dict[str, Any]) -> dict[str, Any]:
    """Compare the fits of one kind and size with their target."""
    return {
        "precision": [float(fit["precision"]) for fit in fits],
        "weight": [float(fit["weight"]) for fit in fits],
        **{name: compare([fit[name] for fit in fits], target[name]) for name in QUANTITIES},
    }


def table(results: Results) -> str:
    """Return the coverage of every quantity, and more about cosines and log odds."""
    parts = [coverage_table(results.all)]
    for name in ("cosine", "centred", "log_odds"):
        heads = [
            QUANTITIES[name],
            "difference",
            "all pairs",
            "mean z",
            "rms z",
            "slope",
            "variance",
            "error",
            "precision",
            "weight",
        ]
        parts.append(grid(heads, [row for result in results.all for row in _detail_rows(result, name)]))
    return paragraphs(*parts, lines(*map(_reference, results.all)))


def coverage_table(results: Sequence[Result]) -> str:
    """Return the coverage of every quantity, by size and kind of sample."""
    heads = ["90% intervals that hold the reference (%)", *QUANTITIES.values()]
    return grid(heads, [row for result in results for row in _coverage_rows(result)])


def _label(result: Result, row: Values | None = None) -> str:
    if row is None:
        return result.cell.label
    return f"{result.cell.label}, {size(row['words'])} words, {KINDS[row['kind']]}"


def _coverage_rows(result: Result) -> list[list[str]]:
    """Return the coverage by size and kind of sample, with its standard error over samples."""
    if result.values is None:
        return [[_label(result), *[NOT_RUN] * len(QUANTITIES)]]
    return [
        [_label(result, row), *(_both(row[name]) for name in QUANTITIES)] for row in result.values["rows"]
    ]


def _both(found: Values) -> str:
    """Return the coverage of the reference, and in brackets that of the difference from it."""
    return f"{_percent(found['covered'])} ({100 * (mean(found['covered_difference']) or 0.0):.1f})"


def _percent(shares: Sequence[float]) -> str:
    error = standard_error(shares)
    return f"{100 * (mean(shares) or 0.0):.1f}" + ("" if error is None else f" ± {100 * error:.1f}")


def _detail_rows(result: Result, name: str) -> list[list[str]]:
    if result.values is None:
        return [[_label(result), *[NOT_RUN] * 9]]
    rows = []
    for row in result.values["rows"]:
        found = row[name]
        shares = (f"{100 * (mean(found[key]) or 0.0):.1f}" for key in ("covered_difference", "covered_all"))
        numbers = ("z", "z_rms", "slope", "variance_ratio", "error")
        texts = (number(found[key], ".2f") for key in numbers)
        learned = (number(mean(row[name]), ".2f") for name in ("precision", "weight"))
        rows.append([_label(result, row), *shares, *texts, *learned])
    return rows


def _reference(result: Result) -> str:
    """Return the size of the reference, its precision, and on how much its chains disagree."""
    if result.values is None:
        return ""
    found = result.values["reference"]
    shares = ", ".join(f"{what} {100 * found['disagree'][name]:.1f}%" for name, what in QUANTITIES.items())
    return (
        f"{result.cell.label}: the reference has {found['words']:,} words and a precision of "
        f"{found['precision']:.2f} and a weight of {found['weight']:g}; its chains disagree on: {shares}."
    )


EXPERIMENT = Experiment("real-coverage", SHOWS, NOTE, cells, run, table)
