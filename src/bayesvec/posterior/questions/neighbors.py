"""List the nearest words, each with its interval and its probability of being among the nearest."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.estimates.convergence import measures
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.labels import label_at
from bayesvec.estimates.per_draw import cosines, nearest_to_each
from bayesvec.estimates.table import Table
from bayesvec.posterior.questions.similarity import COSINE
from bayesvec.posterior.table import Option, Question
from bayesvec.posterior.words import check_number

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


def neighbors(
    posterior: "Posterior", word: str, n: int = 10, *, at: str | None = None, level: float = LEVEL
) -> Table[Neighbor]:
    """Return the nearest words by posterior mean cosine, with their uncertainty.

    Parameters
    ----------
    word : str
        A word.
    n : int, optional
        How many neighbours.
    at : str, optional
        The slice whose words are meant; neighbours are then words of that slice.
    level : float, optional
        Probability of the interval of each cosine.

    Returns
    -------
    Table of Neighbor
        The nearest first. ``probability`` is the fraction of draws in which the word is among the ``n``
        nearest, that is, fewer than ``n`` words are strictly nearer.
    """
    return neighbors_of_each(posterior, [word], n, at=at, level=level)[0]


def neighbors_of_each(
    posterior: "Posterior", words: Sequence[str], n: int, *, at: str | None, level: float
) -> list[Table[Neighbor]]:
    """Return the neighbours of several words as `neighbors` does, reading the draws once."""
    at = posterior.slice_meant(words, at)
    asked = posterior.rows(words, at=at)
    tails(level)
    among = posterior.slice_rows(at)
    most = len(among) - 1
    check_number(n, most, f"{words[0]!r} has {most} other words")
    near = nearest_to_each(posterior.draws, [(row, np.ones(1)) for row in asked[:, None]], n, among=among)
    rows = [np.argsort(-each.mean, kind="stable")[:n] for each in near]
    values = cosines(posterior.draws, np.repeat(asked, n), np.concatenate(rows))
    return [
        neighbor_table(
            posterior,
            found,
            cosine,
            each.in_top[found],
            at=at,
            level=level,
            title=f"The {n} nearest neighbours of {label_at(word, at)}",
        )
        for word, found, cosine, each in zip(
            words, rows, np.split(values, len(words), axis=2), near, strict=True
        )
    ]


def neighbor_table(
    posterior: "Posterior",
    rows: Int64,
    values: Float64,
    in_top: Float64,
    *,
    at: str | None,
    level: float,
    title: str,
) -> Table[Neighbor]:
    """Return words with the draws of their cosines, (chain, draw, M), and P(in the top), as a table."""
    table = []
    convergence = measures(values)
    for i, row in enumerate(rows.tolist()):
        cosine = Estimate(values[:, :, i])
        probability = math.nan if posterior.is_point else float(in_top[i])
        reliability = float(convergence.rhat[i]), float(convergence.ess_bulk[i])
        figures = cosine.mean, *cosine.interval(level), probability, *reliability
        table.append(Neighbor(posterior.bare_name(row, at), *figures))
    columns = f"cosine, {100 * level:g}% interval, P(in the top {len(rows)})"
    if posterior.is_point:
        columns = "cosine of one point, which has no interval"
    return Table(table, title=f"{title}: {columns}", quantity=COSINE, draws=posterior.num_draws)


QUESTION = Question(
    neighbors,
    parameters={"n": Option("How many neighbours.", ("-n",), label="How many")},
    to_json=lambda table, asked: {**asked, "neighbors": table.to_dict()},
)
