"""The one Typer application, on which each module of this package hangs its commands."""

import typer

STOPPED = 130  # the status of work that was stopped by the user, as shells have it

app = typer.Typer(
    name="bayesvec",
    help="Word embeddings that know how sure they are.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help as plain text: square brackets mean what they say
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
