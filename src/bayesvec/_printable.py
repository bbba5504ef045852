"""Words are data: characters that control a terminal, or that no page may hold, are written as escapes."""

import re

# Control characters (with escape sequences, C0 and C1), separators of lines, overrides of the writing direction,
# halves of surrogate pairs and noncharacters. Joiners stay: words of some scripts need them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return text that is safe to print: control characters as ``\u001b``, which is also how JSON writes them.

    Parameters
    ----------
    text : str
        Any text, such as a word or a message with words in it.
    lines : bool
        Keep the ends of lines.
    """
    return _CONTROL.sub(
        lambda found: found[0] if lines and found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )
