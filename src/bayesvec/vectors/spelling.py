"""Encoding of words for file formats that allow no white space in a word; it can be decoded.

A space or an ASCII control character becomes its picture (a space ``␠``, a tab ``␉``; Unicode's
block of control pictures lists them in the order of ASCII). Other white space, the pictures themselves, halves of
surrogate pairs and the escape character, whose picture marks an escape, become their code, as in
``␛a0;`` (a non-breaking space). All other characters, underscores and quotes too, stay as they are. No two
words are encoded alike.
"""

import re

_PICTURES = 0x2400  # the picture of the ASCII control character 0
_ESC = 0x1B
_ESCAPE = chr(_PICTURES + _ESC)
_SPACES = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space beyond ASCII

_UNSAFE = re.compile(rf"[\x00-\x20{_SPACES}\u2400-\u2420\ud800-\udfff]")
_ENCODED = re.compile(rf"{_ESCAPE}([0-9a-f]*);|[\u2400-\u241a\u241c-\u2420]")


def encoded(word: str) -> str:
    """Return ``word`` without white space, as it is written to a file."""
    return _UNSAFE.sub(_encode, word) or f"{_ESCAPE};"


def _encode(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_PICTURES + code) if code <= 0x20 and code != _ESC else f"{_ESCAPE}{code:x};"


def decoded(name: str) -> str | None:
    """Return the word that `encoded` writes as ``name``; None if there is none."""
    word = _ENCODED.sub(_decode, name)
    return word if encoded(word) == name else None


def _decode(match: re.Match[str]) -> str:
    code = match[1]
    if code is None:
        return chr(ord(match[0]) - _PICTURES)
    # a number that is no character is not ours: what is left is not encoded like this again
    return chr(int(code, 16)) if code and int(code, 16) <= 0x10FFFF else ""
