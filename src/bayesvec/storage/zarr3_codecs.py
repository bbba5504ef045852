"""The codecs of our Zarr 3 arrays: bytes and their checksums, and chunks in shards with an index."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesvec._checksums import checksum

_NOT_THERE = np.iinfo(np.uint64).max  # offset and length of a chunk that a shard does not have
CRC: dict[str, Any] = {"name": "crc32c"}
LITTLE: dict[str, Any] = {"name": "bytes", "configuration": {"endian": "little"}}


def sharding(chunk: Sequence[int]) -> dict[str, Any]:
    """Return the description of shards with chunks of this shape."""
    configuration = {
        "chunk_shape": list(chunk),
        "codecs": [LITTLE, CRC],
        "index_codecs": [LITTLE, CRC],
        "index_location": "end",
    }
    return {"name": "sharding_indexed", "configuration": configuration}


def checked(data: bytes) -> tuple[bytes, bytes]:
    """Return ``data`` and its checksum."""
    return data, checksum(data).to_bytes(4, "little")


def shard_index(num_chunks: int, size: int, most: int) -> bytes:
    """Return the end of a shard: offset and length of each chunk, and a checksum of these.

    Parameters
    ----------
    num_chunks : int
        Chunks that the shard has, one after another from its beginning.
    size : int
        Bytes of a chunk with its checksum.
    most : int
        Chunks that a full shard has.
    """
    entries = np.full((most, 2), _NOT_THERE, dtype="<u8")
    entries[:num_chunks] = [(chunk * size, size) for chunk in range(num_chunks)]
    return b"".join(checked(entries.tobytes()))
