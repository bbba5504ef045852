"""Labels of estimates, such as ``cosine(tax, law) @ 2010``, which `bayesvec.posterior.terms` can read back."""

import re
from collections.abc import Sequence


def quoted(word: str) -> str:
    """Return a word as it is written in a label: between double quotes if it would be ambiguous without."""
    if re.search(r'[,;:()"\\]', word) or word != word.strip():
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word


def label(kind: str, words: Sequence[str], at: str | None = None) -> str:
    """Return the label of an estimate."""
    return label_at(f"{kind}({', '.join(map(quoted, words))})", at)


def label_at(text: str, at: str | None) -> str:
    """Add the slice to a label."""
    return text if at is None else f"{text} @ {at}"
