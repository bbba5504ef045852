"""The command line: `bayesvec COMMAND`. Each command imports what it needs when it runs."""

import sys

import typer

app = typer.Typer(
    name="bayesvec",
    help="Word embeddings that know how sure they are.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    if version:
        from bayesvec import __version__

        typer.echo(f"bayesvec {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; what the user can mend is one line on standard error and status 2."""
    from bayesvec.errors import BayesvecError

    try:
        app()
    except BayesvecError as error:
        sys.stderr.write(f"bayesvec: {error}\n")
        sys.exit(2)
