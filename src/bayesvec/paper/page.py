"""The page of all experiments, made from their records and nothing else."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from bayesvec import _atomic as files
from bayesvec.errors import InputError
from bayesvec.paper.cells import Experiment, Results, read_results
from bayesvec.paper.markdown import KEY, paragraphs

TITLE = "# The paper, reproduced"
HEAD = f"""\
{TITLE}

Every table and figure of *Posterior Sampling of Probabilistic Word Embeddings* (Yrjänäinen, Boström, Magnusson &
Jonasson), ours beside the paper's. This page is made from the records of single cells (`experiments/records`) by
`make paper`; no result on it is typed by hand but the paper's own. Run any of it with `bayesvec reproduce NAME`, see
the cells and what they cost with `--list`, and a small version of all with `bayesvec reproduce all --quick`. The data
of MovieLens and Congress are looked for in the folder that `BAYESVEC_DATA` names."""
QUICK = f"""\
{TITLE}: the quick size

A trial of every experiment with fewer and smaller cells, made with `--quick`: it shows that all of them run, not what
they find. The notes speak of the full size; what was run here is in the names of the cells and in their records."""


def page_text(experiments: Iterable[Experiment], out: Path, *, quick: bool, figures: str) -> str:
    """Return the page.

    Parameters
    ----------
    experiments : iterable of Experiment
        The modules, in their order.
    out : Path
        The folder of the records.
    quick : bool
        Of the quick size, or the full one.
    figures : str
        Where the pictures are, seen from the page.
    """
    parts = []
    for experiment in experiments:
        results = read_results(out, experiment, quick=quick)
        pictures = [Path(figures, f"{name}.png") for name in experiment.figures(results)]
        parts.append(section(experiment, results, pictures, quick=quick))
    return paragraphs(QUICK if quick else HEAD, KEY, *parts) + "\n"


def section(experiment: Experiment, results: Results, pictures: Sequence[Path], *, quick: bool) -> str:
    """Return one experiment: what it shows, how much of it has been run, tables, pictures, the note."""
    state = (
        f"{results.done} of {len(results)} cells run." if results.done < len(results) else "All cells run."
    )
    command = f"bayesvec reproduce {experiment.NAME}" + (" --quick" if quick else "")
    return paragraphs(
        f"## {experiment.NAME}" + (", the quick size" if quick else ""),
        f"{experiment.SHOWS}. `{command}`. {state}{_made_with(results)}",
        experiment.table(results),
        _impossible(results),
        "\n".join(f"![{path.stem}]({path.as_posix()})" for path in pictures),
        textwrap.fill(" ".join(experiment.NOTE.split()), 110, break_on_hyphens=False),
    )


def _made_with(results: Results) -> str:
    """Say which machines and versions the records are from."""
    records = [result.record for result in results.all if result.record is not None]
    if not records:
        return ""
    machines = dict.fromkeys(
        f"{record['machine']['processor']}, {record['machine']['cores']} cores" for record in records
    )
    versions = dict.fromkeys(f"bayesvec {record['versions'].get('bayesvec', '?')}" for record in records)
    count = math.ceil(sum(record["seconds"] for record in records) / 60)
    minutes = f"{count} minute{'' if count == 1 else 's'} in all"
    if any(record.get("continued") for record in records):
        minutes = f"more than {minutes}"
    return f" ({'; '.join(machines)}; {', '.join(versions)}; {minutes}.)"


def _impossible(results: Results) -> str:
    """Say of which cells, or of some of their worlds, there is nothing to show, and why."""
    labels: dict[str, list[str]] = {}
    for result in results.all:
        found = (result.values or {}).get("impossible", [])
        for reason in [found] if isinstance(found, str) else found:
            labels.setdefault(reason, []).append(result.cell.label)
    return "\n".join(f"- Not possible in {', '.join(which)}: {reason}." for reason, which in labels.items())


def write_figures(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Write the pictures of an experiment and return where they are."""
    from bayesvec.paper.figures import save

    written = []
    for name, draw in experiment.figures(results).items():
        path = folder / f"{name}.png"
        save(draw(), path)
        written.append(path)
    return written


def write_page(experiments: Sequence[Experiment], out: Path, page: Path, *, quick: bool) -> list[Path]:
    """Write the page and, in a folder ``figures`` beside it, its pictures; return what was written."""
    _check_place(page)
    folder = page.parent / "figures"
    written = []
    for experiment in experiments:
        results = read_results(out, experiment, quick=quick)
        written += write_figures(experiment, results, folder)
    text = page_text(experiments, out, quick=quick, figures="figures")
    page.parent.mkdir(parents=True, exist_ok=True)
    files.write(page, [text.encode()])
    return [*written, page]


def _check_place(page: Path) -> None:
    """Raise unless the page can be written there: nothing is, or a page like it."""
    if page.is_dir():
        raise InputError(f"{page} is a folder; name the page to write, such as {page / 'paper.md'}")
    if files.is_other_file(page, TITLE.encode()):
        raise InputError(f"{page} exists and is not such a page; it is not replaced; choose another name")
    above = next(folder for folder in page.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"cannot write {page}: {above} is a file; choose another name")
