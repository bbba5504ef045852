"""Words of a text that are not in the vocabulary: the most frequent ones are kept with their counts, for messages."""

import heapq
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesvec._types import Int32, Int64, UInt8

MOST = 50_000  # about a megabyte


def left_out(
    forms: Sequence[str | None], frequency: Int64, row: Int32, most: int = MOST
) -> tuple[UInt8, Int64]:
    """Return the most frequent words outside the vocabulary, as arrays; ties are broken as in the vocabulary.

    Parameters
    ----------
    forms : sequence of str or None
        The form of each word; None if it is a stopword.
    frequency : ndarray of int64
        How often each occurs.
    row : ndarray of int32
        Its row in the vocabulary, -1 if it has none.
    most : int
        How many to keep.

    Returns
    -------
    names : ndarray of uint8
        The words, one after another, as UTF-8.
    counts : ndarray of int64, (words, 2)
        Where each word ends, and how often it occurs.
    """
    total: dict[str, int] = {}
    for at in np.flatnonzero(row < 0).tolist():
        form = forms[at]
        if form is not None and frequency[at] > 0:
            total[form] = total.get(form, 0) + int(frequency[at])
    kept = heapq.nsmallest(most, total.items(), key=lambda item: (-item[1], item[0]))
    names = [word.encode("utf-8", "surrogatepass") for word, _ in kept]
    counts = np.zeros((len(kept), 2), dtype=np.int64)
    counts[:, 0] = np.cumsum([len(name) for name in names])
    counts[:, 1] = [count for _, count in kept]
    return np.frombuffer(b"".join(names), dtype=np.uint8), counts


def note(word: str, names: UInt8, counts: Int64, recipe: Mapping[str, Any], num_words: int) -> str:
    """Return how often a word outside the vocabulary occurs and what would include it; empty if it is not known."""
    spelled = unicodedata.normalize("NFC", word)
    options = recipe.get("options", {})
    wanted = {spelled, spelled.lower()} if options.get("lowercase") else {spelled}
    joined, start = names.tobytes(), 0
    for place, (end, count) in enumerate(counts.tolist(), start=1):
        if joined[start:end].decode("utf-8", "surrogatepass") in wanted:
            times = "once" if count == 1 else f"{count:,} times"
            if options.get("vocabulary"):
                remedy = "add it to the list of --vocabulary"
            elif count < (fewest := options.get("min_count") or 1):
                remedy = f"--min-count is {fewest}"
            else:
                remedy = f"--vocab {num_words + place} would include it"
            return f"; it occurs {times} in the text ({remedy})"
        start = end
    return ""
