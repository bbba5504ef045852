"""`bayesvec reproduce`: the paper's tables and figures."""

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec._cluster import Where, connect
from bayesvec.cli.answers import echo
from bayesvec.cli.app import ADDRESS, CLUSTER, ENGINE, STOPPED, app
from bayesvec.errors import OptionError

if TYPE_CHECKING:
    from bayesvec.paper.cells import Cell
    from bayesvec.paper.experiment import Experiment


@app.command()
def reproduce(
    names: list[str] = typer.Argument(
        None, metavar="[NAME...]", help="Experiments, or all; --list shows their names."
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
    show: bool = typer.Option(False, "--list", help="List the cells with their cost and state; run none."),
    page: Path | None = typer.Option(
        None, metavar="FILE", help="Write a page of all tables and figures from the records; run none."
    ),
    threads: int | None = typer.Option(
        None, help="Threads, on a Ray cluster of each cell (default: one per processor)."
    ),
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    workers: int | None = typer.Option(
        None, help="Cells at once on the Ray cluster (default: one per node).", rich_help_panel=CLUSTER
    ),
    as_json: bool = typer.Option(False, "--json", help="Print records as JSON."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress."),
) -> None:
    """Reproduce tables and figures of the paper, cell by cell; the same command resumes after a stop.

    MovieLens and the speeches in Congress are read from the folder named by the variable BAYESVEC_DATA.
    """
    experiments = _choose(names or [], quick, only, show, page)
    if threads is not None and threads < 1:
        raise OptionError(f"threads is {threads}; it must be 1 or more")
    where = Where(engine, address, workers)
    place = out or Path("paper-results", "quick" if quick else "full")
    if place.exists() and not place.is_dir():
        raise OptionError(f"{place} is a file; --out must be a folder, or a new one")
    if show:
        brief = not (names or only)
        echo(_listed(experiments, place, quick=quick, only=only, brief=brief, as_json=as_json))
    elif page is not None:
        from bayesvec.paper.page import write_page

        for path in write_page(experiments, place, page, quick=quick):
            echo(f"written: {path}")
    else:
        options: dict[str, Any] = {"quick": quick, "only": only, "threads": threads, "quiet": quiet}
        skipped = _run_all(experiments, place, where=where, **options)
        answered = [one for one in experiments if as_json or one.name not in skipped]
        if answered:
            echo(_answer(answered, place, quick=quick, as_json=as_json))
        if missing := [name for name in names if name in skipped]:  # those of all may be skipped
            raise OptionError(f"no data for {', '.join(missing)}, see above")


def _choose(
    names: Sequence[str], quick: bool, only: Sequence[str], show: bool, page: Path | None
) -> "list[Experiment]":
    """Check the options and return the experiments that have a matching cell."""
    from bayesvec.paper import NAMES, find_experiment

    if not names and not show:
        raise OptionError(f"name an experiment: {', '.join(NAMES)}, or all")
    for option, given in (("--list", show), ("--only", bool(only))):
        if page is not None and given:
            raise OptionError(f"{option} cannot be combined with --page, which shows all cells and runs none")
    if any(not pattern.split() for pattern in only):
        raise OptionError("--only is empty; give words of the cells' names, such as 'K=5 gibbs'")
    wanted = NAMES if not names or "all" in names else tuple(dict.fromkeys(names))
    experiments = [find_experiment(name) for name in wanted]
    found = [one for one in experiments if any(cell.matches(only) for cell in one.cells(quick))]
    if not found:
        experiments[0].choose(quick, only)  # raises
    return found


def _run_all(experiments: "list[Experiment]", out: Path, *, where: Where, **options: Any) -> list[str]:
    """Run experiments and return those that were skipped for lack of data; a single one raises."""
    from bayesvec.paper.experiment import NoData

    skipped = []
    on_ray = where.engine == "ray"
    with connect(where, options["threads"]) if on_ray else nullcontext():  # once for all experiments
        for experiment in experiments:
            try:
                _run(experiment, out, where=where, **options)
            except NoData as error:
                if len(experiments) == 1:
                    raise
                sys.stderr.write(f"{experiment.name} was skipped: {error}\n")
                skipped.append(experiment.name)
    return skipped


def _run(
    experiment: "Experiment",
    out: Path,
    *,
    quick: bool,
    only: list[str],
    threads: int | None,
    where: Where,
    quiet: bool,
) -> None:
    """Run the cells without a record: a bar on a terminal, a line for each cell elsewhere."""
    from bayesvec._progress import progress
    from bayesvec.paper.runner import run_cells

    missing = [cell for cell in experiment.choose(quick, only) if experiment.read(out, cell) is None]
    total = sum(cell.cost for cell in missing) or None
    label = ""

    def started(cell: "Cell") -> None:
        nonlocal label
        label = cell.label
        advance(0.0, label)

    def finished(cell: "Cell", line: str) -> None:
        advance(cell.cost, label)
        if not quiet and not sys.stderr.isatty():
            print(line, file=sys.stderr, flush=True)

    try:
        with progress(experiment.name, total, enabled=not quiet) as advance:
            run_cells(
                experiment,
                out,
                quick=quick,
                only=only,
                threads=threads,
                where=where,
                started=started,
                finished=finished,
                report=lambda text: advance(0.0, f"{label}: {text}"),
            )
    except KeyboardInterrupt:
        done = sum(experiment.read(out, cell) is not None for cell in missing)
        sys.stderr.write(
            f"bayesvec: stopped; {done} of {len(missing)} cells of {experiment.name} are done and kept in {out}; "
            "the same command resumes\n"
        )
        raise typer.Exit(STOPPED) from None


def _listed(
    experiments: "list[Experiment]", out: Path, *, quick: bool, only: list[str], brief: bool, as_json: bool
) -> str:
    """Return a line for each experiment and, unless ``brief``, for each of its cells; or all cells as JSON."""
    from bayesvec.paper.runner import duration

    rows: list[dict[str, Any]] = []
    lines = []
    for experiment in experiments:
        records = [(cell, experiment.read(out, cell)) for cell in experiment.choose(quick, only)]
        left = [cell.cost for cell, record in records if record is None]
        rest = f", the others take about {duration(sum(left))}" if left else ""
        done = len(records) - len(left)
        lines.append(f"{experiment.name}: {experiment.shows}; {done} of {len(records)} cells are done{rest}")
        for cell, record in records:
            seconds = None if record is None else record["seconds"]
            state = f"about {duration(cell.cost)}" if seconds is None else f"done in {duration(seconds)}"
            lines += [] if brief else [f"  {cell.label}  ({state})"]
            rows.append(
                {
                    "experiment": experiment.name,
                    "cell": cell.label,
                    "settings": dict(cell.settings),
                    "estimated_seconds": cell.cost,
                    "seconds": seconds,
                    "record": str(experiment.path(out, cell)),
                }
            )
    missing = [row["estimated_seconds"] for row in rows if row["seconds"] is None]
    rest = f"{len(missing)} of {len(rows)} cells are left, about {duration(sum(missing))}"
    lines += [] if brief else [rest if missing else f"no cell is left: all {len(rows)} are done"]
    return json.dumps(rows, indent=1) if as_json else "\n".join(lines)


def _answer(experiments: "list[Experiment]", out: Path, *, quick: bool, as_json: bool) -> str:
    """Write the figures; return the tables with their notes and a glossary, or the records as JSON."""
    from bayesvec.paper.page import GLOSSARY, section, write_figures

    answers: list[dict[str, Any]] = []
    sections = []
    for experiment in experiments:
        results = experiment.results(out, quick=quick)
        written = write_figures(experiment, results, out / "figures")
        sections.append(section(experiment, results, written, quick=quick))
        answers.append(
            {
                "experiment": experiment.name,
                "shows": experiment.shows,
                "cells": len(results),
                "done": results.done,
                "table": experiment.table(results),
                "note": experiment.note,
                "figures": [str(path) for path in written],
                "records": [result.record for result in results.all if result.record is not None],
            }
        )
    return json.dumps(answers, indent=1) if as_json else "\n\n".join([*sections, GLOSSARY])
