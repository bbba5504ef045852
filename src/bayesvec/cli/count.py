"""`bayesvec count`."""

import json
import os
from pathlib import Path
from typing import Any

import typer

from bayesvec.cli.app import app
from bayesvec.errors import InputError, OptionError

# What makes no sense of baskets; given with --baskets it is refused.
_NOT_OF_BASKETS = {
    "window": None,
    "window_over": "positions",
    "stem": None,
    "stopwords": None,
    "stopwords_action": "drop",
    "document": "line",
}


@app.command()
def count(
    texts: list[str] = typer.Argument(..., metavar="TEXT...", help="Files, folders, globs, or - for stdin."),
    out: Path = typer.Option(..., "--out", help="Folder to write the counts to."),
    vocab: int | None = typer.Option(
        None, help="Keep this many of the most common words [default: up to 5000]."
    ),
    min_count: int = typer.Option(1, help="Keep words that occur at least so often."),
    vocabulary: Path | None = typer.Option(None, help="File with the words to keep, one on each line."),
    window: int | None = typer.Option(None, help="Reach of the window to each side [default: 2]."),
    window_over: str = typer.Option(
        "positions", help="positions: words left out keep their place; vocabulary."
    ),
    negatives: int = typer.Option(1, help="Negative samples for each positive one."),
    negative_power: float = typer.Option(1.0, help="They are drawn from frequency to this power."),
    subsample: float | None = typer.Option(None, help="Threshold of word2vec's subsampling, such as 1e-3."),
    tokenizer: str | None = typer.Option(
        None, help="words, whitespace or a regular expression [default: words; whitespace with --baskets]."
    ),
    lowercase: bool | None = typer.Option(
        None, "--lowercase/--keep-case", help="Lower-case the words [default: all but those of whitespace]."
    ),
    stem: str | None = typer.Option(None, help="english: replace words by their Snowball stems."),
    stopwords: Path | None = typer.Option(None, help="File with stopwords, one on each line."),
    stopwords_action: str = typer.Option("drop", help="drop stopwords, or keep-unstemmed."),
    text_column: str | None = typer.Option(
        None, help="Column of a table (JSON lines, CSV, Parquet) with text."
    ),
    group_column: str | None = typer.Option(
        None, help="Column with each document's group: rows are word@group."
    ),
    document: str = typer.Option("line", help="What a document of plain text is: line or file."),
    format_: str = typer.Option("auto", "--format", help="auto, text, jsonl, csv, tsv or parquet."),
    encoding: str = typer.Option("utf-8", help="Encoding of the text."),
    errors: str = typer.Option(
        "strict", help="What to do with bytes that are not text: strict, replace, ignore."
    ),
    baskets: bool = typer.Option(False, "--baskets", help="A line is a basket; all its pairs are positive."),
    memory: str | None = typer.Option(None, help="About how much memory to use, such as 1GB."),
    threads: int | None = typer.Option(None, help="Number of threads [default: one a processor]."),
    seed: int = typer.Option(0, help="Seed of the negative samples."),
    force: bool = typer.Option(False, "--force", help="Replace counts that are already there."),
    quiet: bool = typer.Option(False, "--quiet", help="Show no progress and print no summary."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
) -> None:
    """Count the word pairs of a text, or the pairs of items in baskets."""
    options = {
        "vocab": vocab,
        "min_count": min_count,
        "vocabulary": vocabulary,
        "negatives": negatives,
        "negative_power": negative_power,
        "subsample": subsample,
        "lowercase": lowercase,
        "text_column": text_column,
        "group_column": group_column,
        "format": format_,
        "encoding": encoding,
        "errors": errors,
        "memory": memory,
        "threads": threads,
        "seed": seed,
        "progress": not quiet,
    }
    of_text = {
        "window": window,
        "window_over": window_over,
        "stem": stem,
        "stopwords": stopwords,
        "stopwords_action": stopwords_action,
        "document": document,
    }
    if tokenizer is not None:
        options["tokenizer"] = tokenizer
    if baskets:
        _refuse_with_baskets(of_text)
    else:
        options |= of_text | {"window": 2 if window is None else window}
    summary = _count(texts, out, options, baskets=baskets, force=force)
    if as_json:
        typer.echo(json.dumps(summary))
    elif not quiet:
        _print_summary(summary)


def _refuse_with_baskets(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value != _NOT_OF_BASKETS[name]:
            raise OptionError(f"--{name.replace('_', '-')} does not go with --baskets; leave it out")


def _count(
    texts: list[str], out: Path, options: dict[str, Any], *, baskets: bool, force: bool
) -> dict[str, Any]:
    """Count, save, and return the summary."""
    from time import perf_counter

    from bayesvec.counts_store import check_free
    from bayesvec.text.counting import count as count_texts
    from bayesvec.text.counting import count_baskets

    check_free(out, force=force)
    _check_writable(out)
    start = perf_counter()
    counts = (count_baskets if baskets else count_texts)(texts, **options)
    seconds = perf_counter() - start
    counts.save(out, force=force)
    recipe = counts.recipe
    return {
        "out": str(out),
        "documents": recipe["documents"],
        "tokens": recipe["tokens"],
        "words": counts.num_words,
        "contexts": counts.num_contexts,
        "covered": recipe["tokens_in_vocabulary"] / recipe["tokens"],
        "words_not_found": recipe["words_not_found"],
        "pairs": counts.num_pairs,
        "positives": counts.num_positives,
        "negatives": counts.num_negatives,
        "seconds": seconds,
        "tokens_per_second": recipe["tokens"] / seconds,
        "fingerprint": counts.fingerprint,
    }


def _check_writable(out: Path) -> None:
    """Find out before the counting that nothing could be written afterwards."""
    folder = next(parent for parent in out.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        problem = "is no folder" if not folder.is_dir() else "may not be written to"
        raise InputError(f"cannot write {out}: {folder} {problem}; choose another place", file=str(out))


def _print_summary(summary: dict[str, Any]) -> None:
    rows = "" if summary["words"] == summary["contexts"] else f" ({summary['words']:,} rows)"
    missing = summary["words_not_found"]
    lines = [
        ("documents", f"{summary['documents']:,}"),
        ("tokens", f"{summary['tokens']:,} ({summary['tokens_per_second']:,.0f} a second)"),
        ("vocabulary", f"{summary['contexts']:,} words{rows}, {summary['covered']:.1%} of the tokens"),
        ("pairs", f"{summary['pairs']:,}"),
        ("positives", f"{summary['positives']:,}"),
        ("negatives", f"{summary['negatives']:,}"),
        ("written to", summary["out"]),
    ]
    if missing:
        lines.insert(3, ("not found", f"{missing:,} words of the vocabulary do not occur"))
    for name, value in lines:
        typer.echo(f"{name:<11} {value}")
