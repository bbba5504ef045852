"""The options of text: defined once, taken by ``count`` and by ``fit``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesvec._cluster import LOCAL, Where
from bayesvec._validate import positive_number
from bayesvec.cli.app import COUNTING, TEXT
from bayesvec.cli.options import WithOptions, parameter
from bayesvec.counts.options import NEGATIVE_POWER, NEGATIVES, SUBSAMPLE, WINDOW
from bayesvec.errors import OptionError
from bayesvec.text.options import of_baskets

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts

_OPTIONS = [
    parameter(
        "vocab", int, "Maximum number of words to keep, the most common ones [default: 5000].", COUNTING
    ),
    parameter("min_count", int, "Minimum count of a word to be kept [default: 1].", COUNTING),
    parameter("vocabulary", Path, "File with the words to keep, one per line.", COUNTING),
    parameter("window", int, f"Reach of the window to each side [default: {WINDOW}].", COUNTING),
    parameter(
        "window_over",
        str,
        "What the window counts: positions (excluded words keep their place) or vocabulary "
        "[default: positions].",
        COUNTING,
    ),
    parameter(
        "negatives",
        int,
        f"Negative samples per positive sample [default: {NEGATIVES}; of baskets: 1].",
        COUNTING,
    ),
    parameter(
        "negative_power",
        float,
        f"Power of the frequency from which negatives are drawn [default: {NEGATIVE_POWER}; of baskets: 1.0].",
        COUNTING,
    ),
    parameter(
        "subsample",
        str,
        "Threshold of word2vec's subsampling: a number, auto (0.001, or the mean frequency of a word if that is "
        "larger; none in a short text) or none [default: auto; of baskets: none].",
        COUNTING,
    ),
    parameter("text_column", str, "Column of a table (JSON lines, CSV, Parquet) with the text.", TEXT),
    parameter(
        "group_column", str, "Column of a table with each document's group; rows are word@group.", TEXT
    ),
    parameter(
        "group_by", str, "file: the group of a document is its file; for other names, write GROUP=FILE.", TEXT
    ),
    parameter("document", str, "Unit of plain text that is a document: line or file [default: line].", TEXT),
    parameter("document_separator", str, "Regular expression between documents, instead of line ends.", TEXT),
    parameter("baskets", bool, "Treat each line as a basket; all its pairs are positive.", TEXT, "--baskets"),
    parameter("basket_column", str, "Column of a table with the basket (a user) of each row's item.", TEXT),
    parameter("item_column", str, "Column of a table with one item (a film) of the basket.", TEXT),
    parameter(
        "tokenizer",
        str,
        "words, whitespace or a regular expression [default: words; with --baskets whitespace].",
        TEXT,
    ),
    parameter(
        "lowercase",
        bool | None,
        "Lower-case the words [default: unless the tokenizer is whitespace].",
        TEXT,
        "--lowercase/--keep-case",
    ),
    parameter("stem", str, "Language of the Snowball stemmer, such as english [default: no stemming].", TEXT),
    parameter("stopwords", str, "Language, such as english, or a file with stopwords, one per line.", TEXT),
    parameter(
        "stopwords_action", str, "Treatment of stopwords: drop or keep-unstemmed [default: drop].", TEXT
    ),
    parameter("phrases", bool, "Join pairs of words that often occur together: new_york.", TEXT, "--phrases"),
    parameter("phrase_threshold", float, "Smallest score of a phrase [default: 10.0].", TEXT),
    parameter("phrase_min_count", int, "Count subtracted from that of each pair [default: 5].", TEXT),
    parameter("format", str, "auto, text, jsonl, csv, tsv or parquet [default: auto].", TEXT),
    parameter("encoding", str, "Encoding of the text [default: utf-8].", TEXT),
    parameter(
        "errors", str, "Treatment of undecodable bytes: strict, replace or ignore [default: strict].", TEXT
    ),
    parameter(
        "memory",
        str,
        "Memory for counting, such as 1GB, beyond a base of 200 MB; the rest is in TMPDIR [default: half of all].",
        TEXT,
    ),
]


class TextOptions:
    """The options of text that are given; `bayesvec.count` sets the defaults of the others."""

    def __init__(self, *, baskets: bool = False, phrases: bool = False, **given: Any) -> None:
        self.baskets = baskets
        self.values = {name: value for name, value in given.items() if value is not None}
        if self.values.get("subsample") not in (None, SUBSAMPLE):
            self.values["subsample"] = _threshold(self.values["subsample"])
        if phrases:
            self.values["phrases"] = True

    def given(self) -> list[str]:
        """Return the options that are given, as they are written."""
        named = ["keep_case" if value is False else name for name, value in self.values.items()]
        return [f"--{name.replace('_', '-')}" for name in named + ["baskets"] * self.baskets]

    def check(self) -> None:
        """Raise if options do not go together."""
        of_baskets({**self.values, "baskets": self.baskets})
        for name in ("phrase_threshold", "phrase_min_count"):
            if name in self.values and "phrases" not in self.values:
                raise OptionError(f"--{name.replace('_', '-')} is for --phrases; give both or neither")

    def count(
        self,
        texts: list[str],
        *,
        seed: int | None,
        threads: int | None,
        progress: bool,
        where: Where = LOCAL,
    ) -> "PairCounts":
        """Count files."""
        from bayesvec.text.count import count_any

        given = self.values if seed is None else {**self.values, "count_seed": seed}
        return count_any(
            texts, threads=threads, progress=progress, where=where, baskets=self.baskets, **given
        )


def _threshold(text: str) -> float | None:
    """Read the threshold of subsampling."""
    return None if text == "none" else positive_number("subsample", text, ", auto or none")


NO_TEXT_OPTIONS = TextOptions()


def takes_text_options(command: Callable[..., None]) -> WithOptions:
    """Give a command the options of text in the place of its argument ``text``."""
    return WithOptions(command, "text", TextOptions, lambda: _OPTIONS)
