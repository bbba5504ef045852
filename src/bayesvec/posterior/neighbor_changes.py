"""The neighbours that a word gains and loses from one slice to another: how it differs, not only that it does."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesvec._types import Float64, Int64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.per_draw import cosines, each_draw
from bayesvec.estimates.table import Table
from bayesvec.estimates.texts import many
from bayesvec.posterior.slices import few_note, rarely_seen, slice_ends, words_in_both
from bayesvec.posterior.words import check_number

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


class NeighborChange(NamedTuple):
    """How the nearness of a word to another differs between two slices."""

    word: str
    first: float  # posterior mean of the cosine in the first slice
    last: float  # and in the last
    change: float  # posterior mean of the difference, last - first
    low: float
    high: float
    probability: float  # that the difference is above 0: that it is nearer in the last slice
    gained: float  # probability of being among the n nearest in the last slice and not in the first
    lost: float  # among the n nearest in the first and not in the last


@dataclass(frozen=True)
class NeighborChanges:
    """The neighbours that a word gains and loses from one slice to another.

    Attributes
    ----------
    table : Table of NeighborChange
        The most certainly gained first, the most certainly lost last.
    word : str
        The word.
    first, last : str
        The two slices.
    n : int
        How many words count as near.
    seen : dict of str to int
        Positive samples of the word in those of the two slices in which it is rare.
    only_first, only_last : int
        How many words occur in one of the slices only; they are not compared.
    """

    table: Table[NeighborChange]
    word: str
    first: str
    last: str
    n: int
    seen: dict[str, int] = field(default_factory=dict)
    only_first: int = 0
    only_last: int = 0

    def __str__(self) -> str:
        return "\n".join([self.table.title, str(self.table), *self.notes])

    @property
    def notes(self) -> list[str]:
        """What a reader of the table should know."""
        notes = [few_note(self.seen)] if self.seen else []
        alone = ((self.only_first, self.first), (self.only_last, self.last))
        if parts := [f"{many(count, 'word')} at {name}" for count, name in alone if count]:
            notes.append(f"words that only one of the slices has are left out: {', '.join(parts)}")
        return notes

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        kept = {name: value for name, value in vars(self).items() if name != "table"}
        return {**kept, "changes": self.table.to_dict()}


def neighbor_changes(
    posterior: "Posterior",
    word: str,
    first: str | None = None,
    last: str | None = None,
    n: int = 10,
    *,
    level: float = LEVEL,
) -> NeighborChanges:
    """Return the neighbours that a word gains and loses from one slice to another, with probabilities.

    Near are the ``n`` nearest words of the slice by cosine in that draw. Only words of both slices count.

    Parameters
    ----------
    word : str
        A word, without its slice.
    first, last : str, optional
        The slices; by default the first and the last.
    n : int, optional
        How many words count as near, and how many gained and lost words are listed at most.
    level : float, optional
        Probability of the intervals of the differences.
    """
    tails(level)
    one, other = slice_ends(posterior, first, last)
    words, rows = words_in_both(posterior, one, other)
    if word not in words:
        posterior.rows([word], at=one)  # raises, with the closest words
        posterior.rows([word], at=other)
        raise OptionError(f"{word!r} does not occur both at {one!r} and at {other!r}")
    check_number(n, len(words) - 1, f"{word!r} has {len(words) - 1} other words in both slices")
    target = words.index(word)
    gained, lost = _gained_and_lost(posterior.draws, rows, target, n)
    chosen = _chosen(gained, lost, target, n)
    before, after = (
        cosines(posterior.draws, np.full(len(chosen), rows[target, side]), rows[chosen, side])
        for side in (0, 1)
    )
    shares = [np.full(len(words), np.nan)] * 2 if posterior.is_point else [gained, lost]
    table = []
    for place, i in enumerate(chosen.tolist()):
        change = Estimate(after[:, :, place] - before[:, :, place])
        means = float(before[:, :, place].mean()), float(after[:, :, place].mean())
        figures = change.mean, *change.interval(level), change.probability_above(0.0)
        table.append(NeighborChange(words[i], *means, *figures, *(float(share[i]) for share in shares)))
    title = (
        f"Neighbours of {word} gained and lost from {one} to {other}: cosine in both, their difference with its "
        f"{100 * level:g}% interval, P(nearer at {other}), P(in the top {n} at {other} only), and at {one} only"
    )
    difference = Quantity("change", "difference of the cosines")
    made = Table(table, title=title, quantity=difference, draws=posterior.num_draws)
    seen = rarely_seen(posterior, rows[target].tolist())
    alone = (len(posterior.slice_rows(name)) - len(words) for name in (one, other))
    return NeighborChanges(made, word, one, other, n, seen, *alone)


def _gained_and_lost(draws: "Draws", rows: Int64, target: int, n: int) -> tuple[Float64, Float64]:
    """Return how often each word is among the n nearest in the second slice only, and in the first only."""
    gained, lost = np.zeros((2, len(rows)), dtype=np.int64)
    for rho in each_draw(draws, "rho"):
        before, after = (_in_top(rho[rows[:, side]], target, n) for side in (0, 1))
        gained += after & ~before
        lost += before & ~after
    number = draws.num_chains * draws.num_draws
    return gained / number, lost / number


def _in_top(vectors: Any, target: int, n: int) -> Any:
    """Return whether each word is among the n nearest to the target in a draw, (word,)."""
    length = np.sqrt(np.einsum("wk,wk->w", vectors, vectors))
    with np.errstate(divide="ignore", invalid="ignore"):
        nearness = np.nan_to_num(np.einsum("wk,k->w", vectors, vectors[target]) / length, nan=-np.inf)
    nearness[target] = -np.inf
    return (nearness >= np.partition(nearness, -n)[-n]) & (nearness > -np.inf)


def _chosen(gained: Float64, lost: Float64, target: int, n: int) -> Int64:
    """Return the words to list: up to n that are gained and n that are lost, the most certainly gained first."""
    balance = gained - lost
    balance[target] = 0.0
    order = np.argsort(-balance, kind="stable")
    up, down = order[balance[order] > 0][:n], order[balance[order] < 0][-n:]
    chosen = np.concatenate([up, down])
    if len(chosen):
        return chosen
    others = order[order != target]  # nothing is gained or lost in any draw
    return np.asarray(others[:n])
