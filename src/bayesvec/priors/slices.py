"""What the grouped and the dynamic prior share: rows are word@slice, tied to each other by independent steps."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.rows import word_of_rows
from bayesvec.errors import OptionError
from bayesvec.priors.coupling import Sparse
from bayesvec.priors.gaussian import RowPrior
from bayesvec.priors.learned import Learned, make_part

# Starting value of a learned precision of steps. On text it ends near 10 to 50; from 1,000 chains start at a MAP of
# slices that are all alike, and leave it for different modes.
STEPS_START = 30.0
FEW_SAMPLES = 1000  # a slice with fewer is noted
SMALL_SHARE = 0.05  # a slice smaller than this share of the median slice is noted


class Steps(NamedTuple):
    """Differences between rows that are independent under a prior: a walk, or the rays of a star."""

    earlier: Int64
    later: Int64
    gap: Float64  # variance of each, in units of one over the precision


def words_and_groups(counts: PairCounts, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the word of each row and the groups; raise if there are fewer than two groups."""
    if counts.groups is None:
        raise no_groups(kind)
    groups = tuple(sorted(set(counts.groups)))
    if len(groups) < 2:
        raise OptionError(f"there is one group, {groups[0]!r}; the {kind} prior needs two or more")
    return word_of_rows(counts), groups


def no_groups(kind: str) -> OptionError:
    """Return the error about data without groups."""
    return OptionError(
        f"the {kind} prior needs groups, and there are none: give a table with --group-column (group_column=), "
        "or files with --group-by file (group_by=) or written as GROUP=FILE"
    )


def stepwise(
    root: Float64, steps: Steps, precision: float | Learned, step_precision: float | Learned, name: str
) -> RowPrior:
    """Return a prior with independent roots and independent steps from them.

    Parameters
    ----------
    root : ndarray, shape (rows, 1)
        1 for a root, 0 for other rows.
    steps : Steps
        Steps that lead from the roots to all other rows.
    precision, step_precision : float or Learned
        Precision of a root, and of a step over a gap of 1.
    name : str
        Name of the precision of the steps.
    """
    coupling = laplacian(steps.earlier, steps.later, 1.0 / steps.gap, len(root))
    own = make_part("precision", precision, root)
    return RowPrior.of_parts(
        [own, make_part(name, step_precision, 0.0, rank=len(steps.gap), coupling=coupling)]
    )


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


def note_words(number: int, one: str, more: str) -> list[str]:
    """Return a note on a number of words; none if it is zero."""
    return [f"{number:,} {'word ' + one if number == 1 else 'words ' + more}"] if number else []


def note_small_slices(counts: PairCounts, groups: Sequence[str]) -> list[str]:
    """Return a note on slices with so few samples that their rows will mostly follow those of others."""
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
