"""Imports follow the data flow: a module imports from its own folder and from those before it, never from after.

Every import counts: at module level, inside functions, and for type checkers. So a lazy import may save start-up
time but cannot hide a cycle.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import bayesvec

ROOT = Path(bayesvec.__file__).parent
BASE = {
    "errors",
    "_types",
    "_cluster",
    "_compiling",
    "_held",
    "_machine",
    "_validate",
    "_parallel",
    "_pipeline",
    "_printable",
    "_progress",
    "_atomic",
    "_checksums",
    "_lock",
    "_targets",
}
ORDER = [
    *(
        "base",
        "kernels",
        "counts",
        "text",
        "simulation",
        "storage",
        "vectors",
        "priors",
        "model",
        "inference",
    ),
    *(
        "engines",
        "estimates",
        "chains",
        "diagnostics",
        "io",
        "posterior",
        "fitting",
        "integrations",
        "datasets",
        "plots",
    ),
    *("report", "explore", "paper", "cli", "__init__", "__main__"),
]


def modules():
    """Every module of the package by its dotted name below it, with its file."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts if parts[-1] != "__init__" or len(parts) == 1 else parts[:-1]), path


MODULES = dict(modules())


def resolve(name):
    """Return the module that a dotted name below the package is, or is in; the package itself for its names."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def imported(tree):
    """Yield the modules of the package that some source imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package in full"
            if (node.module or "").split(".")[0] != "bayesvec":
                continue
            inside = node.module.split(".")[1:]
            for alias in node.names:
                if (node.module, alias.name) != (
                    "bayesvec",
                    "__version__",
                ):  # set before anything is imported
                    yield resolve(".".join([*inside, alias.name]))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package, _, name = alias.name.partition(".")
                if package == "bayesvec":
                    yield resolve(name)


def folder(module):
    """Return the folder of a module; the modules of the base are one."""
    top = module.split(".")[0]
    return "base" if top in BASE else top


@cache
def edges():
    """Return all imports of one module of the package by another."""
    return {
        (module, other)
        for module, path in MODULES.items()
        for other in imported(ast.parse(path.read_text(encoding="utf-8")))
        if other != module
    }


def wrong_way(found):
    """Return the imports that point from a folder to one after it."""
    place = {name: i for i, name in enumerate(ORDER)}
    return {(one, other) for one, other in found if place[folder(other)] > place[folder(one)]}


def test_every_module_has_a_place():
    assert {folder(module) for module in MODULES} <= {*ORDER}


def test_imports_point_one_way():
    new = sorted(wrong_way(edges()))
    assert not new, "\n".join(f"{one} must not import {other}, which comes after it" for one, other in new)


def test_the_base_has_no_cycles():
    graph = {module: set() for module in MODULES if folder(module) == "base"}
    for one, other in edges():
        if one in graph and other in graph:
            graph[one].add(other)
    TopologicalSorter(graph).prepare()


def test_every_kind_of_import_counts():
    source = """
from typing import TYPE_CHECKING
import numpy
import bayesvec
import bayesvec.counts.pairs
from bayesvec import __version__, _atomic as files
if TYPE_CHECKING:
    from bayesvec.counts import store
def late():
    from bayesvec.errors import InputError
"""
    assert sorted(imported(ast.parse(source))) == [
        "__init__",
        "_atomic",
        "counts.pairs",
        "counts.store",
        "errors",
    ]
    assert wrong_way({("counts.pairs", "errors"), ("errors", "counts.pairs")}) == {("errors", "counts.pairs")}
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
