"""`bayesvec plot`: pictures of a run."""

from pathlib import Path

import typer

from bayesvec.cli.app import app
from bayesvec.errors import OptionError


@app.command()
def plot(
    run: Path = typer.Argument(..., metavar="RUN", help="The folder of a run."),
    kind: str = typer.Argument(..., metavar="KIND", help="similarity, neighbors or trace."),
    words: list[str] = typer.Argument(
        ..., metavar="WORD...", help="Pairs of words (similarity), two words (trace), one word (neighbors)."
    ),
    out: Path = typer.Option(..., "--out", help="The picture to write: .png, .pdf or .svg."),
    beside: list[Path] = typer.Option(
        [], "--with", metavar="RUN", help="Another run to lay over this one (similarity); may be repeated."
    ),
    n: int = typer.Option(10, "-n", help="How many neighbours."),
    level: float = typer.Option(0.9, help="Probability of the intervals."),
) -> None:
    """Draw posteriors of cosines, neighbours with their intervals, or the trace of one cosine."""
    _check_request(kind, words, beside, out)
    import matplotlib

    matplotlib.use("Agg")
    from bayesvec import plots
    from bayesvec.posterior import open_posterior

    posterior = open_posterior(run)
    if kind == "similarity":
        runs = {name: open_posterior(path) for name, path in _names([run, *beside]).items()}
        pairs = list(zip(words[::2], words[1::2], strict=True))
        ax = plots.plot_similarity(runs if beside else posterior, pairs, level=level)
    elif kind == "neighbors":
        ax = plots.plot_neighbors(posterior.neighbors(words[0], n, level=level))
    else:
        ax = plots.plot_trace(posterior.similarity(words[0], words[1]))[0]
    plots.save_figure(ax, str(out))


def _names(runs: list[Path]) -> dict[str, Path]:
    """Name runs by their folders, or by their whole paths where two folders are called the same."""
    short = {path.name: path for path in runs}
    return short if len(short) == len(runs) else {str(path): path for path in runs}


def _check_request(kind: str, words: list[str], beside: list[Path], out: Path) -> None:
    kinds = {"similarity": "pairs of words", "neighbors": "one word", "trace": "two words"}
    if kind not in kinds:
        raise OptionError(f"{kind!r} is not a kind of plot; there are {', '.join(kinds)}")
    fits = {"similarity": len(words) % 2 == 0, "neighbors": len(words) == 1, "trace": len(words) == 2}
    if not fits[kind]:
        raise OptionError(f"plot {kind} takes {kinds[kind]}; got {len(words)}: {' '.join(words)}")
    if beside and kind != "similarity":
        raise OptionError(f"--with goes with plot similarity, not with plot {kind}")
    if out.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise OptionError(f"{out} ends in {out.suffix!r}; a picture can be .png, .pdf or .svg")
