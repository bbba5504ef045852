"""The report as a file."""

import contextlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayesvec._atomic import is_other_file
from bayesvec._progress import progress as show_progress
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import LEVEL
from bayesvec.posterior.terms import quoted
from bayesvec.report.choice import HOW_MANY
from bayesvec.report.content import Content, gather
from bayesvec.report.page import page

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


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
    """Write a report on a run: one HTML page, without anything beside it or from the network.

    Parameters
    ----------
    posterior : Posterior
        The run.
    out : path
        The page to write; one that is there is replaced.
    words : sequence of str, optional
        The words to tell of; some frequent ones if not given.
    axis : sequence of (str, str), optional
        Pairs of words that make an axis to place the words on.
    n : int, optional
        How many neighbours of each word.
    at : str, optional
        The slice whose words are meant, of a run over groups or time; see `gather` for what it is otherwise.
    level : float, optional
        Probability of the intervals.
    progress : bool, optional
        Show how far the work is.

    Returns
    -------
    Content
        What the page tells.
    """
    final = Path(out)
    check_place(final)
    made_by = command(posterior.path, final, words=words, axis=axis, n=n, at=at, level=level)
    total = 2 + (HOW_MANY if words is None else len(words))
    with show_progress("reading the run", total, enabled=progress) as advance:
        content = gather(posterior, words=words, axis=axis, n=n, at=at, level=level, advance=advance)
        text = page(content, made_by)
    _put(text, final)
    return content


def _put(text: str, final: Path) -> None:
    """Write the page beside its place and rename it; a page can be made again, so no disk is waited for."""
    partial = final.with_name(f".{final.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, final)
    except OSError as error:
        raise OptionError(f"cannot write {final}: {error.strerror}; choose another place") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def check_place(out: Path) -> None:
    """Refuse a place that cannot be written before the work is done."""
    if out.is_dir():
        raise OptionError(f"{out} is a folder; name the page to write, such as report.html")
    if is_other_file(out, b"<!DOCTYPE html"):
        raise OptionError(f"{out} exists and is not a report; it is not replaced; choose another name")
    if not out.absolute().parent.is_dir():
        raise OptionError(f"cannot write {out}: its folder is not there; make it, or choose another place")


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
