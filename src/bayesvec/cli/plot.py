"""`bayesvec plot`: pictures of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.cli.answers import AT, LEVEL, RUN, echo
from bayesvec.cli.app import Command, app
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.plots.table import Plot

_EXAMPLES = {"axis": "he:she,man:woman", "between": "D,R"}


class _PlotCommand(Command):
    """The command with a list of all kinds in its help."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the text, and the kinds of plots from their table."""
        from bayesvec.plots.table import plots

        super().format_help_text(ctx, formatter)
        with formatter.section("Kinds, and the words that they take"):
            formatter.write_dl([(kind, f"{plot.shows}: {plot.takes}") for kind, plot in plots().items()])


@app.command(cls=_PlotCommand)
def plot(
    run: Path = RUN,
    kind: str = typer.Argument(..., metavar="KIND", help="What to draw; see the list above."),
    words: list[str] = typer.Argument(None, metavar="WORD", help="As the kind takes them."),
    out: Path = typer.Option(..., "--out", help="Picture to write: .png, .pdf or .svg."),
    axis: str = typer.Option(
        "",
        help="Pairs of words that make an axis (projection), such as he:she,man:woman; the first at the right.",
    ),
    beside: list[Path] = typer.Option(
        [], "--with", metavar="RUN", help="Another run to draw over this one, or beside it; repeatable."
    ),
    n: int = typer.Option(10, "-n", help="Number of neighbours, or of uncertain words to name."),
    at: str | None = AT,
    between: str = typer.Option("", metavar="SLICE,SLICE", help="Two slices to compare (contrast, drift)."),
    by: str = typer.Option("", help="Measure of drift: direction, distance or cosine [default: direction]."),
    level: float = LEVEL,
    title: str = typer.Option("", help="Title above the picture."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing."),
) -> None:
    """Draw a picture of a run."""
    from bayesvec._targets import check_free
    from bayesvec.plots.saving import picture_kind
    from bayesvec.plots.table import Request, find

    chosen, wanted = find(kind), words or []
    _check_request(chosen, wanted, {"axis": axis, "with": beside, "at": at, "between": between, "by": by})
    slices = _two_slices(between)
    picture_kind(out)
    check_free(out, what="a picture", force=True)
    import matplotlib

    matplotlib.use("Agg")
    from bayesvec.estimates.intervals import tails
    from bayesvec.plots import save_figure
    from bayesvec.plots.style import set_title
    from bayesvec.posterior.posterior import open_posterior
    from bayesvec.storage.names import run_names

    tails(level)
    runs = {name: open_posterior(path) for name, path in run_names([run, *beside]).items()}
    drawn = chosen.draw(Request(runs, wanted, axis, n, at, level, slices, by or "direction"))
    ax = drawn[0] if isinstance(drawn, list) else drawn
    set_title(ax, title)
    save_figure(ax, str(out))
    if not quiet:
        echo(f"written: {out}")


def _check_request(plot: "Plot", words: list[str], options: dict[str, Any]) -> None:
    """Raise if a kind of plot does not take these words or these options."""
    from bayesvec.plots.table import plots

    most = len(words) if plot.most is None else plot.most
    if not plot.least <= len(words) <= most or len(words) % plot.step:
        got = f"{len(words)}: {' '.join(words)}" if words else "none"
        raise OptionError(f"plot {plot.kind} takes {plot.takes}; got {got}")
    for name, value in options.items():
        if value and name not in plot.options:
            allowed = ", ".join(each.kind for each in plots().values() if name in each.options)
            raise OptionError(f"--{name} goes with plot {allowed}; not with plot {plot.kind}")
    for name in plot.needs:
        if not options[name]:
            raise OptionError(
                f"plot {plot.kind} needs --{name}, such as --{name} {_EXAMPLES.get(name, 'RUN')}"
            )


def _two_slices(between: str) -> tuple[str, str] | None:
    if not between:
        return None
    from bayesvec.posterior.terms import split_words

    names = split_words(between)
    if len(names) != 2:
        raise OptionError(f"--between is {between!r}; give two slices with a comma between, such as D,R")
    return names[0], names[1]
