"""Test sets: human judgements of similarity and analogies, each with how much of the set the run knows."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec.errors import InputError, OptionError
from bayesvec.estimates.estimate import LEVEL, Estimate
from bayesvec.estimates.per_draw import cosines
from bayesvec.posterior.analogies import read_questions, right_answers
from bayesvec.posterior.judgements import read_judgements, spearman
from bayesvec.posterior.terms import label_at

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

_FEWEST = 3  # pairs of which a rank correlation says anything


@dataclass(frozen=True)
class Judged:
    """How a run does on a test set.

    Attributes
    ----------
    estimate : Estimate
        Spearman's correlation, or the share of right answers.
    used, total : int
        How many lines of the set have all their words in the run, and how many it has.
    """

    estimate: Estimate
    used: int
    total: int

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, level: float = LEVEL) -> str:
        """Return it as one line of text."""
        return f"{self.estimate.sentence(level)}; {self.used:,} of {self.total:,} have all their words in the run"

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return plain values."""
        return {**self.estimate.to_dict(level), "used": self.used, "total": self.total}


def judge(posterior: "Posterior", path: str | PathLike[str], *, at: str | None = None) -> Judged:
    """Return Spearman's correlation of cosines with human judgements; see `Posterior.judge`."""
    judgements = list(_read(read_judgements, path))
    find = word_finder(posterior, at)
    known = [
        (first, second, line.score)
        for line in judgements
        if (first := find(line.first)) is not None
        and (second := find(line.second)) is not None
        and first != second
    ]
    _check_enough(len(known), len(judgements), path, "pairs")
    rows = np.array([(first, second) for first, second, _ in known], dtype=np.int64)
    scores = np.array([score for _, _, score in known])
    if len(set(scores)) == 1:
        raise InputError(
            f"{path}: all scores of the words in the run are {scores[0]:g}, so there is no order"
        )
    values = spearman(cosines(posterior.draws, rows[:, 0], rows[:, 1]), scores)
    told = label_at(f"Spearman's correlation with {Path(path).stem}", at)
    estimate = Estimate(values, told, posterior.path)
    return Judged(estimate, len(known), len(judgements))


def analogy_accuracy(
    posterior: "Posterior", path: str | PathLike[str], *, at: str | None = None, show: bool = False
) -> list[Judged]:
    """Return the share of right answers, of all questions and of each section; see `Posterior`."""
    questions = list(_read(read_questions, path))
    find = word_finder(posterior, at)
    known = []
    for question in questions:
        rows = [find(word) for word in question.words]
        if None not in rows and len(set(rows)) == 4:
            known.append((question.section, rows))
    _check_enough(len(known), len(questions), path, "questions")
    asked_rows = np.array([rows for _, rows in known], dtype=np.int64)
    right = right_answers(posterior.draws, asked_rows, among=posterior.slice_rows(at), show=show)
    sections = np.array([section for section, _ in known])
    asked = [question.section for question in questions]
    name = Path(path).stem
    whole = _share(right, label_at(f"right answers, {name}", at), posterior)
    result = [Judged(whole, len(known), len(questions))]
    for section in dict.fromkeys(sections.tolist()):
        chosen = sections == section
        told = label_at(f"right answers, {section or 'no section'}", at)
        estimate = _share(right[:, :, chosen], told, posterior)
        result.append(Judged(estimate, int(chosen.sum()), asked.count(section)))
    return result


def word_finder(posterior: "Posterior", at: str | None = None) -> Callable[[str], int | None]:
    """Return a function from a word of a test set to its row, treated as the words of the text were."""
    if at is None and posterior.slices:
        raise OptionError(
            f"{posterior.path} has slices ({', '.join(posterior.slices[:5])}), each with its own words; "
            "say by --at SLICE (at=) which to judge"
        )
    options = posterior.draws.manifest["counts"]["recipe"].get("options", {})
    inside = posterior.slice_rows(at)
    every = range(len(posterior.words)) if inside is None else inside.tolist()
    rows = {posterior.bare_name(row, at): row for row in every}
    stem: Callable[[str], str] = str
    if options.get("stem"):
        import snowballstemmer

        stem = snowballstemmer.stemmer(options["stem"]).stemWord

    def find(word: str) -> int | None:
        for spelling in (word, word.lower(), stem(word.lower())):
            if spelling in rows:
                return rows[spelling]
        return None

    return find


def _read(reader: Callable[[str | Path], Any], path: str | PathLike[str]) -> Any:
    try:
        yield from reader(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {reason}", file=str(path)) from error


def _share(right: Any, label: str, posterior: "Posterior") -> Estimate:
    return Estimate(right.mean(axis=2), label, posterior.path)


def _check_enough(known: int, total: int, path: str | PathLike[str], what: str) -> None:
    if known < _FEWEST:
        raise InputError(
            f"{path}: {known} of its {total} {what} have all their words in the run; at least {_FEWEST} are "
            "needed: fit a larger vocabulary, or check that the words are spelled and stemmed alike",
            file=str(path),
        )
