"""The grouped prior: the rows of a word, one for each group, lie around a shared one.

The shared row has no pairs (Rudolph, Ruiz, Athey & Blei 2017, "Structured embedding models for grouped data").
"""

from collections import Counter

import numpy as np

from bayesvec.counts.names import SHARED
from bayesvec.counts.pairs import PairCounts
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
from bayesvec.priors.table import CONTEXT_PRECISION, PRECISION, Family, Option


def grouped(
    counts: PairCounts,
    *,
    precision: float | str | Learned = "learn",
    group_precision: float | str | Learned = "learn",
    context_precision: float | str | Learned | None = None,
    shared: str = SHARED,
) -> Prior:
    """Return a prior under which the rows of a word, one for each group, lie around a shared one.

    The shared rows have no pairs and are added after those of the counts, with ``shared`` as their group.

    Parameters
    ----------
    counts : PairCounts
        Counts with groups.
    precision : float, "learn" or Learned
        Precision of the shared rows.
    group_precision : float, "learn" or Learned
        Precision of a group's row around the shared one: the larger, the more alike groups are.
    context_precision : float, "learn" or Learned, optional
        Precision of the contexts; that of the shared rows if not given.
    shared : str, optional
        The name of the group of the shared rows.
    """
    words, groups = words_and_groups(counts, "grouped")
    if shared in groups:
        raise OptionError(
            f"there is a group named {shared!r}, which the shared rows are to be called; choose another name "
            "(shared=), or rename the group"
        )
    if "@" in shared or not shared.strip():
        raise OptionError(f"shared is {shared!r}; it must be a name without '@'")
    rows_of = Counter(words)
    place = {word: len(words) + i for i, word in enumerate(rows_of)}
    rays = Steps(np.array([place[word] for word in words]), np.arange(len(words)), np.ones(len(words)))
    root = np.zeros((len(words) + len(rows_of), 1))
    root[len(words) :] = 1.0
    given = precisions_of(precision, context_precision) | {
        "group_precision": precision_of(group_precision, "group_precision", start=STEPS_START)
    }
    single = sum(number == 1 for number in rows_of.values())
    return Prior(
        stepwise(root, rays, given["precision"], given["group_precision"], "group_precision"),
        independent(given["context_precision"]),
        recipe_of("grouped", given, {"group_precision": STEPS_START}, slices=list(groups), shared=shared),
        added=tuple((f"{word}@{shared}", shared) for word in rows_of),
        notes=(
            *note_small_slices(counts, groups),
            *note_words(single, "is in one group only", "are in one group only"),
        ),
    )


FAMILY = Family(
    "grouped",
    "The vectors of a word, one for each group, lie around a shared one.",
    grouped,
    (
        PRECISION,
        CONTEXT_PRECISION,
        Option("group_precision", "Precision of groups around their shared vector: a number, or learn"),
    ),
    lambda recipe: (
        "Each word has a shared vector, normal with mean 0, and in each group a vector that is normal around "
        f"the shared one. {precisions_stated(recipe)}"
    ),
    example="--prior-precision 2 --group-precision learn",
    needs_groups=True,
)
