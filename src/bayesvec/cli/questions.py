"""The commands of the table of questions, each built from its record when it is called."""

import inspect
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec._printable import printable
from bayesvec.cli.answers import JSON, LEVEL, QUIET, RUN, echo, print_json, print_table
from bayesvec.errors import UnknownWordError
from bayesvec.posterior import table
from bayesvec.posterior.table import Argument, Option, Question

if TYPE_CHECKING:
    from bayesvec.estimates.table import Table
    from bayesvec.posterior.posterior import Posterior

Parameter = inspect.Parameter


def make_command(question: Question) -> Any:
    """Return the command that asks a question of a run and prints the answer."""

    def ask(run: Path, as_json: bool, **given: Any) -> None:
        from bayesvec.estimates.intervals import tails
        from bayesvec.posterior.posterior import open_posterior

        asked = dict(given)
        if "level" in given:
            tails(given["level"])  # raises before the work
        if "quiet" in given:
            given["progress"] = not given.pop("quiet")
        if "level" not in taken:
            given.pop("level", None)
        posterior = open_posterior(run)
        with posterior.noting_words() as named:
            try:
                answers = {"": (question.ask(posterior, **given), asked)}
            except UnknownWordError as error:
                if given.get("at", "") is not None or not posterior.slices or error.word not in posterior:
                    raise
                answers = dict(_side_by_side(question, posterior, given, asked))
                if not answers:
                    raise
        if as_json:
            values = {name: question.to_json(*each) for name, each in answers.items()}
            print_json(values.get("", {"slices": values}))
        else:
            for answer in answers.values():
                _print(question.lines(*answer))
        if not question.tells_rare:
            _note_rare(posterior, named)

    taken = inspect.signature(question.ask).parameters
    parameters = list(_parameters(question))
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {each.name: each.annotation for each in parameters}
    return command_of(typer.models.CommandInfo(question.name, help=question.help, callback=ask))


def _side_by_side(
    question: Question, posterior: "Posterior", given: dict[str, Any], asked: dict[str, Any]
) -> Iterator[tuple[str, tuple[Any, dict[str, Any]]]]:
    """Yield the answers of the slices that have the words, for words given without a slice."""
    for name in posterior.slices:
        try:
            answer = question.ask(posterior, **given | {"at": name})
        except UnknownWordError as error:
            typer.echo(f"bayesvec: nothing at {printable(name)}: {printable(str(error))}", err=True)
        else:
            yield name, (answer, asked | {"at": name})


def _note_rare(posterior: "Posterior", named: set[int]) -> None:
    """Name the words that are rare in their slice."""
    from bayesvec._progress import tell
    from bayesvec.posterior.slices import few_note, rarely_seen

    if rare := rarely_seen(posterior, named):
        tell(few_note(rare))


def _print(parts: "Iterable[str | Table[Any]]") -> None:
    for part in parts:
        if isinstance(part, str):
            echo(part)
        else:
            echo(part.title)
            print_table(list(part.columns), part.texts(), plain=str(part))


def command_of(info: typer.models.CommandInfo) -> Any:
    """Return a single command, as Typer builds it."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.registered_commands.append(info)
    return typer.main.get_command(single)


def _parameters(question: Question) -> Iterator[Parameter]:
    """Yield the parameters of a command, each with its Typer argument or option as default."""
    yield Parameter("run", Parameter.KEYWORD_ONLY, default=RUN, annotation=Path)
    types = typing.get_type_hints(question.ask, localns={"Posterior": object})
    _, *own = inspect.signature(question.ask).parameters.values()
    for each in own:
        if each.name != "progress":
            described = question.parameters.get(each.name) or table.COMMON.get(each.name)
            value = _typer_value(each, described)
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=value, annotation=types[each.name])
    names = {each.name for each in own}
    if question.intervals and "level" not in names:
        yield Parameter("level", Parameter.KEYWORD_ONLY, default=LEVEL, annotation=float)
    yield Parameter("as_json", Parameter.KEYWORD_ONLY, default=JSON, annotation=bool)
    if "progress" in names:
        yield Parameter("quiet", Parameter.KEYWORD_ONLY, default=QUIET, annotation=bool)


def _typer_value(parameter: Parameter, described: Argument | Option | None) -> Any:
    required = parameter.default is Parameter.empty
    default = ... if required else parameter.default
    if described is None:
        by_position = required and parameter.kind is not Parameter.KEYWORD_ONLY
        described = Argument(parameter.name.upper()) if by_position else Option("")
    if isinstance(described, Argument):
        return typer.Argument(default, metavar=described.metavar, help=described.help or None)
    return typer.Option(default, *described.names, metavar=described.metavar, help=described.help or None)
