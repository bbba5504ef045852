"""`bayesvec demo`: from text to a plot, on the documentation that ships with Python."""

import shlex
from pathlib import Path

import typer

from bayesvec.cli.answers import echo
from bayesvec.cli.app import STOPPED, app
from bayesvec.errors import OptionError
from bayesvec.storage.settings import AUTO

PAIRS = ("list", "tuple", "file", "directory", "true", "false", "thread", "process")


@app.command()
def demo(
    out: Path = typer.Option(Path("demo"), "--out", help="Folder to write to; an earlier demo is replaced."),
    draws: str = typer.Option(AUTO, help="Stored draws per chain.", metavar="N|auto"),
    warmup: str = typer.Option(AUTO, help="Warm-up sweeps.", metavar="N|auto"),
) -> None:
    """Embed Python's own documentation and ask a few questions, showing each command."""
    from bayesvec import datasets

    if out.exists() and not out.is_dir():
        raise OptionError(f"{out} is a file; --out must be a folder, or a new one")
    echo("Collecting the corpus: Python's documentation and docstrings, one document per line.")
    out.mkdir(parents=True, exist_ok=True)
    text = out / "python-docs.txt"
    documents = (" ".join(document.split()) for document in datasets.python_docs())
    text.write_text("".join(f"{document}\n" for document in documents), encoding="utf-8")
    counts, run, picture = out / "python-docs.counts", out / "python-docs.run", out / "similarity.png"
    _run("count", text, "--vocab", 1000, "--out", counts, "--force")
    size = ["--dim", 20]
    size += ["--draws", draws] if draws != AUTO else []
    size += ["--warmup", warmup] if warmup != AUTO else []
    _run("fit", "--counts", counts, *size, "--out", run, "--force")
    _run("neighbors", run, "file", "-n", 5)
    _run("neighbors", run, "string", "-n", 5)
    for one, other in zip(PAIRS[::2], PAIRS[1::2], strict=True):
        _run("similarity", run, one, other)
    _run("check", run)
    _run("plot", run, "similarity", *PAIRS, "--out", picture)
    echo(f"\n{picture} shows the posteriors of a few cosines. To explore the run in a browser:")
    echo(f"\n$ pip install 'bayesvec[explore]'\n$ {shlex.join(['bayesvec', 'explore', str(run)])}")
    echo("\nFor your own text: bayesvec fit TEXT")


def _run(*words: object) -> None:
    """Show a command and run it; the demo continues after a status such as that of `check`, not after a stop."""
    arguments = [str(word) for word in words]
    echo(f"\n$ {shlex.join(['bayesvec', *arguments])}")
    if app(arguments, standalone_mode=False) == STOPPED:
        raise typer.Exit(STOPPED)
