"""The neighbours of a word: a forest of cosines."""

from typing import TYPE_CHECKING, Any

from bayesvec.estimates.intervals import LEVEL
from bayesvec.explore.commands import call, of_question, python
from bayesvec.explore.views.pictures import inner_intervals, inner_level
from bayesvec.explore.views.words import counts
from bayesvec.posterior import table

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown


def neighbors(
    shown: "Shown", word: str, n: int = 10, at: str | None = None, level: float = LEVEL
) -> dict[str, Any]:
    """Return the nearest words with two intervals each."""
    posterior = shown.posterior
    given = {"word": word, "n": n, "at": at, "level": level}
    question = table.find("neighbors")
    found = posterior.neighbors(word, n, at=at, level=level)
    names = found["word"]
    cosines = posterior.similarity(word, names, at=at)
    seen = counts(posterior)
    rows = posterior.rows([word, *names], at=at)
    return {
        "answer": question.to_json(found, given),
        "title": found.title,
        "texts": found.texts(),
        "inner": inner_intervals(cosines, level),
        "inner_level": inner_level(level),
        "seen": None if seen is None else seen[rows].tolist(),
        "shell": [of_question(posterior.path, "neighbors", given)],
        "python": python(posterior.path, call("neighbors", word, n=n, at=at, level=level)),
    }
