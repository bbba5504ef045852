"""How sparse the Hessian is: the paper's figure of its nonzero blocks."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.measures import random_pairs
from bayesvec.errors import InputError
from bayesvec.paper.cells import Cell, NoData, Results
from bayesvec.paper.markdown import NOT_RUN, grid, size
from bayesvec.paper.workspace import Bench

NAME = POOL = "sparsity"
SHOWS = "Figure 7 (fig:sparsity)"
VERSION = 1
NOTE = """\
A block of the Hessian that joins a word and a context is zero unless the two occur as a pair; blocks of two
words, or of two contexts, are always zero. The share is that of the V x V (word, context) pairs which occur:
as positive samples (what the paper shows), and as samples of either kind, which is what the Hessian of the
whole likelihood has. The paper takes 50 million tokens of Wikipedia, window 5 and the preprocessing of
Mikolov et al. (2013), and does not say how many words it keeps; ours are the prose that ships with Python and
speeches of the US House (2001 to 2020), the most common words, window 5, their subsampling at 10^-5 and one
negative sample for each positive one. The pictures show 100 words and 100 contexts chosen at random, in the
order of their frequency: other texts, of other sizes and vocabularies, so the shares are not the paper's and
need not be. No sampler is at work here."""

PAPER = {"tokens": 50_000_000, "share": 0.0025, "window": 5}
CORPORA = ((1_000_000, 10_000), (5_000_000, 20_000), (20_000_000, 40_000))  # words taken, and V
SHOWN = 100  # words, and contexts, of the picture


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each text."""
    found = [_cell("python-docs", 300_000, 3_000)]
    if not quick:
        found += [_cell("congress", words, vocab) for words, vocab in CORPORA]
    return found


def _cell(text: str, words: int, vocab: int) -> Cell:
    settings = {"text": text, "words": words, "vocab": vocab, "window": 5, "subsample": 1e-5, "seed": 0}
    return Cell(f"{text} words={size(words)} V={vocab}", settings, 8.0 + 12.0 * words / 10**6, 1)


def run(settings: Mapping[str, Any], bench: Bench) -> dict[str, Any]:
    """Count the pairs of a text and look which occur."""
    from bayesvec.text.count import count

    documents = _documents(settings)
    counts = count(
        documents=documents,
        vocab=settings["vocab"],
        window=settings["window"],
        negatives=1,
        negative_power=0.75,
        subsample=settings["subsample"],
        seed=settings["seed"],
        threads=bench.threads,
        progress=False,
    )
    occur = counts.by_word.n_pos > 0
    possible = counts.num_words * counts.num_contexts
    return {
        "tokens": int(counts.recipe["tokens"]),
        "vocab": counts.num_words,
        "positive_share": int(occur.sum()) / possible,
        "share": counts.num_pairs / possible,
        "pattern": _pattern(counts, settings["seed"]),
    }


def _documents(settings: Mapping[str, Any]) -> list[str]:
    if settings["text"] == "python-docs":
        from bayesvec.datasets import python_docs

        return python_docs()
    from bayesvec.datasets import congress_speeches

    try:
        return congress_speeches(max_words=settings["words"], seed=settings["seed"]).documents
    except InputError as error:
        raise NoData(str(error)) from None


def _pattern(counts: PairCounts, seed: int) -> list[str]:
    """Return for each of some words which of some contexts it occurs with, as a line of 0 and 1."""
    chosen = [
        np.sort(random_pairs(counts.num_words, 1, SHOWN, seed=seed + side)[0]) for side in (0, 1)
    ]  # words and contexts stand in the order of their frequency
    side = counts.by_word
    lines = []
    for row in chosen[0].tolist():
        pairs = slice(side.indptr[row], side.indptr[row + 1])
        found = set(side.other[pairs][side.n_pos[pairs] > 0].tolist())
        lines.append("".join("1" if column in found else "0" for column in chosen[1].tolist()))
    return lines


def table(results: Results) -> str:
    """Return the share of pairs that occur in each text, beside the paper's."""
    rows = []
    for result in results.all:
        values, name = result.values, result.cell.settings["text"]
        if values is None:
            rows.append([result.cell.label, *[NOT_RUN] * 4])
            continue
        shares = [f"{100 * values[kind]:.3f}%" for kind in ("positive_share", "share")]
        rows.append([name, f"{values['tokens']:,}", f"{values['vocab']:,}", *shares])
    rows.append(["(paper: Wikipedia)", f"{PAPER['tokens']:,}", "", f"{100 * PAPER['share']:.2f}%", ""])
    return grid(["text", "tokens", "words", "pairs that occur", "with negative samples"], rows)


def figures(results: Results) -> dict[str, Callable[[], Any]]:
    """Return the picture of the texts that have been counted."""
    return {"sparsity": lambda: _draw(results)} if results.done else {}


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import panels

    done = [result for result in results.all if result.values is not None]
    figure, axes = panels(len(done), width=4.2, height=4.7)
    for ax, result in zip(axes[0], done, strict=True):
        values = result.values or {}
        pattern = np.array([[mark == "1" for mark in line] for line in values["pattern"]])
        rows, columns = pattern.shape
        blocks = np.eye(rows + columns, dtype=bool)  # of a word or a context with itself
        blocks[:rows, rows:] = pattern
        blocks[rows:, :rows] = pattern.T
        ax.imshow(~blocks, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
        for side in ("top", "right"):
            ax.spines[side].set_visible(True)
        ax.set_xticks([rows / 2, rows + columns / 2], ["words", "contexts"])
        ax.set_yticks([rows / 2, rows + columns / 2], ["words", "contexts"], rotation=90, va="center")
        ax.tick_params(length=0)
        ax.set_title(f"{result.cell.settings['text']}, {values['tokens']:,} tokens", fontsize="medium")
    return figure
