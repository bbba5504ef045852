"""The page of all experiments, made from their records and nothing else."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from bayesvec import _atomic as files
from bayesvec._targets import begins_with, check_free
from bayesvec.errors import InputError
from bayesvec.paper.claims import claims_table
from bayesvec.paper.data import CONGRESS_WORDS
from bayesvec.paper.experiment import Experiment, Results
from bayesvec.paper.markdown import NOTHING, paragraphs
from bayesvec.paper.runner import duration

TITLE = "# The paper, reproduced"
HEAD = f"""\
{TITLE}

The tables and figures of *Posterior Sampling of Probabilistic Word Embeddings* (Yrjänäinen, Boström, Magnusson &
Jonasson), our results beside the paper's. `make paper` generates this page from the records of single cells in
`experiments/records`; only the paper's numbers, the notes and the costs of what was cut are typed by hand.
`bayesvec reproduce NAME` runs an experiment, `--list` shows its cells and what they cost, and `bayesvec reproduce all
--quick` runs a small version of everything. MovieLens and the speeches in Congress are read from the folder named by
`BAYESVEC_DATA`."""
QUICK = f"""\
{TITLE}: the quick size

A trial run of every experiment with fewer and smaller cells (`--quick`): it shows that they run, not what they find.
The notes describe the full size; the settings used here are in the records."""
CLAIMS = """\
## The paper's claims

A verdict is on the cells that were run. "Agrees": our results show what the paper states; "in part": some of them do;
"differs": they show something else; "undecided": the records, or the paper's own numbers, cannot tell; "error": the
paper is wrong, with the consequence. Hold-out scores are judged by the 95% intervals (in brackets) of differences in
log likelihood per sample: "agrees" if all are above 0, "differs" if one is below 0, "undecided" if one contains 0 or
none exists, "in part" if only some records have one. A star marks a MAP whose optimiser had not converged: the
difference is from that unfinished estimate. Each section ends with what the paper has and we cut, and its cost."""
GLOSSARY = f"""\
## Terms

- `{NOTHING}`: not given, impossible or not measured; an empty field: cut.
- **World**: a simulated data set whose true vectors are known. The prior precision is K, as in the simulation.
- **N**: the number of samples, positive and negative.
- **Gibbs**: our sampler: free (no fixed contexts), one overrelaxed update of each row per sweep, and the orbit move;
  "no overrelaxation" and "no orbit move" leave out one of these. Here it runs without Hamiltonian moves.
- **Contexts fixed**: K contexts (the last, random ones, or a choice by pivoted QR) are held at their MAP values;
  impossible where these span fewer than K directions, as the MAP of a rare context may be zero.
- **Algorithm 1**: the paper's Gibbs sampler on our kernels. Each row restarts from N(0, 1/K) and takes S = 10
  steps; N(0, 1/K) is the prior in the simulated worlds, not at precision 1. K contexts are fixed at the MAP even
  where they span fewer than K directions. Chains start near the MAP.
- **NUTS**: the paper's HMC. **MFVI**: mean-field variational inference, stopped by Stan's default rule, as in the
  paper, or run to convergence. **blockvi**: a variational approximation with one K x K Gaussian per row.
- **Laplace**: free unless stated otherwise; the paper fixes the last K contexts.
- **Posterior mean**, **mean vectors**: an estimate at the posterior mean of the vectors, as in the paper; free draws
  are aligned (Procrustes) first. **Predictive**, **mean probabilities**: probabilities averaged over the draws.
- **Hold-out scores**: log likelihood per held-out sample; larger is better. Standard errors, in brackets, are
  over held-out documents or users (in at most 200 clusters), or over words in a split by pair; those of differences
  are paired, over the same clusters. A 95% interval extends 1.96 standard errors to each side. A split by pair, as in
  the paper, can put samples of the same pair in both parts; a split by document or user keeps whole documents or
  users together.
- **Learned precision**: Gibbs samples the precision of the prior with the vectors; MAP and blockvi use the value from
  a short Gibbs run, shown below their rows; on Congress that value is smaller. The paper's precision is 1.
