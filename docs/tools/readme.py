"""Run every ``$`` command in the README in a folder with the demo's run, and write its output under it.

Usage: python docs/tools/readme.py [--check] [--demo FOLDER]

The demo is run first (a minute) unless --demo names a folder with one. Its text is the documentation of the running
Python, and on another kind of processor the last digits of draws differ. A comment in the README records both, and
--check exits with status 3 where they differ.
"""

import argparse
import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pages

from bayesvec.datasets import python_docs
from bayesvec.storage.provenance import machine

README = Path(__file__).parents[2] / "README.md"
MARK = re.compile(r"<!-- outputs: (.*?) -->")
OTHER_MACHINE = 3


def printed_with() -> str:
    """Return what the outputs depend on: the text of the demo, and the kind of processor."""
    text = hashlib.sha256("\0".join(python_docs()).encode()).hexdigest()[:12]
    return f"text {text}, {machine()['processor']}"


def filled(text: str, folder: Path) -> str:
    """Return the README's text with all outputs as printed in ``folder``."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

    def run(found: re.Match[str]) -> str:
        wanted = pages.commands(pages.Block(found[1], {}, found[3], 0))
        if not wanted:
            return found[0]
        parts = []
        for command in wanted:
            made = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if made.returncode:
                raise SystemExit(f"{command}\nhas exit status {made.returncode}:\n{made.stderr}")
            parts.append(f"$ {command}\n{made.stdout.rstrip()}".rstrip())
        return f"```{found[1]}{found[2]}\n" + "\n\n".join(parts) + "\n```"

    text = pages.FENCE.sub(run, text)
    return MARK.sub(f"<!-- outputs: {printed_with()} -->", text)


def main() -> int:
    """Write the README, or report how it differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--demo", type=Path, help="a folder that `bayesvec demo` has made")
    options = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    text = README.read_text(encoding="utf-8")
    if options.check and (recorded := MARK.search(text)[1]) != (here := printed_with()):
        print(f"the README's outputs were made with {recorded}; here it is {here}", file=sys.stderr)
        return OTHER_MACHINE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.demo:
            (folder / "demo").symlink_to(options.demo.resolve())
        else:
            subprocess.run(["bayesvec", "demo"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        made = filled(text, folder)
    if not options.check:
        README.write_text(made, encoding="utf-8")
    elif made != text:
        changes = difflib.unified_diff(text.splitlines(), made.splitlines(), "README", "printed", lineterm="")
        print("\n".join(changes), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
