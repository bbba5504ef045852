"""`bayesvec score`: the log likelihood of held-out counts."""

from pathlib import Path

import typer

from bayesvec.cli.answers import JSON, QUIET, RUN, echo, print_json
from bayesvec.cli.app import app


@app.command()
def score(
    run: Path = RUN,
    holdout: Path = typer.Option(..., metavar="COUNTS", help="Counts that were not fitted."),
    mode: Path | None = typer.Option(None, "--map", metavar="RUN", help="A run of method map to score too."),
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Give the log likelihood of held-out counts, averaged over observations."""
    from bayesvec.counts.store import open_counts
    from bayesvec.posterior.posterior import open_posterior

    point = None if mode is None else open_posterior(mode)
    result = open_posterior(run).score(open_counts(holdout), map=point, progress=not quiet)
    if as_json:
        print_json(result.to_dict())
    else:
        echo(str(result))
