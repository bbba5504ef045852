"""Hooks for MkDocs: make the run that the pages share, and mark their code for execution."""

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import docs_console  # noqa: F401 (code on the pages imports these two)
import docs_figures  # noqa: F401
import pages
import records
from kept import Kept
from mathml import MathML

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".docs"  # working directory of the code on the pages
DEMO = "demo"  # the shared run, as made by `make demo`
COMMAND = ("bayesvec", "demo", "--out", DEMO)
KEPT = "pages"
SETTINGS = {"COLUMNS": "100", "MPLBACKEND": "Agg", "NO_COLOR": "1", "TERM": "dumb"}


def _load(path):
    """Load a script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = _load(ROOT / "benchmarks" / "tables.py")  # measurements, as shown in the README


def on_config(config):
    """Register the mathematics, complete the navigation, set the environment, and make the shared run."""
    global kept
    config.markdown_extensions.append(MathML())
    config.nav = config.nav and records.with_questions(config.nav)
    os.environ.update(SETTINGS)
    os.environ.pop("BAYESVEC_DATA", None)  # the pages use only what ships with the package
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    key = source_key()
    prepare(key)
    fences = config.mdx_configs["pymdownx.superfences"]["custom_fences"]
    kept = Kept(fences[0]["format"], WORK / KEPT, key + tools_key())
    logging.getLogger("mkdocs.plugins.markdown_exec").addHandler(kept)
    for fence in fences:
        fence["format"] = kept
    return config


def on_page_markdown(markdown, page, config, files):
    """Fill in measurements and records, and mark the code."""
    for name, make in tables.SECTIONS.items():
        markdown = markdown.replace(f"<!-- measured: {name} -->", make())
    markdown = records.filled(markdown)
    session = page.file.src_uri.removesuffix(".md")
    marked = pages.runnable(markdown, session=session, workdir=str(WORK))
    kept.begin(marked)
    return marked


def on_page_content(html, page, config, files):
    """Cache the output of the page; pages whose code writes headings are not cached."""
    if 'show="no"' not in page.file.content_string:
        kept.end()
    return html


def prepare(key):
    """Remove earlier output; keep the shared run and cached pages unless the source has changed."""
    WORK.mkdir(exist_ok=True)
    there = WORK / "key"
    fresh = there.exists() and there.read_text() == key
    left = {DEMO, "demo.txt", "key", KEPT} if fresh else set()
    for path in WORK.iterdir():
        if path.name not in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not fresh:
        made = subprocess.run(COMMAND, cwd=WORK, stdout=subprocess.PIPE, text=True, check=True)
        (WORK / "demo.txt").write_text(made.stdout, encoding="utf-8")
        there.write_text(key)


def source_key():
    """Return a digest of the package's source and the Python version, on which the shared run depends."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def tools_key():
    """Return a digest of these tools."""
    parts = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(parts)).hexdigest()
