"""Checks of a name that a user gave for a file or folder to write, before any work is done for it."""

import os
from collections.abc import Callable
from pathlib import Path

from bayesvec._atomic import PARTIAL, Raised, beside
from bayesvec.errors import OptionError


def check_free(
    target: Path,
    *,
    what: str,
    force: bool | None,
    ours: Callable[[Path], bool] = Path.is_file,
    folder: bool = False,
    parents: bool = False,
    error: Raised = OptionError,
) -> None:
    """Raise unless ``target`` can be written: nothing is there, or something that may be replaced.

    Parameters
    ----------
    target : Path
        The file or folder to write.
    what : str
        What is to be written, such as ``a report``.
    force : bool or None
        Whether what is there may be replaced; None if that cannot even be asked for.
    ours : callable
        Whether what is there is of the kind that is written; anything else is never replaced.
    folder : bool
        Whether a folder is to be made; an empty one is free.
    parents : bool
        Whether missing folders above are to be made.
    error : callable
        What to raise; given the message.
    """
    another = "choose another name"
    try:
        place, there = target.resolve(), os.path.lexists(target)
        above = next(parent for parent in place.parents if not parents or parent.exists())
        around = folder and Path.cwd().is_relative_to(place)
        is_folder = target.is_dir()
        empty = is_folder and not any(target.iterdir())
    except (OSError, RuntimeError, ValueError) as refused:
        shown = f"{str(target)[:60]}..." if len(str(target)) > 60 else str(target)
        reason = getattr(refused, "strerror", None) or refused
        raise error(f"cannot write {shown}: {reason}; {another}") from None
    if around:
        message = f"cannot write {target}: it is the folder you are in, or one above; name a new one in it"
    elif lost := [each for each in target.parents if each.name == ".." and not each.exists()]:
        message = f"cannot write {target}: there is no folder {lost[-1].parent}; make it, or leave out '..'"
    elif not above.exists():
        message = f"cannot write {target}: there is no folder {above}; make it, or choose another place"
    elif not (
        above.is_dir() and os.access(above, os.W_OK) and _may_write(beside(above / place.name, PARTIAL))
    ):
        problem = "may not be written to" if above.is_dir() else "is a file"
        message = f"cannot write {target}: {above} {problem}; choose another place"
    elif not there or (folder and empty):
        return
    elif is_folder != folder:
        message = f"{target} is a {'folder' if is_folder else 'file'}, and {what} is not; {another}"
    elif not ours(target):
        message = f"{target} exists and is not {what}; it is not replaced; {another}"
    elif force is None:
        message = f"{target} exists; {another}"
    elif not force:
        message = f"{target} exists; replace it with --force (force=True), or {another}"
    else:
        return
    raise error(message)


def _may_write(partial: Path) -> bool:
    """Whether a file can be made; permissions alone do not show a file system that cannot be written."""
    try:
        partial.touch(exist_ok=False)
        partial.unlink()
    except OSError:
        return False
    return True


def begins_with(start: bytes) -> Callable[[Path], bool]:
    """Return what checks of a file whether it begins with ``start``."""

    def check(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(start)) == start

    return check
