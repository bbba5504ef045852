"""HTML elements. Whatever comes from a run passes through `escape`."""

from collections.abc import Iterable, Sequence
from html import escape as escape_html
from typing import TYPE_CHECKING

from bayesvec._printable import printable
from bayesvec.report.svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["code", "escape", "facts", "figure", "paragraphs", "table", "with_command", "word"]


def escape(text: str) -> str:
    """Return text as HTML, control characters in words as escapes."""
    return escape_html(printable(text, lines=True))


def word(text: str) -> str:
    """Return a word, isolated from its neighbours so that scripts of both directions stay in order."""
    return f"<bdi>{escape(text)}</bdi>"


def paragraphs(*texts: str) -> str:
    """Return each text as a paragraph."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def code(text: str) -> str:
    """Return a command as a block of code."""
    return f"<pre><code>{escape(text)}</code></pre>"


def with_command(text: str) -> str:
    """Return a sentence that may end in a command; the command is a block of its own, so that it does not break."""
    sentence, mark, command = text.partition(": bayesvec ")
    if not mark:
        return paragraphs(text)
    return f"{paragraphs(f'{sentence}:')}\n{code(f'bayesvec {command}')}"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and values as a table of two columns; a name without a value is left out."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in pairs if text
    )
    return f'<table class="facts"><tbody>\n{rows}\n</tbody></table>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is words and whose others are numbers.

    Parameters
    ----------
    columns : sequence of str
        The head.
    rows : iterable of sequence of str
        The cells, as plain text; those beyond the columns are left out.
    """
    number = ' class="number"'
    head = "".join(
        f'<th scope="col"{number if i else ""}>{escape(name)}</th>' for i, name in enumerate(columns)
    )
    lines = []
    for first, *others in rows:
        numbers = "".join(f"<td{number}>{escape(cell)}</td>" for cell in others[: len(columns) - 1])
        lines.append(f"<tr><td>{word(first)}</td>{numbers}</tr>")
    body = "\n".join(lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def figure(ax: "Axes | list[Axes]", name: str, caption: str) -> str:
    """Return the figure of ``ax`` with its caption; ``name`` as in `inline_svg`."""
    svg = inline_svg(ax, name, caption)
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
