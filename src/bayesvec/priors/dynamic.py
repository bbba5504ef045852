r"""The dynamic prior: the rows of a word follow a random walk over time slices.

.. math:: x_{w t_1} \sim N(0, \lambda^{-1}), \qquad
          x_{w t} - x_{w s} \sim N\big(0, (t - s)\, \delta^{-1}\big) \text{ for successive slices } s, t

(Bamler & Mandt 2017; Rudolph & Blei 2018). A word that is absent from a slice has no row there: the walk steps over
it with a longer gap, which is exactly the walk with that row integrated out, and it starts in the first slice that
the word is in.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec._types import Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.times import slice_times
from bayesvec.errors import OptionError
from bayesvec.priors.gaussian import Prior
from bayesvec.priors.learned import Learned, precision_of, precisions_of, precisions_stated, recipe_of
from bayesvec.priors.slices import (
    STEPS_START,
    Steps,
    note_small_slices,
    note_words,
    stepwise,
    words_and_groups,
)
from bayesvec.priors.spherical import independent
from bayesvec.priors.table import CONTEXT_PRECISION, PRECISION, Family, Option, Recipe, arguments_of


def dynamic(
    counts: PairCounts,
    *,
    precision: float | str | Learned = "learn",
    drift_precision: float | str | Learned = "learn",
    context_precision: float | str | Learned | None = None,
    order: Sequence[str] | Mapping[str, float] | None = None,
    complete: bool = False,
) -> Prior:
    """Return a prior under which the rows of a word follow a random walk over the slices.

    Parameters
    ----------
    counts : PairCounts
        Counts whose groups are the slices.
    precision : float, "learn" or Learned
        Precision of each word's first row.
    drift_precision : float, "learn" or Learned
        Precision of a step over one unit of time; over a longer gap it is that much smaller.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts; that of the first rows if not given.
    order : sequence of str or Mapping, optional
        The slices in order, one unit of time apart, or the time of each. Without it slices must be numbers,
        or dates (whose unit is the year).
    complete : bool, optional
        Add a row without pairs where a word is absent from a slice, so that every word has all slices; without
        it the walk steps over them, and starts where the word does.
    """
    words, groups = words_and_groups(counts, "dynamic")
    times = slice_times(groups, order)
    slices = sorted(groups, key=times.__getitem__)
    assert counts.groups is not None
    seen = list(zip(words, counts.groups, strict=True))
    names, known = list(dict.fromkeys(words)), set(seen)
    absent = [(word, group) for word in names for group in slices if (word, group) not in known]
    first, walk = _walks([*seen, *absent] if complete else seen, times)
    given = precisions_of(precision, context_precision) | {
        "drift_precision": precision_of(drift_precision, "drift_precision", start=STEPS_START)
    }
    how = "rows without pairs were added" if complete else "their walk steps over those (or starts later)"
    incomplete = len({word for word, _ in absent})
    more = {"slices": slices, "times": [times[group] for group in slices], "complete": complete}
    return Prior(
        stepwise(first, walk, given["precision"], given["drift_precision"], "drift_precision"),
        independent(given["context_precision"]),
        recipe_of("dynamic", given, {"drift_precision": STEPS_START}, **more),
        added=tuple((f"{word}@{group}", group) for word, group in absent) if complete else (),
        notes=(
            *note_small_slices(counts, groups),
            *note_words(
                incomplete, f"is absent from some slices; {how}", f"are absent from some slices; {how}"
            ),
        ),
    )


def _walks(rows: list[tuple[str, str]], times: dict[str, float]) -> tuple[Float64, Steps]:
    """Return which rows start a walk, (rows, 1), and the steps from row to row."""
    place = {word: i for i, word in enumerate(dict.fromkeys(word for word, _ in rows))}
    word = np.array([place[name] for name, _ in rows])
    time = np.array([times[group] for _, group in rows])
    order = np.lexsort([time, word])
    same = word[order[1:]] == word[order[:-1]]
    earlier, later = order[:-1][same], order[1:][same]
    first = np.ones((len(rows), 1))
    first[later] = 0.0
    return first, Steps(earlier, later, time[later] - time[earlier])


def _check(order: Sequence[str] | None = None, **_others: Any) -> None:
    """Raise if the order of the slices is no order."""
    if order is not None:
        slice_times(order, order)


def _arguments(recipe: Recipe) -> dict[str, Any] | None:
    """Return the arguments of a recipe; None if the slices were given times that no option can set."""
    slices, times = recipe["slices"], recipe["times"]
    given = arguments_of(recipe) or {}
    try:
        if [slice_times(slices)[each] for each in slices] == times:
            return given
    except OptionError:  # their names give no order
        pass
    in_order = [slice_times(slices, slices)[each] for each in slices] == times
    return given | {"order": slices} if in_order and not any("," in each for each in slices) else None


FAMILY = Family(
    "dynamic",
    "The vectors of a word follow a random walk over time slices.",
    dynamic,
    (
        PRECISION,
        CONTEXT_PRECISION,
        Option("drift_precision", "Precision of a step over one unit of time: a number, or learn"),
        Option("order", "Slices in order, such as early,middle,late", "list", "slice_order"),
        Option("complete", "Give every word a row in every slice, absent or not", "flag", "all_slices"),
    ),
    lambda recipe: (
        "Each word's vector walks at random over the slices, in normal steps: the larger the precision of a "
        f"step, the less it moves. Its first one is normal with mean 0. {precisions_stated(recipe)}"
    ),
    _arguments,
    example="--drift-precision 7 --all-slices",
    check=_check,
    needs_groups=True,
)
