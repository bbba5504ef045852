"""Documents of plain text that are separated by a pattern, not by line ends."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from bayesvec.errors import OptionError

REACH = 1000  # characters that decide whether, and where, a separator ends


def make_separator(pattern: str) -> re.Pattern[str]:
    """Compile the expression that separates documents."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise OptionError(
            f"document separator {pattern!r} is not a regular expression: {error}; fix it"
        ) from None
    if compiled.search("") is not None:
        raise OptionError(
            f"document separator {pattern!r} matches empty text; give a pattern that matches at least a character"
        )
    return compiled


def separated(
    chunks: Iterable[bytes], separator: re.Pattern[str], check_size: Callable[[int], None]
) -> Iterator[str]:
    """Yield the texts between the matches that are not blank, whatever the chunks of UTF-8 they come in.

    A match is used once `REACH` characters after it are known, so that the next chunk cannot change it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    held, start = "", 0  # the text from a little before the current document on, and where that starts
    for chunk in chain(chunks, [b""]):
        held += decoder.decode(chunk)
        for match in separator.finditer(held, start):
            if chunk and match.end() + REACH > len(held):
                break
            yield from _unless_blank(held[start : match.start()])
            start = match.end()
        seen = max(0, start - REACH)
        held, start = held[seen:], start - seen
        check_size(len(held) - start)
    yield from _unless_blank(held[start:])


def _unless_blank(text: str) -> Iterator[str]:
    if text and not text.isspace():
        yield text
