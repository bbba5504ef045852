"""Tiles of a matrix product, 4 rows by 1 to 3 vectors, whose sums stay in the registers of the processor."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from bayesvec.kernels.vector import DOUBLES, FLOATS, Vectors, as_index, emit_loop, row_of

TILE_ROWS = 4


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


# tiles of 1, 2 and 3 vectors
add_tile_1, add_tile_2, add_tile_3 = map(_make_add_tile, (1, 2, 3))
subtract_tile_1, subtract_tile_2, subtract_tile_3 = map(_make_subtract_tile, (1, 2, 3))
