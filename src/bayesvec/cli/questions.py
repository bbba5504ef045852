"""The commands of the table of questions, each built from its record when it is called."""

import inspect
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from bayesvec.cli.answers import JSON, LEVEL, QUIET, RUN, echo, print_json, print_table
from bayesvec.posterior import table
from bayesvec.posterior.table import Argument, Option, Question

Parameter = inspect.Parameter


def make_command(question: Question) -> Any:
    """Return the command that asks a question of a run and prints the answer."""

    def ask(run: Path, as_json: bool, **given: Any) -> None:
        from bayesvec.estimates.estimate import tails
        from bayesvec.posterior.posterior import open_posterior

        asked = dict(given)
        if "level" in given:
            tails(given["level"])  # raises before the work
        if "quiet" in given:
            given["progress"] = not given.pop("quiet")
        if "level" not in taken:
            given.pop("level", None)
        answer = question.ask(open_posterior(run), **given)
        if as_json:
            print_json(question.to_json(answer, asked))
            return
        for part in question.lines(answer, asked):
            if isinstance(part, str):
                echo(part)
            else:
                echo(part.title)
                print_table(list(part.columns), part.texts(), plain=str(part))

    taken = inspect.signature(question.ask).parameters
    parameters = list(_parameters(question))
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {each.name: each.annotation for each in parameters}
    return command_of(typer.models.CommandInfo(question.name, help=question.help, callback=ask))


def command_of(info: typer.models.CommandInfo) -> Any:
    """Return a command alone, as Typer builds it."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.registered_commands.append(info)
    return typer.main.get_command(alone)


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
