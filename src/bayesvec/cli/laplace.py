"""`bayesvec laplace`: intervals of a few words by the Laplace approximation, at any size of the model."""

from pathlib import Path
from typing import Any

import typer

from bayesvec.cli.answers import AT, JSON, LEVEL, RUN, print_json
from bayesvec.cli.app import app
from bayesvec.errors import OptionError


@app.command()
def laplace(
    run: Path = RUN,
    words: str = typer.Option(..., "--words", help="Words between commas."),
    out: Path | None = typer.Option(
        None, metavar="FILE.npz", help="Write mode and joint covariance here, as NumPy arrays."
    ),
    at: str | None = AT,
    level: float = LEVEL,
    threads: int | None = typer.Option(None, help="Threads (default: one a processor)."),
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Give the cosines of a few words by the Laplace approximation at the mode (RUN: best of --method map)."""
    from bayesvec._progress import progress
    from bayesvec.posterior.laplace import cosines_of, save_covariance
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.posterior.terms import split_words

    wanted = split_words(words)
    if out is not None and out.suffix != ".npz":
        raise OptionError(f"{out} ends in {out.suffix!r}; the covariance is written as .npz")
    posterior = open_posterior(run)
    with progress("laplace", None, enabled=not quiet) as advance:
        found = posterior.laplace_covariance(
            wanted, at=at, threads=threads, report=lambda text: advance(1, text)
        )
    if out is not None:
        save_covariance(found, out)
    estimates = cosines_of(found, posterior.path)
    if as_json:
        answer: dict[str, Any] = {
            "words": list(found.words),
            "mean": found.mean.tolist(),
            "covariance": found.covariance.tolist(),
            "distance_to_mode": found.distance,
            "cosines": [_without_chains(estimate.to_dict(level)) for estimate in estimates],
        }
        print_json(answer)
        return
    for estimate in estimates:
        mean, (low, high) = estimate.mean, estimate.interval(level)
        typer.echo(
            f"{estimate.label} = {mean:.2f}, {100 * level:g}% interval {low:.2f} to {high:.2f} (Laplace)"
        )
    if not estimates:
        typer.echo("one word has no cosines; its covariance is in --json or --out FILE.npz")


def _without_chains(figures: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says something of chains: the draws are independent."""
    return {name: figures[name] for name in ("label", "mean", "sd", "level", "low", "high")}
