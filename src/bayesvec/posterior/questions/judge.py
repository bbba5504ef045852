"""Compare with human judgements of similarity (Spearman's correlation), or count correct analogies."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesvec._progress import progress as show_progress
from bayesvec._types import Bool, Float64, Int64
from bayesvec.errors import InputError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.labels import label_at
from bayesvec.estimates.per_draw import cosines, each_draw
from bayesvec.posterior.table import Argument, Option, Question
from bayesvec.posterior.test_sets import read_analogies, read_judgements, word_finder

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws

CORRELATION = Quantity("correlation", "Spearman's correlation", (-1.0, 1.0))
ACCURACY = Quantity("accuracy", "fraction of correct answers", (0.0, 1.0))
_FEWEST = 3  # pairs of which a rank correlation means anything
_AT_ONCE = 512  # questions whose cosines with all words are held at a time


@dataclass(frozen=True)
class Judged:
    """How a run does on a test set.

    Attributes
    ----------
    estimate : Estimate
        Spearman's correlation, or the fraction of correct answers.
    used, total : int
        Lines of the set whose words are all in the run, and all lines.
    """

    estimate: Estimate
    used: int
    total: int

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, level: float = LEVEL) -> str:
        """Return one line of text."""
        return f"{self.estimate.sentence(level)}; {self.used:,} of {self.total:,} have all their words in the run"

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return plain values."""
        return {**self.estimate.to_dict(level), "used": self.used, "total": self.total}


def judge(posterior: "Posterior", path: str | PathLike[str], *, at: str | None = None) -> Judged:
    """Return Spearman's correlation of the cosines with human judgements, with its posterior interval.

    Parameters
    ----------
    path : path
        Lines of word, word, score, such as WordSim-353, SimLex-999 or MEN.
    at : str, optional
        The slice whose words are meant.
    """
    judgements = list(read_judgements(Path(path)))
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
    label = label_at(f"Spearman's correlation with {Path(path).stem}", at)
    estimate = Estimate(values, label, posterior.path, CORRELATION)
    return Judged(estimate, len(known), len(judgements))


def analogy_accuracy(
    posterior: "Posterior", path: str | PathLike[str], *, at: str | None = None, progress: bool = False
) -> list[Judged]:
    """Return the fraction of analogies of a test set that are answered correctly, with its posterior interval.

    Parameters
    ----------
    path : path
        Lines of four words, in sections headed by ``: name``, such as Google's ``questions-words.txt``.
    at : str, optional
        The slice whose words are meant; the answers are then words of that slice.
    progress : bool, optional
        Show a progress bar: every question is compared with all words in every draw.

    Returns
    -------
    list of Judged
        All questions first, then each section.
    """
    questions = list(read_analogies(Path(path)))
    find = word_finder(posterior, at)
    known = []
    for question in questions:
        rows = [find(word) for word in question.words]
        if None not in rows and len(set(rows)) == 4:
            known.append((question.section, rows))
    _check_enough(len(known), len(questions), path, "questions")
    asked_rows = np.array([rows for _, rows in known], dtype=np.int64)
    right = right_answers(posterior.draws, asked_rows, among=posterior.slice_rows(at), show=progress)
    sections = np.array([section for section, _ in known])
    asked = [question.section for question in questions]

    def judged(name: str, chosen: Bool, total: int) -> Judged:
        label = label_at(f"right answers, {name}", at)
        share = Estimate(right[:, :, chosen].mean(axis=2), label, posterior.path, ACCURACY)
        return Judged(share, int(chosen.sum()), total)

    whole = judged(Path(path).stem, np.ones(len(known), dtype=bool), len(questions))
    by_section = [
        judged(section or "no section", sections == section, asked.count(section))
        for section in dict.fromkeys(sections.tolist())
    ]
    return [whole, *by_section]


def spearman(values: Float64, scores: Float64) -> Float64:
    """Return Spearman's rank correlation of ``values`` (chain, draw, M) with ``scores`` (M,), (chain, draw).

    Ties have the mean of their ranks.
    """
    from scipy.stats import rankdata  # takes time to import

    one = rankdata(values, axis=-1)
    other = rankdata(scores)
    one -= one.mean(axis=-1, keepdims=True)
    other -= other.mean()
    lengths = np.sqrt(np.einsum("cdm,cdm->cd", one, one) * (other @ other))
    return np.asarray(np.einsum("cdm,m->cd", one, other) / lengths)


def right_answers(draws: "Draws", questions: Int64, *, among: Int64, show: bool = False) -> Bool:
    """Return whether the fourth word of each question (M, 4) is the nearest ``among`` some, (chain, draw, M)."""
    questions = np.searchsorted(among, questions)
    result = np.empty((draws.num_chains * draws.num_draws, len(questions)), dtype=bool)
    with show_progress("analogies", len(result), enabled=show) as advance:
        for number, rho in enumerate(each_draw(draws, "rho")):
            x = rho[among]
            norm = np.sqrt(np.einsum("vk,vk->v", x, x))
            unit = x / np.where(norm > 0.0, norm, 1.0)[:, None]
            for first in range(0, len(questions), _AT_ONCE):
                part = questions[first : first + _AT_ONCE]
                result[number, first : first + _AT_ONCE] = _nearest_of(unit, part) == part[:, 3]
            advance(1, "")
    return result.reshape(draws.num_chains, draws.num_draws, len(questions))


def _nearest_of(unit: npt.NDArray[np.floating[Any]], questions: Int64) -> Int64:
    target = unit[questions[:, 1]] - unit[questions[:, 0]] + unit[questions[:, 2]]
    cosines = target @ unit.T  # up to the length of the target, which does not change the order
    np.put_along_axis(cosines, questions[:, :3], -np.inf, axis=1)
    return np.asarray(cosines.argmax(axis=1))


def _check_enough(known: int, total: int, path: str | PathLike[str], what: str) -> None:
    if known < _FEWEST:
        raise InputError(
            f"{path}: {known} of its {total} {what} have all their words in the run; at least {_FEWEST} are "
            "needed: fit a larger vocabulary, or check that the words are spelled and stemmed alike",
            file=str(path),
        )


def _ask(
    posterior: "Posterior",
    files: list[Path],
    *,
    analogies: bool = False,
    at: str | None = None,
    progress: bool = False,
) -> list[Judged]:
    if not analogies:
        return [judge(posterior, file, at=at) for file in files]
    return [each for file in files for each in analogy_accuracy(posterior, file, at=at, progress=progress)]


QUESTION = Question(
    _ask,
    parameters={
        "files": Argument("FILE...", "Test sets."),
        "analogies": Option(
            "The files have four words per line (Google analogies), not word, word, score.", ("--analogies",)
        ),
    },
)
