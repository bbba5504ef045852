"""Quantities as users write them: `cosine(tax, freedom)`, `norm(tax)`, `projection(nurse; he:she)`, `... @ 2010`.

What is read here is what the labels of estimates say, so that an answer can be pasted into the next question.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

_TERM = re.compile(r"\s*(?P<kind>\w+)\s*\((?P<inside>.*)\)\s*(?:@\s*(?P<at>[^()]+?))?\s*", re.DOTALL)
_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^,";:]*[^,";:\s])'
_PIECE = re.compile(rf"\s*({_WORD})\s*(,|$)")
_POLES = re.compile(rf"\s*({_WORD})\s*:\s*({_WORD})\s*(?:,|$)")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PART = re.compile(rf"(?:{_QUOTED}|[^;\"])*")  # up to a semicolon that is not in a word

KINDS = {
    "cosine": "cosine(word, word)",
    "distance": "distance(word, word)",
    "norm": "norm(word)",
    "rank": "rank(word, word)",
    "cooccurrence": "cooccurrence(word, context)",
    "projection": "projection(word; one:other, one:other)",
    "weat": "weat(x, x; y, y; a, a; b, b)",
}
_SIZES = {
    "norm": (1,),
    "projection": (1, None),
    "weat": (None,) * 4,
}  # words in each part; others have one of two


def evaluate(posterior: "Posterior", term: str, *, at: str | None = None) -> Estimate:
    """Return the estimate that a term asks for.

    Parameters
    ----------
    posterior : Posterior
        Whom to ask.
    term : str
        One of the kinds in `KINDS`, with words between commas; a word with a comma or a bracket stands between
        double quotes. ``@ slice`` at the end asks for the words of one slice.
    at : str, optional
        The slice, for a term that names none.
    """
    found = _TERM.fullmatch(term)
    if not found or found["kind"] not in KINDS:
        raise OptionError(f"{term!r} is not a quantity; write one of: {'; '.join(KINDS.values())}")
    if at is not None and found["at"]:
        raise OptionError(
            f"{term!r} names a slice, and {at!r} is asked for; write it without '@ {found['at']}'"
        )
    kind, at = found["kind"], found["at"] or at
    parts = split_parts(found["inside"])
    sizes = _SIZES.get(kind, (2,))
    if len(parts) != len(sizes):
        raise OptionError(f"{term!r} does not fit: write {KINDS[kind]}")
    words = split_words(parts[0])
    if sizes[0] not in (None, len(words)):
        raise OptionError(f"{term!r} does not fit: write {KINDS[kind]}")
    if kind == "projection":
        return posterior.projection(words, read_axis(parts[1]), at=at)[0]
    if kind == "weat":
        x, y, a, b = map(split_words, parts)
        sets = "; ".join(", ".join(map(quoted, each)) for each in (x, y, a, b))
        return replace(posterior.association(x, y, a, b, at=at), label=label_at(f"weat({sets})", at))
    if kind == "norm":
        return posterior.norms(words, at=at)[0]
    if kind == "cooccurrence":
        return posterior.cooccurrence(words[0], words[1], at=at)
    if kind == "rank":
        return posterior.ranks(words[0], words[1:], at=at)[0]
    ask = posterior.similarity if kind == "cosine" else posterior.distance
    return ask(words[0], words[1], at=at)


def split_parts(text: str) -> list[str]:
    """Cut ``a, "b;c"; d`` at the semicolons that stand between words."""
    parts, place = [], 0
    while True:
        part = _PART.match(text, place)
        assert part is not None  # it may be empty
        if part.end() < len(text) and text[part.end()] != ";":
            raise OptionError(f'{text!r} has a double quote without its other; quote a word as "a, b"')
        parts.append(part[0])
        if part.end() == len(text):
            return parts
        place = part.end() + 1


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
