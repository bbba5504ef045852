"""`bayesvec compare`."""

from pathlib import Path

import typer

from bayesvec.cli.answers import JSON, LEVEL, QUIET, echo, print_json
from bayesvec.cli.app import app


@app.command()
def compare(
    runs: list[Path] = typer.Argument(..., metavar="RUN RUN...", help="Folders of runs of the same words."),
    holdout: Path | None = typer.Option(
        None, metavar="COUNTS", help="Counts that were not fitted, to score."
    ),
    quantities: int = typer.Option(200, help="How many cosines, and how many probabilities, to compare."),
    level: float = LEVEL,
    seed: int = typer.Option(0, help="Seed of their choice."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Compare runs: intervals and means against those of the first run, time, hold-out scores."""
    from bayesvec.counts.store import open_counts
    from bayesvec.diagnostics.comparison import compare as compare_runs

    held = None if holdout is None else open_counts(holdout)
    result = compare_runs(
        runs, holdout=held, quantities=quantities, level=level, seed=seed, progress=not quiet
    )
    if as_json:
        print_json(result.to_dict())
    else:
        echo(str(result))
