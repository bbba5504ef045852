"""`bayesvec drift`: quantities over groups and time, and the words that changed most."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.cli.answers import JSON, LEVEL, RUN, print_answer, print_json, told_with
from bayesvec.cli.app import app

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate


@app.command()
def drift(
    run: Path = RUN,
    terms: list[str] = typer.Argument(
        None,
        metavar="[QUANTITY...]",
        help="Such as 'cosine(tax, freedom)'; without any, the words that changed.",
    ),
    first: str | None = typer.Option(
        None, "--from", metavar="SLICE", help="Slice to begin at (default: first)."
    ),
    last: str | None = typer.Option(None, "--to", metavar="SLICE", help="Slice to end at (default: last)."),
    n: int | None = typer.Option(None, "-n", help="How many words (default: 20, or all if there are fewer)."),
    by: str = typer.Option(
        "direction",
        help="How a word's change is measured: direction (along its mean change), distance, or cosine.",
    ),
    share: float = typer.Option(0.1, help="Share of the words that counts as changed."),
    threshold: float = typer.Option(0.95, help="Probability from which a change is claimed."),
    level: float = LEVEL,
    as_json: bool = JSON,
) -> None:
    """Follow quantities over the slices of a run, or list the words that differ most between two slices."""
    from bayesvec.posterior.claims import claims
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.slices import slice_ends

    posterior = open_posterior(run)
    if not terms:
        answer = posterior.drift(first, last, n, by=by, share=share, threshold=threshold, level=level)
        if as_json:
            print_json(answer.to_dict())
            return
        print_answer(answer.table, "changes", as_json=False)
        typer.echo(answer.sentence())
        return
    paths = [posterior.trajectory(term) for term in terms]
    ends = slice_ends(posterior, first, last)
    changes = [path.difference(*ends) if set(ends) <= set(path.slices) else None for path in paths]
    if as_json:
        print_json(
            [
                {**path.to_dict(level), "difference": change and _with_probability(change, level)}
                for path, change in zip(paths, changes, strict=True)
            ]
        )
        return
    for path, change in zip(paths, changes, strict=True):
        for estimate in path.estimates:
            typer.echo(estimate.sentence(level))
        if path.missing:
            typer.echo(f"{path.label}: a word does not occur at {', '.join(path.missing)}")
        if change is not None:
            typer.echo(told_with(change.sentence(level), "P(above 0)", change.probability_above(0.0)))
    known = [change for change in changes if change is not None]
    if len(known) > 1:
        typer.echo(claims(known, threshold=threshold, level=level).sentence())


def _with_probability(change: "Estimate", level: float) -> dict[str, Any]:
    from bayesvec.estimates.estimate import plain

    return {**change.to_dict(level), **plain({"probability_above_zero": change.probability_above(0.0)})}
