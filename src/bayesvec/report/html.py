"""Small pieces of HTML. Whatever comes from a run passes through `escape`."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["escape", "facts", "figure", "paragraphs", "table", "word"]


def word(text: str) -> str:
    """Return a word, isolated from its neighbours so that scripts of both directions stay in order."""
    return f"<bdi>{escape(text)}</bdi>"


def paragraphs(texts: Iterable[str]) -> str:
    """Return sentences as paragraphs."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what they are as a table of two columns."""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in pairs
    )
    return f'<table class="facts"><tbody>\n{rows}\n</tbody></table>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table whose first ``texts`` columns are words and the others numbers.

    Parameters
    ----------
    columns : sequence of str
        The head.
    rows : iterable of sequence of str
        The cells, as plain text.
    texts : int, optional
        How many columns, from the left, are words.
    """
    kinds = ["" if i < texts else ' class="number"' for i in range(len(columns))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(columns, kinds, strict=True)
    )
    lines = []
    for row in rows:
        cells = [word(cell) if i < texts else escape(cell) for i, cell in enumerate(row)]
        lines.append("".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(cells, kinds, strict=True)))
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def figure(svg: str, caption: str) -> str:
    """Return a figure with what it shows below it."""
    return f"<figure>\n{svg}\n<figcaption>{escape(caption)}</figcaption>\n</figure>"
