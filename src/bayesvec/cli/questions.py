"""`bayesvec similarity`, `cooccurrence`, `neighbors`, `check` and `score`: questions to a run."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.cli.app import app

if TYPE_CHECKING:
    from bayesvec.check import Check
    from bayesvec.estimate import Estimate

RUN = typer.Argument(..., metavar="RUN", help="The folder of a run.")
JSON = typer.Option(False, "--json", help="Print the answer as JSON.")
LEVEL = typer.Option(0.9, help="Probability of the intervals.")


@app.command()
def similarity(
    run: Path = RUN,
    word: str = typer.Argument(..., metavar="WORD", help="A word."),
    others: list[str] = typer.Argument(..., metavar="WORD...", help="One or more words to compare it with."),
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the cosine between a word and others, with its interval."""
    from bayesvec.posterior import open_posterior

    _print_estimates(open_posterior(run).similarity(word, others), level, as_json=as_json)


@app.command()
def cooccurrence(
    run: Path = RUN,
    word: str = typer.Argument(..., metavar="WORD", help="A word."),
    contexts: list[str] = typer.Argument(..., metavar="CONTEXT...", help="One or more contexts."),
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Give the probability that a word with a context is a positive sample, with its interval."""
    from bayesvec.posterior import open_posterior

    _print_estimates(open_posterior(run).cooccurrence(word, contexts), level, as_json=as_json)


@app.command()
def neighbors(
    run: Path = RUN,
    word: str = typer.Argument(..., metavar="WORD", help="A word."),
    n: int = typer.Option(10, "-n", help="How many neighbours."),
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """List the nearest words, each with its interval and its probability of being among the nearest."""
    from bayesvec.posterior import open_posterior

    table = open_posterior(run).neighbors(word, n, level=level)
    if as_json:
        _print_json({"word": word, "n": n, "level": level, "neighbors": table.to_dict()})
    else:
        typer.echo(table.title)
        _print_table(list(table.columns), table.texts(), plain=str(table))


@app.command()
def check(
    run: Path = RUN,
    parameters: bool = typer.Option(False, "--parameters", help="Look at coordinates of the vectors too."),
    as_json: bool = JSON,
) -> None:
    """Say whether a run is long enough; status 1 if it is not or cannot be known, with what to do."""
    from bayesvec.posterior import open_posterior

    result = open_posterior(run).check(parameters=parameters)
    if as_json:
        _print_json(result.to_dict())
    elif sys.stdout.isatty() and result.diagnoses:
        typer.echo("\n".join(result.head()))
        _print_table(*_check_cells(result), plain="")
        typer.echo(result.verdict)
    else:
        typer.echo(str(result))
    if not result.ok:
        raise typer.Exit(1)


@app.command()
def score(
    run: Path = RUN,
    holdout: Path = typer.Option(..., metavar="COUNTS", help="Counts that were not fitted."),
    mode: Path | None = typer.Option(None, "--map", metavar="RUN", help="A run of method map to score too."),
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Give the log likelihood of held-out counts, averaged over observations."""
    from bayesvec.counts_store import open_counts
    from bayesvec.posterior import open_posterior

    point = None if mode is None else open_posterior(mode)
    result = open_posterior(run).score(open_counts(holdout), map=point, progress=not quiet)
    if as_json:
        _print_json(result.to_dict())
    else:
        typer.echo(str(result))


def _print_estimates(estimates: "list[Estimate]", level: float, *, as_json: bool) -> None:
    if as_json:
        _print_json([estimate.to_dict(level) for estimate in estimates])
    else:
        for estimate in estimates:
            typer.echo(estimate.sentence(level))


def _print_json(answer: Any) -> None:
    typer.echo(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=1))


def _print_table(columns: list[str], cells: list[list[str]], *, plain: str) -> None:
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


def _check_cells(result: "Check") -> tuple[list[str], list[list[str]]]:
    columns = ["of", "R-hat", "worst", "ESS", "worst", "tail ESS", "worst", "worst of all"]
    cells = []
    for each in result.diagnoses:
        rhats = [f"{value:.2f}" for value in (each.rhat_median, each.rhat)]
        sizes = (each.ess_median, each.ess, each.ess_tail_median, each.ess_tail)
        name = f"{each.count} {each.kind}" if each.count > 1 else each.kind
        cells.append([name, *rhats, *(f"{value:.0f}" for value in sizes), each.worst])
    return columns, cells
