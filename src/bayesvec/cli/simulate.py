"""`bayesvec simulate`."""

import json
from pathlib import Path

import typer

from bayesvec.cli.app import app


@app.command()
def simulate(
    out: Path = typer.Option(..., "--out", help="Folder to write the counts to, with their truth."),
    vocab: int = typer.Option(100, help="Number of words."),
    dim: int = typer.Option(5, help="Dimension of the vectors."),
    pairs: int = typer.Option(50_000, help="Number of samples, positive and negative."),
    zipf: bool = typer.Option(False, "--zipf", help="Words by the Zipf-Mandelbrot law, not equally often."),
    contexts: int | None = typer.Option(None, help="Number of contexts, if they are not the words."),
    epsilon: float = typer.Option(1.0, help="Signal-to-noise ratio: the vectors' scale."),
    exclude_diagonal: bool = typer.Option(False, "--exclude-diagonal", help="Never pair a word with itself."),
    a: float = typer.Option(1.0, "--a", help="Exponent of the Zipf-Mandelbrot law."),
    b: float = typer.Option(2.7, "--b", help="Shift of the Zipf-Mandelbrot law."),
    seed: int = typer.Option(0, help="The same seed gives the same world."),
    force: bool = typer.Option(False, "--force", help="Replace counts that are already there."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Print no summary."),
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
    summary = {
        "out": str(out),
        "words": counts.num_words,
        "contexts": counts.num_contexts,
        "pairs": counts.num_pairs,
        "positives": counts.num_positives,
        "negatives": counts.num_negatives,
        "fingerprint": counts.fingerprint,
    }
    if as_json:
        typer.echo(json.dumps(summary))
    elif not quiet:
        typer.echo(f"{out}: {counts!r}")
