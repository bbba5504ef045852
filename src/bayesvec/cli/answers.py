"""How answers are printed, and the options that commands share."""

import json
import sys
from typing import Any

import typer

from bayesvec._printable import printable

RUN = typer.Argument(..., metavar="RUN", help="The folder of a run.")
AT = typer.Option(None, "--at", metavar="SLICE", help="Slice (group or year) whose words are meant.")
LEVEL = typer.Option(0.9, help="Probability of the intervals.")
JSON = typer.Option(False, "--json", help="Print the answer as JSON.")
QUIET = typer.Option(False, "--quiet", help="Show no progress.")


def echo(text: str) -> None:
    """Print text on standard output, control characters in words as escapes."""
    typer.echo(printable(text, lines=True))


def print_json(answer: Any) -> None:
    """Print plain values as JSON."""
    echo(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=1))


def print_table(columns: list[str], cells: list[list[str]], *, plain: str) -> None:
    """Print a table, with lines on a terminal and as plain aligned text elsewhere."""
    if not sys.stdout.isatty():
        echo(plain)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", overflow="fold")  # names are never cut
    for line in cells:
        table.add_row(
            *(Text(printable(cell)) for cell in line)
        )  # Text: a word in square brackets is not markup
    Console().print(table)
