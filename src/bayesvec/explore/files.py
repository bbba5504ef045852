"""The files of the page, read once; nothing else is ever served."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class File(NamedTuple):
    """A file of the page."""

    content: bytes
    kind: str


@cache
def page_files() -> dict[str, File]:
    """Return the files of the page by name, such as ``main.js``."""
    found = {}
    for each in files("bayesvec.explore").joinpath("page").iterdir():
        ending = each.name[each.name.rfind(".") :]
        if ending in KINDS:
            found[each.name] = File(each.read_bytes(), f"{KINDS[ending]}; charset=utf-8")
    return found
