"""The page of a report."""

from importlib.resources import files
from pathlib import Path

from bayesvec import __version__
from bayesvec.report import html
from bayesvec.report.content import Content
from bayesvec.report.sections import sections
from bayesvec.storage.outcome import APPROXIMATION

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="bayesvec {version}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
{head}
<nav aria-label="Contents"><ul>
{contents}
</ul></nav>
<main>
{sections}
</main>
</body>
</html>
"""


def page(content: Content, made_by: str) -> str:
    """Return the page as text.

    Parameters
    ----------
    content : Content
        What it tells.
    made_by : str
        The command that makes it.
    """
    told = [section for section in sections(content, made_by) if section.body]
    style = files("bayesvec.report").joinpath("style.css").read_text(encoding="utf-8")
    return _PAGE.format(
        version=html.escape(__version__),
        title=html.escape(f"Report on {Path(content.posterior.path).absolute().name}"),
        style=style,
        head=_head(content),
        contents="\n".join(f'<li><a href="#{name}">{html.escape(title)}</a></li>' for name, title, _ in told),
        sections="\n".join(
            f'<section id="{name}">\n<h2>{html.escape(title)}</h2>\n{body}\n</section>'
            for name, title, body in told
        ),
    )


def _head(content: Content) -> str:
    settings, draws = content.settings, content.posterior.draws
    size = (
        f"{len(content.posterior.words):,} words in {settings['dim']} dimensions, by {settings['method']}: "
    )
    size += "one point" if content.is_point else content.check.head()[0]
    verdict, kind = content.check.verdict, "good" if content.check.ok else "bad"
    mark = "✓" if content.check.ok else "✗"
    if content.is_point or content.check.outcome.kind == APPROXIMATION:  # neither long enough nor too short
        kind, mark = ("", "–") if content.check.outcome.converged else ("bad", "✗")  # noqa: RUF001
    lines = [f"{mark} {verdict[:1].upper()}{verdict[1:]}"]  # it may end in a command: no full stop
    if content.progress:
        lines.insert(0, f"This run is {content.progress}. What follows is told from those that are there.")
    banner = f'<div class="verdict {kind}">{html.paragraphs(lines)}</div>'
    return f'<p class="subtitle">{html.escape(size)} in {html.escape(str(draws.path))}</p>\n{banner}'
