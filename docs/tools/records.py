"""Tables of priors and plots, from the records that describe them.

Pages have a comment ``<!-- records: priors -->`` where a table goes.
"""

from bayesvec.plots.table import plots as all_plots
from bayesvec.priors.table import families


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


SECTIONS = {"priors": priors, "plots": plots}


def filled(text: str) -> str:
    """Return a page with its tables filled in."""
    for name, make in SECTIONS.items():
        mark = f"<!-- records: {name} -->"
        if mark in text:
            text = text.replace(mark, make())
    return text


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