- **R-hat**, **ESS**: rank-normalised split R-hat, bulk and tail ESS (Vehtari et al. 2021).
- **MovieLens**: MovieLens 100K (Harper & Konstan 2015), the 603 movies with at least 50 ratings.
- **Congress**: speeches in the US House, 2001 to 2020, drawn at random up to {CONGRESS_WORDS:,} words. The paper uses
  the daily edition of Gentzkow, Shapiro & Taddy (2018). Preprocessing as in the paper: lower case, letters only,
  Snowball stems except for stopwords, the 5,000 most frequent stems, window 2, one negative sample per positive one
  from the unigram distribution, no subsampling."""


def page_text(experiments: Iterable[Experiment], out: Path, *, quick: bool, figures: str) -> str:
    """Return the page; an experiment without any record is named, and has no section.

    Parameters
    ----------
    experiments : iterable of Experiment
        In the order of the page.
    out : Path
        The folder of the records.
    quick : bool
        The quick size, or the full one.
    figures : str
        The folder of the figures, relative to the page.
    """
    parts, found, unseen = [], {}, []
    for experiment in experiments:
        results = found[experiment.name] = experiment.results(out, quick=quick)
        if not results.done:
            seconds = sum(result.cell.cost for result in results.all)
            unseen.append(f"`{experiment.name}` (about {duration(seconds)})")
            continue
        pictures = [Path(figures, f"{name}.png") for name in experiment.figures(results)]
        parts.append(section(experiment, results, pictures, quick=quick))
    waiting = f"Experiments without records yet: {', '.join(unseen)}." if unseen else ""
    if quick:
        return paragraphs(QUICK, GLOSSARY, waiting, *parts) + "\n"
    return paragraphs(HEAD, CLAIMS, claims_table(found), GLOSSARY, waiting, *parts) + "\n"


def section(experiment: Experiment, results: Results, pictures: Sequence[Path], *, quick: bool) -> str:
    """Return one experiment: what it shows, how much has been run, tables, figures and the note."""
    command = f"bayesvec reproduce {experiment.name}" + (" --quick" if quick else "")
    return paragraphs(
        f"## {experiment.name}" + (", the quick size" if quick else ""),
        f"{experiment.shows}. `{command}`. {_state(experiment, results, quick=quick)}{_provenance(results)}",
        experiment.table(results),
        _impossible(results),
        "\n".join(f"![{path.stem}]({path.as_posix()})" for path in pictures),
        _filled(experiment.note),
        "" if quick or not experiment.cut else _filled(f"Cut: {experiment.cut}"),
    )


def _state(experiment: Experiment, results: Results, *, quick: bool) -> str:
    """Return how many cells of the grid have been run, and how much of what the paper shows they are."""
    whole = results.done == len(results)
    state = f"All {len(results)} cells run" if whole else f"{results.done} of {len(results)} cells run"
    if quick or experiment.in_paper is None:
        return f"{state}."
    shown = experiment.in_paper
    return f"{state}, with {shown.count(results)} of the paper's {shown.total} {shown.what}."


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 110, break_on_hyphens=False)


def _provenance(results: Results) -> str:
    """Return the machines and versions of the records, the time they took, and how many do not say what made them."""
    records = [result.record for result in results.all if result.record is not None]
    if not records:
        return ""
    machines = dict.fromkeys(
        f"{record['machine']['processor']}, {record['machine']['cores']} cores" for record in records
    )
    versions = dict.fromkeys(f"bayesvec {record['versions'].get('bayesvec', '?')}" for record in records)
    minutes = math.ceil(sum(record["seconds"] for record in records) / 60)
    more = "more than " if any(record.get("continued") for record in records) else ""
    total = f"{more}{minutes} minute{'' if minutes == 1 else 's'} in all"
    silent = sum("sampler" not in record for record in records)
    early = f"; {silent} of {len(records)} records do not state their sampler and commit" if silent else ""
    return f" ({'; '.join(machines)}; {', '.join(versions)}; {total}{early}.)"


def _impossible(results: Results) -> str:
    """Return which cells, or some of their worlds, could not be computed, and why."""
    labels: dict[str, list[str]] = {}
    for result in results.all:
        for reason in result.reasons:
            labels.setdefault(reason, []).append(result.cell.label)
    return "\n".join(f"- Impossible in {', '.join(which)}: {reason}." for reason, which in labels.items())


def write_figures(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Write the figures of an experiment and return their paths."""
    from bayesvec.paper.figures import save

    drawn = {folder / f"{name}.png": draw for name, draw in experiment.figures(results).items()}
    for path, draw in drawn.items():
        save(draw(), path)
    return list(drawn)


def write_page(experiments: Sequence[Experiment], out: Path, page: Path, *, quick: bool) -> list[Path]:
    """Write the page and its figures, in a folder ``figures`` beside it; return the paths."""
    check_free(
        page,
        what="such a page",
        force=True,
        ours=begins_with(TITLE.encode()),
        parents=True,
        error=InputError,
    )
    written = []
    for experiment in experiments:
        written += write_figures(experiment, experiment.results(out, quick=quick), page.parent / "figures")
    text = page_text(experiments, out, quick=quick, figures="figures")
    with files.placed(page, error=InputError) as partial:
        partial.write_text(text, encoding="utf-8")
    return [*written, page]
