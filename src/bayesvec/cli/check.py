"""`bayesvec check`: whether a run is long enough."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayesvec.cli.answers import JSON, RUN, echo, print_json, print_table
from bayesvec.cli.app import app

if TYPE_CHECKING:
    from bayesvec.diagnostics.check import Check


@app.command()
def check(
    run: Path = RUN,
    parameters: bool = typer.Option(False, "--parameters", help="Check coordinates of the vectors too."),
    as_json: bool = JSON,
) -> None:
    """Check whether a run is long enough; status 1 if it is not or cannot be judged, with what to do."""
    from bayesvec.posterior.posterior import open_posterior

    result = open_posterior(run).check(parameters=parameters)
    if as_json:
        print_json(result.to_dict())
    elif sys.stdout.isatty() and result.diagnoses:
        echo("\n".join(result.head()))
        print_table(*_check_cells(result), plain="")
        echo(result.verdict)
    else:
        echo(str(result))
    if not result.ok:
        raise typer.Exit(1)


def _check_cells(result: "Check") -> tuple[list[str], list[list[str]]]:
    columns = [
        "of",
        "pass",
        "R-hat",
        "worst R-hat",
        "ESS",
        "worst ESS",
        "tail ESS",
        "worst tail ESS",
        "worst of all",
    ]
    cells = []
    for each in result.diagnoses:
        rhats = [f"{value:.2f}" for value in (each.rhat_median, each.rhat)]
        sizes = (each.ess_median, each.ess, each.ess_tail_median, each.ess_tail)
        name = f"{each.count} {each.kind}" if each.count > 1 else each.kind
        sizes_shown = [f"{value:.0f}" for value in sizes]
        cells.append([name, f"{each.passing:.1%}", *rhats, *sizes_shown, each.worst])
    return columns, cells
