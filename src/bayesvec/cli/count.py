"""`bayesvec count`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesvec._cluster import Where
from bayesvec.cli.answers import echo
from bayesvec.cli.app import ADDRESS, AS_JSON, COUNTING, ENGINE, OUTPUT, PROCESSES, QUIET, app, switch
from bayesvec.cli.text_options import NO_TEXT_OPTIONS, TextOptions, takes_text_options

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts


@app.command()
@takes_text_options
def count(
    texts: list[str] = typer.Argument(..., metavar="TEXT...", help="Files, folders, globs, or - for stdin."),
    text: TextOptions = NO_TEXT_OPTIONS,
    seed: int = typer.Option(0, help="Seed of the negative samples.", rich_help_panel=COUNTING),
    threads: int | None = typer.Option(
        None, help="Number of threads [default: one per processor].", rich_help_panel=COUNTING
    ),
    engine: str = ENGINE,
    address: str | None = ADDRESS,
    workers: int | None = PROCESSES,
    out: Path = typer.Option(..., "--out", help="Folder to write the counts to.", rich_help_panel=OUTPUT),
    force: bool = switch("--force", "Replace counts that are already there."),
    quiet: bool = QUIET,
    as_json: bool = AS_JSON,
) -> None:
    """Count the word pairs of a text, or the pairs of items in baskets."""
    from time import perf_counter

    from bayesvec.counts.store import check_free

    text.check()
    where = Where(engine, address, workers)
    check_free(out, force=force)
    _warm_up(show=not quiet)
    start = perf_counter()
    counts = text.count(texts, seed=seed, threads=threads, progress=not quiet, where=where)
    seconds = perf_counter() - start
    counts.save(out, force=force)
    summary = _summary(counts, out, seconds)
    if as_json:
        echo(json.dumps(summary))
    elif not quiet:
        _print_summary(summary)


def _warm_up(*, show: bool) -> None:
    """Count two words, so that compiling is not part of the measured speed."""
    from bayesvec._compiling import announce_compiling
    from bayesvec.text.count import count as count_texts

    with announce_compiling(enabled=show):
        count_texts(documents=["a b"], threads=1, progress=False)


def sizes(counts: "PairCounts", out: Path) -> dict[str, Any]:
    """Return where counts were written, how large they are, and their fingerprint."""
    return {
        "out": str(out),
        "words": counts.num_words,
        "contexts": counts.num_contexts,
        "pairs": counts.num_pairs,
        "positives": counts.num_positives,
        "negatives": counts.num_negatives,
        "fingerprint": counts.fingerprint,
    }


def _summary(counts: "PairCounts", out: Path, seconds: float) -> dict[str, Any]:
    recipe = counts.recipe
    kept = ("documents", "tokens", "words_not_found", "stopwords_not_found", "zero_bytes")
    return {
        **sizes(counts, out),
        **{name: recipe[name] for name in kept},
        "covered": recipe["tokens_in_vocabulary"] / recipe["tokens"],
        "seconds": seconds,
        "tokens_per_second": recipe["tokens"] / seconds,
    }


def _print_summary(summary: dict[str, Any]) -> None:
    rows = "" if summary["words"] == summary["contexts"] else f" ({summary['words']:,} rows)"
    missing, idle = summary["words_not_found"], summary["stopwords_not_found"]
    long = summary["seconds"] > 1.0  # the speed of a short text is that of start-up
    speed = f" ({summary['tokens_per_second']:,.0f} per second)" if long else ""
    lines = [
        ("documents", f"{summary['documents']:,}"),
        ("tokens", f"{summary['tokens']:,}{speed}"),
        ("vocabulary", f"{summary['contexts']:,} words{rows}, {summary['covered']:.1%} of the tokens"),
        ("pairs", f"{summary['pairs']:,}"),
        ("positives", f"{summary['positives']:,}"),
        ("negatives", f"{summary['negatives']:,}"),
        ("written to", summary["out"]),
    ]
    if missing:
        lines.insert(3, ("not found", f"{missing:,} words of the vocabulary do not occur"))
    if idle:
        lines.insert(3, ("not found", f"{idle:,} stopwords do not occur"))
    for name, value in lines:
        echo(f"{name:<11} {value}")
