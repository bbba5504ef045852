"""Large draws in blocks of rows: a file has one block of one draw, so that workers write their own."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Int64
from bayesvec.storage import zarr3

BLOCK_ROWS = 24_576  # in a block, at most


@dataclass(frozen=True)
class Blocked(zarr3.Array):
    """An array of draws whose shards hold a block of rows of one draw.

    Attributes
    ----------
    block_rows : int
        Rows in a block, whole chunks; the last block may have fewer.
    """

    block_rows: int = 0

    @cached_property
    def blocks(self) -> tuple[zarr3.Array, ...]:
        """The blocks."""
        firsts = range(0, self.rows, self.block_rows)
        return tuple(
            zarr3.Array(
                self.folder,
                self.dims,
                (min(self.block_rows, self.rows - first), *self.shape[1:]),
                self.dtype,
                self.shard_draws,
                self.chunk_rows,
                block=number,
                block_chunks=self.block_rows // self.chunk_rows,
            )
            for number, first in enumerate(firsts)
        )

    def read(
        self,
        chain: int,
        number: int,
        rows: Int64 | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:  # (shard_draws, rows, width)
        """Read some rows of one draw, and only the chunks of the blocks that hold them."""
        count = self.rows if rows is None else len(rows)
        result = np.empty((self.shard_draws, count, self.width), self.stored) if out is None else out
        for block in self.blocks:
            first, last = block.first_row, block.first_row + block.rows
            if rows is None:
                block.read(chain, number, None, result[:, first:last])
                continue
            here = np.flatnonzero((rows >= first) & (rows < last))
            if len(here):
                result[:, here] = block.read(chain, number, rows[here] - first)[: len(result)]
        return result


def in_blocks(array: zarr3.Array) -> zarr3.Array:
    """Return an array in blocks of rows, if a file would hold a single draw of it and it has rows for several."""
    rows = BLOCK_ROWS
    if array.shard_draws > 1 or array.rows <= rows:
        return array
    fitting = (size for size in range(min(array.chunk_rows, rows), 0, -1) if rows % size == 0)
    return Blocked(
        array.folder, array.dims, array.shape, array.dtype, 1, chunk_rows=next(fitting), block_rows=rows
    )
