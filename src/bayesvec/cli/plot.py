"""`bayesvec plot`: pictures of a run."""

from pathlib import Path

import typer

from bayesvec.cli.answers import AT, LEVEL, RUN
from bayesvec.cli.app import app
from bayesvec.cli.pictures import KINDS, Kind, Request
from bayesvec.errors import OptionError

PICTURES = (".png", ".pdf", ".svg")
_LIST = "\n".join(f"  {name:<12} {kind.shows}: {kind.takes}" for name, kind in KINDS.items())


@app.command(help=f"Draw a picture of a run.\n\n\b\nKINDs, and the WORDs that they take:\n{_LIST}")
def plot(
    run: Path = RUN,
    kind: str = typer.Argument(..., metavar="KIND", help="What to draw; see the list above."),
    words: list[str] = typer.Argument(None, metavar="WORD", help="As the kind takes them."),
    out: Path = typer.Option(..., "--out", help="The picture to write: .png, .pdf or .svg."),
    axis: str = typer.Option(
        "", help="Of projection: pairs of words, such as he:she,man:woman; the first are to the right."
    ),
    beside: list[Path] = typer.Option(
        [], "--with", metavar="RUN", help="Another run to lay over this one, or beside it; may be repeated."
    ),
    n: int = typer.Option(10, "-n", help="How many neighbours, or uncertain words to name."),
    at: str | None = AT,
    between: str = typer.Option("", metavar="SLICE,SLICE", help="Of contrast and drift: two slices."),
    by: str = typer.Option("direction", help="Of drift: direction, distance or cosine."),
    level: float = LEVEL,
    title: str = typer.Option("", help="A title above the picture."),
    quiet: bool = typer.Option(False, "--quiet", help="Do not say what was written."),
) -> None:
    wanted = words or []
    chosen = _check_request(kind, wanted, axis=axis, beside=beside, at=at, out=out)
    slices = _two_slices(kind, between)
    if by != "direction" and kind != "drift":
        raise OptionError(f"--by goes with plot drift; not with plot {kind}")
    import matplotlib

    matplotlib.use("Agg")
    from bayesvec.estimates.estimate import tails
    from bayesvec.plots import save_figure
    from bayesvec.plots.style import set_title
    from bayesvec.posterior.posterior import open_posterior

    tails(level)
    runs = {name: open_posterior(path) for name, path in _names([run, *beside]).items()}
    drawn = chosen.draw(Request(runs, wanted, axis, n, at, level, slices, by))
    ax = drawn[0] if isinstance(drawn, list) else drawn
    set_title(ax, title)
    save_figure(ax, str(out))
    if not quiet:
        typer.echo(f"written: {out}")


def _names(runs: list[Path]) -> dict[str, Path]:
    """Name runs by their folders, with as much of the path as is needed to tell them apart."""
    parts = [path.absolute().parts for path in runs]
    for length in range(1, max(map(len, parts)) + 1):
        named = {"/".join(each[-length:]): path for each, path in zip(parts, runs, strict=True)}
        if len(named) == len(runs):
            return named
    raise OptionError("a run is given twice; give each run once")


def _two_slices(kind: str, between: str) -> tuple[str, str] | None:
    if not between:
        return None
    if not KINDS[kind].between:
        allowed = " and ".join(name for name, each in KINDS.items() if each.between)
        raise OptionError(f"--between goes with plot {allowed}; not with plot {kind}")
    from bayesvec.posterior.terms import split_words

    names = split_words(between)
    if len(names) != 2:
        raise OptionError(f"--between is {between!r}; give two slices with a comma between, such as D,R")
    return names[0], names[1]


def _check_request(
    kind: str, words: list[str], *, axis: str, beside: list[Path], at: str | None, out: Path
) -> Kind:
    if kind not in KINDS:
        raise OptionError(f"{kind!r} is not a kind of plot; there are {', '.join(KINDS)}")
    chosen = KINDS[kind]
    fits = chosen.least <= len(words) <= (len(words) if chosen.most is None else chosen.most)
    if not fits or (kind == "similarity" and len(words) % 2):
        got = f"{len(words)}: {' '.join(words)}" if words else "none"
        raise OptionError(f"plot {kind} takes {chosen.takes}; got {got}")
    if bool(axis) != (kind == "projection"):
        missing = "plot projection needs --axis, such as --axis he:she,man:woman"
        raise OptionError(
            missing if kind == "projection" else f"--axis goes with plot projection, not {kind}"
        )
    if beside and not chosen.several_runs:
        allowed = ", ".join(name for name, each in KINDS.items() if each.several_runs)
        raise OptionError(f"--with goes with plot {allowed}; not with plot {kind}")
    if at is not None and not chosen.slices:
        allowed = ", ".join(name for name, each in KINDS.items() if each.slices)
        raise OptionError(f"--at goes with plot {allowed}; not with plot {kind}")
    if out.suffix.lower() not in PICTURES:
        raise OptionError(f"{out} ends in {out.suffix!r}; a picture can be .png, .pdf or .svg")
    if not out.absolute().parent.is_dir():
        raise OptionError(
            f"cannot write {out}: there is no folder {out.parent}; make it, or choose another place"
        )
    return chosen
