"""How a word is written in files that cannot hold white space in a word, so that it can be read back.

A space or an ASCII control character is written as its picture (a space as ``␠``, a tab as ``␉``; Unicode's
block of control pictures lists them in the order of ASCII). Other white space, the pictures themselves, halves of
surrogate pairs and the escape character, whose picture serves as the sign of it, are written by their code, as
``␛a0;`` (a space that does not break). All other characters, underscores and quotes too, stay as they are. No two
words are written alike.
"""

import re
from collections.abc import Iterable

_PICTURES = 0x2400  # the picture of the ASCII control character 0
_ESC = 0x1B
_ESCAPE = chr(_PICTURES + _ESC)
_SPACES = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space beyond ASCII

_UNSAFE = re.compile(rf"[\x00-\x20{_SPACES}\u2400-\u2420\ud800-\udfff]")
_WRITTEN = re.compile(rf"{_ESCAPE}([0-9a-f]*);|[\u2400-\u241a\u241c-\u2420]")


def written(word: str) -> str:
    """Return ``word`` without white space, as it stands in a file."""
    return _UNSAFE.sub(_write, word) or f"{_ESCAPE};"


def _write(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_PICTURES + code) if code <= 0x20 and code != _ESC else f"{_ESCAPE}{code:x};"


def unwritten(name: str) -> str | None:
    """Return the word that `written` writes as ``name``; None if it writes no word so."""
    word = _WRITTEN.sub(_unwrite, name)
    return word if written(word) == name else None


def _unwrite(match: re.Match[str]) -> str:
    code = match[1]
    if code is None:
        return chr(ord(match[0]) - _PICTURES)
    # a number that is no character is none of ours; what is left of it is not written so again
    return chr(int(code, 16)) if code and int(code, 16) <= 0x10FFFF else ""


def unwritten_all(names: Iterable[str]) -> list[str]:
    """Return the words of a file: undone if `written` can have written every name, else as they stand."""
    found = list(names)
    words = list(map(unwritten, found))
    return [word for word in words if word is not None] if None not in words else found
