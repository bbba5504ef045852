"""The table of priors: one record for each family, found in the modules of this folder.

A module with a record named ``FAMILY`` is a family of priors. The options of ``bayesvec fit --prior``, the sentence
in the report and the options it prints to make the prior again all come from that record.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple

from bayesvec.errors import OptionError
from bayesvec.priors.files import check_readable

Recipe = Mapping[
    str, Any
]  # how a prior was made, in plain values: its kind, its arguments and what came of them

DEFAULT = "covariance"
PLAIN = "spherical"  # the prior that is given by its precision alone


class Option(NamedTuple):
    """An option of ``bayesvec fit`` that a prior takes.

    Attributes
    ----------
    argument : str
        The argument of the function that makes the prior.
    help : str
        A noun phrase, without its default.
    kind : {"precision", "number", "file", "list", "flag"}
        A number or ``learn``; a number; the path of a file; words between commas; or a switch.
    name : str
        The name on the command line, with underscores; ``argument`` if empty.
    """

    argument: str
    help: str
    kind: Literal["precision", "number", "file", "list", "flag"] = "precision"
    name: str = ""

    @property
    def key(self) -> str:
        """Its name on the command line, with underscores."""
        return self.name or self.argument

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.key.replace('_', '-')}"


PRECISION = Option(
    "precision",
    "Precision of the prior, the spherical one without --prior: a number, or learn",
    name="prior_precision",
)
CONTEXT_PRECISION = Option("context_precision", "Precision of the contexts: a number, or learn")


class Remade(NamedTuple):
    """Options that make a prior again, and what the names in capitals among them stand for."""

    words: list[str]
    notes: list[str]


@cache
def _parameters(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function; the help of `fit` asks for them many times."""
    return inspect.signature(make).parameters


def arguments_of(recipe: Recipe) -> dict[str, Any] | None:
    """Return the arguments that a recipe keeps under their own names."""
    parameters = _parameters(find(recipe["kind"]).make)
    return {name: recipe[name] for name in parameters if name in recipe}


@dataclass(frozen=True)
class Family:
    """A family of priors.

    Attributes
    ----------
    name : str
        Its name after ``--prior``, and the ``kind`` in its recipes.
    summary : str
        One sentence, for the help and the documentation.
    make : callable
        Returns a `Prior`; called with ``counts`` and ``dim``, where it takes them, and its options.
    options : tuple of Option
        The arguments that have an option on the command line.
    sentence : callable
        Given a recipe, states the prior in the words of a report.
    check : callable, optional
        Given ``dim`` and the arguments by name, raises if they are wrong whatever the counts are. Without it,
        ``make`` itself is called if it takes no counts.
    needs_groups : bool
        Whether it is for counts with groups only.
    arguments : callable, optional
        Given a recipe, returns the arguments of ``make``, or None if no options can make the prior again.
    example : str
        Options that make it, shown in the documentation and run by the tests, in a folder with the files
        ``links.tsv``, ``glove.txt`` and ``axes.tsv``.
    """

    name: str
    summary: str
    make: Callable[..., Any]
    options: tuple[Option, ...]
    sentence: Callable[[Recipe], str]
    arguments: Callable[[Recipe], dict[str, Any] | None] = arguments_of
    example: str = ""
    check: Callable[..., None] | None = None
    needs_groups: bool = False

    @property
    def command(self) -> str:
        """The options of the example, with the prior itself."""
        return f"--prior {self.name} {self.example}".rstrip()

    @property
    def takes_counts(self) -> bool:
        """Whether the prior depends on the counts."""
        return "counts" in _parameters(self.make)

    def default(self, argument: str) -> Any:
        """Return the default of an argument; `inspect.Parameter.empty` if it must be given."""
        return _parameters(self.make)[argument].default

    def call(self, given: Mapping[str, Any], **data: Any) -> Any:
        """Make the prior with the arguments ``given`` and what it takes of the ``data`` (counts, dim)."""
        parameters = _parameters(self.make)
        return self.make(**{name: value for name, value in data.items() if name in parameters}, **given)

    def check_arguments(self, given: Mapping[str, Any], dim: int) -> None:
        """Raise if the arguments ``given`` are wrong, as far as that can be known without the counts."""
        for option in self.options:
            if option.kind == "file" and option.argument in given:
                check_readable(given[option.argument])
        if self.check is not None:
            self.check(dim=dim, **given)
        elif not self.takes_counts:
            self.call(given, dim=dim)

    def remake(self, recipe: Recipe) -> Remade | None:
        """Return the options that make the prior of a recipe again; None if there are none."""
        arguments = self.arguments(recipe)
        options = {option.argument: option for option in self.options}
        words, notes = [] if self.name == PLAIN else ["--prior", self.name], list[str]()
        for argument, value in ({} if arguments is None else arguments).items():
            option = options.get(argument)
            if value is None or value is False or (option is None and value == self.default(argument)):
                continue
            if option is None or (option.kind == "precision" and isinstance(value, Mapping)):
                return None  # only Python can set it, such as another hyperprior
            words.append(option.flag)
            if option.kind == "file":
                file = recipe.get("files", {}).get(argument)
                words.append(file["path"] if file else argument.upper())
                if not file:
                    source = f" ({value})" if isinstance(value, str) else ""
                    notes.append(
                        f"{argument.upper()} stands for a file with what was given in Python{source}"
                    )
            elif option.kind == "list":
                words.append(",".join(value))
            elif option.kind in ("precision", "number"):
                words.append(repr(value) if isinstance(value, float) else str(value))
        return None if arguments is None else Remade(words, notes)


_registered: dict[str, Family] = {}


def register(family: Family) -> None:
    """Add a family of priors from outside; its name must be new."""
    if family.name in families():
        raise OptionError(f"there is already a prior named {family.name!r}; choose another name")
    _registered[family.name] = family


def families() -> dict[str, Family]:
    """Return all families of priors by name."""
    return found() | _registered


def find(name: str) -> Family:
    """Return a family of priors by its name, or raise with those that exist."""
    known = families()
    if name not in known:
        raise OptionError(f"prior is {name!r}; it must be one of {', '.join(known)}")
    return known[name]


@cache
def found() -> dict[str, Family]:
    """Return the families of priors in the modules of this folder, by name."""
    import bayesvec.priors as folder

    modules = [import_module(f"{folder.__name__}.{each.name}") for each in iter_modules(folder.__path__)]
    records = [module.FAMILY for module in modules if hasattr(module, "FAMILY")]
    return {record.name: record for record in sorted(records, key=lambda record: record.name)}


def recipe_of(settings: Mapping[str, Any]) -> Recipe:
    """Return the recipe of the prior of a run; empty if no family made it."""
    if settings.get("prior_precision") is not None:
        return {"kind": PLAIN, "precision": settings["prior_precision"]}
    recipe: Recipe = settings.get("prior_recipe") or {}
    return recipe if recipe.get("kind") in families() else {}


def sentence(settings: Mapping[str, Any]) -> str:
    """State the prior of a run in the words of a report."""
    if recipe := recipe_of(settings):
        return find(recipe["kind"]).sentence(recipe)
    return f"A Gaussian prior that was given in Python (fingerprint {settings.get('prior')})."


def remake(settings: Mapping[str, Any]) -> Remade | None:
    """Return the options that make the prior of a run again; None if there are none."""
    recipe = recipe_of(settings)
    return find(recipe["kind"]).remake(recipe) if recipe else None
