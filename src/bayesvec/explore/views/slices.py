"""Groups and time: quantities over the slices, and the words that differ most between two of them."""

from typing import TYPE_CHECKING, Any

from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL
from bayesvec.explore.commands import call, of_question, python
from bayesvec.explore.views.compare import MOST_TERMS
from bayesvec.explore.views.pictures import inner_intervals, inner_level
from bayesvec.posterior import table
from bayesvec.posterior.claims import sign_line

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown


def trajectories(
    shown: "Shown",
    term: list[str],
    first: str | None = None,
    last: str | None = None,
    level: float = LEVEL,
) -> dict[str, Any]:
    """Return quantities in every slice, with their change between two slices."""
    if len(term) > MOST_TERMS:
        raise OptionError(f"got {len(term)} quantities; follow at most {MOST_TERMS} at once")
    posterior, question = shown.posterior, table.find("drift")
    given = {"terms": term, "first": first, "last": last, "level": level}
    answer = question.ask(posterior, term, first=first, last=last, level=level)
    return {
        "answer": question.to_json(answer, given),
        "changes": [sign_line(each.change, level) for each in answer if each.change is not None],
        "notes": [f"{each.path.label}: {each.path.few_sentence()}" for each in answer if each.path.few],
        "inner": [inner_intervals(each.path.estimates, level) for each in answer],
        "inner_level": inner_level(level),
        "slices": list(answer[0].path.every_slice),
        "shell": [of_question(posterior.path, "drift", given)],
        "python": python(posterior.path, *(call("trajectory", each) for each in term)),
    }


def drift(
    shown: "Shown",
    first: str | None = None,
    last: str | None = None,
    n: int | None = None,
    by: str = "direction",
    level: float = LEVEL,
) -> dict[str, Any]:
    """Return the words that differ most between two slices."""
    posterior, question = shown.posterior, table.find("drift")
    given = {"first": first, "last": last, "n": n, "by": by, "level": level}
    answer = posterior.drift(first, last, n, by=by, level=level)
    return {
        "answer": question.to_json(answer, given),
        "title": answer.table.title,
        "texts": answer.table.texts(),
        "sentence": answer.sentence(),
        "notes": answer.notes,
        "measure": answer.measure,
        "shell": [of_question(posterior.path, "drift", given)],
        "python": python(posterior.path, call("drift", first=first, last=last, n=n, by=by, level=level)),
    }
