"""`bayesvec split`."""

import json
from pathlib import Path

import typer

from bayesvec.cli.app import app
from bayesvec.errors import OptionError

_NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}


@app.command()
def split(
    counts: Path = typer.Argument(..., metavar="COUNTS", help="Counts to split."),
    out: Path = typer.Option(..., "--out", help="Folder to make, with a counts folder for each part."),
    by: str = typer.Option("document", help="Hold out whole documents (or baskets), or each sample: pair."),
    fractions: str = typer.Option(
        "0.7,0.15,0.15", help="Share of each part: train, validation, test; train, test if there are two."
    ),
    seed: int = typer.Option(0, help="The same seed gives the same parts."),
    force: bool = typer.Option(False, "--force", help="Replace parts that are already there."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Print no summary."),
) -> None:
    """Split counts into parts for training and for hold-out; all have the same rows."""
    from bayesvec.counts.store import check_free, open_counts, save_parts

    shares = _read_fractions(fractions)
    check_free(out, force=force, of_parts=True)
    names = _NAMES.get(len(shares)) or tuple(map(str, range(len(shares))))
    parts = dict(zip(names, open_counts(counts).split(by, fractions=shares, seed=seed), strict=True))
    save_parts(parts, out, force=force)
    if as_json:
        summary = {
            name: {
                "out": str(out / name),
                "pairs": part.num_pairs,
                "positives": part.num_positives,
                "negatives": part.num_negatives,
                "fingerprint": part.fingerprint,
            }
            for name, part in parts.items()
        }
        typer.echo(json.dumps(summary))
    elif not quiet:
        for name, part in parts.items():
            typer.echo(f"{out / name}: {part!r}")


def _read_fractions(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"--fractions is {text!r}; it must be numbers with commas between, such as 0.7,0.15,0.15"
        ) from None
