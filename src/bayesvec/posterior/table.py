"""The table of questions: each is a module in `questions/`, with one record called ``QUESTION``.

The name of the module is the name of the command, `bayesvec NAME`, and of the method, `Posterior.NAME`; the first
line of its docstring is the help. Both are known without importing the module, so `bayesvec --help` stays fast.
`register` adds a question from outside the package.
"""

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesvec.errors import OptionError
from bayesvec.posterior import questions

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.estimates.table import Table

_SUMMARY = re.compile(r'r?"""(.+?)(?:"""|$)', re.MULTILINE)  # the first line of a module

Asked = Mapping[
    str, Any
]  # what a command was given, by parameter; with `level`, unless the answer has no intervals


class Argument(NamedTuple):
    """A parameter that a command takes by position."""

    metavar: str
    help: str = ""
    label: str = ""  # its name in forms; from the parameter's name if empty


class Option(NamedTuple):
    """A parameter that a command takes by name."""

    help: str
    names: tuple[str, ...] = ()  # such as --at; from the parameter's name if empty
    metavar: str | None = None
    label: str = ""
    choices: tuple[str, ...] = ()  # the values that forms offer; any if empty


class Term(NamedTuple):
    """A quantity that users can write, such as ``cosine(tax, freedom)``."""

    form: str
    sizes: tuple[int | None, ...]  # number of words in each part; None for any
    evaluate: "Callable[..., Estimate]"  # (posterior, parts, at), the parts as text


COMMON: dict[str, Argument | Option] = {
    "word": Argument("WORD", "A word.", "Word"),
    "other": Argument("OTHER", "Another word.", "Other word"),
    "at": Option("Slice (group or year) whose words are meant.", ("--at",), "SLICE", "Slice"),
    "level": Option("Probability of the intervals.", label="Level of the intervals"),
    "threads": Option("Threads (default: one per processor)."),
}


def sentences(answer: Any, asked: Asked) -> "Iterable[str | Table[Any]]":
    """Return an answer as it is printed: estimates as one line each, a table as it is."""
    from bayesvec.estimates.table import Table

    if isinstance(answer, Table):
        return [answer]
    estimates = answer if isinstance(answer, list) else [answer]
    _measure(estimates)
    return [each.sentence(asked["level"]) for each in estimates]


def plain_values(answer: Any, asked: Asked) -> Any:
    """Return an answer as it is written to JSON."""
    from bayesvec.estimates.table import Table

    if isinstance(answer, Table):
        return {**asked, "rows": answer.to_dict()}
    if isinstance(answer, list):
        _measure(answer)
        return [each.to_dict(asked["level"]) for each in answer]
    return answer.to_dict(asked["level"])


def _measure(answers: list[Any]) -> None:
    """Compute R-hat and ESS of several estimates at once; a registered question may return other things."""
    from bayesvec.estimates.estimate import Estimate, measure_together

    if len(answers) > 1 and all(isinstance(each, Estimate) for each in answers):
        measure_together(answers)


@dataclass(frozen=True)
class Question:
    """A question and everything that the package needs to know about it.

    Attributes
    ----------
    ask : callable
        Takes the Posterior and the question's parameters, and returns the answer. Parameters without a default are
        arguments of the command, others options; ``progress`` becomes ``--quiet``.
    name : str
        Name of the command and of the method; the module's name (of a registered question, the function's).
    help : str
        One line; the first of the module's docstring (of a registered question, the function's).
    parameters : mapping of str to Argument or Option
        How the command takes a parameter where that differs from `COMMON` and from the rule above.
    lines : callable
        Returns the answer as lines and tables to print.
    to_json : callable
        Returns the answer as plain values.
    intervals : bool
        Whether the command takes ``--level``.
    terms : mapping of str to Term
        Quantities that the question adds to those users can write.
    tells_rare : bool
        Whether the answer itself names the words that are rare in their slice; otherwise the command does.
    """

    ask: Callable[..., Any]
    name: str = ""
    help: str = ""
    parameters: Mapping[str, Argument | Option] = field(default_factory=dict)
    lines: "Callable[[Any, Asked], Iterable[str | Table[Any]]]" = sentences
    to_json: Callable[[Any, Asked], Any] = plain_values
    intervals: bool = True
    terms: Mapping[str, Term] = field(default_factory=dict)
    tells_rare: bool = False


_REGISTERED: dict[str, Question] = {}


def register(question: Question) -> Question:
    """Add a question: from now on it is a command of `bayesvec` and a method of every Posterior.

    Parameters
    ----------
    question : Question
        Its name and help come from the function if they are not given.
    """
    named = replace(
        question,
        name=question.name or question.ask.__name__,
        help=question.help or (question.ask.__doc__ or "").strip().partition("\n")[0],
    )
    if named.name in names():
        raise OptionError(f"there is already a question {named.name!r}; choose another name")
    _REGISTERED[named.name] = named
    return named


def unregister(name: str) -> None:
    """Remove a question that was registered."""
    _REGISTERED.pop(name, None)


def names() -> tuple[str, ...]:
    """Return the names of all questions."""
    return *modules(), *_REGISTERED


def find(name: str) -> Question:
    """Return a question by its name."""
    return _REGISTERED[name] if name in _REGISTERED else _load(name)


def help_of(name: str) -> str:
    """Return the help of a question, without importing its module."""
    return _REGISTERED[name].help if name in _REGISTERED else _first_line(name)


def terms() -> dict[str, Term]:
    """Return the quantities that users can write, by the name that they begin with."""
    return {kind: term for name in names() for kind, term in find(name).terms.items()}


@cache
def modules() -> dict[str, Any]:
    """Return what finds each module of a question, by the module's name."""
    return {module.name: module.module_finder for module in pkgutil.iter_modules(questions.__path__)}


@cache
def _load(name: str) -> Question:
    module = import_module(f"{questions.__name__}.{name}")
    question: Question = module.QUESTION
    return replace(question, name=name, help=(module.__doc__ or "").partition("\n")[0])


@cache
def _first_line(name: str) -> str:
    full = f"{questions.__name__}.{name}"
    found = _SUMMARY.match(modules()[name].find_spec(full).loader.get_source(full))
    return found[1] if found else ""
