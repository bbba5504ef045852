"""JSON files and files of arrays that carry checksums, so that damage is reported and never used."""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np

from bayesvec import _atomic
from bayesvec._held import HeldRows
from bayesvec._types import Array, UInt8
from bayesvec.errors import RunError

_READ_AT_ONCE = 1 << 20  # bytes


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


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` with a checksum of itself."""
    text = json.dumps(content, indent=1, default=str)
    total = checksum(_canonical(json.loads(text)))
    _atomic.write(path, [json.dumps({**json.loads(text), "checksum": total}, indent=1).encode(), b"\n"])


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


def array_parts(arrays: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the parts of a file of named arrays: a JSON line, the arrays' bytes, a checksum of all."""
    flat = {
        name: array if isinstance(array, HeldRows) else np.asarray(array, order="C")
        for name, array in arrays.items()
    }
    described = {name: [array.dtype.str, list(array.shape)] for name, array in flat.items()}
    total = 0
    header = np.frombuffer(json.dumps(described).encode() + b"\n", np.uint8)
    for part in (header, *flat.values()):
        blocks = part.in_order() if isinstance(part, HeldRows) else [part]
        for piece in itertools.chain.from_iterable(map(_pieces, blocks)):
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
