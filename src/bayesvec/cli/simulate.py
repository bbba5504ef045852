"""`bayesvec simulate`."""

import json
from pathlib import Path
from typing import Any

import typer

from bayesvec.cli.answers import echo
from bayesvec.cli.app import AS_JSON, MODEL, OUTPUT, app, switch
from bayesvec.cli.count import sizes


def _option(default: Any, help: str, *names: str) -> Any:
    return typer.Option(default, *names, help=help, rich_help_panel=MODEL)


@app.command()
def simulate(
    vocab: int = _option(100, "Number of words."),
    dim: int = _option(5, "Length of a vector."),
    pairs: int = _option(50_000, "Number of samples, positive and negative."),
    zipf: bool = switch("--zipf", "Draw words by the Zipf-Mandelbrot law, not equally often.", MODEL),
    contexts: int | None = _option(None, "Number of contexts, if they are not the words."),
    epsilon: float = _option(1.0, "Signal-to-noise ratio: the scale of the vectors."),
    exclude_diagonal: bool = switch("--exclude-diagonal", "Never pair a word with itself.", MODEL),
    a: float = _option(1.0, "Exponent of the Zipf-Mandelbrot law.", "--a"),
    b: float = _option(2.7, "Shift of the Zipf-Mandelbrot law.", "--b"),
    seed: int = _option(0, "Seed of the data."),
    out: Path = typer.Option(
        ..., "--out", help="Folder to write the counts to, with their truth.", rich_help_panel=OUTPUT
    ),
    force: bool = switch("--force", "Replace counts that are already there."),
    as_json: bool = AS_JSON,
    quiet: bool = switch("--quiet", "Print no summary."),
) -> None:
    """Draw pair counts from a known embedding, as in the paper's simulation study."""
    from bayesvec.counts.store import check_free
    from bayesvec.simulation.pairs import save_simulated
    from bayesvec.simulation.pairs import simulate as draw

    check_free(out, force=force)
    counts, truth = draw(
        vocab,
        dim,
        pairs=pairs,
        zipf=zipf,
        seed=seed,
        contexts=contexts,
        epsilon=epsilon,
        exclude_diagonal=exclude_diagonal,
        a=a,
        b=b,
    )
    save_simulated(counts, truth, out, force=force)
    if as_json:
        echo(json.dumps(sizes(counts, out)))
    elif not quiet:
        echo(f"{out}: {counts!r}")
