"""Run the code on pages, and write under it what it prints, for readers who see the source of a page.

Usage: python docs/tools/outputs.py [--demo FOLDER] PAGE ...       (such as docs/howto/groups.md)

The site runs all code again when it is built. What a ``$`` command prints stands below it, what Python prints in a
block ``text output`` of its own; what is printed by code that draws a figure is not written. A comment at the end of
a page records the code that its outputs are of, the text of the demo and the processor; a test compares the code. The
demo is run first if a page needs it and --demo does not name a folder with one.
"""

import argparse
import contextlib
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import docs_console
import pages
from readme import printed_with

MARK = re.compile(r"\n<!-- outputs of (\w+): .*? -->\n\Z")
SETTINGS = {"COLUMNS": "100", "MPLBACKEND": "Agg", "NO_COLOR": "1", "TERM": "dumb"}


def code_of(text: str) -> str:
    """Return a digest of the code on a page that runs, without its outputs."""
    running = [block for block in pages.blocks(text) if block.runs]
    parts = ["\n".join(pages.commands(each)) if each.language == "console" else each.code for each in running]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def filled(text: str, folder: Path) -> str:
    """Return a page with the outputs of its code, which runs in ``folder``."""
    session: dict[str, object] = {}

    def run(found: re.Match[str]) -> str:
        block = pages.Block(found[1], dict(pages.OPTION.findall(found[2])), found[3], 0)
        if not block.runs or "from" in block.options:
            return found[0]
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block.code, "page", "exec"), session)
            output = f"\n\n```text output\n{printed.getvalue().rstrip()}\n```"
            return f"{found[0]}{output}" if pages.prints(block) else found[0]
        shown = docs_console.shown(pages.commands(block), block.options.get("status", "0"))
        drawn = "figure" in block.options
        return found[0] if drawn else f"```console{found[2]}{shown.removeprefix('```console')}"

    with contextlib.chdir(folder):
        made = pages.FENCE.sub(run, pages.OUTPUT.sub("", MARK.sub("", text)))
    return f"{made.rstrip()}\n\n<!-- outputs of {code_of(made)}: {printed_with()} -->\n"


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demo", type=Path, help="a folder that `bayesvec demo` has made")
    parser.add_argument("page", type=Path, nargs="+")
    options = parser.parse_args()
    os.environ.update(SETTINGS)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for page in options.page:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            if options.demo:
                Path(name, "demo").symlink_to(options.demo.resolve())
            elif "demo/python-docs" in text:
                subprocess.run(["bayesvec", "demo"], cwd=name, stdout=subprocess.DEVNULL, check=True)
            page.write_text(filled(text, Path(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
