"""Plain text whose lines are wrapped paragraphs: each would be taken for a document of its own."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bayesvec.errors import InputError
from bayesvec.text.reading import Tally, read_blocks
from bayesvec.text.sources import ReadOptions, Source, kind_of

REMEDY = (
    "the lines of {name} look like wrapped paragraphs, and each of them is a document: no window reaches beyond its "
    r"line; for paragraphs give --document-separator '\n\s*\n', for whole files --document file"
)
LINES = 2000  # that are looked at
LEAST_LINES = 30  # pairs of successive lines below which nothing is said
WIDEST = 132  # characters of a wrapped line
SHARE = 0.8  # of the lines that must be full


def wrapped_source(sources: Sequence[Source], options: ReadOptions) -> str | None:
    """Return the name of the first file, if its lines are documents and look like wrapped paragraphs.

    Parameters
    ----------
    sources : sequence of Source
        The files; standard input cannot be read twice and is not looked at.
    options : ReadOptions
        How they are read.
    """
    first = sources[0] if sources else None
    if (
        first is None
        or first.path is None
        or not first.path.is_file()
        or kind_of(first, options)[0] != "text"
    ):
        return None
    if options.document != "line" or options.separator is not None:
        return None
    lines: list[str] = []
    try:
        for block in read_blocks([first], options, Tally()):
            spans = zip(block.starts[:LINES], block.ends[:LINES], strict=True)
            lines += [block.data[start:end].decode("utf-8", "replace") for start, end in spans]
            if len(lines) >= LINES:
                break
    except InputError:  # the reader itself will say what is wrong
        return None
    return first.name if is_wrapped(lines[:LINES]) else None


def is_wrapped(lines: Sequence[str]) -> bool:
    """Whether lines were broken at a width: most are so full that the first word of the next would not fit."""
    stripped = [line.strip() for line in lines]
    followed = [(len(line), len(after.split()[0])) for line, after in pairwise(stripped) if line and after]
    if len(followed) < LEAST_LINES:
        return False
    size, word = np.array(followed).T
    width = np.quantile(size, 0.95)  # a few lines may be wider, such as titles
    return bool(width <= WIDEST and np.mean(size + 1 + word > width) >= SHARE)
