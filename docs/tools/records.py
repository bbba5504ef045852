"""Tables of methods, priors and plots, from the records that describe them.

Pages have a comment ``<!-- records: methods -->`` where a table goes. The README has the table of methods itself.

Usage: python docs/tools/records.py [--check]      (write the README's table; --check: fail if it is not up to date)
"""

import argparse
import sys
from pathlib import Path

from bayesvec.inference import methods as inference
from bayesvec.plots.table import plots as all_plots
from bayesvec.priors.table import families

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- table of methods -->", "<!-- end of table of methods -->"


def methods() -> str:
    """Return the table of methods."""
    records = [inference.find(name) for name in inference.names()]
    rows = [[f"`{each.name}`", each.sentence, each.use, _capital(each.caveat)] for each in records]
    return _table(["method", "what it is", "when to use it", "caveat"], rows)


def priors() -> str:
    """Return the table of priors."""
    rows = [
        [f"`{each.name}`", each.summary, ", ".join(f"`{option.flag}`" for option in each.options)]
        for each in families().values()
    ]
    return _table(["`--prior`", "what it is", "its options"], rows)


def plots() -> str:
    """Return the table of plots."""
    rows = [[f"`{each.kind}`", each.shows, each.takes] for each in all_plots().values()]
    return _table(["kind", "what it shows", "its arguments"], rows)


SECTIONS = {"methods": methods, "priors": priors, "plots": plots}


def filled(text: str) -> str:
    """Return a page with its tables filled in."""
    for name, make in SECTIONS.items():
        mark = f"<!-- records: {name} -->"
        if mark in text:
            text = text.replace(mark, make())
    return text


def readme(text: str) -> str:
    """Return the README's text with the current table of methods."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{methods()}\n{END}{rest.partition(END)[2]}"


def _capital(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    current = README.read_text(encoding="utf-8")
    if not parser.parse_args().check:
        README.write_text(readme(current), encoding="utf-8")
    elif readme(current) != current:
        sys.exit("the README's table of methods is out of date; run python docs/tools/records.py")
