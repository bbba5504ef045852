"""The slices of a run over groups or time, and a quantity in each of them."""

import contextlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec._types import Int64
from bayesvec.counts.names import SHARED
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.texts import many
from bayesvec.posterior.terms import evaluate, words_of

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws


FEW_SEEN = 100  # positive samples of a word in a slice; with fewer, the prior decides much


@dataclass(frozen=True)
class Trajectory:
    """A quantity in each slice.

    Attributes
    ----------
    label : str
        What it is, such as ``cosine(tax, freedom)``.
    slices : tuple of str
        The slices in which all its words occur, in order.
    estimates : tuple of Estimate
        One for each slice.
    ordered : bool
        Whether the slices follow one another, as years do and parties do not.
    every_slice : tuple of str
        All slices of the run, in order.
    seen : dict of str to int, or None
        Positive samples, in each slice, of that of its words that was seen least; None if the run has no counts.
    """

    label: str
    slices: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    ordered: bool
    every_slice: tuple[str, ...]
    seen: dict[str, int] | None = None

    @property
    def few(self) -> tuple[str, ...]:
        """Slices in which one of its words was seen fewer than `FEW_SEEN` times."""
        return tuple(name for name in self.slices if self.seen is not None and is_few(self.seen[name]))

    def few_sentence(self) -> str:
        """Return what a reader should know about slices with few data."""
        return (
            f"a word was seen fewer than {FEW_SEEN} times at {', '.join(self.few)}; there the answer depends largely "
            "on the prior and the other slices"
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Slices in which one of its words does not occur."""
        return tuple(name for name in self.every_slice if name not in self.slices)

    def difference(self, first: str | None = None, last: str | None = None) -> Estimate:
        """Return the value at ``last`` minus that at ``first``: of the last and the first slice by default."""
        if len(self.slices) < 2:
            raise OptionError(f"{self.label} is known at {self.slices[0]} only: there is no change to report")
        by_slice = dict(zip(self.slices, self.estimates, strict=True))
        for name in (first, last):
            if name is not None and name not in by_slice:
                raise OptionError(f"{self.label} is not known at {name!r}; it is at {', '.join(self.slices)}")
        one, other = by_slice[first or self.slices[0]], by_slice[last or self.slices[-1]]
        return other - one

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return plain values."""
        values = [
            {"slice": name, "seen": None if self.seen is None else self.seen[name], **estimate.to_dict(level)}
            for name, estimate in zip(self.slices, self.estimates, strict=True)
        ]
        return {
            "label": self.label,
            "ordered": self.ordered,
            "missing": list(self.missing),
            "few": list(self.few),
            "values": values,
        }


def shared_name(draws: "Draws") -> str:
    """Return the name of the slice of the vectors that groups lie around, whether the run has one or not."""
    return str(_recipe(draws).get("shared", SHARED))


def count_words(draws: "Draws") -> int:
    """Return how many words there are, or words in slices; the shared vectors of groups are not a slice."""
    if draws.groups is None:
        return len(draws.words)
    shared = shared_name(draws)
    return sum(group != shared for group in draws.groups)


def number_of_words(draws: "Draws") -> str:
    """State how many words there are, or words in slices."""
    return many(count_words(draws), "word") + (" in slices" if draws.groups is not None else "")


def slices_in_time(draws: "Draws") -> tuple[str, ...]:
    """Return the slices of a dynamic prior in the order of time; none under another prior."""
    recipe = _recipe(draws)
    return tuple(recipe["slices"]) if recipe.get("kind") == "dynamic" else ()


def _recipe(draws: "Draws") -> dict[str, Any]:
    return draws.settings.prior_recipe


def slices_of(draws: "Draws") -> tuple[str, ...]:
    """Return the slices of a run, each once: in the order of time, else by number or name; a shared one last.

    Rows are often sorted by frequency, so the order in which slices appear there is not that of time.
    """
    if not draws.groups:
        return ()
    known, last = slices_in_time(draws), shared_name(draws)
    place = {name: number for number, name in enumerate(known)}
    distinct = set(draws.groups)
    numbers = are_numbers(distinct - {last})

    def key(name: str) -> tuple[bool, int, float, str]:
        number = float(name) if numbers and name != last else 0.0
        return name == last, place.get(name, len(place)), number, name

    return tuple(sorted(distinct, key=key))


def are_numbers(names: Iterable[str]) -> bool:
    """Whether all slices are named by numbers, such as years."""
    try:
        return all(math.isfinite(float(name)) for name in names)
    except ValueError:
        return False


def trajectory(posterior: "Posterior", term: str) -> Trajectory:
    """Return a quantity in every slice of a run over groups or time.

    Parameters
    ----------
    term : str
        The quantity, as labels are written: ``cosine(tax, freedom)``, ``projection(nurse; he:she)``.
    """
    slices = _slices(posterior)
    known, values = [], []
    for name in slices:
        with contextlib.suppress(KeyError):  # a word that this slice does not have
            values.append(evaluate(posterior, term, at=name))
            known.append(name)
    if not known:
        evaluate(posterior, term, at=slices[0])  # raises, with the closest words
    ordered = bool(slices_in_time(posterior.draws)) or are_numbers(slices)
    seen = _seen_least(posterior, term, known)
    return Trajectory(term.strip(), tuple(known), tuple(values), ordered, slices, seen)


def seen_counts(posterior: "Posterior") -> Int64 | None:
    """Return the positive samples of each row in the run's counts, (row,); None if the run has none."""
    from bayesvec.counts.store import open_counts  # takes time to import

    folder = Path(posterior.path) / "counts"
    return open_counts(folder).by_word.positives() if folder.exists() else None


def is_few(seen: int | None) -> bool:
    """Whether a word was seen so seldom that the prior decides much."""
    return seen is not None and seen < FEW_SEEN


def few_note(seen: dict[str, int], most: int = 5) -> str:
    """Return one sentence on words that were seen seldom, with how often."""
    texts = [f"{name} ({number:,})" for name, number in sorted(seen.items(), key=lambda each: each[1])]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return (
        f"seen fewer than {FEW_SEEN} times in a slice: {', '.join(texts[:most])}{more}; there the answer depends "
        "largely on the prior and the other slices"
    )


def rarely_seen(posterior: "Posterior", rows: Iterable[int]) -> dict[str, int]:
    """Return the positive samples of those rows of slices that have too few for the data to decide, by name."""
    groups, shared = posterior.draws.groups, shared_name(posterior.draws)
    within = [] if groups is None else [row for row in sorted(rows) if groups[row] != shared]
    counts = seen_counts(posterior) if within else None
    if counts is None:
        return {}
    return {posterior.words[row]: int(counts[row]) for row in within if is_few(int(counts[row]))}


def _seen_least(posterior: "Posterior", term: str, slices: Sequence[str]) -> dict[str, int] | None:
    """Return for each slice the positive samples of the rarest word of a term; contexts do not count."""
    counts = seen_counts(posterior)
    if counts is None:
        return None
    words = words_of(term)
    rows = {name: [f"{word}@{name}" for word in words if f"{word}@{name}" in posterior] for name in slices}
    return {name: int(counts[posterior.rows(each)].min()) for name, each in rows.items() if each}


def words_in_both(posterior: "Posterior", one: str, other: str) -> tuple[list[str], Int64]:
    """Return the words that occur in both slices, and their rows in each, (words, 2)."""
    here, there = (
        {posterior.bare_name(row, name): row for row in posterior.slice_rows(name).tolist()}
        for name in (one, other)
    )
    words = [word for word in here if word in there]
    if not words:
        raise OptionError(f"no word occurs both at {one!r} and at {other!r}")
    return words, np.array([(here[word], there[word]) for word in words], dtype=np.int64)


def slice_ends(posterior: "Posterior", first: str | None, last: str | None) -> tuple[str, str]:
    """Return the two slices between which a change is reported: by default the first and the last of the run."""
    slices = _slices(posterior)
    for name in (first, last):
        if name is not None and name not in posterior.slices:
            raise OptionError(f"there is no slice {name!r}; there are {', '.join(posterior.slices)}")
    one, other = first or slices[0], last or slices[-1]
    if one == other:
        raise OptionError(f"a change needs two different slices; got {one!r} twice")
    return one, other


def between(posterior: "Posterior", terms: Sequence[str], first: str, last: str) -> list[Estimate]:
    """Return the difference of each quantity between two slices, the second minus the first."""
    return [
        Estimate(
            (evaluate(posterior, term, at=last) - evaluate(posterior, term, at=first)).draws,
            f"{term.strip()}, {last} - {first}",
            posterior.path,
        )
        for term in terms
    ]


def _slices(posterior: "Posterior") -> tuple[str, ...]:
    slices = tuple(name for name in posterior.slices if name != shared_name(posterior.draws))
    if len(slices) < 2:
        raise OptionError(
            f"{posterior.path} has {many(len(slices), 'slice')}; questions over slices need a run of two or more: "
            "fit with --group-column or --group-by file, and --prior grouped or dynamic"
        )
    return slices
