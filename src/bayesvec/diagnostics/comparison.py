"""Runs compared: widths and places of their intervals, speed, and hold-out scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.names import Names
from bayesvec.diagnostics.holdout import score
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.estimates.intervals import LEVEL, quantiles, tails
from bayesvec.estimates.per_draw import cosines, probabilities
from bayesvec.estimates.table import Table
from bayesvec.storage.kinds import APPROXIMATION, POINT
from bayesvec.storage.reader import Draws, RunLike, draws_of

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts


class ComparedRun(NamedTuple):
    """One run compared with the first; NaN where something is unavailable."""

    run: str
    method: str
    draws: int  # of all chains
    cosine_width: float  # median over quantities of the interval's width, over the first run's
    probability_width: float
    cosine_shift: float  # median over quantities of |mean - the first run's mean|, in its sd
    probability_shift: float
    seconds: float  # by the clock, warm-up and all
    ess_per_second: float  # median over cosines and probabilities
    worst_ess_per_second: float
    score_mean: float  # hold-out log likelihood of an observation, at the posterior mean
    score_map: float
    score_predictive: float


_LINES = {
    "method": "method",
    "draws": "draws",
    "cosine_width": "interval width, cosines",
    "probability_width": "interval width, probabilities",
    "cosine_shift": "shift, cosines",
    "probability_shift": "shift, probabilities",
    "seconds": "seconds",
    "ess_per_second": "ESS per second, median",
    "worst_ess_per_second": "ESS per second, worst",
    "score_mean": "hold-out, posterior mean",
    "score_map": "hold-out, MAP",
    "score_predictive": "hold-out, predictive",
}


@dataclass(frozen=True)
class Comparison:
    """A comparison of runs.

    Attributes
    ----------
    rows : Table of ComparedRun
        One row per run; the first is the reference.
    level : float
        Probability of the intervals.
    quantities : int
        Upper limit to the number of cosines, and of probabilities.
    notes : tuple of str
        Notes for a reader of the table.
    """

    rows: Table[ComparedRun]
    level: float
    quantities: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        head, *lines = self.lines()
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        table = (
            "  ".join([line[0].ljust(widths[0]), *(map(str.rjust, line[1:], widths[1:]))]).rstrip()
            for line in (head, *lines)
        )
        return "\n".join([*table, *self.notes])

    def lines(self) -> list[list[str]]:
        """Return the table as text, one column per run; lines that are empty for all runs are left out."""
        lines = [["", *self.rows["run"]]]
        for name, words in _LINES.items():
            values = self.rows[name]
            if not all(isinstance(value, float) and math.isnan(value) for value in values):
                lines.append([words, *(_text(name, value) for value in values)])
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None for what is unavailable."""
        return {
            "level": self.level,
            "quantities": self.quantities,
            "runs": self.rows.to_dict(),
            "notes": list(self.notes),
        }


def compare(
    runs: "Sequence[RunLike] | Mapping[str, RunLike]",
    *,
    holdout: "PairCounts | None" = None,
    quantities: int = 200,
    level: float = LEVEL,
    seed: int = 0,
    progress: bool = False,
) -> Comparison:
    """Compare runs: intervals and means against those of the first, time, and hold-out scores.

    Parameters
    ----------
    runs : sequence, or mapping by name
        Posteriors or run folders, of the same words and contexts; the first is the reference.
    holdout : PairCounts, optional
        Pairs that were not fitted, to score.
    quantities : int, optional
        How many cosines, and how many co-occurrence probabilities, chosen at random.
    level : float, optional
        Probability of the intervals.
    seed : int, optional
        Seed of the choice.
    progress : bool, optional
        Show progress of the scores.
    """
    tails(level)
    if quantities < 1:
        raise OptionError(f"quantities is {quantities}; it must be 1 or more")
    opened = _opened(runs)
    if len(opened) < 2:
        raise OptionError(f"there is {len(opened)} run to compare; give two or more")
    first = next(iter(opened.values()))
    kinds = {name: draws.outcome.kind for name, draws in opened.items()}
    if next(iter(kinds.values())) == POINT:
        raise OptionError(f"{first.path} is one point, without intervals; put a run with draws first")
    if len(first.words) < 2:
        raise OptionError(f"{first.path} has one word, and so no cosines; compare needs two words or more")
    for draws in opened.values():
        _check_names(first, draws)
    base, rows = None, []
    for name, draws in opened.items():
        measured = _measure(first, draws, quantities, seed)
        base = base or _summaries(measured, level)
        rows.append(_row(name, draws, measured, base, level, _scores(draws, holdout, progress=progress)))
    return Comparison(Table(rows), level, quantities, tuple(_notes(opened, kinds, level)))


