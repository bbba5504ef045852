r"""Priors over the groups or time slices of a word: rows are word@slice, contexts are shared.

Grouped (Rudolph, Ruiz, Athey & Blei 2017): the word's rows lie around a shared one, which is a row without
pairs. Dynamic (Bamler & Mandt 2017; Rudolph & Blei 2018): they walk at random from slice to slice,

.. math:: x_{w t_1} \sim N(0, \lambda^{-1}), \qquad
          x_{w t} - x_{w s} \sim N\big(0, (t - s)\, \delta^{-1}\big) \text{ for slices } s, t \text{ in succession.}

A word that is absent from a slice has no row there: the walk steps over it, with a longer gap, which is exactly
the walk with that row integrated out; and it begins in the first slice that the word is in.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.counts.times import slice_times
from bayesvec.errors import OptionError
from bayesvec.priors.coupling import Sparse
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, Part, make_part, plain, precision_of, precisions_of
from bayesvec.priors.spherical import independent

SHARED = "shared"
DRIFT_PRECISION = 50.0
GROUP_PRECISION = 10.0
STEPS_START = 1000.0  # where either begins if it is learned: in text slices of a word are much alike
FEW_SAMPLES = 1000  # of a slice, below which it is said
SMALL_SHARE = 0.05  # of the median slice, below which it is said


class Steps(NamedTuple):
    """Differences between rows that are independent under a prior: a walk, or rays of a star."""

    earlier: Int64
    later: Int64
    gap: Float64  # variance of each, in units of one over the precision


def grouped(
    counts: PairCounts,
    *,
    precision: float | str | Learned = 1.0,
    group_precision: float | str | Learned = GROUP_PRECISION,
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
    words, groups = _words_and_groups(counts, "grouped")
    if shared in groups:
        raise OptionError(
            f"there is a group named {shared!r}, which the shared rows are to be called; choose another name "
            "(shared=), or rename the group"
        )
    if "@" in shared or not shared.strip():
        raise OptionError(f"shared is {shared!r}; it must be a name without '@'")
    names = list(dict.fromkeys(words))
    place = {word: len(words) + i for i, word in enumerate(names)}
    rays = Steps(np.array([place[word] for word in words]), np.arange(len(words)), np.ones(len(words)))
    root = np.zeros((len(words) + len(names), 1))
    root[len(words) :] = 1.0
    given = precisions_of(precision, context_precision) | {
        "group_precision": precision_of(group_precision, "group_precision", start=STEPS_START)
    }
    alone = sum(size == 1 for size in _sizes(words).values())
    notes = [*_small_slices(counts, groups), *_absent(alone, "is in one group only", "are in one group only")]
    recipe = {"kind": "grouped", **_plain(given), "slices": list(groups), "shared": shared}
    parts = _parts(root, rays, given["precision"], given["group_precision"], "group_precision")
    added = tuple((f"{word}@{shared}", shared) for word in names)
    return Prior(
        RowPrior.of_parts(parts), independent(given["context_precision"]), recipe, added, tuple(notes)
    )


def dynamic(
    counts: PairCounts,
    *,
    precision: float | str | Learned = 1.0,
    drift_precision: float | str | Learned = DRIFT_PRECISION,
    context_precision: float | str | Learned | None = None,
    order: Sequence[str] | Mapping[str, float] | None = None,
    complete: bool = False,
) -> Prior:
    """Return a prior under which the rows of a word walk at random over the slices.

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
        it the walk steps over them, and begins where the word does.
    """
    words, groups = _words_and_groups(counts, "dynamic")
    times = slice_times(groups, order)
    slices = sorted(groups, key=times.__getitem__)
    assert counts.groups is not None
    here = list(zip(words, counts.groups, strict=True))
    names = list(dict.fromkeys(words))
    known = set(here)
    absent = [(word, group) for word in names for group in slices if (word, group) not in known]
    rows = [*here, *absent] if complete else here
    first, walk = _walks(rows, {word: i for i, word in enumerate(names)}, times)
    given = precisions_of(precision, context_precision) | {
        "drift_precision": precision_of(drift_precision, "drift_precision", start=STEPS_START)
    }
    missing = len({word for word, _ in absent})
    how = "rows without pairs were added" if complete else "their walk steps over those (or begins later)"
    notes = [
        *_small_slices(counts, groups),
        *_absent(missing, f"is absent from some slices; {how}", f"are absent from some slices; {how}"),
    ]
    recipe = {
        "kind": "dynamic",
        **_plain(given),
        "slices": slices,
        "times": [times[group] for group in slices],
        "complete": complete,
    }
    parts = _parts(first, walk, given["precision"], given["drift_precision"], "drift_precision")
    added = tuple((f"{word}@{group}", group) for word, group in absent) if complete else ()
    return Prior(
        RowPrior.of_parts(parts), independent(given["context_precision"]), recipe, added, tuple(notes)
    )


def _walks(
    rows: list[tuple[str, str]], place: dict[str, int], times: dict[str, float]
) -> tuple[Float64, Steps]:
    """Return which rows begin a walk, (rows, 1), and the steps from row to row."""
    word = np.array([place[name] for name, _ in rows])
    time = np.array([times[group] for _, group in rows])
    order = np.lexsort([time, word])
    same = word[order[1:]] == word[order[:-1]]
    earlier, later = order[:-1][same], order[1:][same]
    first = np.ones((len(rows), 1))
    first[later] = 0.0
    return first, Steps(earlier, later, time[later] - time[earlier])


def _parts(
    root: Float64, steps: Steps, precision: float | Learned, step_precision: float | Learned, name: str
) -> list[Part]:
    """Return the parts of a prior with independent roots and independent steps from them."""
    size = len(root)
    return [
        make_part("precision", precision, root),
        make_part(
            name,
            step_precision,
            np.zeros((1, 1)),
            rank=len(steps.gap),
            coupling=laplacian(steps.earlier, steps.later, 1.0 / steps.gap, size),
        ),
    ]


def laplacian(first: Int64, second: Int64, weight: Float64, rows: int) -> Sparse:
    """Return the matrix L with x^T L x = sum of weight * (x_first - x_second)^2."""
    from scipy.sparse import csr_array

    ends = np.concatenate([first, second])
    both = np.concatenate([second, first])
    matrix = csr_array(
        (
            np.concatenate([-weight, -weight, weight, weight]),
            (np.concatenate([ends, ends]), np.concatenate([both, ends])),
        ),
        shape=(rows, rows),
    )
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _words_and_groups(counts: PairCounts, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if counts.groups is None:
        raise OptionError(
            f"the {kind} prior needs counts with groups, and these have none: count a table with --group-column "
            "(group_column=)"
        )
    groups = tuple(sorted(set(counts.groups)))
    if len(groups) < 2:
        raise OptionError(f"there is one group, {groups[0]!r}; the {kind} prior needs two or more")
    return word_of_rows(counts), groups


def _plain(given: Mapping[str, float | Learned]) -> dict[str, Any]:
    return {name: plain(value) for name, value in given.items()}


def _sizes(words: Sequence[str]) -> dict[str, int]:
    sizes = dict.fromkeys(words, 0)
    for word in words:
        sizes[word] += 1
    return sizes


def _absent(number: int, one: str, more: str) -> list[str]:
    return [f"{number:,} {'word ' + one if number == 1 else 'words ' + more}"] if number else []


def _small_slices(counts: PairCounts, groups: Sequence[str]) -> list[str]:
    """Say which slices have so few samples that their rows will mostly follow those of others."""
    assert counts.groups is not None
    side = counts.by_word
    row = np.repeat(np.arange(counts.num_words), np.diff(side.indptr))
    samples = np.bincount(row, weights=side.n_pos.astype(np.int64) + side.n_neg, minlength=counts.num_words)
    total = dict.fromkeys(groups, 0.0)
    for group, number in zip(counts.groups, samples.tolist(), strict=True):
        total[group] += number
    least = max(FEW_SAMPLES, SMALL_SHARE * float(np.median(list(total.values()))))
    small = [f"{group} ({int(number):,})" for group, number in total.items() if number < least]
    if not small:
        return []
    shown = ", ".join(small[:5]) + (", ..." if len(small) > 5 else "")
    return [f"{len(small)} of {len(groups)} slices have few samples, so that the others shape them: {shown}"]
