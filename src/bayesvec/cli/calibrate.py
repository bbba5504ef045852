"""`bayesvec calibrate`: simulation-based calibration of a method on data of a given size."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.cli.answers import echo
from bayesvec.cli.app import ADDRESS, ENGINE, PROCESSES, STOPPED, app
from bayesvec.cli.prior_options import NO_PRIOR_OPTIONS, PriorOptions, takes_prior_options
from bayesvec.errors import OptionError
from bayesvec.inference import methods
from bayesvec.inference.used import check_used

if TYPE_CHECKING:
    from bayesvec.diagnostics.calibration import Calibration

_METHODS = [name for name in methods.names() if not methods.find(name).is_point]
WARMUP = 100  # sweeps
_PICTURES = (".png", ".pdf", ".svg")


@app.command()
@partial(takes_prior_options, default="spherical with precision 1")
def calibrate(
    method: str = typer.Option("gibbs", help=f"One of {', '.join(_METHODS)}."),
    vocab: int = typer.Option(20, help="Words per simulated world."),
    dim: int = typer.Option(3, help="Dimension of the vectors."),
    pairs: int = typer.Option(2000, help="Samples per world, positive and negative."),
    worlds: int = typer.Option(200, help="Worlds to simulate from the prior."),
    slices: int | None = typer.Option(None, help="Groups or times of each word, for a prior over slices."),
    zipf: bool = typer.Option(
        False, "--zipf", help="Draw words by the Zipf-Mandelbrot law instead of uniformly."
    ),
    draws: int = typer.Option(99, help="Draws to rank each true value among."),
    warmup: int | None = typer.Option(None, help=f"Warm-up sweeps (default: {WARMUP})."),
    thin: int | None = typer.Option(None, help="Sweeps between draws (default: depends on the method)."),
    identify: str = typer.Option(
        "none", help="none, or fixed: K contexts fixed at the MAP, as in the paper."
    ),
    option: list[str] = typer.Option(
        [], "--option", metavar="NAME=VALUE", help="An option of the method, such as starts=3; repeatable."
    ),
    quantities: int = typer.Option(20, help="Cosines, and probabilities, to rank per world."),
    level: float = typer.Option(0.9, help="Probability of the intervals."),
    error_rate: float = typer.Option(0.01, help="How often a calibrated method may fail the test."),
    seed: int = typer.Option(0, help="Random seed."),
    threads: int | None = typer.Option(None, help="Threads (default: one per processor)."),
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    workers: int | None = PROCESSES,
    out: Path | None = typer.Option(
        None, help="Where to write the rank plots: an image file, or a new folder."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
    prior: PriorOptions = NO_PRIOR_OPTIONS,
) -> None:
    """Fit worlds simulated from the prior and test whether the intervals are calibrated; status 1 if not."""
    if out is not None:
        _check_place(out)
    lengths = {"warmup": warmup, "thin": thin}
    check_used(method, {name: value for name, value in lengths.items() if value is not None})
    given: dict[str, Any] = {
        "vocab": vocab,
        "dim": dim,
        "pairs": pairs,
        "worlds": worlds,
        **_prior(prior, dim, slices),
        "slices": slices,
        "zipf": zipf,
        "draws": draws,
        "warmup": WARMUP if warmup is None else warmup,
        "thin": thin,
        "identify": identify,
        "options": methods.find(method).read_options(option),
        "quantities": quantities,
        "level": level,
        "error_rate": error_rate,
        "seed": seed,
        "threads": threads,
        "engine": engine,
        "address": address,
        "workers": workers,
    }
    result = _run(method, quiet=quiet, **given)
    if out is not None:
        _write(result, out)
    echo(json.dumps(result.to_dict(), indent=1) if as_json else str(result))
    if not result.ok:
        raise typer.Exit(1)


def _prior(options: PriorOptions, dim: int, slices: int | None) -> dict[str, Any]:
    """Return the arguments of `calibrate` that set the prior."""
    checked = options.check(dim)
    if options.needs_groups and slices is None:
        raise OptionError(
            f"--prior {options.prior} is over slices; give their number with --slices, such as 3"
        )
    if options.is_plain:
        return checked
    return {"prior": lambda counts: options.make(counts, dim)["prior"]}


def _run(method: str, *, worlds: int, quiet: bool, **given: Any) -> "Calibration":
    """Calibrate, reporting progress: a bar on a terminal, a line at each tenth of the worlds elsewhere."""
    from bayesvec._progress import progress
    from bayesvec.diagnostics.calibration import calibrate as run_calibration

    on_terminal = sys.stderr.isatty()

    def report(done: int) -> None:
        advance(1, "")
        is_tenth = 10 * done // worlds > 10 * (done - 1) // worlds
        if is_tenth and not quiet and not on_terminal:
            print(f"world {done}/{worlds}", file=sys.stderr, flush=True)

    try:
        with progress(f"calibrating {method}", worlds, enabled=on_terminal and not quiet) as advance:
            return run_calibration(method, worlds=worlds, **given, report=report)
    except KeyboardInterrupt:
        sys.stderr.write("bayesvec: stopped; nothing was written\n")
        raise typer.Exit(STOPPED) from None


def _check_place(out: Path) -> None:
    """Refuse a place that cannot be written before the work is done."""
    from bayesvec._targets import check_free

    if out.suffix.lower() in _PICTURES:
        check_free(out, what="a picture", force=True)
    else:
        check_free(
            out, what="a folder of rank plots", force=None, folder=True, parents=True, ours=Path.is_dir
        )


def _write(result: "Calibration", out: Path) -> None:
    """Write the rank plots; in a folder, also the results and the ranks."""
    import matplotlib

    matplotlib.use("Agg")
    from bayesvec import plots

    ax = plots.plot_ranks_sbc(result)[0]
    if out.suffix.lower() in _PICTURES:
        plots.save_figure(ax, str(out))
        return
    import numpy as np

    from bayesvec._atomic import placed

    with placed(out, folder=True) as partial:
        plots.save_figure(ax, str(partial / "ranks.png"))
        (partial / "calibration.json").write_text(json.dumps(result.to_dict(), indent=1), encoding="utf-8")
        np.savetxt(
            partial / "ranks.csv",
            result.ranks.values,
            fmt="%d",
            delimiter=",",
            header=",".join(result.ranks.kinds),
            comments="",
        )
