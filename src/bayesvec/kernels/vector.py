"""Vectors of LLVM: what loops are emitted with that plain Numba does not vectorise (`vector_rows`, `tiles`).

Numba's own loops lose here: it cannot prove that arrays do not overlap, and without ``fastmath`` a sum is
not reordered. Written with vector types, a tile of 4 rows by 3 vectors of a product stays in the sixteen
registers of AVX2, and the package needs no build step. Arrays are C-contiguous, their rows whole vectors.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils

from bayesvec._types import Float32

LANES = 8  # of float32; rows are padded to whole vectors of these
CACHE_LINE = 64  # bytes

INDEX = ir.IntType(64)


class Vectors(NamedTuple):
    """One kind of vector: 8 floats or 4 doubles; its methods emit code."""

    element: Any
    lanes: int

    @property
    def type(self) -> Any:
        """The LLVM type."""
        return ir.VectorType(self.element, self.lanes)

    @property
    def zero(self) -> Any:
        """A vector of zeros."""
        return ir.Constant(self.type, [0.0] * self.lanes)

    @property
    def bytes(self) -> int:
        """Bytes of one lane."""
        return 4 if self.element == ir.FloatType() else 8

    def load(self, builder: Any, pointer: Any, offset: Any) -> Any:
        """Load the vector at an offset."""
        return builder.load(self._at(builder, pointer, offset), align=self.bytes)

    def store(self, builder: Any, value: Any, pointer: Any, offset: Any) -> None:
        """Store a vector at an offset."""
        builder.store(value, self._at(builder, pointer, offset), align=self.bytes)

    def _at(self, builder: Any, pointer: Any, offset: Any) -> Any:
        return builder.bitcast(builder.gep(pointer, [as_index(offset)]), self.type.as_pointer())

    def multiply_add(self, builder: Any, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c, lane by lane."""
        kind = ir.FunctionType(self.type, [self.type] * 3)
        name = f"llvm.fmuladd.v{self.lanes}f{8 * self.bytes}"
        function = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        return builder.call(function, [a, b, c])

    def spread(self, builder: Any, scalar: Any) -> Any:
        """Vector with ``scalar`` in every lane."""
        nothing = ir.Constant(self.type, ir.Undefined)
        first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, nothing, self._lanes([0] * self.lanes))

    def sum_lanes(self, builder: Any, vector: Any) -> Any:
        """Sum of the lanes, half added to half: the same order on every machine."""
        nothing = ir.Constant(self.type, ir.Undefined)
        half = self.lanes // 2
        while half:
            order = self._lanes([(i + half) % self.lanes for i in range(self.lanes)])
            vector = builder.fadd(vector, builder.shuffle_vector(vector, nothing, order))
            half //= 2
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    def sums_of_four(self, builder: Any, vectors: list[Any]) -> Any:
        """Vector of the sums of four vectors of eight lanes, each added up in the order of `sum_lanes`."""

        def halves(a: Any, b: Any, first: list[int], second: list[int]) -> Any:
            low, high = (
                builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), 4), order))
                for order in (first, second)
            )
            return builder.fadd(low, high)

        a, b, c, d = (halves(v, v, [0, 1, 2, 3], [4, 5, 6, 7]) for v in vectors)
        left, right = (halves(x, y, [0, 1, 4, 5], [2, 3, 6, 7]) for x, y in ((a, b), (c, d)))
        return halves(left, right, [0, 2, 4, 6], [1, 3, 5, 7])

    def _lanes(self, order: list[int]) -> Any:
        return ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), order)


FLOATS = Vectors(ir.FloatType(), 8)
DOUBLES = Vectors(ir.DoubleType(), 4)


def padded(dim: int) -> int:
    """Return ``dim`` rounded up to whole vectors of floats."""
    return (dim + LANES - 1) // LANES * LANES


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Return zeros that begin at a cache line, so that no vector of a row lies across two of them."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    held = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    first = -held.ctypes.data % CACHE_LINE
    return held[first : first + size].view(dtype).reshape(shape)


def padded_rows(x: npt.ArrayLike) -> Float32:
    """Return rows (rows, K) as the kernels take them: floats, with zeros up to whole vectors."""
    rows = np.asarray(x)
    out = aligned_zeros((len(rows), padded(rows.shape[1])))
    out[:, : rows.shape[1]] = rows
    return out


def as_index(offset: Any) -> Any:
    """Return a number as a constant of LLVM; a value of LLVM stays as it is."""
    return ir.Constant(INDEX, offset) if isinstance(offset, int) else offset


def row_of(context: Any, builder: Any, array_type: Any, array: Any, row: Any = None) -> tuple[Any, Any]:
    """Pointer to the beginning of an array, or of one of its rows, and the length of a row."""
    held = context.make_array(array_type)(context, builder, array)
    length = builder.extract_value(held.shape, array_type.ndim - 1)
    return (held.data if row is None else builder.gep(held.data, [builder.mul(row, length)])), length


def emit_loop(
    builder: Any,
    count: Any,
    starts: list[Any],
    body: Callable[[Any, list[Any]], list[Any]],
    *,
    short: bool = False,
) -> list[Any]:
    """Emit ``values = body(i, values)`` for i = 0 .. count - 1, at least once; return the last values.

    A ``short`` loop, over the vectors of a row, is not unrolled: it would spend most of its time in the copy for the
    remainder.
    """
    before = builder.block
    loop = builder.function.append_basic_block("loop")
    after = builder.function.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(INDEX)
    index.add_incoming(as_index(0), before)
    values = [builder.phi(start.type) for start in starts]
    for value, start in zip(values, starts, strict=True):
        value.add_incoming(start, before)
    results = body(index, values)
    if short:  # LLVM does not unroll a loop with inline assembly, even if it is empty
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
    following = builder.add(index, as_index(1))
    index.add_incoming(following, loop)
    for value, result in zip(values, results, strict=True):
        value.add_incoming(result, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    return results
