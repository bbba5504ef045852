"""Files and folders that appear whole or not at all: written beside, flushed to the disk, then renamed into place.

`placed` writes one file or folder that a user asked for, `Staged` the files of a run that belong together. Once
either has returned, the new content survives ``kill -9`` and a power cut; until then the old content does. JSON
files and array files carry checksums, so that damage is reported and never used.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any, Self

import google_crc32c
import numpy as np

from bayesvec._types import Array, UInt8
from bayesvec.errors import BayesvecError, OptionError, RunError

PARTIAL = ".partial"  # the ending of what is still being written
ASIDE = ".old"  # the ending of what is being replaced or removed

_LONGEST = 50  # characters of a name that its hidden names repeat
_SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_READ_AT_ONCE = 1 << 20  # bytes
_ABANDONED = 3600  # seconds after which a file that is still partial is given up

Raised = Callable[[str], BayesvecError]  # makes an error of a message


def checksum(data: bytes | UInt8, before: int = 0) -> int:
    """Return the CRC-32C of ``data``, continued from that of what came ``before``."""
    return int(google_crc32c.extend(before, data))


def checksum_of_file(path: Path) -> int:
    """Return the CRC-32C of a file."""
    buffer, total = np.empty(_READ_AT_ONCE, dtype=np.uint8), 0
    with path.open("rb", buffering=0) as handle:
        while size := handle.readinto(buffer.data):
            total = checksum(buffer[:size], total)
    return total


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
    partial, aside = _beside(place, PARTIAL), _beside(place, ASIDE)
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
            for left in _left_beside(place):
                if left.name.endswith(ASIDE) and left.is_dir():
                    os.rename(left, place)
                    return


def _remove_abandoned(place: Path) -> None:
    """Remove what killed processes left beside ``place``."""
    recover(place)
    for left in _left_beside(place):
        with contextlib.suppress(OSError):
            if left.is_dir() and not left.is_symlink():
                os.close(_locked(left))  # raises if its writer still has it
                _remove(left)
            elif time.time() - left.lstat().st_mtime > _ABANDONED:
                left.unlink()


def _left_beside(place: Path) -> list[Path]:
    """Return the hidden names beside ``place`` that `_beside` made of it."""
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
    aside = _beside(path, ASIDE)
    os.rename(path, aside)
    sync(path.parent)
    shutil.rmtree(aside)


def _beside(place: Path, ending: str) -> Path:
    """Return a new hidden name next to ``place``, so that a rename between them is one step."""
    return place.with_name(f".{_short(place.name)}.{secrets.token_hex(4)}{ending}")


def _short(name: str) -> str:
    """Return a name for hidden names to repeat: if it is long, its beginning and a hash of all of it."""
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 17]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


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
        above.is_dir() and os.access(above, os.W_OK) and _may_write(_beside(above / place.name, PARTIAL))
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
    partial = _beside(path, PARTIAL)
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


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` with a checksum of itself."""
    text = json.dumps(content, indent=1, default=str)
    total = checksum(_canonical(json.loads(text)))
    write(path, [json.dumps({**json.loads(text), "checksum": total}, indent=1).encode(), b"\n"])


def read_json(path: Path, kind: str | None = None) -> dict[str, Any]:
    """Read what `write_json` wrote; raise a `RunError` that names the file if it is damaged.

    Parameters
    ----------
    path : Path
        The file.
    kind : str, optional
        What its ``format`` must be.
    """
    try:
        content = json.loads(path.read_bytes())
        total = content.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise RunError(f"{path} is damaged: it cannot be read as JSON", path=str(path)) from None
    if kind is not None and content.get("format") != kind:
        raise RunError(f"{path.parent} is not a {kind}: its {path.name} is of another kind", path=str(path))
    if total != checksum(_canonical(content)):
        raise RunError(f"{path} is damaged or was changed by hand: its checksum is wrong", path=str(path))
    return dict(content)


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def array_parts(arrays: Mapping[str, Array]) -> Iterator[bytes]:
    """Yield the parts of a file of named arrays: a JSON line, the arrays' bytes, a checksum of all."""
    flat = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    described = {name: [array.dtype.str, list(array.shape)] for name, array in flat.items()}
    total = 0
    header = np.frombuffer(json.dumps(described).encode() + b"\n", np.uint8)
    for part in (header, *flat.values()):
        for piece in _pieces(part):
            total = checksum(piece, total)
            yield piece
    yield total.to_bytes(4, "little")


def _pieces(array: Array, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield the bytes of ``array`` a little at a time, so that no second copy of it is held."""
    flat = array.reshape(-1).view(np.uint8)
    for start in range(0, len(flat), size):
        yield flat[start : start + size].tobytes()


def read_arrays(path: Path) -> dict[str, Array]:
    """Read what `array_parts` described; raise a `RunError` that names the file if it is damaged."""
    damaged = RunError(f"{path} is damaged: its checksum is wrong", path=str(path))
    content = path.read_bytes()
    if len(content) < 5 or checksum(content[:-4]) != int.from_bytes(content[-4:], "little"):
        raise damaged
    arrays = {}
    try:
        start = content.index(b"\n") + 1
        for name, (dtype, shape) in json.loads(content[:start]).items():
            size = int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(content, dtype, size, start).reshape(shape).copy()
            start += arrays[name].nbytes
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise damaged from None
    return arrays


def _open_no_link(path: str, flags: int) -> int:
    """Open a file, but not what a link there points at, and never wait for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


class Lock:
    """Keep other processes from writing to a folder; the system releases it when this process ends.

    Parameters
    ----------
    folder : Path
        The folder, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._file = open(folder / "lock", "ab", opener=_open_no_link)  # noqa: SIM115  (held until close)
        except OSError as refused:
            if refused.errno not in (errno.ELOOP, errno.ENXIO):
                raise
            message = f"{folder / 'lock'} is not a plain file, so the folder cannot be locked; remove it"
            raise RunError(message, path=str(folder)) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise RunError(
                f"{folder} is in use by another process that writes to it; wait for it to end, or stop it",
                path=str(folder),
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        self._file.close()
