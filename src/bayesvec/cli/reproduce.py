"""`bayesvec reproduce`: the paper's tables and figures."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec.cli.app import STOPPED, app
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.paper.cells import Experiment
    from bayesvec.paper.runner import Told


@app.command()
def reproduce(
    names: list[str] = typer.Argument(
        None, metavar="[NAME...]", help="Experiments, or all; --list without any tells what there is."
    ),
    quick: bool = typer.Option(False, "--quick", help="A small size, under two minutes each."),
    out: Path | None = typer.Option(
        None, help="Folder of the records (default: paper-results/quick or paper-results/full)."
    ),
    only: list[str] = typer.Option(
        [],
        "--only",
        metavar="TEXT",
        help="Cells with these words in their names, such as 'K=5 N=1*'; repeatable.",
    ),
    show: bool = typer.Option(
        False, "--list", help="List the cells, what they cost, which are done; run none."
    ),
    page: Path | None = typer.Option(
        None, metavar="FILE", help="Write a page of all tables and pictures from the records; run none."
    ),
    threads: int | None = typer.Option(None, help="Threads (default: one a processor)."),
    as_json: bool = typer.Option(False, "--json", help="Print records as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Reproduce tables and figures of the paper, cell by cell; the same command goes on where it stopped.

    MovieLens and the speeches of Congress are looked for in the folder that the variable BAYESVEC_DATA names.
    """
    from bayesvec.paper import NAMES, find_experiment

    if not names and not show:
        raise OptionError(f"no experiment is named; there are {', '.join(NAMES)}; or say all")
    for option, given in (("--list", show), ("--only", bool(only))):
        if page is not None and given:
            raise OptionError(f"{option} does not go with --page, which shows all cells and runs none")
    if any(not pattern.split() for pattern in only):
        raise OptionError("--only is empty; give words of the cells' names, such as 'K=5 gibbs'")
    wanted = NAMES if not names or "all" in names else tuple(dict.fromkeys(names))
    experiments = _having([find_experiment(name) for name in wanted], quick, only)
    if threads is not None and threads < 1:
        raise OptionError(f"threads is {threads}; it must be 1 or more")
    where = out or Path("paper-results", "quick" if quick else "full")
    if where.exists() and not where.is_dir():
        raise OptionError(f"{where} is a file; --out must be a folder, or a new one")
    if show:
        typer.echo(
            _listed(experiments, where, quick=quick, only=only, briefly=not (names or only), as_json=as_json)
        )
        return
    if page is not None:
        from bayesvec.paper.page import write_page

        for path in write_page(experiments, where, page, quick=quick):
            typer.echo(f"written: {path}")
        return
    from bayesvec.paper.cells import NoData

    left_out = []
    for experiment in experiments:
        try:
            _run(experiment, where, quick=quick, only=only, threads=threads, quiet=quiet)
        except NoData as error:
            if len(experiments) == 1:
                raise
            sys.stderr.write(f"{experiment.NAME} was left out: {error}\n")
            left_out.append(experiment.NAME)
    asked = [one for one in experiments if as_json or one.NAME not in left_out]
    if asked:
        typer.echo(_answer(asked, where, quick=quick, as_json=as_json))
    missing = [name for name in names if name in left_out]  # those of all may be left out
    if missing:
        raise NoData(f"the data of {', '.join(missing)} is not here, see above")


def _having(experiments: "list[Experiment]", quick: bool, only: list[str]) -> "list[Experiment]":
    """Return those that have a cell which is meant; raise if there is none."""
    from bayesvec.paper.cells import choose

    found = [one for one in experiments if any(cell.is_meant(only) for cell in one.cells(quick))]
    if not found:
        choose(experiments[0], quick, only)  # says what is wrong
    return found


