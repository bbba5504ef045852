r"""Tokenizers, which define what a word is, and the table that numbers words as they are read.

``words``
    A run of letters and digits, with combining marks and invisible joiners, and further such runs joined to it by
    a single apostrophe: ``don't`` is a word, ``'tis`` and ``dogs'`` are ``tis`` and ``dogs``, ``well-known`` is
    two words. Words are lower-cased, typographic apostrophes become plain ones, and soft hyphens and word joiners,
    which only mark possible line breaks, are removed.
``whitespace``
    Everything between white space (`str.split`), case kept: for tokenised text.
a regular expression
    Every match in the text, which is lower-cased first.

All words are in Unicode's composed form (NFC): the same letters are the same word, however they were typed.
"""

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from bayesvec._types import Int32, Int64, UInt8
from bayesvec.errors import OptionError

_CURLY = "\u2019"  # the typographic apostrophe
_JOINERS = "\u200c\u200d"  # they shape the letters beside them, in Persian for example
_BREAKS = "\u00ad\u2060"  # soft hyphen and word joiner: where a line may and may not break
_TIDY = str.maketrans({_CURLY: "'"} | dict.fromkeys(_BREAKS))


@dataclass(frozen=True)
class Tokenizer:
    """How text is split into words.

    Attributes
    ----------
    name : str
        ``words``, ``whitespace`` or a regular expression.
    lowercase : bool
        Whether words are lower-cased.
    iterate : callable
        Iterates over the words of a text: the definition, in plain Python.
    form : callable
        Puts a single word in the form in which `cut` returns it.
    classes : ndarray of uint8 or None
        The same rule for the compiled scanner (`bayesvec.kernels.scanning`), if it has one; the scanner's input has
        its ASCII letters lower-cased already.
    """

    name: str
    lowercase: bool
    iterate: Callable[[str], Iterable[str]]
    form: Callable[[str], str]
    classes: UInt8 | None = None

    def cut(self, text: str) -> list[str]:
        """Return the words of a text."""
        return list(self.iterate(text))


def make_tokenizer(name: str, lowercase: bool | None = None) -> Tokenizer:
    """Return the tokenizer called ``name``: ``words``, ``whitespace``, or a regular expression.

    Parameters
    ----------
    name : str
        Name of the tokenizer, or the expression.
    lowercase : bool, optional
        Whether words are lower-cased; by default with every tokenizer but ``whitespace``.
    """
    lower = name != "whitespace" if lowercase is None else lowercase
    if name == "words":
        return Tokenizer(
            name, lower, lambda text: _words(text, lower), lambda word: _tidy(word, lower), _byte_classes("'")
        )

    def form(text: str) -> str:
        return _composed(text, lower)

    if name == "whitespace":
        return Tokenizer(name, lower, lambda text: map(form, text.split()), form, _byte_classes(None))
    if re.fullmatch(r"\w*", name):  # a misspelt name would be a valid expression that matches almost nothing
        raise OptionError(
            f"tokenizer is {name!r}; it must be words, whitespace or a regular expression such as '[a-z]+'"
        )
    try:
        pattern = re.compile(unicodedata.normalize("NFC", name))
    except re.error as error:
        raise OptionError(f"tokenizer {name!r} is not a regular expression: {error}; fix it") from None

    def matches(text: str) -> Iterator[str]:
        return (match[0] for match in pattern.finditer(form(text)) if match[0])

    return Tokenizer(name, lower, matches, form)


def _words(text: str, lower: bool) -> list[str]:
    found = _word_pattern().findall(text)
    return [_tidy(word, lower) for word in found]


def _tidy(word: str, lower: bool) -> str:
    """Return ``word`` composed and lower-cased, with plain apostrophes and without invisible hyphens."""
    return _composed(word if word.isascii() else word.translate(_TIDY), lower)


def _composed(text: str, lower: bool) -> str:
    """Return text in Unicode's composed form, lower-cased; lower-casing may decompose, so compose again."""
    if text.isascii():
        return text.lower() if lower else text
    composed = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", composed.lower()) if lower else composed


