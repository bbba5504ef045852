"""Files that a prior is made of: lines of fields between tabs, and what a recipe keeps of a file."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayesvec.errors import InputError

_DIGITS = 16  # of a fingerprint, as elsewhere


def read_fields(path: Path, expected: str, is_right: Callable[[list[str]], bool]) -> Iterator[list[str]]:
    """Yield the fields of each line that is not blank.

    Parameters
    ----------
    path : Path
        UTF-8 text, the fields of a line separated by tabs.
    expected : str
        What a line must be, for the error.
    is_right : callable
        Whether the fields of a line are right.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}", file=str(path)) from None
    for number, line in enumerate(lines, 1):
        fields = [field.strip() for field in line.split("\t")]
        if not line.strip():
            continue
        if not is_right(fields):
            message = f"{path}, line {number} is {line!r}; it must be {expected}, separated by tabs"
            raise InputError(message, file=str(path), line=number)
        yield fields


def kept_of(**given: Any) -> dict[str, dict[str, dict[str, str]]]:
    """Return what a recipe keeps of arguments that are paths: their names and fingerprints; nothing of others."""
    files = {
        name: {"path": os.fspath(value), "sha256": fingerprint(value)}
        for name, value in given.items()
        if isinstance(value, str | os.PathLike)
    }
    return {"files": files} if files else {}


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raise if a file, or the manifest of a run, cannot be read."""
    place = Path(path)
    try:
        with (place / "manifest.json" if place.is_dir() else place).open("rb"):
            pass
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", file=str(path)) from None


def fingerprint(path: str | os.PathLike[str]) -> str:
    """Return the first digits of the SHA-256 of a file; of a run, those of its manifest."""
    place = Path(path)
    try:
        with (place / "manifest.json" if place.is_dir() else place).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", file=str(path)) from None


def source_of(recipe: Mapping[str, Any], argument: str) -> str:
    """State where an argument came from: a file with its fingerprint, or Python."""
    file = recipe.get("files", {}).get(argument)
    if file:
        return f"{file['path']} (SHA-256 {file['sha256']}…)"
    value = recipe.get(argument)
    return f"{value}, given in Python" if isinstance(value, str) else "given in Python"
