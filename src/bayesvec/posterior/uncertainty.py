"""Which words are uncertain: the posterior spread of a word's vector against how often it was seen."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.counts.store import open_counts
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Table

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


_NEAR = 50  # words of about the same count, of which the usual spread is the median


class Uncertainty(NamedTuple):
    """How uncertain the vector of a word is."""

    word: str
    seen: int  # positive samples of the word
    spread: float
    usual: float  # median spread of words seen about as often


def uncertain_words(
    posterior: "Posterior", words: Iterable[str] | None, n: int, *, by: str, at: str | None = None
) -> Table[Uncertainty]:
    """Return the most uncertain words, or those asked for; see `Posterior.uncertainty`."""
    if by not in ("excess", "spread"):
        raise OptionError(f"by is {by!r}; it must be excess or spread")
    spread, counts = spreads(posterior.draws), word_counts(posterior.draws)
    usual = usual_spreads(counts, spread)
    if words is None:
        inside = posterior.slice_rows(at)
        every = np.arange(len(spread)) if inside is None else inside
        if not 1 <= n <= len(every):
            where = "the run" if at is None else f"the slice {at!r}"
            raise OptionError(
                f"n is {n}; {where} has {len(every)} words, so it must be from 1 to {len(every)}"
            )
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
    r"""Return the share of each word vector's length that is noise, (word,).

    It is :math:`\sqrt{v / (v + |m|^2)}` with m the posterior mean of the vector and v the sum of the variances of its
    coordinates: 0 for a vector that is known exactly, 1 for one about whose direction nothing is known.
    """
    if draws.manifest["settings"]["identify"] == "none":
        raise OptionError(
            f"{draws.path} was made with identify='none': its draws are turned at random, so that every vector "
            "looks uncertain; fit with identify='procrustes'"
        )
    if draws.num_chains * draws.num_draws == 1:
        raise OptionError(
            f"{draws.path} holds one point, which does not say how uncertain it is; fit with a method that draws "
            "from the posterior, such as gibbs"
        )
    variance = draws.variance("rho").sum(axis=1)
    length = np.square(draws.mean("rho")).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(np.sqrt(variance / (variance + length)), nan=1.0))


def word_counts(draws: "Draws") -> Int64:
    """Return the number of positive samples of each word in the run's counts, (word,)."""
    side = open_counts(draws.path / "counts").by_word
    total = np.concatenate([[0], np.cumsum(side.n_pos, dtype=np.int64)])
    return np.asarray(np.diff(total[side.indptr]))


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
