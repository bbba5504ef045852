"""Quantities side by side: their densities overlaid, and their differences with P(above 0)."""

from typing import TYPE_CHECKING, Any

from bayesvec.errors import OptionError, UnknownWordError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.explore.commands import of_question, python, shell
from bayesvec.explore.views.pictures import drawn
from bayesvec.posterior import table
from bayesvec.posterior.questions.contrast import contrast
from bayesvec.posterior.terms import evaluate

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown
    from bayesvec.posterior.posterior import Posterior

MOST_TERMS = 12
MOST_RUNS = 6


def compare(shown: "Shown", term: list[str], level: float = LEVEL) -> dict[str, Any]:
    """Return quantities in each run, and the first of them minus each of the others."""
    if len(term) > MOST_TERMS:
        raise OptionError(f"got {len(term)} quantities; compare at most {MOST_TERMS} at once")
    if len(shown.every) > MOST_RUNS:
        raise OptionError(f"got {len(shown.every)} runs; compare at most {MOST_RUNS} at once")
    path = shown.posterior.path
    runs = [_of_run(shown.name, shown.posterior, term, level)]
    for name, posterior in shown.beside.items():
        try:
            runs.append(_of_run(name, posterior, term, level))
        except (UnknownWordError, OptionError) as error:  # another vocabulary, or no slices
            runs.append({"run": name, "estimates": [], "differences": None, "note": str(error)})
    commands = [shell(path, "plot", ["density", *term], {"--level": level, "--out": "density.svg"})]
    lines = [
        "from bayesvec.posterior.terms import evaluate",
        f"estimates = [evaluate(post, term) for term in {term!r}]",
    ]
    if len(term) > 1:
        given = {"terms": _pairs(term), "level": level}
        commands.insert(0, of_question(path, "contrast", given))
        lines.append("differences = [estimates[0] - other for other in estimates[1:]]")
    return {"terms": term, "runs": runs, "shell": commands, "python": python(path, *lines)}


def _of_run(name: str, posterior: "Posterior", terms: list[str], level: float) -> dict[str, Any]:
    values = [evaluate(posterior, term) for term in terms]
    axes = {each.quantity.axis if each.quantity else "value" for each in values}
    found: dict[str, Any] = {
        "run": name,
        "axis": axes.pop() if len(axes) == 1 else "value",
        "estimates": [drawn(each, level) for each in values],
        "differences": None,
        "note": "",
    }
    if len(values) > 1:
        answer = contrast(posterior, _pairs(terms), level=level)
        found["differences"] = table.find("contrast").to_json(answer, {"level": level})
        found["curves"] = [drawn(each, level) for each in _shortened(answer.differences, terms)]
        found["sentence"] = answer.claims.sentence()
    return found


def _shortened(differences: list[Estimate], terms: list[str]) -> list[Estimate]:
    return [
        Estimate(each.draws, f"{terms[0]} − {other}", each.run)  # noqa: RUF001
        for each, other in zip(differences, terms[1:], strict=True)
    ]


def _pairs(terms: list[str]) -> list[str]:
    return [each for other in terms[1:] for each in (terms[0], other)]
