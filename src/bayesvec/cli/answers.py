"""How answers are printed, and the options that all questions share."""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.errors import InputError

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate, Table

RUN = typer.Argument(..., metavar="RUN", help="The folder of a run.")
WORD = typer.Argument(..., metavar="WORD", help="A word.")
AT = typer.Option(None, "--at", metavar="SLICE", help="The group or year whose words are meant.")
LEVEL = typer.Option(0.9, help="Probability of the intervals.")
JSON = typer.Option(False, "--json", help="Print the answer as JSON.")
FILE = typer.Option(
    None,
    "--file",
    metavar="FILE",
    help="Read pairs of words from a file, one a line, a tab or a space between.",
)


def print_estimates(estimates: "list[Estimate]", level: float, *, as_json: bool) -> None:
    """Print a line for each estimate."""
    if as_json:
        print_json([estimate.to_dict(level) for estimate in estimates])
    else:
        for estimate in estimates:
            typer.echo(estimate.sentence(level))


def told_with(sentence: str, name: str, probability: float, form: str = ".3g") -> str:
    """Add a probability to a sentence; one point has none."""
    return sentence if math.isnan(probability) else f"{sentence}, {name} {probability:{form}}"


def print_json(answer: Any) -> None:
    """Print plain values as JSON."""
    typer.echo(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=1))


def print_answer(table: "Table[Any]", name: str, *, as_json: bool, **asked: Any) -> None:
    """Print a table with its title; as JSON with what was asked."""
    if as_json:
        print_json({**asked, name: table.to_dict()})
    else:
        typer.echo(table.title)
        print_table(list(table.columns), table.texts(), plain=str(table))


def print_table(columns: list[str], cells: list[list[str]], *, plain: str) -> None:
    """Print a table, with lines on a terminal and as plain aligned text elsewhere."""
    if not sys.stdout.isatty():
        typer.echo(plain)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left")
    for line in cells:
        table.add_row(*map(Text, line))  # Text: a word in square brackets is not markup
    Console().print(table)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read two words a line, with a tab between or, if there is none, a space."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {reason}", file=str(path)) from error
    pairs = []
    for number, line in enumerate(lines, start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if not words:
            continue
        if len(words) != 2:
            message = f"{path}, line {number}: got {len(words)} words; a line has two, with a tab between"
            raise InputError(message, file=str(path), line=number)
        pairs.append((words[0].strip(), words[1].strip()))
    if not pairs:
        raise InputError(
            f"{path} has no pairs of words; write two a line, with a tab between", file=str(path)
        )
    return pairs
