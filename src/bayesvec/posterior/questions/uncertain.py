"""List the words whose vectors are the least certain, beside how often they were seen."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec._validate import one_of
from bayesvec.errors import OptionError
from bayesvec.estimates.table import Table
from bayesvec.posterior.table import Argument, Option, Question
from bayesvec.posterior.words import check_number

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


_NEAR = 50  # words of about the same count, whose median spread is the usual one


class Uncertainty(NamedTuple):
    """How uncertain the vector of a word is."""

    word: str
    seen: int  # positive samples of the word
    spread: float
    usual: float  # median spread of words seen about as often


def uncertainty(
    posterior: "Posterior",
    words: Iterable[str] | None = None,
    n: int = 20,
    *,
    by: str = "excess",
    at: str | None = None,
) -> Table[Uncertainty]:
    """Return the most uncertain words: the spread of their vectors, beside what is usual for their count.

    Parameters
    ----------
    words : iterable of str, optional
        The words to report; without them the ``n`` most uncertain of all.
    n : int, optional
        How many, if no words are given.
    by : {"excess", "spread"}, optional
        Order by the excess over the spread of words seen about as often, or by the spread itself.
    at : str, optional
        The slice whose words are meant.

    Returns
    -------
    Table of Uncertainty
        ``spread`` is the noise as a fraction of the vector's length: 0 if it is known exactly, 1 if
        nothing is known about its direction.
    """
    one_of("by", by, ("excess", "spread"))
    spread, counts = spreads(posterior.draws), word_counts(posterior.draws)
    usual = usual_spreads(counts, spread)
    if words is None:
        every = posterior.slice_rows(at)
        where = "the run" if at is None else f"the slice {at!r}"
        check_number(n, len(every), f"{where} has {len(every)} words")
        large = (spread - usual if by == "excess" else spread)[every]
        order = every[np.argsort(-large, kind="stable")[:n]]
    else:
        order = posterior.rows(words, at=at)
    table = [
        Uncertainty(posterior.bare_name(i, at), int(counts[i]), float(spread[i]), float(usual[i]))
        for i in order.tolist()
    ]
    title = "spread of the vector (0 known, 1 unknown), and what is usual for the count"
    return Table(table, title=title if at is None else f"{title}, at {at}")


def spreads(draws: "Draws") -> Float64:
    r"""Return the noise in each word vector as a fraction of its length, (word,).

    It is :math:`\sqrt{v / (v + |m|^2)}` with m the posterior mean of the vector and v the sum of the variances of its
    coordinates: 0 for a vector that is known exactly, 1 for one about whose direction nothing is known.
    """
    if draws.settings.identify == "none":
        raise OptionError(
            f"{draws.path} was made with identify='none': its draws are not aligned, so that every vector "
            "looks uncertain; fit with identify='procrustes'"
        )
    if draws.num_chains * draws.num_draws == 1:
        raise OptionError(
            f"{draws.path} holds one point, which carries no uncertainty; fit with a method that draws from the "
            "posterior, such as gibbs"
        )
    variance = draws.variance("rho").sum(axis=1)
    length = np.square(draws.mean("rho")).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.sqrt(variance / (variance + length)), nan=1.0))


def word_counts(draws: "Draws") -> Int64:
    """Return the number of positive samples of each word in the run's counts, (word,)."""
    from bayesvec.counts.store import open_counts  # takes time to import

    return open_counts(draws.path / "counts").by_word.positives()


def usual_spreads(counts: Int64, spread: Float64) -> Float64:
    """Return for each word the median spread of the words seen about as often, itself among them."""
    order = np.lexsort((np.arange(len(counts)), counts))
    sorted_spread = spread[order]
    width = min(_NEAR, len(counts))
    windows = np.lib.stride_tricks.sliding_window_view(sorted_spread, width)
    medians = np.median(windows, axis=1)
    centre = np.clip(np.arange(len(counts)) - width // 2, 0, len(medians) - 1)
    result = np.empty(len(counts))
    result[order] = medians[centre]
    return result


def _ask(
    posterior: "Posterior",
    words: list[str] | None = None,
    *,
    n: int = 20,
    by: str = "excess",
    at: str | None = None,
) -> Table[Uncertainty]:
    return uncertainty(posterior, words or None, n, by=by, at=at)


QUESTION = Question(
    _ask,
    parameters={
        "words": Argument("[WORD...]", "Words; without any, the most uncertain.", "Words"),
        "n": Option("How many words, if none are given.", ("-n",), label="How many"),
        "by": Option(
            "Order by excess (over what is usual for the count) or by spread.",
            label="Order by",
            choices=("excess", "spread"),
        ),
    },
    to_json=lambda table, asked: {"words": table.to_dict()},
    intervals=False,
)
