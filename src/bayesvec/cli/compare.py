"""`bayesvec compare`: runs side by side."""

import json
from pathlib import Path

import typer

from bayesvec.cli.app import app


@app.command()
def compare(
    runs: list[Path] = typer.Argument(..., metavar="RUN RUN...", help="Folders of runs of the same words."),
    holdout: Path | None = typer.Option(
        None, metavar="COUNTS", help="Counts that were not fitted, to score."
    ),
    quantities: int = typer.Option(200, help="Cosines, and probabilities, to look at."),
    level: float = typer.Option(0.9, help="Probability of the intervals."),
    seed: int = typer.Option(0, help="Seed of their choice."),
    as_json: bool = typer.Option(False, "--json", help="Print the answer as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Lay runs side by side: intervals and means against the first run, time, hold-out scores."""
    from bayesvec.counts.store import open_counts
    from bayesvec.diagnostics.comparison import compare as lay_beside

    held = None if holdout is None else open_counts(holdout)
    result = lay_beside(runs, holdout=held, quantities=quantities, level=level, seed=seed, progress=not quiet)
    if as_json:
        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
    else:
        typer.echo(str(result))
