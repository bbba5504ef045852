"""`bayesvec check`, `score` and `judge`: is a run long enough, and how good is it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayesvec.cli.answers import AT, JSON, LEVEL, RUN, print_json, print_table
from bayesvec.cli.app import app

if TYPE_CHECKING:
    from bayesvec.diagnostics.check import Check


@app.command()
def check(
    run: Path = RUN,
    parameters: bool = typer.Option(False, "--parameters", help="Look at coordinates of the vectors too."),
    as_json: bool = JSON,
) -> None:
    """Say whether a run is long enough; status 1 if it is not or cannot be known, with what to do."""
    from bayesvec.posterior.posterior import open_posterior

    result = open_posterior(run).check(parameters=parameters)
    if as_json:
        print_json(result.to_dict())
    elif sys.stdout.isatty() and result.diagnoses:
        typer.echo("\n".join(result.head()))
        print_table(*_check_cells(result), plain="")
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
    from bayesvec.counts.store import open_counts
    from bayesvec.posterior.posterior import open_posterior

    point = None if mode is None else open_posterior(mode)
    result = open_posterior(run).score(open_counts(holdout), map=point, progress=not quiet)
    if as_json:
        print_json(result.to_dict())
    else:
        typer.echo(str(result))


@app.command()
def judge(
    run: Path = RUN,
    files: list[Path] = typer.Argument(..., metavar="FILE...", help="Test sets."),
    analogies: bool = typer.Option(
        False,
        "--analogies",
        help="The files have four words a line (Google analogies), not word, word, score.",
    ),
    at: str | None = AT,
    level: float = LEVEL,
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Compare with human judgements of similarity (Spearman's correlation), or count right analogies."""
    from bayesvec.posterior.posterior import open_posterior

    posterior = open_posterior(run)
    if analogies:
        answers = [
            answer for file in files for answer in posterior.analogy_accuracy(file, at=at, progress=not quiet)
        ]
    else:
        answers = [posterior.judge(file, at=at) for file in files]
    if as_json:
        print_json([answer.to_dict(level) for answer in answers])
    else:
        for answer in answers:
            typer.echo(answer.sentence(level))


def _check_cells(result: "Check") -> tuple[list[str], list[list[str]]]:
    columns = ["of", "R-hat", "worst", "ESS", "worst", "tail ESS", "worst", "worst of all"]
    cells = []
    for each in result.diagnoses:
        rhats = [f"{value:.2f}" for value in (each.rhat_median, each.rhat)]
        sizes = (each.ess_median, each.ess, each.ess_tail_median, each.ess_tail)
        name = f"{each.count} {each.kind}" if each.count > 1 else each.kind
        cells.append([name, *rhats, *(f"{value:.0f}" for value in sizes), each.worst])
    return columns, cells
