"""Tables of methods, priors, questions and plots, from the records that describe them.

On a page a table stands between the comments ``<!-- records: methods -->`` and ``<!-- end of records -->``, so that
it can be read in the file too. A page that answers questions names them in its first lines (``questions: similarity,
distance``); it needs no line in the navigation. The README has its own table of some methods.

Usage: python docs/tools/records.py [--check]      (write the tables; --check: fail if they are not up to date)
"""

import argparse
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from bayesvec.cli.questions import make_command
from bayesvec.inference import methods as inference
from bayesvec.paper.real_coverage import EXPERIMENT, coverage_table
from bayesvec.plots.table import Plot
from bayesvec.plots.table import plots as all_plots
from bayesvec.posterior import table as asked
from bayesvec.posterior.posterior import Posterior
from bayesvec.priors.table import families

DOCS = Path(__file__).parents[1]
README = DOCS.parent / "README.md"
ANSWERS = re.compile(r"---\nquestions: (.+)\n---\n\s*# (.+)\n")  # how a page that answers questions begins
PLACE = re.compile(r"(<!-- records: ([\w-]+) -->)\n.*?(<!-- end of records -->)", re.DOTALL)
BEGIN, END = "<!-- table of methods -->", "<!-- end of table of methods -->"


def methods(names: list[str] | None = None) -> str:
    """Return the table of methods, of all or of some."""
    records = [inference.find(name) for name in names or inference.names()]
    rows = [[f"`{each.name}`", each.sentence, each.use, _capital(each.caveat)] for each in records]
    return _table(["method", "what it is", "when to use it", "caveat"], rows)


def priors() -> str:
    """Return the table of priors."""
    rows = [
        [
            f"`{each.name}`",
            each.summary,
            ", ".join(f"`{option.flag}`" for option in each.options),
            f"`{each.command}`",
        ]
        for each in families().values()
    ]
    return _table(["`--prior`", "what it is", "its options", "example"], rows)


def plots() -> str:
    """Return the table of plots."""
    rows = [[f"`{each.kind}`", each.shows, each.takes, _plotted(each)] for each in all_plots().values()]
    return _table(["kind", "what it shows", "its arguments", "example"], rows)


def _plotted(plot: Plot) -> str:
    run, _, rest = plot.example.partition(" ")
    return f"`{' '.join(filter(None, ('plot', run, plot.kind, rest)))}`"


def questions() -> str:
    """Return the table of questions, for a page of the folder ``howto``."""
    pages = {name: page for page, (_, names) in answering().items() for name in names}
    rows = []
    for name in asked.names():
        command = make_command(asked.find(name))
        taken = " ".join(each.metavar for each in command.params if each.param_type_name == "argument")
        calls = ", ".join(f"`post.{each}`" for each in _methods_of(name))
        page = pages[name]
        link = f"[{answering()[page][0]}]({page.removeprefix('howto/') if '/' in page else f'../{page}'})"
        rows.append([asked.help_of(name), f"`{name} {taken}`", calls, link])
    return _table(["question", "command", "Python", "page"], rows)


def _methods_of(name: str) -> list[str]:
    """Return the calls that ask a question in Python, with the parameters that must be given."""
    module = f"bayesvec.posterior.questions.{name}"
    own = [each for each in vars(Posterior) if getattr(getattr(Posterior, each), "__module__", "") == module]
    functions = {each: getattr(Posterior, each) for each in own} or {name: asked.find(name).ask}
    return [f"{each}({', '.join(_required(function))})" for each, function in functions.items()]


def _required(function: Any) -> list[str]:
    _, *parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is each.empty]


def answering() -> dict[str, tuple[str, list[str]]]:
    """Return the title and the questions of each page that answers any."""
    found = {path: ANSWERS.match(path.read_text(encoding="utf-8")) for path in sorted(DOCS.rglob("*.md"))}
    return {
        path.relative_to(DOCS).as_posix(): (match[2], match[1].split(", "))
        for path, match in found.items()
        if match
    }


def with_questions(nav: list[Any]) -> list[Any]:
    """Return the navigation with the pages that answer questions and are not in it."""
    listed = set(re.findall(r"[\w/-]+\.md", str(nav)))
    more = [{title: page} for page, (title, _) in answering().items() if page not in listed]
    return [{"Questions": each["Questions"] + more} if "Questions" in each else each for each in nav]


def real_coverage() -> str:
    """Return the coverage of intervals on real text, of the cells that have been run."""
    results = EXPERIMENT.results(DOCS.parent / "experiments" / "records", quick=False)
    run = [result for result in results.all if result.values is not None]
    return coverage_table(run) if run else ""


SECTIONS = {
    "methods": methods,
    "priors": priors,
    "questions": questions,
    "plots": plots,
    "real-coverage": real_coverage,
}


def filled(text: str) -> str:
    """Return a page with its tables as the records have them now; end the program if one has no end."""
    if text.count("<!-- records: ") != text.count("<!-- end of records -->"):
        sys.exit(f"a table has no beginning or no end in the page that begins {text.lstrip()[:40]!r}")
    return PLACE.sub(lambda found: f"{found[1]}\n{SECTIONS[found[2]]()}\n{found[3]}", text)


def readme(text: str) -> str:
    """Return the README's text with the methods of its table as their records describe them now."""
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    return f"{before}{BEGIN}\n{methods(names)}\n{END}{after}"


def _capital(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    now = {README: readme(README.read_text(encoding="utf-8"))}
    now |= {page: filled(page.read_text(encoding="utf-8")) for page in sorted(DOCS.rglob("*.md"))}
    stale = {page: text for page, text in now.items() if text != page.read_text(encoding="utf-8")}
    if not parser.parse_args().check:
        for page, text in stale.items():
            page.write_text(text, encoding="utf-8")
    elif stale:
        names = ", ".join(page.name for page in stale)
        sys.exit(f"tables of {names} are out of date; run python docs/tools/records.py")
