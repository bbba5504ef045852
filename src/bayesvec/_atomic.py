"""Files that survive a crash: written beside, flushed to the disk, then renamed into place.

After `write` or `Staged.commit` returns, the new content survives ``kill -9`` and a power cut; before,
the old content does. JSON files and array files carry checksums, so that damage is named and not used.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np

from bayesvec._types import Array, UInt8
from bayesvec.errors import RunError

PARTIAL = ".partial"  # the ending of files that are not yet what their name says


def checksum(data: bytes | UInt8, before: int = 0) -> int:
    """Return the CRC-32C of ``data``, going on from that of what came ``before``."""
    return int(google_crc32c.extend(before, data))


def sync_directory(folder: Path) -> None:
    """Flush a folder's list of names to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Flush everything below ``folder`` to the disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync_file(Path(parent, name))
        sync_directory(Path(parent))


def sync_file(path: Path) -> None:
    """Flush a file to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Staged:
    """Files that are written now and take their place together at the next `commit`."""

    def __init__(self) -> None:
        self._final: dict[Path, None] = {}

    def write(self, path: Path, parts: Iterable[bytes]) -> None:
        """Write ``parts`` beside ``path``; what was staged for ``path`` before is replaced."""
        partial = path.with_name(path.name + PARTIAL)
        self._final.pop(path, None)
        try:
            with open(partial, "wb", buffering=1 << 20) as file:
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
            sync_file(path.with_name(path.name + PARTIAL))
        for path in self._final:
            os.replace(path.with_name(path.name + PARTIAL), path)
        for folder in {path.parent for path in self._final}:
            sync_directory(folder)
        self._final.clear()


def write(path: Path, parts: Iterable[bytes]) -> None:
    """Write one file so that a crash leaves the old content or the new, never a mixture."""
    staged = Staged()
    staged.write(path, parts)
    staged.commit()


def is_other_file(path: Path, start: bytes) -> bool:
    """Tell whether a file is there that does not begin with ``start``, and so is not ours to replace."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(start)) != start


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
        raise RunError(f"{path.parent} is no {kind}: its {path.name} is of another kind", path=str(path))
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
    start = content.index(b"\n") + 1
    arrays = {}
    for name, (dtype, shape) in json.loads(content[:start]).items():
        size = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(content, dtype, size, start).reshape(shape).copy()
        start += arrays[name].nbytes
    return arrays


class Lock:
    """Keep other processes from writing to a folder; the system lets go of it when this process ends.

    Parameters
    ----------
    folder : Path
        The folder, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._file = open(folder / "lock", "ab")  # noqa: SIM115  (held until close)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise RunError(
                f"{folder} is in use by another process that writes to it; wait for it to end, or stop it",
                path=str(folder),
            ) from None

    def close(self) -> None:
        """Let go."""
        self._file.close()
