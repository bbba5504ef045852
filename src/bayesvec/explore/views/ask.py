"""Any question of the table, by a form made from its parameters."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.explore import parameters
from bayesvec.explore.commands import of_question, python
from bayesvec.posterior import table
from bayesvec.posterior.table import Argument, Option, Question

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown

# They read files of test sets, or solve for minutes: the command line is the place for them.
LEFT_OUT = ("judge", "laplace")
_BY_METAVAR = {"SLICE": "slice", "SLICE,SLICE": "slices", "WORDS": "list", "WORD": "word"}


def names() -> list[str]:
    """Return the questions that can be asked on the page."""
    return [name for name in table.names() if name not in LEFT_OUT]


def described() -> list[dict[str, Any]]:
    """Return the questions with their parameters, for the forms of the page."""
    return [_described(name) for name in names()]


def _described(name: str) -> dict[str, Any]:
    fields = list(_fields(table.find(name)))
    labels = {f"--{field['name'].replace('_', '-')}": f"“{field['label']}”" for field in fields}
    # on the page an option is known by its label
    text = re.sub(r"--[\w-]+", lambda found: labels.get(found[0], found[0]), table.help_of(name))
    return {"name": name, "label": _sentence_case(name), "help": text, "parameters": fields}


def _fields(question: Question) -> Iterator[dict[str, Any]]:
    for name, each in parameters.of(question.ask).items():
        about = question.parameters.get(name) or table.COMMON.get(name)
        needed = isinstance(about, Argument) and not about.metavar.startswith("[")
        given = each.default is not each.empty
        yield {
            "name": name,
            "label": (about.label if about else "") or _sentence_case(name),
            "help": about.help if about else "",
            "kind": _kind(parameters.kinds(each.annotation)[0], about, required=not given),
            "choices": about.choices if isinstance(about, Option) else (),
            "required": needed or not given,
            "default": each.default if given else None,
        }


def _kind(kind: Any, about: Argument | Option | None, *, required: bool) -> str:
    """Return what is typed into a field: words, quantities, a slice, a number, ..."""
    metavar = (about.metavar if about else None) or ""
    if "QUANTITY" in metavar:
        return "quantities"
    if kind not in (str, int, float, bool):
        return "words"
    return _BY_METAVAR.get(metavar) or ("word" if required and kind is str else kind.__name__)


def _sentence_case(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def ask(shown: "Shown", question: str, given: dict[str, list[str]]) -> dict[str, Any]:
    """Ask a question by its name; the answer is what the command prints, as text and as JSON."""
    if question not in names():
        raise OptionError(f"there is no question {question!r} here; there are {', '.join(names())}")
    record = table.find(question)
    known = parameters.of(record.ask)
    levels = {name: texts for name, texts in given.items() if name == "level" and name not in known}
    values = parameters.read(known, {name: texts for name, texts in given.items() if name not in levels})
    defaults = {name: each.default for name, each in known.items() if each.default is not each.empty}
    asked = {**defaults, **values}
    if record.intervals:
        asked.setdefault("level", float(levels["level"][0]) if levels else LEVEL)
        tails(asked["level"])
    answer = record.ask(shown.posterior, **values)
    parts: list[dict[str, Any]] = []
    for part in record.lines(answer, asked):
        if isinstance(part, str):
            parts.append({"line": part})
        else:
            parts.append(
                {
                    "title": part.title,
                    "columns": list(part.columns),
                    "rows": part.to_dict(),
                    "texts": part.texts(),
                }
            )
    return {
        "answer": record.to_json(answer, asked),
        "parts": parts,
        "shell": [of_question(shown.posterior.path, question, {**values, **{k: asked[k] for k in levels}})],
        "python": python(
            shown.posterior.path,
            "from bayesvec.posterior import table",
            f"table.find({question!r}).ask(post, {', '.join(f'{k}={v!r}' for k, v in values.items())})",
        ),
    }
