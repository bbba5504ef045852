"""The nearest words, each with its interval, its probability of being near, and its rank."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Table, tails
from bayesvec.estimates.per_draw import cosines, nearest, ranks
from bayesvec.posterior.terms import label_at

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


class Neighbor(NamedTuple):
    """A neighbour of a word."""

    word: str
    mean: float  # of the cosine
    low: float
    high: float
    probability: float  # of being among the n nearest
    rhat: float
    ess: float


def neighbors(posterior: "Posterior", word: str, n: int, *, at: str | None, level: float) -> Table[Neighbor]:
    """Return the ``n`` nearest words; see `Posterior.neighbors`."""
    row = posterior.rows([word], at=at)
    tails(level)
    among = posterior.slice_rows(at)
    check_number(n, word, (len(posterior.words) if among is None else len(among)) - 1)
    near = nearest(posterior.draws, row, np.ones(1), n, among=among)
    rows = np.argsort(-near.mean, kind="stable")[:n]
    values = cosines(posterior.draws, np.repeat(row, n), rows)
    found = []
    for i, number in enumerate(rows):
        cosine = Estimate(values[:, :, i])
        probability = math.nan if posterior.is_point else float(near.in_top[number])
        figures = cosine.mean, *cosine.interval(level), probability, cosine.rhat, cosine.ess
        found.append(Neighbor(posterior.bare_name(int(number), at), *figures))
    told = f"cosine, {100 * level:g}% interval, P(in the top {n})"
    if posterior.is_point:
        told = "cosine of one point, which has no interval"
    return Table(found, title=f"The {n} nearest neighbours of {label_at(word, at)}: {told}")


def ranked(posterior: "Posterior", word: str, others: Iterable[str], *, at: str | None) -> list[Estimate]:
    """Return the rank of each of ``others`` among the neighbours of a word; see `Posterior.ranks`."""
    pairs = [(word, other) for other in others]
    for _, other in pairs:
        if other == word:
            raise OptionError(f"a rank needs two different words; got {word!r} twice")
    rows = posterior.rows([other for _, other in pairs], at=at)
    row = int(posterior.rows([word], at=at)[0])
    values = ranks(posterior.draws, row, rows, among=posterior.slice_rows(at))
    return posterior.estimates("rank", pairs, values, at)


def check_number(n: int, what: str, most: int) -> None:
    """Raise an `OptionError` if there are not ``n`` other words."""
    if not 1 <= n <= most:
        raise OptionError(f"n is {n}; {what!r} has {most} other words, so it must be from 1 to {most}")
