"""The loops that plain Numba does not vectorise, emitted as LLVM vectors.

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
from numba.core import cgutils, types
from numba.extending import intrinsic

from bayesvec._types import Float32

LANES = 8  # of float32; rows are padded to whole vectors of these
TILE_ROWS = 4
CACHE_LINE = 64  # bytes

_INDEX = ir.IntType(64)


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
    return ir.Constant(_INDEX, offset) if isinstance(offset, int) else offset


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
    index = builder.phi(_INDEX)
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


def _numbered_rows(context: Any, builder: Any, kinds: Any, args: Any, count: int) -> tuple[list[Any], Any]:
    """Pointers to the rows of ``args[0]`` whose numbers are ``args[1][place : place + count]``, and their length."""
    numbers, _ = row_of(context, builder, kinds[1], args[1])
    rows, width = [], None
    for i in range(count):
        number = builder.load(builder.gep(numbers, [builder.add(args[2], as_index(i))]))
        row, width = row_of(context, builder, kinds[0], args[0], builder.sext(number, _INDEX))
        rows.append(row)
    return rows, builder.udiv(width, as_index(FLOATS.lanes))


def _dot_eight(typing, source, numbers, place, x, out):  # type: ignore[no-untyped-def]
    signature = types.void(source, numbers, types.int64, x, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        kinds = signature.args
        rows, vectors = _numbered_rows(context, builder, kinds, args, 8)
        x, _ = row_of(context, builder, kinds[3], args[3])
        out, _ = row_of(context, builder, kinds[4], args[4])

        def body(index: Any, sums: list[Any]) -> list[Any]:
            offset = builder.mul(index, as_index(FLOATS.lanes))
            right = FLOATS.load(builder, x, offset)
            pieces = [FLOATS.load(builder, row, offset) for row in rows]
            return [
                FLOATS.multiply_add(builder, piece, right, total)
                for piece, total in zip(pieces, sums, strict=True)
            ]

        sums = emit_loop(builder, vectors, [FLOATS.zero] * 8, body, short=True)
        half = Vectors(ir.FloatType(), 4)
        for i in (0, 4):
            offset = builder.add(args[2], as_index(i))
            half.store(builder, FLOATS.sums_of_four(builder, sums[i : i + 4]), out, offset)

    return signature, generate


def _scale_four(typing, source, numbers, place, root, weight, panel, y):  # type: ignore[no-untyped-def]
    signature = types.void(source, numbers, types.int64, root, weight, panel, y)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        kinds = signature.args
        rows, vectors = _numbered_rows(context, builder, kinds, args, 4)
        places = [builder.add(args[2], as_index(i)) for i in range(4)]
        scales, weights = (
            [FLOATS.spread(builder, builder.load(builder.gep(pointer, [place]))) for place in places]
            for pointer, _ in (row_of(context, builder, kinds[i], args[i]) for i in (3, 4))
        )
        targets = [row_of(context, builder, kinds[5], args[5], place)[0] for place in places]
        y, _ = row_of(context, builder, kinds[6], args[6])

        def body(index: Any, nothing: list[Any]) -> list[Any]:
            offset = builder.mul(index, as_index(FLOATS.lanes))
            total = FLOATS.load(builder, y, offset)
            for row, target, scale, weight in zip(rows, targets, scales, weights, strict=True):
                piece = FLOATS.load(builder, row, offset)
                total = FLOATS.multiply_add(builder, weight, piece, total)
                FLOATS.store(builder, builder.fmul(scale, piece), target, offset)
            FLOATS.store(builder, total, y, offset)
            return []

        emit_loop(builder, vectors, [], body, short=True)

    return signature, generate


def _add_eight(typing, source, numbers, place, weight, y):  # type: ignore[no-untyped-def]
    signature = types.void(source, numbers, types.int64, weight, y)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        kinds = signature.args
        rows, vectors = _numbered_rows(context, builder, kinds, args, 8)
        held, _ = row_of(context, builder, kinds[3], args[3])
        places = [builder.add(args[2], as_index(i)) for i in range(8)]
        weights = [FLOATS.spread(builder, builder.load(builder.gep(held, [place]))) for place in places]
        y, _ = row_of(context, builder, kinds[4], args[4])

        def body(index: Any, nothing: list[Any]) -> list[Any]:
            offset = builder.mul(index, as_index(FLOATS.lanes))
            total = FLOATS.load(builder, y, offset)
            for row, weight in zip(rows, weights, strict=True):
                total = FLOATS.multiply_add(builder, weight, FLOATS.load(builder, row, offset), total)
            FLOATS.store(builder, total, y, offset)
            return []

        emit_loop(builder, vectors, [], body, short=True)

    return signature, generate


def _emit_dot(kind: Vectors, builder: Any, left: Any, right: Any, start: Any, width: Any) -> Any:
    """Emit the dot product of two rows from ``start`` to ``width``."""

    def body(index: Any, values: list[Any]) -> list[Any]:
        offset = builder.add(start, builder.mul(index, as_index(kind.lanes)))
        a, b = (kind.load(builder, pointer, offset) for pointer in (left, right))
        return [kind.multiply_add(builder, a, b, values[0])]

    vectors = builder.udiv(builder.sub(width, start), as_index(kind.lanes))
    return kind.sum_lanes(builder, emit_loop(builder, vectors, [kind.zero], body)[0])


def _dot_rows(typing, left, i, right, j):  # type: ignore[no-untyped-def]
    signature = types.float32(left, types.int64, right, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first, width = row_of(context, builder, signature.args[0], args[0], args[1])
        second, _ = row_of(context, builder, signature.args[2], args[2], args[3])
        return _emit_dot(FLOATS, builder, first, second, as_index(0), width)

    return signature, generate


def _dot_tail(typing, matrix, row, x, start, stop):  # type: ignore[no-untyped-def]
    signature = types.float64(matrix, types.int64, x, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        line, _ = row_of(context, builder, signature.args[0], args[0], args[1])
        x, _ = row_of(context, builder, signature.args[2], args[2])
        return _emit_dot(DOUBLES, builder, line, x, args[3], args[4])

    return signature, generate


def _add_tail(typing, matrix, target, source, scale, start, stop):  # type: ignore[no-untyped-def]
    signature = types.void(matrix, types.int64, types.int64, types.float64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        write, _ = row_of(context, builder, signature.args[0], args[0], args[1])
        read, _ = row_of(context, builder, signature.args[0], args[0], args[2])
        scale = DOUBLES.spread(builder, args[3])

        def body(index: Any, values: list[Any]) -> list[Any]:
            offset = builder.add(args[4], builder.mul(index, as_index(DOUBLES.lanes)))
            old = DOUBLES.load(builder, write, offset)
            added = DOUBLES.multiply_add(builder, scale, DOUBLES.load(builder, read, offset), old)
            DOUBLES.store(builder, added, write, offset)
            return []

        emit_loop(builder, builder.udiv(builder.sub(args[5], args[4]), as_index(DOUBLES.lanes)), [], body)

    return signature, generate


def _make_add_tile(vectors: int) -> Any:
    """Make a tile that adds the product of a panel of floats with itself."""

    def tile(typing, panel, count, row, column, target):  # type: ignore[no-untyped-def]
        signature = types.void(panel, types.int64, types.int64, types.int64, target)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
            panel = row_of(context, builder, signature.args[0], args[0])
            held = (context, builder, signature.args[4], args[4])
            _emit_tile(FLOATS, vectors, 1.0, panel, panel, args[1:4], held)

        return signature, generate

    return intrinsic(tile)


def _make_subtract_tile(vectors: int) -> Any:
    """Make a tile that subtracts the product of two panels of doubles."""

    def tile(typing, left, right, count, row, column, target):  # type: ignore[no-untyped-def]
        signature = types.void(left, right, types.int64, types.int64, types.int64, target)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
            left, right = (row_of(context, builder, signature.args[i], args[i]) for i in (0, 1))
            held = (context, builder, signature.args[5], args[5])
            _emit_tile(DOUBLES, vectors, -1.0, left, right, args[2:5], held)

        return signature, generate

    return intrinsic(tile)


def _emit_tile(
    kind: Vectors,
    vectors: int,
    sign: float,
    left: tuple[Any, Any],
    right: tuple[Any, Any],
    where: Any,
    target: tuple[Any, Any, Any, Any],
) -> None:
    """Emit the kernel of one tile: ``target[row:row+4, column:column+n] += sign * sum_i a_i b_i^T``.

    Here ``a_i = left[i, row:row+4]``, ``b_i = right[i, column:column+n]``, n is ``vectors`` vectors and i runs over
    ``count`` rows. ``left`` and ``right`` are pointers to panels of ``kind`` with the lengths of their rows; the
    target holds doubles.
    """
    context, builder, target_type, target_array = target
    count, row, column = where
    a_start, b_start = builder.gep(left[0], [row]), builder.gep(right[0], [column])

    def body(index: Any, sums: list[Any]) -> list[Any]:
        a = builder.gep(a_start, [builder.mul(index, left[1])])
        b = builder.gep(b_start, [builder.mul(index, right[1])])
        columns = [kind.load(builder, b, v * kind.lanes) for v in range(vectors)]
        new = []
        for r in range(TILE_ROWS):
            scalar = kind.spread(builder, builder.load(builder.gep(a, [as_index(r)])))
            pieces = zip(columns, sums[r * vectors : (r + 1) * vectors], strict=True)
            new += [kind.multiply_add(builder, scalar, piece, total) for piece, total in pieces]
        return new

    sums = emit_loop(builder, count, [kind.zero] * (TILE_ROWS * vectors), body)
    doubles = Vectors(ir.DoubleType(), kind.lanes)
    for r in range(TILE_ROWS):
        line, _ = row_of(context, builder, target_type, target_array, builder.add(row, as_index(r)))
        for v in range(vectors):
            total = sums[r * vectors + v]
            total = total if kind is DOUBLES else builder.fpext(total, doubles.type)
            offset = builder.add(column, as_index(v * kind.lanes))
            old = doubles.load(builder, line, offset)
            new = builder.fadd(old, total) if sign > 0 else builder.fsub(old, total)
            doubles.store(builder, new, line, offset)


# out[place + i] = source[numbers[place + i]] @ x for i < 8: float32 rows
dot_eight: Any = intrinsic(_dot_eight)
# for i < 4, with j = place + i: panel[j] = root[j] * source[numbers[j]]; y += weight[j] * source[numbers[j]]
scale_four: Any = intrinsic(_scale_four)
# y += weight[j] * source[numbers[j]] for j = place .. place + 7
add_eight: Any = intrinsic(_add_eight)
# returns left[i] @ right[j] of float32 rows
dot_rows: Any = intrinsic(_dot_rows)
# returns matrix[row, start:stop] @ x[start:stop] of float64 rows
dot_tail: Any = intrinsic(_dot_tail)
# matrix[target, start:stop] += scale * matrix[source, start:stop] of float64 rows
add_tail: Any = intrinsic(_add_tail)

# tiles of 1, 2 and 3 vectors
add_tile_1, add_tile_2, add_tile_3 = map(_make_add_tile, (1, 2, 3))
subtract_tile_1, subtract_tile_2, subtract_tile_3 = map(_make_subtract_tile, (1, 2, 3))
