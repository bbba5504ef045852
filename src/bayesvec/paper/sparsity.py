"""How sparse the Hessian is: the paper's Figure 7."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.paper.cells import Cell, Settings, make_cells, name_settings
from bayesvec.paper.experiment import Experiment, Results, Values, figures_of
from bayesvec.paper.markdown import grid, size
from bayesvec.paper.workspace import Workspace

SHOWS = "Figure 7 (fig:sparsity)"
NOTE = """\
The block of the Hessian of a word and a context is zero unless the two occur as a pair; blocks of two different
words or contexts are always zero. The table gives the proportion of the V x V pairs that occur, as positive
samples (the paper's figure) and as samples of either kind (the whole likelihood). The paper takes 50 million
tokens of Wikipedia and does not say how many words it keeps; ours are the documentation that ships with Python
and the House speeches, with window 5, subsampling at 10^-5 and one negative per positive sample, so the
proportions need not agree. The figure shows 100 random words and contexts in order of frequency."""

PAPER = {"tokens": 50_000_000, "share": 0.0025}
TEXTS = (  # tokens taken, and V
    ("python-docs", 300_000, 3_000),
    ("congress", 1_000_000, 10_000),
    ("congress", 5_000_000, 20_000),
    ("congress", 20_000_000, 40_000),
)
SHOWN = 100  # words, and contexts, of the figure


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each text."""
    texts = TEXTS[:1] if quick else TEXTS
    return make_cells(
        name_settings("text words vocab", texts, window=5, subsample=1e-5),
        lambda settings: f"{settings['text']} words={size(settings['words'])} V={settings['vocab']}",
        lambda settings: 8.0 + 12.0 * settings["words"] / 10**6,
        lambda settings: 1,
    )


def run(settings: Settings, workspace: Workspace) -> dict[str, Any]:
    """Count the pairs of a text and see which occur."""
    from bayesvec.text.count import count

    counts = count(
        documents=_documents(settings),
        negatives=1,
        negative_power=0.75,
        threads=workspace.threads,
        progress=False,
        **{name: settings[name] for name in ("vocab", "window", "subsample", "seed")},
    )
    possible = counts.num_words * counts.num_contexts
    return {
        "tokens": int(counts.recipe["tokens"]),
        "vocab": counts.num_words,
        "positive_share": int((counts.by_word.n_pos > 0).sum()) / possible,
        "share": counts.num_pairs / possible,
        "pattern": _pattern(counts, settings["seed"]),
    }


def _documents(settings: Settings) -> list[str]:
    from bayesvec.datasets import congress_speeches, python_docs

    if settings["text"] == "python-docs":
        return python_docs()
    return congress_speeches(max_words=settings["words"], seed=settings["seed"]).documents


def _pattern(counts: PairCounts, seed: int) -> list[str]:
    """Return which of some contexts occur with each of some words, a line of 0 and 1 per word."""
    words, contexts = (  # in order of frequency, as in the counts
        np.sort(random_pairs(counts.num_words, 1, SHOWN, seed=seed + side)[0]) for side in (0, 1)
    )
    side = counts.by_word
    shape = counts.num_words, counts.num_contexts
    occur = csr_array((side.n_pos > 0, side.other, side.indptr), shape=shape)
    return ["".join("01"[int(mark)] for mark in line) for line in occur[words][:, contexts].toarray()]


def table(results: Results) -> str:
    """Return the share of pairs that occur in each text, beside the paper's."""

    def show(values: Values) -> list[str]:
        shares = [f"{100 * values[kind]:.3f}%" for kind in ("positive_share", "share")]
        return [f"{values['tokens']:,}", f"{values['vocab']:,}", *shares]

    rows = []
    for result in results.all:
        name = result.cell.label if result.values is None else result.cell.settings["text"]
        rows.append([name, *results.row(4, show, **result.cell.settings)])
    rows.append(["(paper: Wikipedia)", f"{PAPER['tokens']:,}", "", f"{100 * PAPER['share']:.2f}%", ""])
    return grid(["text", "tokens", "words", "pairs that occur", "with negative samples"], rows)


def _draw(results: Results) -> Any:
    from bayesvec.paper.figures import label, panels

    done = [(result.cell.settings["text"], result.values) for result in results.all if result.values]
    figure, axes = panels(len(done), width=4.2, height=4.7)
    for ax, (text, values) in zip(axes[0], done, strict=True):
        pattern = np.array([[mark == "1" for mark in line] for line in values["pattern"]])
        rows, columns = pattern.shape
        blocks = np.eye(rows + columns, dtype=bool)  # of a word or a context with itself
        blocks[:rows, rows:] = pattern
        blocks[rows:, :rows] = pattern.T
        ax.imshow(~blocks, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
        ax.spines[["top", "right"]].set_visible(True)
        ax.set_xticks([rows / 2, rows + columns / 2], ["words", "contexts"])
        ax.set_yticks([rows / 2, rows + columns / 2], ["words", "contexts"], rotation=90, va="center")
        ax.tick_params(length=0)
        label(ax, f"{text}, {values['tokens']:,} tokens")
    return figure


EXPERIMENT = Experiment("sparsity", SHOWS, NOTE, cells, run, table, figures_of(_draw, "sparsity"))
