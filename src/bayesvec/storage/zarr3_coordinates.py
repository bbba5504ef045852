"""The coordinates of Zarr 3 arrays: names of words and contexts, numbers of chains, axes and draws."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec._atomic import Staged
from bayesvec.storage.zarr3_codecs import CRC, LITTLE, checked, shard_index, sharding
from bayesvec.storage.zarr3_metadata import array_metadata

RANGE_CHUNK = 4096  # numbers of draws in a chunk
RANGE_SHARD = 256 * RANGE_CHUNK  # and in a file


def write_range(staged: Staged, folder: Path, dim: str, size: int) -> None:
    """Stage a coordinate 0, 1, ..., size - 1."""
    data = np.arange(size, dtype="<i8").tobytes()
    _write_coordinate(staged, folder, dim, size, data, data_type="int64", fill=0, codec=LITTLE)


def write_draw_numbers(staged: Staged, folder: Path, draws: int, before: int = 0) -> None:
    """Stage the coordinate of the draws, of which ``before`` are there: 0, 1, ..., draws - 1.

    It grows while it is read: a file has whole chunks only, and those that are there stay in place.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(before // RANGE_SHARD, -(-draws // RANGE_SHARD)):
        staged.write(folder / f"c.{number}", _range_parts(number * RANGE_SHARD, draws))
    codecs = [sharding([RANGE_CHUNK])]
    metadata = array_metadata((draws,), ("draw",), "int64", (RANGE_SHARD,), 0, codecs)
    staged.write(folder / "zarr.json", [metadata])


def _range_parts(first: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a shard of consecutive numbers from ``first``, with chunks up to ``end``."""
    num_chunks = min(-(-(end - first) // RANGE_CHUNK), RANGE_SHARD // RANGE_CHUNK)
    for chunk in range(num_chunks):
        start = first + chunk * RANGE_CHUNK
        yield from checked(np.arange(start, start + RANGE_CHUNK, dtype="<i8").tobytes())
    yield shard_index(num_chunks, 8 * RANGE_CHUNK + 4, RANGE_SHARD // RANGE_CHUNK)


def write_names(staged: Staged, folder: Path, dim: str, names: Sequence[str]) -> None:
    """Stage a coordinate of strings."""
    parts = [len(names).to_bytes(4, "little")]
    for name in names:
        encoded = name.encode("utf-8", "replace")
        parts += [len(encoded).to_bytes(4, "little"), encoded]
    codec = {"name": "vlen-utf8", "configuration": {}}
    _write_coordinate(
        staged, folder, dim, len(names), b"".join(parts), data_type="string", fill="", codec=codec
    )


def _write_coordinate(
    staged: Staged,
    folder: Path,
    dim: str,
    size: int,
    data: bytes,
    *,
    data_type: str,
    fill: str | int,
    codec: dict[str, Any],
) -> None:
    """Stage a coordinate of one chunk."""
    folder.mkdir(parents=True, exist_ok=True)
    staged.write(folder / "c.0", checked(data))
    metadata = array_metadata((size,), (dim,), data_type, (size,), fill, [codec, CRC])
    staged.write(folder / "zarr.json", [metadata])
