"""The one Typer application, to which each module of this package adds its command."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayesvec.cli import STOPPED as STOPPED
from bayesvec.cli.answers import echo
from bayesvec.cli.questions import command_of, make_command
from bayesvec.posterior import table

# panels of options in the help, in their order there
PANELS = ("Model", "Sampling", "Prior", "Text", "Counting", "Cluster", "Output")
MODEL, SAMPLING, PRIOR, TEXT, COUNTING, CLUSTER, OUTPUT = PANELS

# Each command is a module of this package, imported when it is called; in the order of the help.
COMMANDS = (
    *("demo", "count", "simulate", "split", "fit", "check", "score", "compare", "calibrate"),
    *("plot", "report", "explore", "export", "reproduce"),
)


def switch(name: str, help: str, panel: str = OUTPUT) -> Any:
    """Return an option without a value."""
    return typer.Option(False, name, help=help, rich_help_panel=panel)


QUIET = switch("--quiet", "Show no progress and print no summary.")
AS_JSON = switch("--json", "Print the summary as JSON.")
ENGINE = typer.Option(
    "local", help="Run on this machine, or on a Ray cluster: local or ray.", rich_help_panel=CLUSTER
)
ADDRESS = typer.Option(
    None,
    help="Ray cluster, or auto for the one of this node [default: start Ray on this machine].",
    rich_help_panel=CLUSTER,
)
WORKERS = typer.Option(
    None,
    help="Workers on the Ray cluster, each with --threads threads [default: one per node].",
    rich_help_panel=CLUSTER,
)
PROCESSES = typer.Option(
    None, help="Processes on the Ray cluster [default: one per processor].", rich_help_panel=CLUSTER
)


class Command(TyperCommand):
    """A command whose help, in plain text, groups options by ``rich_help_panel``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the panels of options, each under its name."""
        panels: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", *PANELS, "Options")}
        for param in self.get_params(ctx):
            record: Any = param.get_help_record(ctx)
            if record is not None:
                rest = "Arguments" if param.param_type_name == "argument" else "Options"
                panels[getattr(param, "rich_help_panel", None) or rest].append(record)
        for name, records in panels.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


@contextmanager
def _one_line_if_stopped() -> Iterator[None]:
    """Print a line when the user stops a command; Typer itself would end without a word."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("bayesvec: stopped\n")
        raise typer.Exit(STOPPED) from None


class Commands(TyperGroup):
    """The commands of the package, and one for each question."""

    @property
    def commands(self) -> Any:
        """All commands by name; building them imports everything."""
        return {name: self.get_command(None, name) for name in self.list_commands(None)}

    @commands.setter
    def commands(self, own: Any) -> None:
        """Ignore the commands of the modules that happen to be imported already."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*COMMANDS, *table.names()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, importing no other."""
        if cmd_name in table.names():
            return make_command(table.find(cmd_name))
        return command_of(_registered(cmd_name)) if cmd_name in COMMANDS else None

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _one_line_if_stopped():
            return super().invoke(ctx)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the arguments."""
        with _one_line_if_stopped():
            return super().make_context(*arguments, **more)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the two lists of the help, without importing a question or building a command."""
        commands = {name: _registered(name) for name in COMMANDS}
        own = {name: info.help or info.callback.__doc__ for name, info in commands.items()}
        questions = {name: table.help_of(name) for name in table.names()}
        width = max(map(len, self.list_commands(ctx)))
        for title, helps in (("Commands", own), ("Questions about a run", questions)):
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name.ljust(width), _short(help, formatter.width - 6 - width))
                        for name, help in helps.items()
                    ]
                )


def _registered(name: str) -> Any:
    """Return what Typer knows about the command of a module."""
    import_module(f"bayesvec.cli.{name}")
    return app.infos[name]


def _short(help: str | None, limit: int) -> str:
    return TyperCommand(None, help=help).get_short_help_str(limit)


class _App(typer.Typer):
    """An application that keeps its commands apart: Typer would build all of them on each call, to use one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.infos: dict[str, Any] = {}  # what Typer knows about each command, by name

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        add = super().command(name, **{"cls": Command} | options)

        def add_apart(function: Callable[..., Any]) -> Callable[..., Any]:
            add(function)
            self.infos[name or str(getattr(function, "__name__", ""))] = self.registered_commands.pop()
            return function

        return add_apart


app = _App(
    name="bayesvec",
    cls=Commands,
    help="Word embeddings that know how sure they are.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help as plain text: square brackets are not markup
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from bayesvec import __version__

        echo(f"bayesvec {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass
