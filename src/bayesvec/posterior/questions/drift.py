"""Follow quantities over the slices of a run, or list the words that differ most between two slices."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Bool, Float32, Float64, Int64
from bayesvec._validate import one_of
from bayesvec.errors import NumericalError, OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.per_draw import each_draw
from bayesvec.estimates.table import Table
from bayesvec.estimates.texts import few_text
from bayesvec.posterior.claims import THRESHOLD, claims, sign_line, sign_values
from bayesvec.posterior.neighbor_changes import NeighborChanges, neighbor_changes
from bayesvec.posterior.slices import (
    FEW_SEEN,
    Trajectory,
    is_few,
    seen_counts,
    slice_ends,
    trajectory,
    words_in_both,
)
from bayesvec.posterior.table import Argument, Asked, Option, Question
from bayesvec.posterior.words import check_number

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws

Vectors = npt.NDArray[np.floating[Any]]

# measures of the change of a word, and their names
CHANGES = {
    "direction": "relative distance along the mean change",
    "distance": "relative distance",
    "cosine": "1 - cosine",
}
MOST_WORDS = 20  # by default


class Change(NamedTuple):
    """How much the vector of a word differs between two slices."""

    word: str
    change: float  # posterior mean of how far apart its vectors in the two slices are
    low: float
    high: float
    probability: float  # of being in the fraction of words that changed most
    rhat: float  # of the change
    ess: float
    seen_first: int | None = (
        None  # positive samples of the word in the first slice; None if the run has no counts
    )
    seen_last: int | None = None


@dataclass(frozen=True)
class Drift:
    """The words that changed most between two slices.

    Attributes
    ----------
    table : Table of Change
        The most certain first.
    first, last : str
        The two slices.
    by : str
        How the change is measured: ``direction``, ``distance`` or ``cosine``.
    share : float
        ``probability`` is that of being in this fraction of all words, by change.
    words : int
        How many words occur in both slices.
    claimed : int
        Words for which that probability is at least ``threshold``, in the table or not.
    expected_false : float
        How many of these are expected not to be in that fraction.
    threshold : float
        Probability from which a word is claimed to have changed.
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
        return "\n".join([self.table.title, str(self.table), self.sentence(), *self.notes])

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def measure(self) -> str:
        """Name of the measure of change."""
        return CHANGES[self.by]

    @property
    def notes(self) -> list[str]:
        """What a reader of the table should know: about the measure, and about words with little data."""
        notes = []
        if self.by in ("cosine", "distance"):
            notes.append(
                f"{self.measure} is above 0 in every draw, so its interval excludes 0 for every word, changed or "
                "not; judge by the probability, which compares the word with all others, or use --by direction"
            )
        if few := [row.word for row in self.table if is_few(row.seen_first) or is_few(row.seen_last)]:
            notes.append(
                f"seen fewer than {FEW_SEEN} times in one of the slices: {', '.join(few)}; "
                "there the answer depends largely on the prior and the other slices"
            )
        return notes

    def sentence(self) -> str:
        """Return one sentence: how many words are claimed to have changed."""
        most = f"the {100 * self.share:g}% of {self.words:,} words that differ most"
        if not self.claimed:
            return f"no word is among {most} with a probability of {self.threshold:g}: nothing is claimed"
        false = few_text(self.expected_false, self.claimed, self.table.draws)
        number = "1 word is" if self.claimed == 1 else f"{self.claimed} words are"
        return (
            f"{number} among {most} with a probability of at least {self.threshold:g}; "
            f"{false} of these claims are expected to be false"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        kept = {name: value for name, value in vars(self).items() if name != "table"}
        return {**kept, "notes": self.notes, "changes": self.table.to_dict()}


def drift(
    posterior: "Posterior",
    first: str | None = None,
    last: str | None = None,
    n: int | None = None,
    *,
    by: str = "direction",
    share: float = 0.1,
    threshold: float = THRESHOLD,
    level: float = LEVEL,
) -> Drift:
    """Return the words whose vectors differ most between two slices, with the probability that they do.

    The vectors of the two slices share their contexts and so can be compared: by how far apart they are in
    the direction of their mean difference, by their whole distance, or by 1 - cosine, which favours words
    with short vectors, such as function words. With many axes and little text the last two are mostly
    noise, to which every axis contributes, and they are above 0 in every draw, changed or not; the first leaves out
    the other directions. (Its mean direction is
    estimated from the same draws, so with few effective draws a change looks a little larger: by K / ESS of its
    variance.) Every word differs a little in every draw; so the probability is that of being in the
    ``share`` of words that differ most in a draw.

    Parameters
    ----------
    first, last : str, optional
        The slices; by default the first and the last.
    n : int, optional
        How many words, the most certain first; 20 by default, or all if there are fewer.
    by : {"direction", "distance", "cosine"}, optional
        How the change is measured: the distance over the usual length of a vector, projected on the
        posterior mean of the word's difference (negative in draws that point away); all of that distance; or
        1 - cosine.
    share : float, optional
        The fraction of words that counts as changed.
    threshold : float, optional
        Probability from which a word is claimed to have changed; the expected number of false claims is reported.
    level : float, optional
        Probability of the intervals.
    """
    tails(level)
    one_of("by", by, tuple(CHANGES))
    for name, value in (("share", share), ("threshold", threshold)):
        if not 0.0 < value < 1.0:
            raise OptionError(f"{name} is {value:g}; it must lie between 0 and 1, such as 0.1")
    one, other = slice_ends(posterior, first, last)
    words, rows = words_in_both(posterior, one, other)
    n = min(MOST_WORDS, len(words)) if n is None else n
    check_number(n, len(words), f"{len(words)} words occur in both slices")
    changes, in_top = _changes(posterior.draws, rows, max(1, round(share * len(words))), by)
    probability = in_top.mean(axis=(0, 1))
    order = np.lexsort((-changes.mean(axis=(0, 1)), -probability))[:n]
    if posterior.is_point:  # one point carries no uncertainty
        probability[:] = np.nan
    table, seen = [], seen_counts(posterior)
    for i in order:
        change = Estimate(changes[:, :, i])
        figures = change.mean, *change.interval(level), float(probability[i]), change.rhat, change.ess
        table.append(
            Change(words[i], *figures, *(None if seen is None else int(seen[row]) for row in rows[i]))
        )
    claimed = probability >= threshold
    title = (
        f"Words that differ most between {one} and {other}: {CHANGES[by]}, {100 * level:g}% interval, "
        f"P(among the {100 * share:g}% that differ most)"
    )
    return Drift(
        Table(table, title=title, quantity=Quantity("change", CHANGES[by]), draws=posterior.num_draws),
        one,
        other,
        by,
        share,
        len(words),
        claimed=int(claimed.sum()),
        expected_false=float((1.0 - probability[claimed]).sum()),
        threshold=threshold,
    )


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
    if draws.settings.identify == "none":
        raise OptionError(
            f"{draws.path} was made with identify='none': its draws are not aligned and have no mean "
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
        raise NumericalError(f"the vector of {word!r} is zero in a draw, so its change is undefined")
    return np.asarray(1.0 - _products(one, other) / length)


def _products(one: Vectors, other: Vectors) -> Vectors:
    return np.asarray(np.einsum("wk,wk->w", one, other))


def _lengths(vectors: Vectors) -> Vectors:
    return np.asarray(np.sqrt(_products(vectors, vectors)))


class _Followed(NamedTuple):
    """A quantity over the slices, and its change between two of them, if it is known at both."""

    path: Trajectory
    change: Estimate | None


def _ask(
    posterior: "Posterior",
    terms: list[str] | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    n: int | None = None,
    by: str = "direction",
    share: float = 0.1,
    threshold: float = THRESHOLD,
    word: str | None = None,
    level: float = LEVEL,
) -> Drift | NeighborChanges | list[_Followed]:
    if word is not None:
        if terms:
            raise OptionError(f"got --word {word} and {terms[0]!r}; give a word or quantities, not both")
        return neighbor_changes(posterior, word, first, last, 10 if n is None else n, level=level)
    if not terms:
        return drift(posterior, first, last, n, by=by, share=share, threshold=threshold, level=level)
    if bare := next((term for term in terms if "(" not in term), None):
        raise OptionError(
            f"{bare!r} is not a quantity; write one such as 'cosine({bare}, other)', or --word {bare} for the "
            "neighbours that the word gains and loses"
        )
    paths = [trajectory(posterior, term) for term in terms]
    ends = slice_ends(posterior, first, last)
    return [
        _Followed(path, path.difference(*ends) if set(ends) <= set(path.slices) else None) for path in paths
    ]


def _lines(answer: Drift | NeighborChanges | list[_Followed], asked: Asked) -> Iterator[str | Table[Any]]:
    if isinstance(answer, NeighborChanges):
        yield answer.table
        yield from answer.notes
        return
    if isinstance(answer, Drift):
        yield answer.table
        yield answer.sentence()
        yield from answer.notes
        return
    level = asked["level"]
    for path, change in answer:
        for name, estimate in zip(path.slices, path.estimates, strict=True):
            yield estimate.sentence(level) + ("" if path.seen is None else f", seen {path.seen[name]:,}")
        if path.missing:
            yield f"{path.label}: a word does not occur at {', '.join(path.missing)}"
        if path.few:
            yield f"{path.label}: {path.few_sentence()}"
        if change is not None:
            yield sign_line(change, level)
    changes = [each.change for each in answer if each.change is not None]
    if len(changes) > 1:
        yield claims(changes, threshold=asked["threshold"], level=level).sentence()


def _to_json(answer: Drift | NeighborChanges | list[_Followed], asked: Asked) -> Any:
    if isinstance(answer, Drift | NeighborChanges):
        return answer.to_dict()
    level = asked["level"]
    return [
        {**path.to_dict(level), "difference": change and sign_values(change, level)}
        for path, change in answer
    ]


QUESTION = Question(
    _ask,
    parameters={
        "terms": Argument(
            "[QUANTITY...]",
            "Such as 'cosine(tax, freedom)'; without any, the words that changed.",
            "Quantities",
        ),
        "first": Option("First slice (default: the first of the run).", ("--from",), "SLICE", "From"),
        "last": Option("Last slice (default: the last of the run).", ("--to",), "SLICE", "To"),
        "n": Option("How many words (default: 20, or all if there are fewer).", ("-n",), label="How many"),
        "by": Option(
            "Measure of change: direction (along the mean change), distance, or cosine.",
            label="Measure of change",
            choices=("direction", "distance", "cosine"),
        ),
        "share": Option("Fraction of the words that counts as changed.", label="Fraction changed"),
        "threshold": Option("Probability from which a change is claimed.", label="Claim from"),
        "word": Option(
            "List the neighbours that this word gains and loses.", ("--word",), "WORD", "Neighbours of"
        ),
    },
    lines=_lines,
    tells_rare=True,
    to_json=_to_json,
)
