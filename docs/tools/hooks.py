"""What MkDocs calls while it builds the site: makes the run that the pages share, and marks their code to be run."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import docs_console  # noqa: F401 (what the pages run finds these two among the imported modules)
import docs_figures  # noqa: F401
import pages
from mathml import MathML

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".docs"  # where the code of the pages runs
DEMO = "demo"  # the run they share, as `make demo` makes it
COMMAND = ("bayesvec", "demo", "--out", DEMO)
SETTINGS = {"COLUMNS": "100", "MPLBACKEND": "Agg", "NO_COLOR": "1", "TERM": "dumb"}


def _load(path):
    """Load a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = _load(ROOT / "benchmarks" / "tables.py")  # what was measured, as the README shows it


def on_config(config):
    """Add the mathematics, set the scene, and make the shared run unless it is there."""
    config.markdown_extensions.append(MathML())
    os.environ.update(SETTINGS)
    os.environ.pop("BAYESVEC_DATA", None)  # the pages have what ships with the package, and no more
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    prepare()
    return config


def on_page_markdown(markdown, page, config, files):
    """Fill in what is measured, and mark the code."""
    for name, make in tables.SECTIONS.items():
        markdown = markdown.replace(f"<!-- measured: {name} -->", make())
    session = page.file.src_uri.removesuffix(".md")
    return pages.runnable(markdown, session=session, workdir=str(WORK))


def prepare():
    """Leave nothing of an earlier build but the shared run, and make that if it is another source's."""
    WORK.mkdir(exist_ok=True)
    key, there = source_key(), WORK / "key"
    fresh = there.exists() and there.read_text() == key
    kept = {DEMO, "demo.txt", "key"} if fresh else set()
    for path in WORK.iterdir():
        if path.name not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not fresh:
        made = subprocess.run(COMMAND, cwd=WORK, stdout=subprocess.PIPE, text=True, check=True)
        (WORK / "demo.txt").write_text(made.stdout, encoding="utf-8")
        there.write_text(key)


def source_key():
    """Return a digest of the package's source and the Python that runs it: what the shared run depends on."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
