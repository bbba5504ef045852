"""The one Typer application, to which each module of this package adds its commands."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

STOPPED = 130  # exit status of work that the user stopped, as in shells

# panels of options in the help, in their order there
PANELS = ("Model", "Sampling", "Prior", "Text", "Counting", "Output")
MODEL, SAMPLING, PRIOR, TEXT, COUNTING, OUTPUT = PANELS


def switch(name: str, help: str, panel: str = OUTPUT) -> Any:
    """Return an option without a value."""
    return typer.Option(False, name, help=help, rich_help_panel=panel)


QUIET = switch("--quiet", "Show no progress and print no summary.")
AS_JSON = switch("--json", "Print the summary as JSON.")


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


class _App(typer.Typer):
    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        return super().command(name, **{"cls": Command} | options)


app = _App(
    name="bayesvec",
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

        typer.echo(f"bayesvec {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass
