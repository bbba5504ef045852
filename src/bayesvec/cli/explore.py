"""`bayesvec explore`: a page that shows a run with its uncertainty."""

from pathlib import Path

import typer

from bayesvec.cli.answers import AT, JSON, LEVEL, echo, print_json
from bayesvec.cli.app import app
from bayesvec.errors import OptionError


@app.command()
def explore(
    runs: list[Path] = typer.Argument(..., metavar="RUN...", help="Folders of runs, the first shown first."),
    export: Path | None = typer.Option(
        None, "--export", help="Write one HTML page with chosen words instead, which needs no server."
    ),
    words: str | None = typer.Option(
        None, "--words", help="With --export: words separated by commas (default: some frequent ones)."
    ),
    axis: str | None = typer.Option(None, "--axis", help="With --export: pairs of an axis, such as he:she."),
    n: int = typer.Option(10, "-n", help="With --export: neighbours of each word."),
    at: str | None = AT,
    level: float = LEVEL,
    host: str = typer.Option(
        "127.0.0.1", "--host", help="Address to listen on; any but this machine's own needs the link's token."
    ),
    port: int = typer.Option(0, "--port", help="Port; 0 for one that is free."),
    no_browser: bool = typer.Option(False, "--no-browser", help="Do not open the browser."),
    seconds: float | None = typer.Option(
        None, "--seconds", help="Stop after this time (default: at Ctrl-C)."
    ),
    as_json: bool = JSON,
    quiet: bool = typer.Option(False, "--quiet", help="Print the address only."),
) -> None:
    """Open a page on which a run can be explored, every answer with its interval."""
    if export is not None:
        from bayesvec.explore import write_page
        from bayesvec.posterior.terms import split_words

        chosen = None if words is None else split_words(words)
        content = write_page(runs, export, words=chosen, axis=axis, n=n, at=at, level=level)
        if as_json:
            print_json({"written": str(export), **content})
        elif not quiet:
            echo(f"written: {export} ({content['answers']} answers about {', '.join(content['words'])})")
        return
    given = {"--words": words, "--axis": axis, "--at": at}
    for flag, value in given.items():
        if value is not None:
            raise OptionError(f"{flag} goes with --export; on the page itself words are chosen there")
    _serve(runs, host, port, no_browser, seconds, as_json, quiet)


def _serve(
    runs: list[Path],
    host: str,
    port: int,
    no_browser: bool,
    seconds: float | None,
    as_json: bool,
    quiet: bool,
) -> None:
    import sys
    import webbrowser

    from bayesvec.explore import Explorer
    from bayesvec.storage.layout import read_manifest

    for run in runs:
        read_manifest(run)  # raises before anything is started
    if seconds is not None and not 0 < seconds < 1e7:
        raise OptionError(f"seconds is {seconds:g}; it must be a positive number")
    explorer = Explorer(runs, host=host, port=port)
    if as_json:
        print_json({"address": explorer.url, "runs": [str(run) for run in runs]})
    else:
        echo(explorer.url)
        if not quiet:
            echo("Open this address in a browser; Ctrl-C ends the explorer.")
    sys.stdout.flush()
    if not (no_browser or as_json):
        webbrowser.open(explorer.url)
    explorer.run(seconds)
