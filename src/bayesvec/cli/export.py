"""`bayesvec export`."""

import json
from pathlib import Path

import typer

from bayesvec.cli.answers import RUN, echo
from bayesvec.cli.app import app


@app.command()
def export(
    run: Path = RUN,
    format: str = typer.Option(
        ...,
        "--format",
        metavar="FORMAT",
        help="word2vec (text), word2vec-binary, arviz (netCDF), parquet (summaries) or memmap (NumPy).",
    ),
    out: Path = typer.Option(..., "--out", help="The file to write (with --what all: the folder)."),
    side: str | None = typer.Option(
        None, help="rho: words (default); alpha: contexts. arviz has all that is stored."
    ),
    what: str | None = typer.Option(
        None,
        help="Of word2vec: a point estimate for comparing words (default), the posterior mean less its average over "
        "the words (centred), the posterior mean itself, one draw, or all in a folder.",
        metavar="point|centred|mean|draw|all",
    ),
    draw: int | None = typer.Option(None, help="Of word2vec: which draw, counted from 0."),
    chain: int | None = typer.Option(None, help="Of word2vec: its chain, counted from 0 (default: 0)."),
    level: float = typer.Option(0.9, help="Probability of the intervals of parquet."),
    force: bool = typer.Option(False, "--force", help="Replace what is already there."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress and print no summary."),
) -> None:
    """Write a run for other programs: gensim, ArviZ, data frames, NumPy."""
    from bayesvec.io import export as write
    from bayesvec.posterior.posterior import open_posterior

    posterior = open_posterior(run)
    options = {"side": side, "what": what, "draw": draw, "chain": chain, "level": level, "force": force}
    done = write(posterior, out, format, progress=not quiet, **options)  # type: ignore[arg-type]
    if as_json:
        echo(json.dumps(done.to_dict(), ensure_ascii=False))
    elif not quiet:
        echo(str(done))
