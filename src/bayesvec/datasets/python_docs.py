"""The documentation that ships with every Python."""

import ast
import functools
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from bayesvec.errors import InputError

# Parts of the standard library's folder that are tests, programs, or third-party.
_SKIPPED = {
    "__pycache__",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "turtledemo",
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_docs() -> list[str]:
    """Return Python's documentation: pydoc's topics and the docstrings of the standard library.

    About 300,000 words; each topic and each docstring is one document, without duplicates. The library's files
    are parsed, not imported, so none of their code runs. The documents are those of the running Python: they differ
    somewhat between versions, systems and distributors.
    """
    return list(_documents())


@functools.cache
def _documents() -> tuple[str, ...]:
    library = Path(sysconfig.get_path("stdlib"))
    documents = dict.fromkeys(_topics())
    files = (file.relative_to(library) for file in library.rglob("*.py"))
    for file in sorted(file.as_posix() for file in files if not _SKIPPED.intersection(file.parts)):
        documents.update(dict.fromkeys(docstrings((library / file).read_bytes())))
    if not documents:
        raise InputError(f"{library} has no Python source and so no documentation; use a text of your own")
    return tuple(documents)


def _topics() -> Iterator[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some systems ship it separately
        return
    for name in sorted(topics):
        yield topics[name].strip()


def docstrings(source: bytes) -> Iterator[str]:
    """Yield the docstrings of a module's source: its own, then those of what it defines, in order."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):  # a template, or a file for another version
        return
    yield from _of_nodes([module])


def _of_nodes(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)) and text.strip():
            yield text
        # only statements contain definitions; expressions, most of the tree, are not searched
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                yield from _of_nodes(inner)
