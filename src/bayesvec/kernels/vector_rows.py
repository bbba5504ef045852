"""Loops over rows of whole vectors: dot products, scaled rows and their sums."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from bayesvec.kernels.vector import DOUBLES, FLOATS, INDEX, Vectors, as_index, emit_loop, row_of


def _numbered_rows(context: Any, builder: Any, kinds: Any, args: Any, count: int) -> tuple[list[Any], Any]:
    """Pointers to the rows of ``args[0]`` whose numbers are ``args[1][place : place + count]``, and their length."""
    numbers, _ = row_of(context, builder, kinds[1], args[1])
    rows, width = [], None
    for i in range(count):
        number = builder.load(builder.gep(numbers, [builder.add(args[2], as_index(i))]))
        row, width = row_of(context, builder, kinds[0], args[0], builder.sext(number, INDEX))
        rows.append(row)
    return rows, builder.udiv(width, as_index(FLOATS.lanes))


def _block_rows(context: Any, builder: Any, kinds: Any, args: Any) -> tuple[list[Any], Any]:
    """Pointers to eight rows of length ``args[2]`` from ``args[0][args[1]]`` on, and their number of vectors."""
    block, _ = row_of(context, builder, kinds[0], args[0])
    starts = [builder.add(args[1], builder.mul(args[2], as_index(i))) for i in range(8)]
    rows = [builder.gep(block, [start]) for start in starts]
    return rows, builder.udiv(args[2], as_index(FLOATS.lanes))


def _emit_dots(builder: Any, rows: list[Any], vectors: Any, x: Any, out: Any) -> None:
    """Emit the products of eight rows with ``x``, put where ``out`` points to."""

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
        half.store(builder, FLOATS.sums_of_four(builder, sums[i : i + 4]), out, as_index(i))


def _emit_sum(builder: Any, rows: list[Any], vectors: Any, weights: Any, y: Any) -> None:
    """Emit the addition of eight rows to ``y``, each times its weight, of which ``weights`` points to the first."""
    scales = [FLOATS.spread(builder, builder.load(builder.gep(weights, [as_index(i)]))) for i in range(8)]

    def body(index: Any, nothing: list[Any]) -> list[Any]:
        offset = builder.mul(index, as_index(FLOATS.lanes))
        total = FLOATS.load(builder, y, offset)
        for row, scale in zip(rows, scales, strict=True):
            total = FLOATS.multiply_add(builder, scale, FLOATS.load(builder, row, offset), total)
        FLOATS.store(builder, total, y, offset)
        return []

    emit_loop(builder, vectors, [], body, short=True)


def _at(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    """Pointer to an entry of an array."""
    return builder.gep(row_of(context, builder, kind, array)[0], [place])


def _on_block(emit: Any) -> Any:
    """Return the intrinsic that emits a loop over eight rows of a flat array."""

    def typed(typing, block, entry, width, place, x, y):  # type: ignore[no-untyped-def]
        signature = types.void(block, types.int64, types.int64, types.int64, x, y)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
            kinds = signature.args
            rows, vectors = _block_rows(context, builder, kinds, args)
            x, y = (_at(context, builder, kinds[i], args[i], args[3]) for i in (4, 5))
            emit(builder, rows, vectors, x, y)

        return signature, generate

    return intrinsic(typed)


def _dot_eight(typing, source, numbers, place, x, out):  # type: ignore[no-untyped-def]
    signature = types.void(source, numbers, types.int64, x, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        kinds = signature.args
        rows, vectors = _numbered_rows(context, builder, kinds, args, 8)
        x, _ = row_of(context, builder, kinds[3], args[3])
        _emit_dots(builder, rows, vectors, x, _at(context, builder, kinds[4], args[4], args[2]))

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
        y, _ = row_of(context, builder, kinds[4], args[4])
        _emit_sum(builder, rows, vectors, _at(context, builder, kinds[3], args[3], args[2]), y)

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


# out[place + i] = source[numbers[place + i]] @ x for i < 8: float32 rows
dot_eight: Any = intrinsic(_dot_eight)
# out[place + i] = block[entry + i * width :][:width] @ x[place:][:width] for i < 8: eight rows of a flat array
dot_block: Any = _on_block(_emit_dots)
# for i < 4, with j = place + i: panel[j] = root[j] * source[numbers[j]]; y += weight[j] * source[numbers[j]]
scale_four: Any = intrinsic(_scale_four)
# y += weight[j] * source[numbers[j]] for j = place .. place + 7
add_eight: Any = intrinsic(_add_eight)
# y[place:][:width] += weight[place + i] * block[entry + i * width :][:width] for i < 8
add_block: Any = _on_block(_emit_sum)
# returns left[i] @ right[j] of float32 rows
dot_rows: Any = intrinsic(_dot_rows)
# returns matrix[row, start:stop] @ x[start:stop] of float64 rows
dot_tail: Any = intrinsic(_dot_tail)
# matrix[target, start:stop] += scale * matrix[source, start:stop] of float64 rows
add_tail: Any = intrinsic(_add_tail)