@cache
def _word_pattern() -> re.Pattern[str]:
    r"""Return the expression of a word; Python's ``\w`` excludes combining marks, so they are listed."""
    everywhere = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))  # no mark is outside of these
    marks = "".join(chr(code) for code in everywhere if unicodedata.category(chr(code))[0] == "M")
    run = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}{_JOINERS}{_BREAKS}])*"
    return re.compile(rf"{run}(?:['{_CURLY}]{run})*")


def _byte_classes(apostrophe: str | None) -> UInt8:
    """Return the class of each byte, for words with this apostrophe, or for ``whitespace`` if None."""
    from bayesvec.kernels.scanning import BREAK, FOREIGN, JOIN, LETTER

    classes = np.full(256, FOREIGN, dtype=np.uint8)
    for code in range(128):
        character = chr(code)
        inside = character.isalnum() if apostrophe else not character.isspace()
        classes[code] = LETTER if inside else BREAK
    if apostrophe:
        classes[ord(apostrophe)] = JOIN
    return classes


class WordTable:
    """Every distinct word, numbered in order of appearance, with its frequency.

    Parameters
    ----------
    tokenizer : Tokenizer
        How text is split.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._number: dict[bytes | str, int] = {}  # ASCII words as bytes, which is how a block holds them
        self._segment: dict[bytes, tuple[int, ...]] = {}  # the words of each segment that is not ASCII
        self._frequency = np.zeros(1 << 12, dtype=np.int64)

    @property
    def words(self) -> list[str]:
        """The words, by number."""
        return [word.decode() if isinstance(word, bytes) else word for word in self._number]

    @property
    def frequency(self) -> Int64:
        """The frequency of each word."""
        return self._frequency[: len(self._number)]

    def add_scanned(self, data: bytes, segments: Int32, last: Int64, types: Int64) -> tuple[Int32, Int64]:
        """Number the words of a scanned block; return the tokens and the length of each document."""
        from bayesvec.kernels.scanning import expand

        met = [data[first:stop] for first, stop in types.tolist()]
        words, ends = array("i"), array("q", [0])  # of all types of segments, one after another
        for at, number in enumerate(map(self._number.get, met)):
            if number is None:
                words.extend(self._words_of(met[at]))
            else:
                words.append(number)
            ends.append(len(words))
        self._make_room()
        bounds, numbers = np.array(ends, dtype=np.int64), np.array(words, dtype=np.int32)
        return expand(segments, last, bounds, numbers, self._frequency)

    def _words_of(self, segment: bytes) -> Iterable[int]:
        """Split a segment into its words, unless it is a known word."""
        if segment.isascii():
            return [self._number.setdefault(segment, len(self._number))]
        if segment not in self._segment:
            self._segment[segment] = tuple(map(self._number_of, self.tokenizer.cut(segment.decode())))
        return self._segment[segment]

    def add_lists(self, documents: Iterable[Iterable[str]]) -> tuple[Int32, Int64]:
        """Number the words of tokenised documents; return the tokens and the length of each document."""
        lengths = array("q")
        tokens = array("i")
        for words in documents:
            before = len(tokens)
            tokens.extend(map(self._number_of, words))
            lengths.append(len(tokens) - before)
        self._make_room()
        numbers = np.array(tokens, dtype=np.int32)
        counted = np.bincount(numbers, minlength=0)
        self._frequency[: len(counted)] += counted
        return numbers, np.array(lengths, dtype=np.int64)

    def _number_of(self, word: str) -> int:
        return self._number.setdefault(word.encode() if word.isascii() else word, len(self._number))

    def _make_room(self) -> None:
        missing = len(self._number) - len(self._frequency)
        if missing > 0:
            room = np.zeros(max(missing, len(self._frequency)), dtype=np.int64)
            self._frequency = np.concatenate([self._frequency, room])
