"""Quantities as users write them: `cosine(tax, freedom)`, `norm(tax)`, `projection(nurse; he:she)`, `... @ 2010`.

What is read here is what the labels of estimates say, so that an answer can be pasted into the next question.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesvec.errors import OptionError
from bayesvec.estimate import Estimate

if TYPE_CHECKING:
    from bayesvec.posterior import Posterior

_TERM = re.compile(r"\s*(?P<kind>\w+)\s*\((?P<inside>.*)\)\s*(?:@\s*(?P<at>[^()]+?))?\s*", re.DOTALL)
_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^,";:]*[^,";:\s])'
_PIECE = re.compile(rf"\s*({_WORD})\s*(,|$)")
_POLES = re.compile(rf"\s*({_WORD})\s*:\s*({_WORD})\s*(?:,|$)")

KINDS = {
    "cosine": "cosine(word, word)",
    "distance": "distance(word, word)",
    "norm": "norm(word)",
    "rank": "rank(word, word)",
    "cooccurrence": "cooccurrence(word, context)",
    "projection": "projection(word; one:other, one:other)",
}


def evaluate(posterior: "Posterior", term: str) -> Estimate:
    """Return the estimate that a term asks for.

    Parameters
    ----------
    posterior : Posterior
        Whom to ask.
    term : str
        One of the kinds in `KINDS`, with words between commas; a word with a comma or a bracket stands between
        double quotes. ``@ slice`` at the end asks for the words of one slice.
    """
    found = _TERM.fullmatch(term)
    if not found or found["kind"] not in KINDS:
        raise OptionError(f"{term!r} is not a quantity; write one of: {'; '.join(KINDS.values())}")
    kind, at = found["kind"], found["at"]
    inside, mark, poles = (
        found["inside"].partition(";") if kind == "projection" else (found["inside"], "", "")
    )
    words = split_words(inside)
    if len(words) != (1 if kind in ("norm", "projection") else 2) or (kind == "projection" and not mark):
        raise OptionError(f"{term!r} does not fit: write {KINDS[kind]}")
    if kind == "projection":
        return posterior.projection(words, read_axis(poles), at=at)[0]
    if kind == "norm":
        return posterior.norms(words, at=at)[0]
    if kind == "cooccurrence":
        return posterior.cooccurrence(words[0], words[1], at=at)
    if kind == "rank":
        return posterior.ranks(words[0], words[1:], at=at)[0]
    ask = posterior.similarity if kind == "cosine" else posterior.distance
    return ask(words[0], words[1], at=at)


def split_words(text: str) -> list[str]:
    """Cut ``a, "b, c", d`` into its words."""
    words, place = [], 0
    while place < len(text):
        piece = _PIECE.match(text, place)
        if not piece:
            raise OptionError(
                f"{text!r} cannot be cut into words; write them with one comma between each two"
            )
        words.append(_unquoted(piece[1]))
        place = piece.end()
    if not words or text.rstrip().endswith(","):
        raise OptionError(f"{text!r} has an empty word; write the words with one comma between each two")
    return words


def read_axis(text: str) -> list[tuple[str, str]]:
    """Read the pairs of an axis, such as ``he:she, man:woman``."""
    pairs, place = [], 0
    while place < len(text):
        pair = _POLES.match(text, place)
        if not pair:
            part = text[place:].split(",")[0].strip()
            raise OptionError(f"{part!r} is one-sided: a pair of an axis is two words, such as he:she")
        pairs.append((_unquoted(pair[1]), _unquoted(pair[2])))
        place = pair.end()
    if not pairs:
        raise OptionError("the axis has no pairs of words; give at least one, such as he:she")
    return pairs


def _unquoted(text: str) -> str:
    text = text.strip()
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def quoted(word: str) -> str:
    """Write a word as it can be read in a term."""
    if re.search(r'[,;:()"\\]', word) or word != word.strip():
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word


def label(kind: str, words: Sequence[str], at: str | None = None) -> str:
    """Return the label of an estimate, which `evaluate` can read."""
    return label_at(f"{kind}({', '.join(map(quoted, words))})", at)


def label_at(text: str, at: str | None) -> str:
    """Add the slice to a label."""
    return text if at is None else f"{text} @ {at}"
