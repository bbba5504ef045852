"""Words on an axis between two poles: chosen by frequency, by name, or the most extreme that are sure."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._validate import one_of
from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.labels import quoted
from bayesvec.estimates.per_draw import signs_with_sum
from bayesvec.explore.commands import call, of_question, python
from bayesvec.explore.views.pictures import above_text, inner_intervals, inner_level, rounded
from bayesvec.explore.views.words import counts, most_seen
from bayesvec.posterior import table
from bayesvec.posterior.claims import THRESHOLD
from bayesvec.posterior.questions.project import summed_poles
from bayesvec.posterior.terms import read_axis, split_words

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown
    from bayesvec.posterior.posterior import Posterior

MOST_WORDS = 200
MOST_PAIRS = 100


def axis(
    shown: "Shown",
    axis: str,
    show: str = "sure",
    words: str = "",
    n: int = 30,
    at: str | None = None,
    level: float = LEVEL,
) -> dict[str, Any]:
    """Return the places of some words on an axis, and what is known about all others."""
    posterior = shown.posterior
    pairs = read_axis(axis)
    if len(pairs) > MOST_PAIRS:
        raise OptionError(f"the axis has {len(pairs)} pairs; at most {MOST_PAIRS} are taken here")
    one_of("show", show, ("sure", "frequent", "list"))
    every = None if show == "list" else _everything(posterior, pairs, at)
    chosen = _chosen(posterior, pairs, show, words, min(n, MOST_WORDS), at, every)
    estimates = posterior.projection(chosen, pairs, at=at)
    order = sorted(range(len(chosen)), key=lambda i: -estimates[i].mean)
    chosen, estimates = [chosen[i] for i in order], [estimates[i] for i in order]
    given = {"words": chosen, "axis": axis, "at": at, "level": level}
    seen = counts(posterior)
    return {
        "answer": table.find("project").to_json(estimates, given),
        "words": chosen,
        "above": [above_text(each) for each in estimates],
        "inner": inner_intervals(estimates, level),
        "inner_level": inner_level(level),
        "seen": None if seen is None else seen[posterior.rows(chosen, at=at)].tolist(),
        "every": every,
        "poles": [list(dict.fromkeys(side)) for side in zip(*pairs, strict=True)],
        "shell": [of_question(posterior.path, "project", given)],
        "python": python(posterior.path, call("projection", chosen, pairs, at=at)),
    }


def _everything(posterior: "Posterior", pairs: list[tuple[str, str]], at: str | None) -> dict[str, Any]:
    """Return the mean place of every word of the slice but the poles, and P(above 0)."""
    ends = [word for pair in pairs for word in pair]
    rows, weights = summed_poles(posterior.rows(ends, at=at).reshape(-1, 2))
    among = np.setdiff1d(posterior.slice_rows(at), rows)
    found = signs_with_sum(posterior.draws, rows, weights, among=among)
    return {
        "words": [posterior.bare_name(row, at) for row in among.tolist()],
        "mean": rounded(found.mean, 4),
        "above": rounded(found.above, 4),
    }


def _chosen(
    posterior: "Posterior",
    pairs: list[tuple[str, str]],
    show: str,
    words: str,
    n: int,
    at: str | None,
    every: dict[str, Any] | None,
) -> list[str]:
    if show == "list":
        named = list(dict.fromkeys(split_words(words)))
        if len(named) > MOST_WORDS:
            raise OptionError(f"got {len(named)} words; at most {MOST_WORDS} are placed at once")
        return named
    poles = {word for pair in pairs for word in pair}
    if show == "frequent":
        rows = most_seen(posterior, at, n + len(poles)).tolist()
        return [word for word in (posterior.bare_name(row, at) for row in rows) if word not in poles][:n]
    assert every is not None
    mean, above = np.array(every["mean"]), np.array(every["above"])
    ends = []
    for sign, sure in ((1, above >= THRESHOLD), (-1, above <= 1 - THRESHOLD)):
        inside = np.flatnonzero(sure & (sign * mean > 0))
        ends += inside[np.argsort(-sign * mean[inside], kind="stable")][: math.ceil(n / 2)].tolist()
    if not ends:
        raise OptionError(
            f"no word is on one side of this axis with a probability of {THRESHOLD:g}; "
            "show the most frequent words, or a list"
        )
    return [every["words"][i] for i in ends]


def axis_of(one: list[str], other: list[str]) -> str:
    """Return two lists of words as the pairs of an axis; the axis depends on the lists only, not on the pairing."""
    same = len(one) == len(other)
    pairs = zip(one, other, strict=True) if same else ((a, b) for a in one for b in other)
    return ",".join(f"{quoted(a)}:{quoted(b)}" for a, b in pairs)
