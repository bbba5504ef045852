"""`bayesvec report`: a page about a run."""

from pathlib import Path

import typer

from bayesvec.cli.answers import AT, JSON, LEVEL, RUN, echo, print_json
from bayesvec.cli.app import app


@app.command()
def report(
    run: Path = RUN,
    words: str | None = typer.Option(
        None, help="Words of the report, separated by commas [default: some frequent ones]."
    ),
    axis: str | None = typer.Option(
        None, help="Pairs of words that make an axis to place the words on, such as he:she,man:woman."
    ),
    n: int = typer.Option(10, "-n", help="Number of neighbours of each word."),
    at: str | None = AT,
    level: float = LEVEL,
    out: Path | None = typer.Option(
        None, "--out", help="Page to write [default: the run's name with .report.html]."
    ),
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress and print no summary."),
) -> None:
    """Write a report on a run, one HTML page with its figures; with --json print its content instead."""
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.terms import read_axis, split_words

    chosen = None if words is None else split_words(words)
    poles = None if axis is None else read_axis(axis)
    posterior = open_posterior(run)
    if as_json and out is None:
        from bayesvec.report import gather

        print_json(gather(posterior, words=chosen, axis=poles, n=n, at=at, level=level).to_dict())
        return
    import matplotlib

    matplotlib.use("Agg")
    from bayesvec.report import default_place, write_report

    place = default_place(run) if out is None else out
    content = write_report(
        posterior, place, words=chosen, axis=poles, n=n, at=at, level=level, progress=not quiet
    )
    if as_json:
        print_json(content.to_dict())
    elif not quiet:
        echo(f"written: {place}\nthe run: {content.check.verdict}")
