"""Files and folders that appear whole or not at all: written beside, flushed to the disk, then renamed into place.

`placed` writes one file or folder that a user asked for, `Staged` the files of a run that belong together. Once
either has returned, the new content survives ``kill -9`` and a power cut; until then the old content does.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from glob import escape
from pathlib import Path

from bayesvec.errors import BayesvecError, OptionError

PARTIAL = ".partial"  # the ending of what is still being written
ASIDE = ".old"  # the ending of what is being replaced or removed

_LONGEST = 50  # characters of a name that its hidden names repeat
_SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_ABANDONED = 3600  # seconds after which a file that is still partial is given up

Raised = Callable[[str], BayesvecError]  # makes an error of a message


def sync(path: Path) -> None:
    """Flush a file, or the list of names of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """Flush a file, or a folder with everything below it, to the disk."""
    for parent, _, names in os.walk(path):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))
    if not path.is_dir():
        sync(path)


@contextlib.contextmanager
def placed(
    target: Path, *, folder: bool = False, force: bool = False, error: Raised = OptionError
) -> Iterator[Path]:
    """Yield a hidden name beside ``target`` to write to, which takes the place of ``target`` if nothing fails.

    After a failure everything is as it was. Missing folders above are made. A file at ``target`` is replaced: ask
    `check_free` first. A folder is replaced in one step where the system can exchange two names; elsewhere in
    two, and what a crash leaves between them is put right by `recover`.

    Parameters
    ----------
    target : Path
        The file or folder to write; of a link, what it points at is replaced, not the link.
    folder : bool
        Make a folder, empty at first.
    force : bool
        Replace a folder that is there and not empty.
    error : callable
        What to raise if the system refuses; given the message.
    """
    place = target.resolve()
    partial, aside = beside(place, PARTIAL), beside(place, ASIDE)
    made: list[Path] = []
    held: int | None = None
    try:
        _remove_abandoned(place)
        for parent in reversed([parent for parent in place.parents if not parent.exists()]):
            parent.mkdir()
            made.append(parent)
        if folder:
            partial.mkdir()
            held = _locked(partial)
        yield partial
        sync_tree(partial)
        if not (force and place.is_dir()):
            os.replace(partial, place)
        elif not _exchanged(partial, place):
            os.rename(place, aside)
            os.replace(partial, place)
        sync(place.parent)
        made.clear()
    except OSError as refused:
        reason = refused.strerror or refused
        raise error(f"cannot write {target}: {reason}; make room or choose another place") from None
    finally:
        try:
            if aside.exists() and not place.exists():
                os.rename(aside, place)
            for left in (aside, partial):
                _remove(left)
        finally:
            if held is not None:
                os.close(held)
        with contextlib.suppress(OSError):
            for parent in reversed(made):
                parent.rmdir()


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    """Return the system's call that exchanges two names, None if it has none."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        here = -100  # AT_FDCWD: names are relative to the current folder
        return lambda one, other: int(library.renameat2(here, one, here, other, _SWAP))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, _SWAP))
    return None


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step; return False if the system or the file system cannot."""
    exchange = _exchange()
    return exchange is not None and exchange(os.fsencode(one), os.fsencode(other)) == 0


def recover(target: Path) -> None:
    """Put back a folder that a crash left aside, before what replaces it was in its place."""
    with contextlib.suppress(OSError):
        place = target.resolve()
        if not os.path.lexists(place):
            for left in _leftbeside(place):
                if left.name.endswith(ASIDE) and left.is_dir():
                    os.rename(left, place)
                    return


def check_plain(folder: Path, error: Raised) -> None:
    """Raise unless everything in a folder is a file or a folder: reading a pipe or a device may never end.

    Parameters
    ----------
    folder : Path
        The folder; nothing is checked if there is none.
    error : callable
        What to raise; given the message.
    """
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:
        raise error(f"{folder} cannot be read ({problem.strerror}); check its permissions") from None
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            check_plain(Path(entry.path), error)
        elif not (os.path.isfile(entry) or os.path.isdir(entry)) and os.path.lexists(entry):
            what = "a link to nowhere" if entry.is_symlink() else "not a plain file"
            raise error(f"{entry.path} is {what}; remove it, or restore it from a copy")


def _remove_abandoned(place: Path) -> None:
    """Remove what killed processes left beside ``place``."""
    recover(place)
    for left in _leftbeside(place):
        with contextlib.suppress(OSError):
            if left.is_dir() and not left.is_symlink():
                os.close(_locked(left))  # raises if its writer still has it
                _remove(left)
            elif time.time() - left.lstat().st_mtime > _ABANDONED:
                left.unlink()


def _leftbeside(place: Path) -> list[Path]:
    """Return the hidden names beside ``place`` that `beside` made of it."""
    found = place.parent.glob(f".{escape(_short(place.name))}.{'[0-9a-f]' * 8}.*")
    return sorted(path for path in found if path.suffix in (PARTIAL, ASIDE))


def _locked(folder: Path) -> int:
    """Lock a folder until the descriptor is closed, or raise an OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there and can be removed."""
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()


def remove_folder(path: Path) -> None:
    """Remove a folder; its name is free before anything in it is gone, so a crash leaves nothing in the way."""
    aside = beside(path, ASIDE)
    os.rename(path, aside)
    sync(path.parent)
    shutil.rmtree(aside)


def beside(place: Path, ending: str) -> Path:
    """Return a new hidden name next to ``place``, so that a rename between them is one step."""
    return place.with_name(f".{_short(place.name)}.{secrets.token_hex(4)}{ending}")


def _short(name: str) -> str:
    """Return a name for hidden names to repeat: if it is long, its beginning and a hash of all of it."""
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 17]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


class Staged:
    """Files that are written now and take their place together at the next `commit`."""

    def __init__(self) -> None:
        self._final: dict[Path, None] = {}

    def write(self, path: Path, parts: Iterable[bytes]) -> None:
        """Write ``parts`` beside ``path``; what was staged for ``path`` before is replaced."""
        partial = path.with_name(path.name + PARTIAL)
        self._final.pop(path, None)
        try:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()  # left by a crash, or a link that leads elsewhere
            with open(partial, "xb", buffering=1 << 20) as file:  # x: O_EXCL, which follows no link
                for part in parts:
                    file.write(part)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()  # a full disk needs the room
            raise
        self._final[path] = None

    def commit(self) -> None:
        """Flush the staged files to the disk, then rename them into place."""
        for path in self._final:
            sync(path.with_name(path.name + PARTIAL))
        for path in self._final:
            os.replace(path.with_name(path.name + PARTIAL), path)
        for folder in {path.parent for path in self._final}:
            sync(folder)
        self._final.clear()


def write(path: Path, parts: Iterable[bytes]) -> None:
    """Write one file so that a crash leaves the old content or the new, never a mixture."""
    staged = Staged()
    staged.write(path, parts)
    staged.commit()


def write_apart(path: Path, parts: Iterable[bytes]) -> None:
    """Write one file as `write` does, while other processes may write the same content there."""
    partial = beside(path, PARTIAL)
    try:
        with open(partial, "xb", buffering=1 << 20) as file:
            for part in parts:
                file.write(part)
        sync(partial)
        os.replace(partial, path)
        sync(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def remove_partial(folder: Path, names: str) -> None:
    """Remove what killed processes have left of files that `write_apart` was to make; ``names`` is a pattern."""
    for left in folder.glob(f".{names}{PARTIAL}"):
        with contextlib.suppress(FileNotFoundError):
            left.unlink()
