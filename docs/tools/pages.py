"""Pages are plain Markdown whose code is executed. This module finds the code blocks and marks them for execution.

Every ``python`` block and every ``$`` line of a ``console`` block runs when the site is built, all Python of a
page in one session. Options of a block:

- ``run="no"``: show it without running it;
- ``show="no"``: run it, and show only its output, as Markdown;
- ``status="1"``: the exit status that its commands must have (default 0), or ``any``;
- ``from="demo.txt"``: its commands ran before the pages were built; take their output from this transcript;
- ``figure="what it shows"``: show the figure that it made below it, with this alternative text.

A ``text output`` block below a Python block is what that printed, for readers of the source; the site leaves it out.
"""

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

FENCE = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"\n\n^```text output\n.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)  # below a Python block
OPTION = re.compile(r'(\w+)="([^"]*)"')
KNOWN = {"python": {"run", "figure", "show"}, "console": {"run", "figure", "status", "from"}}


class Block(NamedTuple):
    """A code block of a page."""

    language: str
    options: dict[str, str]
    code: str
    line: int

    @property
    def runs(self) -> bool:
        """Whether it is run when the site is built."""
        return self.language in KNOWN and self.options.get("run") != "no"


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[1], dict(OPTION.findall(found[2])), found[3], line)


def commands(block: Block) -> list[str]:
    """Return the commands of a console block: what follows ``$``, including continuation lines."""
    lines = block.code.replace("\\\n", "\0").splitlines()
    return [line[2:].replace("\0", "\\\n") for line in lines if line.startswith("$ ")]


def written_to(command: str) -> str:
    """Return the file that a command writes: the value of its --out."""
    words = shlex.split(command, comments=True)
    return words[words.index("--out") + 1]


def runnable(text: str, *, session: str, workdir: str) -> str:
    """Return a page with its blocks marked for markdown-exec."""
    place = f'session="{session}" workdir="{workdir}"'

    def mark(found: re.Match[str]) -> str:
        block = Block(found[1], dict(OPTION.findall(found[2])), found[3], 0)
        if not block.runs:
            return f"```{block.language}\n{block.code}```" if block.language in KNOWN else found[0]
        return _python(block, place) if block.language == "python" else _console(block, place)

    return FENCE.sub(mark, OUTPUT.sub("", text))  # the site prints the outputs of Python itself


def prints(block: Block) -> bool:
    """Whether a block is Python that runs and shows what it prints."""
    shown = not {"figure", "show"} & block.options.keys()
    return block.runs and block.language == "python" and shown and "print(" in block.code


def _python(block: Block, place: str) -> str:
    shown = 'result="text"' if "print(" in block.code else ""
    source = "" if block.options.get("show") == "no" else f'source="material-block" {shown}'
    made = f'```python exec="1" {source} {place}\n{block.code}```'
    if "figure" in block.options:
        alt = block.options["figure"]
        made += f"\n\n{_hidden(f'docs_figures.drawn({alt!r})', place)}"
    return made


def _console(block: Block, place: str) -> str:
    wanted = commands(block)
    if transcript := block.options.get("from"):
        call = f"docs_console.quoted({wanted!r}, {transcript!r})"
    else:
        call = f"docs_console.shown({wanted!r}, {block.options.get('status', '0')!r})"
    made = _hidden(call, place, module="docs_console")
    if "figure" in block.options:
        file, alt = written_to(wanted[-1]), block.options["figure"]
        made += f"\n\n{_hidden(f'docs_figures.written({file!r}, {alt!r})', place)}"
    return made


def _hidden(code: str, place: str, *, module: str = "docs_figures") -> str:
    html = 'html="1" ' if module == "docs_figures" else ""
    return f'```python exec="1" {html}{place}\nimport {module}\nprint({code})\n```'
