"""The words that changed most between two slices of a run, with the probability that they did."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Bool, Float32, Float64, Int64
from bayesvec.errors import NumericalError, OptionError
from bayesvec.estimates.estimate import LEVEL, Estimate, Table, tails
from bayesvec.estimates.per_draw import each_draw
from bayesvec.posterior.claims import THRESHOLD
from bayesvec.posterior.slices import slice_ends

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws

Vectors = npt.NDArray[np.floating[Any]]

# how the change of a word is measured, and what that is called
CHANGES = {
    "direction": "relative distance along the mean change",
    "distance": "relative distance",
    "cosine": "1 - cosine",
}
MOST_WORDS = 20  # that are told of if it is not said how many


class Change(NamedTuple):
    """How much the vector of a word differs between two slices."""

    word: str
    change: float  # posterior mean of how far its vectors in the two slices are from each other
    low: float
    high: float
    probability: float  # of being among the share of words that changed most
    rhat: float  # of the change
    ess: float


@dataclass(frozen=True)
class Drift:
    """The words that changed most between two slices.

    Attributes
    ----------
    table : Table of Change
        The surest first.
    first, last : str
        The two slices.
    by : str
        How the change is measured: ``direction``, ``distance`` or ``cosine``.
    share : float
        ``probability`` is that of being among this share of all words, by change.
    words : int
        How many words occur in both slices.
    claimed : int
        Words of which that probability is at least ``threshold``, in the table or not.
    expected_false : float
        How many of these are expected not to be among that share.
    threshold : float
        Probability from which it is claimed of a word.
    """

    table: Table[Change]
    first: str
    last: str
    by: str
    share: float
    words: int
    claimed: int
    expected_false: float
    threshold: float

    def __str__(self) -> str:
        return f"{self.table.title}\n{self.table}\n{self.sentence()}"

    @property
    def measure(self) -> str:
        """What the change of a word is called."""
        return CHANGES[self.by]

    def sentence(self) -> str:
        """Return in words what may be claimed."""
        most = f"the {100 * self.share:g}% of {self.words:,} words that differ most"
        if not self.claimed:
            return f"no word is among {most} with a probability of {self.threshold:g}: nothing is claimed"
        number = "1 word is" if self.claimed == 1 else f"{self.claimed} words are"
        return (
            f"{number} among {most} with a probability of at least {self.threshold:g}; "
            f"{self.expected_false:.2g} of these claims are expected to be false"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        kept = {name: value for name, value in vars(self).items() if name != "table"}
        return {**kept, "changes": self.table.to_dict()}


def drift(
    posterior: "Posterior",
    first: str | None,
    last: str | None,
    n: int | None,
    *,
    by: str,
    share: float,
    threshold: float = THRESHOLD,
    level: float = LEVEL,
) -> Drift:
    """Return the words that changed most; see `Posterior.drift`."""
    tails(level)
    if by not in CHANGES:
        raise OptionError(f"by is {by!r}; it must be direction, distance or cosine")
    for name, value in (("share", share), ("threshold", threshold)):
        if not 0.0 < value < 1.0:
            raise OptionError(f"{name} is {value:g}; it must lie between 0 and 1, such as 0.1")
    one, other = slice_ends(posterior, first, last)
    words, rows = _words_in_both(posterior, one, other)
    if n is None:
        n = min(MOST_WORDS, len(words))
    if not 1 <= n <= len(words):
        raise OptionError(
            f"n is {n}; {len(words)} words occur in both slices, so it must be from 1 to {len(words)}"
        )
    changes, in_top = _changes(posterior.draws, rows, max(1, round(share * len(words))), by)
    probability = in_top.mean(axis=(0, 1))
    order = np.lexsort((-changes.mean(axis=(0, 1)), -probability))[:n]
    if posterior.is_point:  # one point says nothing of how sure it is
        probability[:] = np.nan
    table = []
    for i in order:
        estimate = Estimate(changes[:, :, i])
        told = estimate.mean, *estimate.interval(level), float(probability[i]), estimate.rhat, estimate.ess
        table.append(Change(words[i], *told))
    claimed = probability >= threshold
    title = (
        f"Words that differ most between {one} and {other}: {CHANGES[by]}, {100 * level:g}% interval, "
        f"P(among the {100 * share:g}% that differ most)"
    )
    expected_false = float((1.0 - probability[claimed]).sum())
    return Drift(
        Table(table, title=title),
        one,
        other,
        by,
        share,
        len(words),
        int(claimed.sum()),
        expected_false,
        threshold,
    )


def _words_in_both(posterior: "Posterior", one: str, other: str) -> tuple[list[str], Int64]:
    """Return the words that occur in both slices, and their rows in each, (words, 2)."""
    found: list[dict[str, int]] = []
    for name in (one, other):
        rows = posterior.slice_rows(name)
        assert rows is not None
        found.append({posterior.bare_name(int(row), name): int(row) for row in rows})
    words = [word for word in found[0] if word in found[1]]
    if not words:
        raise OptionError(f"no word occurs both at {one!r} and at {other!r}")
    return words, np.array([(found[0][word], found[1][word]) for word in words], dtype=np.int64)


def _changes(draws: "Draws", rows: Int64, top: int, by: str) -> tuple[Float64, Bool]:
    """Return the change of each pair of rows, and whether it is among the ``top`` largest, (chain, draw, word)."""
    shape = draws.num_chains, draws.num_draws, len(rows)
    changes = np.empty((draws.num_chains * draws.num_draws, len(rows)), dtype=np.float32)
    directions = _mean_directions(draws, rows) if by == "direction" else None
    for number, rho in enumerate(each_draw(draws, "rho")):
        one, other = rho[rows[:, 0]], rho[rows[:, 1]]
        if by == "cosine":
            changes[number] = _one_minus_cosine(draws, rows, one, other)
            continue
        apart = other - one
        along = _lengths(apart) if directions is None else _products(apart, directions)
        changes[number] = along / (np.mean([_lengths(one), _lengths(other)]) or 1.0)
    edge = np.partition(changes, len(rows) - top, axis=1)[:, len(rows) - top, None]
    return changes.astype(np.float64).reshape(shape), (changes >= edge).reshape(shape)


def _mean_directions(draws: "Draws", rows: Int64) -> Float32:
    """Return the unit vector along the mean difference of each pair of rows, (pair, K)."""
    if draws.manifest["settings"]["identify"] == "none":
        raise OptionError(
            f"{draws.path} was made with identify='none': its draws are turned at random and have no mean "
            "direction; ask by cosine or distance, or fit with identify='procrustes'"
        )
    mean = draws.mean("rho")
    apart = mean[rows[:, 1]] - mean[rows[:, 0]]
    length = _lengths(apart)
    return np.asarray(apart / np.where(length > 0.0, length, 1.0)[:, None], dtype=np.float32)


def _one_minus_cosine(draws: "Draws", rows: Int64, one: Float32, other: Float32) -> Float32:
    length = _lengths(one) * _lengths(other)
    if not length.all():
        word = draws.words[rows[int(np.argmin(length)), 0]]
        raise NumericalError(f"the vector of {word!r} is zero in a draw, so that its change is not known")
    return np.asarray(1.0 - _products(one, other) / length)


def _products(one: Vectors, other: Vectors) -> Vectors:
    return np.asarray(np.einsum("wk,wk->w", one, other))


def _lengths(vectors: Vectors) -> Vectors:
    return np.asarray(np.sqrt(_products(vectors, vectors)))
