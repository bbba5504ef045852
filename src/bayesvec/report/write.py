"""The page of a report, and its file."""

import os
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from bayesvec import __version__
from bayesvec._atomic import placed
from bayesvec._progress import progress as show_progress
from bayesvec._targets import begins_with, check_free
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.labels import quoted
from bayesvec.posterior.slices import number_of_words
from bayesvec.report import elements as html
from bayesvec.report.content import Content
from bayesvec.report.gather import NUM_WORDS, gather
from bayesvec.report.sections import sections
from bayesvec.storage.kinds import APPROXIMATION

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

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
        Its content.
    made_by : str
        The command that makes it.
    """
    shown = [section for section in sections(content, made_by) if section.body]
    style = files("bayesvec.report").joinpath("style.css").read_text(encoding="utf-8")
    return _PAGE.format(
        version=html.escape(__version__),
        title=html.escape(f"Report on {Path(content.posterior.path).absolute().name}"),
        style=style,
        head=_head(content),
        contents="\n".join(
            f'<li><a href="#{name}">{html.escape(title)}</a></li>' for name, title, _ in shown
        ),
        sections="\n".join(
            f'<section id="{name}">\n<h2>{html.escape(title)}</h2>\n{body}\n</section>'
            for name, title, body in shown
        ),
    )


def _head(content: Content) -> str:
    settings, draws = content.settings, content.posterior.draws
    size = f"{number_of_words(draws)}, in {settings['dim']} dimensions, by {settings['method']}: "
    size += "one point" if content.is_point else content.check.head()[0]
    verdict, kind = content.check.verdict, "good" if content.check.ok else "bad"
    mark = "✓" if content.check.ok else "✗"
    if content.is_point or content.check.outcome.kind == APPROXIMATION:  # neither long enough nor too short
        kind, mark = ("", "–") if content.check.outcome.converged else ("bad", "✗")  # noqa: RUF001
    lines = [f"{mark} {verdict[:1].upper()}{verdict[1:]}"]  # it may end in a command: no full stop
    if content.progress:
        lines.insert(0, f"This run is {content.progress}. The rest of the report uses those draws.")
    banner = f'<div class="verdict {kind}">{"".join(map(html.with_command, lines))}</div>'
    return f'<p class="subtitle">{html.escape(size)} in {html.escape(str(draws.path))}</p>\n{banner}'


def write_report(
    posterior: "Posterior",
    out: str | os.PathLike[str],
    *,
    words: Sequence[str] | None = None,
    axis: Sequence[tuple[str, str]] | None = None,
    n: int = 10,
    at: str | None = None,
    level: float = LEVEL,
    progress: bool = False,
) -> Content:
    """Write a report on a run: one self-contained HTML page.

    Parameters
    ----------
    posterior : Posterior
        The run.
    out : path
        The page to write; one that is there is replaced.
    words : sequence of str, optional
        The words of the report; some frequent ones if not given.
    axis : sequence of (str, str), optional
        Pairs of words that make an axis to place the words on.
    n : int, optional
        Number of neighbours of each word.
    at : str, optional
        The slice of the words, for a run over groups or time; see `gather` for the default.
    level : float, optional
        Probability of the intervals.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    Content
        The content of the page.
    """
    final = Path(out)
    check_place(final)
    made_by = command(posterior.path, final, words=words, axis=axis, n=n, at=at, level=level)
    total = 2 + (NUM_WORDS if words is None else len(words))
    with show_progress("reading the run", total, enabled=progress) as advance:
        content = gather(posterior, words=words, axis=axis, n=n, at=at, level=level, advance=advance)
        text = page(content, made_by)
    with placed(final) as partial:
        partial.write_text(text, encoding="utf-8")
    return content


def default_place(run: str | os.PathLike[str]) -> Path:
    """Return the page of a run, in the current folder: the run's name with ``.report.html``."""
    return Path(f"{Path(run).absolute().name.removesuffix('.run')}.report.html")


def check_place(out: Path) -> None:
    """Refuse a place that cannot be written before the work is done."""
    check_free(out, what="a report", force=True, ours=begins_with(b"<!DOCTYPE html"))


def command(
    run: str,
    out: Path,
    *,
    words: Sequence[str] | None,
    axis: Sequence[tuple[str, str]] | None,
    n: int,
    at: str | None,
    level: float,
) -> str:
    """Return the command that writes the report."""
    arguments = [str(run)]
    if words is not None:
        arguments += ["--words", ",".join(map(quoted, words))]
    if axis is not None:
        arguments += ["--axis", ",".join(f"{quoted(one)}:{quoted(other)}" for one, other in axis)]
    if at is not None:
        arguments += ["--at", at]
    return shlex.join(
        ["bayesvec", "report", *arguments, "-n", str(n), "--level", f"{level:g}", "--out", str(out)]
    )