def _run(
    experiment: "Experiment", out: Path, *, quick: bool, only: list[str], threads: int | None, quiet: bool
) -> None:
    """Run what has no record yet."""
    from bayesvec._parallel import default_threads
    from bayesvec.paper.cells import choose, read_record
    from bayesvec.paper.runner import run_cells

    missing = [c for c in choose(experiment, quick, only) if read_record(out, experiment, c) is None]
    try:
        with _shown(experiment.NAME, sum(cell.cost for cell in missing), quiet) as (tell, report):
            run_cells(
                experiment,
                out,
                quick=quick,
                only=only,
                threads=threads or default_threads(),
                tell=tell,
                report=report,
            )
    except KeyboardInterrupt:
        done = sum(read_record(out, experiment, cell) is not None for cell in missing)
        sys.stderr.write(
            f"bayesvec: stopped; {done} of {len(missing)} cells of {experiment.NAME} were done and are kept in "
            f"{out}; the same command goes on\n"
        )
        raise typer.Exit(STOPPED) from None


@contextmanager
def _shown(name: str, total: float, quiet: bool) -> Iterator[tuple[Any, Any]]:
    """Show how far it is: a bar on a terminal, a line for each cell elsewhere."""
    from bayesvec._progress import progress

    with progress(name, total or None, enabled=not quiet) as advance:
        label = [""]

        def tell(told: "Told") -> None:
            label[0] = told.cell.label
            advance(0.0 if told.seconds is None else told.cell.cost, label[0])
            if told.seconds is not None and not quiet and not sys.stderr.isatty():
                sys.stderr.write(f"{told}\n")
                sys.stderr.flush()

        yield tell, lambda text: advance(0.0, f"{label[0]}: {text}")


def _listed(
    experiments: "list[Experiment]", out: Path, *, quick: bool, only: list[str], briefly: bool, as_json: bool
) -> str:
    """Return a line for each experiment and, unless ``briefly``, for each of its cells; or all cells as JSON."""
    from bayesvec.paper.cells import choose, read_record, record_path
    from bayesvec.paper.runner import in_time

    rows, told = [], []
    for experiment in experiments:
        cells = choose(experiment, quick, only)
        records = [read_record(out, experiment, cell) for cell in cells]
        left = sum(cell.cost for cell, record in zip(cells, records, strict=True) if record is None)
        done = sum(record is not None for record in records)
        told.append(
            f"{experiment.NAME}: {experiment.SHOWS}; {done} of {len(cells)} cells are done"
            + (f", the others take about {in_time(left)}" if done < len(cells) else "")
        )
        for cell, record in zip(cells, records, strict=True):
            state = (
                f"about {in_time(cell.cost)}" if record is None else f"done in {in_time(record['seconds'])}"
            )
            if not briefly:
                told.append(f"  {cell.label}  ({state})")
            rows.append(
                {
                    "experiment": experiment.NAME,
                    "cell": cell.label,
                    "settings": dict(cell.settings),
                    "estimated_seconds": cell.cost,
                    "seconds": None if record is None else record["seconds"],
                    "record": str(record_path(out, experiment, cell)),
                }
            )
    return json.dumps(rows, indent=1) if as_json else "\n".join(told)


def _answer(experiments: "list[Experiment]", out: Path, *, quick: bool, as_json: bool) -> str:
    """Return the tables with their notes, after the pictures have been written; or the records."""
    from bayesvec.paper.cells import read_results
    from bayesvec.paper.page import section, write_figures

    answers: list[dict[str, Any]] = []
    for experiment in experiments:
        results = read_results(out, experiment, quick=quick)
        written = write_figures(experiment, results, out / "figures")
        answers.append(
            {
                "experiment": experiment.NAME,
                "shows": experiment.SHOWS,
                "cells": len(results),
                "done": results.done,
                "table": experiment.table(results),
                "note": experiment.NOTE,
                "figures": [str(path) for path in written],
                "records": [result.record for result in results.all if result.record is not None],
                "section": section(experiment, results, written, quick=quick),
            }
        )
    if as_json:
        return json.dumps([{k: v for k, v in a.items() if k != "section"} for a in answers], indent=1)
    return "\n\n".join(answer["section"] for answer in answers)
