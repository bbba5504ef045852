"""Place words on an axis built from pairs of words, each with its interval."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.labels import label_at, quoted
from bayesvec.estimates.per_draw import cosines_with_sum
from bayesvec.posterior.table import Argument, Option, Question, Term
from bayesvec.posterior.terms import read_axis, split_words
from bayesvec.posterior.words import checked_words, read_pairs

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws

PROJECTION = Quantity("projection", "position on the axis (cosine)", (-1.0, 1.0))


def projection(
    posterior: "Posterior", words: Iterable[str], axis: Iterable[tuple[str, str]], *, at: str | None = None
) -> list[Estimate]:
    """Return the position of each word on an axis built from pairs of words.

    Parameters
    ----------
    words : iterable of str
        The words to place.
    axis : iterable of (str, str)
        The pairs; positive is towards their first words. The axis of a draw is the mean difference of
        the unit vectors of the pairs, and the position of a word is its cosine with that.
    at : str, optional
        The slice whose words are meant.
    """
    pairs = checked_axis(axis)
    wanted, ends_of_axis = checked_words(words), [word for pair in pairs for word in pair]
    at = posterior.slice_meant([*wanted, *ends_of_axis], at)
    rows, poles = np.split(posterior.rows([*wanted, *ends_of_axis], at=at), [len(wanted)])
    values = projections(posterior.draws, rows, poles.reshape(-1, 2))
    ends = ", ".join(f"{quoted(one)}:{quoted(other)}" for one, other in pairs)
    labels = [label_at(f"projection({quoted(word)}; {ends})", at) for word in wanted]
    return posterior.labelled(PROJECTION, labels, values)


def projections(draws: "Draws", words: Int64, poles: Int64) -> Float64:
    r"""Return the cosine between each word and an axis, (chain, draw, M).

    The axis of a draw is the mean of :math:`u_a - u_b` over the pairs, u the unit vectors (Kozlowski, Taddy &
    Evans 2019, "The Geometry of Culture"): positive is towards the first words of the pairs.

    Parameters
    ----------
    draws : Draws
        The run.
    words : ndarray of int64, (M,)
        The words to place.
    poles : ndarray of int64, (P, 2)
        The pairs.
    """
    return cosines_with_sum(draws, *summed_poles(poles), words)


def summed_poles(poles: Int64) -> tuple[Int64, Float64]:
    """Return the words of an axis, each once, and the weights of their unit vectors in it; ``poles`` is (P, 2)."""
    rows, place = np.unique(poles, return_inverse=True)
    signs = np.tile([1.0, -1.0], len(poles))
    return rows, np.bincount(place.ravel(), weights=signs).astype(np.float64)


def checked_axis(axis: object) -> list[tuple[str, str]]:
    """Return the pairs of an axis; raise an `OptionError` if they are none or one-sided."""
    if isinstance(axis, str):
        raise OptionError(f"axis is {axis!r}; give a list of pairs of words, such as [('he', 'she')]")
    pairs = list(axis)  # type: ignore[call-overload]
    if not pairs:
        raise OptionError("the axis has no pairs of words; give at least one, such as ('he', 'she')")
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not all(pair):
            raise OptionError(f"{pair!r} is one-sided: a pair of an axis has a word at each end")
        if pair[0] == pair[1]:
            raise OptionError(f"a pair of an axis needs two different words; got {pair[0]!r} twice")
    return [(first, second) for first, second in pairs]


def _ask(
    posterior: "Posterior",
    words: list[str],
    *,
    axis: str = "",
    axis_file: Path | None = None,
    at: str | None = None,
) -> list[Estimate]:
    if bool(axis) == (axis_file is not None):
        raise OptionError("give the pairs of the axis either by --axis or by --axis-file")
    pairs = read_axis(axis) if axis_file is None else read_pairs(axis_file)
    return projection(posterior, words, pairs, at=at)


def _term(posterior: "Posterior", parts: list[str], at: str | None) -> Estimate:
    return projection(posterior, split_words(parts[0]), read_axis(parts[1]), at=at)[0]


QUESTION = Question(
    _ask,
    parameters={
        "words": Argument("WORD...", "Words to place on the axis.", "Words"),
        "axis": Option(
            "Pairs of words, such as he:she,man:woman; positive is towards the first.", label="Axis"
        ),
        "axis_file": Option("Read the pairs from a file, two words per line.", ("--axis-file",)),
    },
    terms={"projection": Term("projection(word; one:other, one:other)", (1, None), _term)},
)