def _opened(runs: Any) -> dict[str, Draws]:
    """Open the runs, each under a name of its own."""
    if not isinstance(runs, Mapping):
        if not isinstance(runs, Sequence) or isinstance(runs, str):
            raise OptionError("one run was given; give a list of two or more")
        opened = [draws_of(run) for run in runs]
        paths = [fspath(draws.path) for draws in opened]
        short = [Path(path).name or path for path in paths]
        names = [path if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]
        for i, name in enumerate(names):  # the same run twice
            names[i] = name if names.index(name) == i else f"{name} ({names[:i].count(name) + 1})"
        runs = dict(zip(names, opened, strict=True))
    return {name: draws_of(run) for name, run in runs.items()}


def _check_names(first: Draws, other: Draws) -> None:
    for what, one, two in (
        ("words", first.words, other.words),
        ("contexts", first.contexts, other.contexts),
    ):
        alone = set(one) ^ set(two)
        if alone:
            example = min(alone)
            here, there = (first, other) if example in set(one) else (other, first)
            raise OptionError(
                f"{first.path} and {other.path} have different {what}: {example!r} is in {here.path} and not "
                f"in {there.path} ({len(alone)} are in one of them only); compare runs of the same vocabulary"
            )


def _measure(first: Draws, draws: Draws, count: int, seed: int) -> dict[str, Float64]:
    """Return draws (chain, draw, M) of cosines and, if both sides are kept, of probabilities."""
    to_word = Names(draws.words).rows(first.words)
    to_context = Names(draws.contexts).rows(first.contexts)
    pairs = random_pairs(len(first.words), None, count, seed=seed)
    found = {"cosine": cosines(draws, *(to_word[side] for side in pairs))}
    if "alpha" in draws.manifest["arrays"]:
        word, context = random_pairs(len(first.words), len(first.contexts), count, seed=seed)
        found["probability"] = probabilities(draws, to_word[word], to_context[context])
    return found


class _Summary(NamedTuple):
    mean: Float64  # (M,)
    sd: Float64
    width: Float64


def _summaries(measured: Mapping[str, Float64], level: float) -> dict[str, _Summary]:
    found = {}
    for kind, values in measured.items():
        low, high = quantiles(values, tails(level), axis=(0, 1))
        found[kind] = _Summary(values.mean(axis=(0, 1)), values.std(axis=(0, 1)), high - low)
    return found


def _row(
    name: str,
    draws: Draws,
    measured: Mapping[str, Float64],
    base: Mapping[str, _Summary],
    level: float,
    scores: Mapping[str, float],
) -> ComparedRun:
    here, size = _summaries(measured, level), draws.num_chains * draws.num_draws
    figures: dict[str, float] = {}
    for kind in ("cosine", "probability"):
        both = kind in here and kind in base
        width = _median(here[kind].width, base[kind].width) if both and size > 1 else math.nan
        shift = _median(np.abs(here[kind].mean - base[kind].mean), base[kind].sd) if both else math.nan
        figures |= {f"{kind}_width": width, f"{kind}_shift": shift}
    seconds = draws.seconds
    ess = np.concatenate([ess_bulk(values) for values in measured.values()])
    ess = ess[np.isfinite(ess)] / seconds
    return ComparedRun(
        run=name,
        method=draws.settings.method,
        draws=size,
        seconds=seconds,
        ess_per_second=float(np.median(ess)) if len(ess) else math.nan,
        worst_ess_per_second=float(ess.min()) if len(ess) else math.nan,
        **figures,
        **scores,
    )


def _median(values: Float64, units: Float64) -> float:
    """Return the median of values in their units; those without a unit are left out."""
    known = units > 0
    return float(np.median(values[known] / units[known])) if known.any() else math.nan


def _scores(draws: Draws, holdout: "PairCounts | None", *, progress: bool) -> dict[str, float]:
    found = None if holdout is None else score(draws, holdout, progress=progress)
    names = {"score_mean": "posterior_mean", "score_map": "map", "score_predictive": "predictive"}
    values = {name: getattr(found, of, None) for name, of in names.items()}
    return {name: math.nan if value is None else value for name, value in values.items()}


def _notes(opened: Mapping[str, Draws], kinds: Mapping[str, str], level: float) -> Iterator[str]:
    first = next(iter(opened))
    yield (
        f"widths of {100 * level:g}% intervals over those of {first}, shifts of means from it in its standard "
        "deviations: medians"
    )
    if len({draws.manifest.get("counts", {}).get("fingerprint") for draws in opened.values()}) > 1:
        yield "these runs were not fitted to the same counts"
    weights = {name: draws.settings.weight for name, draws in opened.items()}
    if len(set(weights.values())) > 1:
        stated = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
        yield f"these runs weigh a sample differently ({stated}); fit with the same --weight to compare the rest"
    if approximate := [name for name, kind in kinds.items() if kind == APPROXIMATION]:
        yield f"the ESS of an approximation ({', '.join(approximate)}) counts its draws; it does not measure accuracy"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if math.isnan(value):
        return "n/a"
    if name.startswith("score"):
        return f"{value:.5f}"
    return f"{value:.3g}" if "second" in name else f"{value:.2f}"
