"""Quantities as users write them: `cosine(tax, freedom)`, `norm(tax)`, `projection(nurse; he:she)`, `... @ 2010`.

They are written as estimates are labelled, so that an answer can be pasted into the next question.
"""

import difflib
import re
from typing import TYPE_CHECKING

from bayesvec.errors import OptionError
from bayesvec.posterior.table import terms

if TYPE_CHECKING:
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.posterior.posterior import Posterior

_TERM = re.compile(r"\s*(?P<kind>\w+)\s*\((?P<inside>.*)\)\s*(?:@\s*(?P<at>[^()]+?))?\s*", re.DOTALL)
_WORD = r'(?:"(?:[^"\\]|\\.)*"|[^,";:]*[^,";:\s])'
_PIECE = re.compile(rf"\s*({_WORD})\s*(,|$)")
_POLES = re.compile(rf"\s*({_WORD})\s*:\s*({_WORD})\s*(?:,|$)")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PART = re.compile(rf"(?:{_QUOTED}|[^;\"])*")  # up to a semicolon that is not in a word


def _not_a_quantity(term: str) -> OptionError:
    """Return the error about a term that cannot be read, with the form that was probably meant."""
    known = terms()
    name = term.partition("(")[0].strip()
    close = difflib.get_close_matches(name, known, n=1)
    if close and "(" in term:
        missing = "its closing bracket is missing" if ")" not in term else "its arguments cannot be read"
        problem = missing if close[0] == name else f"there is no {name!r}"
        return OptionError(f"{term!r} is not a quantity: {problem}; write {known[close[0]].form}")
    forms = "; ".join(each.form for each in known.values())
    return OptionError(f"{term!r} is not a quantity; write one of: {forms}")


def evaluate(posterior: "Posterior", term: str, *, at: str | None = None) -> "Estimate":
    """Return the estimate that a term asks for.

    Parameters
    ----------
    posterior : Posterior
        The posterior.
    term : str
        A quantity of the table of questions, with words separated by commas; a word with a comma or a bracket stands
        between double quotes. ``@ slice`` at the end asks for the words of one slice.
    at : str, optional
        The slice, for a term that names none.
    """
    found, known = _TERM.fullmatch(term), terms()
    if not found or found["kind"] not in known:
        raise _not_a_quantity(term)
    if at is not None and found["at"]:
        raise OptionError(
            f"{term!r} names a slice, and {at!r} is asked for; write it without '@ {found['at']}'"
        )
    kind, parts = known[found["kind"]], split_parts(found["inside"])
    if len(parts) != len(kind.sizes) or kind.sizes[0] not in (None, len(split_words(parts[0]))):
        raise OptionError(f"{term!r} does not fit: write {kind.form}")
    return kind.evaluate(posterior, parts, found["at"] or at)


def words_of(term: str) -> list[str]:
    """Return the words that a term names, those of an axis too."""
    found = _TERM.fullmatch(term)
    inside = found["inside"] if found else ""
    return list(dict.fromkeys(_unquoted(word) for word in re.findall(_WORD, inside)))


def split_parts(text: str) -> list[str]:
    """Split ``a, "b;c"; d`` at the semicolons between words."""
    parts, place = [], 0
    while True:
        part = _PART.match(text, place)
        assert part is not None  # it may be empty
        if part.end() < len(text) and text[part.end()] != ";":
            raise OptionError(f'{text!r} has an unmatched double quote; quote a word as "a, b"')
        parts.append(part[0])
        if part.end() == len(text):
            return parts
        place = part.end() + 1


def split_words(text: str) -> list[str]:
    """Split ``a, "b, c", d`` into its words."""
    words, place = [], 0
    while place < len(text):
        piece = _PIECE.match(text, place)
        if not piece:
            raise OptionError(f"{text!r} cannot be split into words; separate them by single commas")
        words.append(_unquoted(piece[1]))
        place = piece.end()
    if not words or text.rstrip().endswith(","):
        raise OptionError(f"{text!r} has an empty word; separate the words by single commas")
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
