"""The public names of the package: all there, listed, and not hidden by modules."""

import importlib.util
import re
from pathlib import Path

import bayesvec as bv

ROOT = Path(__file__).parents[1]


def test_dir_lists_the_public_names_only():
    assert set(dir(bv)) == {*bv.__all__, "open"}
    assert all(getattr(bv, name) is not None for name in dir(bv))


def test_public_names_are_not_hidden_by_modules():
    """A submodule with the name of a function would take its place in the package once it is imported."""
    homes = bv._MODULE_OF.items()
    assert not [name for name, home in homes if name != home and importlib.util.find_spec(f"bayesvec.{name}")]
    assert bv.simulate is importlib.import_module("bayesvec.simulation.pairs").simulate
    assert bv.datasets.python_docs.__module__ == "bayesvec.datasets.python_docs"


def test_the_version_is_that_of_the_changelog():
    """The version stands in the package alone; a development version is unreleased in the changelog."""
    first = re.search(
        r"^## (\S+)( \(unreleased\))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert bv.__version__ == first[1] + (".dev0" if first[2] else "")
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
