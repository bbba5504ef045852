"""`bayesvec split`."""

import json
from pathlib import Path

import typer

from bayesvec.cli.answers import echo
from bayesvec.cli.app import AS_JSON, OUTPUT, app, switch
from bayesvec.cli.count import sizes
from bayesvec.errors import OptionError

_NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}


@app.command()
def split(
    counts: Path = typer.Argument(..., metavar="COUNTS", help="Counts to split."),
    by: str = typer.Option(
        "document", help="Unit that is held out: document (or basket), or pair for single samples."
    ),
    fractions: str = typer.Option(
        "0.7,0.15,0.15", help="Fractions of the parts: train, validation, test; or train, test."
    ),
    seed: int = typer.Option(0, help="Seed of the parts."),
    out: Path = typer.Option(
        ..., "--out", help="Folder to make, with a counts folder for each part.", rich_help_panel=OUTPUT
    ),
    force: bool = switch("--force", "Replace parts that are already there."),
    as_json: bool = AS_JSON,
    quiet: bool = switch("--quiet", "Print no summary."),
) -> None:
    """Split counts into parts for training and for hold-out; all have the same rows."""
    from bayesvec.counts.store import check_free, open_counts, save_parts

    shares = _read_fractions(fractions)
    check_free(out, force=force, of_parts=True)
    names = _NAMES.get(len(shares)) or tuple(map(str, range(len(shares))))
    parts = dict(zip(names, open_counts(counts).split(by, fractions=shares, seed=seed), strict=True))
    save_parts(parts, out, force=force)
    if as_json:
        echo(json.dumps({name: sizes(part, out / name) for name, part in parts.items()}))
    elif not quiet:
        for name, part in parts.items():
            echo(f"{out / name}: {part!r}")


def _read_fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"--fractions is {text!r}; it must be numbers separated by commas, such as 0.7,0.15,0.15"
        ) from None
