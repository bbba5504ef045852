"""Eight Polya-Gamma draws at a time, emitted as LLVM vectors: Numba does not vectorise table look-ups.

Each function here does to 8 neighbouring places of its arrays what its scalar twin in `polyagamma_scalar`
does to one, operation by operation (fused multiply-adds included), so that both give the same bits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bayesvec.kernels import polyagamma_tables as table
from bayesvec.kernels.vector import Vectors

LANES = 8
Z_LAST = float(
    np.nextafter(np.float32(table.Z_CONSTANT), np.float32(0))
)  # the last z of the table for large h

_BYTE, _INT, _LONG = ir.IntType(LANES), ir.IntType(32), ir.IntType(64)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTS = ir.VectorType(_INT, LANES)
_LONGS = ir.VectorType(_LONG, LANES)


def _all(kind: Any, value: float) -> Any:
    """A constant vector."""
    value = float(np.float32(value)) if kind is _FLOATS else value
    return ir.Constant(kind, [value] * LANES)


def _shuffle(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, len(order)), order))


def _at_most(builder: Any, numbers: Any, limit: int) -> Any:
    bound = _all(_INTS, limit)
    return builder.select(builder.icmp_signed("<", numbers, bound), numbers, bound)


def _at_least(builder: Any, numbers: Any, limit: int) -> Any:
    bound = _all(_INTS, limit)
    return builder.select(builder.icmp_signed(">", numbers, bound), numbers, bound)


def _split(builder: Any, x: Any, bits: int, first: int) -> tuple[Any, Any]:
    """Return the cells of ``x``, 2**bits in an octave from exponent ``first`` on, and the places in them."""
    kind, mantissa, bias = (_INTS, 23, 127) if x.type == _FLOATS else (_LONGS, 52, 1023)
    pattern = builder.bitcast(x, kind)
    cells = builder.sub(
        builder.lshr(pattern, _all(kind, mantissa - bits)), _all(kind, (bias + first) << bits)
    )
    rest = builder.and_(builder.shl(pattern, _all(kind, bits)), _all(kind, (1 << mantissa) - 1))
    one_to_two = builder.bitcast(builder.or_(rest, _all(kind, bias << mantissa)), x.type)
    return cells, builder.fsub(one_to_two, _all(x.type, 1.0))


def _call(builder: Any, name: str, *operands: Any) -> Any:
    """Call an LLVM intrinsic, such as ``llvm.fma``, lane by lane."""
    kind = operands[0].type
    suffix = f"v{LANES}f{32 if kind == _FLOATS else 64}"
    function_type = ir.FunctionType(kind, [kind] * len(operands))
    function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, function_type, f"{name}.{suffix}"
    )
    return builder.call(function, operands)


def _horner(builder: Any, coefficients: list[Any], x: Any) -> Any:
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = _call(builder, "llvm.fma", x, value, coefficient)
    return value


def _rows(builder: Any, data: Any, cells: Any, width: int) -> list[Any]:
    """Return the addresses of the rows ``cells`` of a table."""
    rows = []
    for lane in range(LANES):
        cell = builder.zext(builder.extract_element(cells, ir.Constant(_INT, lane)), _LONG)
        rows.append(builder.gep(data, [builder.mul(cell, ir.Constant(_LONG, width))]))
    return rows


def _four(builder: Any, row: Any, offset: int) -> Any:
    """Load four coefficients of a row."""
    place = builder.gep(row, [ir.Constant(_LONG, offset)])
    kind = ir.VectorType(row.type.pointee, 4)
    return builder.load(
        builder.bitcast(place, kind.as_pointer()), align=4 if kind.element == ir.FloatType() else 8
    )


def _pairs(builder: Any, rows: list[Any], offset: int) -> list[Any]:
    """Load four coefficients of each row; rows i and i + 4 share a vector, which the transposition needs."""
    order = list(range(LANES))
    return [
        _shuffle(builder, _four(builder, rows[i], offset), _four(builder, rows[i + 4], offset), order)
        for i in range(4)
    ]


def _transpose(builder: Any, pairs: list[Any]) -> list[Any]:
    """Rearrange vectors of four coefficients of two rows to vectors of one coefficient of eight rows."""

    def mix(a: Any, b: Any, order: list[int]) -> Any:
        low = [k if k < 4 else k + 4 for k in order]
        return _shuffle(builder, a, b, low + [k + 4 for k in low])

    a, b = (mix(pairs[i], pairs[i + 1], [0, 4, 1, 5]) for i in (0, 2))
    c, d = (mix(pairs[i], pairs[i + 1], [2, 6, 3, 7]) for i in (0, 2))
    return [mix(x, y, order) for x, y in ((a, b), (c, d)) for order in ([0, 1, 4, 5], [2, 3, 6, 7])]


def _cubic(builder: Any, rows: list[Any], offset: int, x: Any) -> Any:
    return _horner(builder, _transpose(builder, _pairs(builder, rows, offset)), x)


def _bicubic(builder: Any, rows: list[Any], offset: int, x: Any, y: Any) -> Any:
    columns = [_pairs(builder, rows, offset + 4 * i) for i in range(4)]
    inner = []
    for i in range(4):
        here = _shuffle(builder, x, x, [i] * 4 + [i + 4] * 4)  # the places of the two rows of a pair
        inner.append(_horner(builder, [column[i] for column in columns], here))
    return _horner(builder, _transpose(builder, inner), y)


def _place_t(builder: Any, t: Any, cells: int) -> tuple[Any, Any]:
    scaled = builder.fmul(
        builder.fadd(t, _all(_FLOATS, table.T_LIMIT)), _all(_FLOATS, cells / (2.0 * table.T_LIMIT))
    )
    cell = _at_least(builder, _at_most(builder, builder.fptosi(scaled, _INTS), cells - 1), 0)
    return cell, builder.fsub(scaled, builder.sitofp(cell, _FLOATS))


class _Group:
    """Eight neighbouring places of the arrays a function was given."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder, self.index = builder, args[-1]
        self.data = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:-1], args[:-1], strict=True)
        ]

    def load(self, number: int, kind: Any) -> Any:
        return self.builder.load(self._at(number, kind), align=4)

    def store(self, number: int, value: Any) -> None:
        self.builder.store(value, self._at(number, value.type), align=4)

    def _at(self, number: int, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data[number], [self.index]), kind.as_pointer())


def _scalar(group: _Group, place: int) -> Any:
    """Return a number of the last array of a group."""
    return group.builder.load(group.builder.gep(group.data[-1], [ir.Constant(_LONG, place)]))


def _tilt(group: _Group) -> tuple[Any, Any, Any]:
    """Return n, h and z = abs(eta) of a group whose arrays begin with n, eta and end with the scale."""
    builder = group.builder
    n = group.load(0, _INTS)
    eta = builder.bitcast(group.load(1, _FLOATS), _INTS)
    z = builder.bitcast(builder.and_(eta, _all(_INTS, 0x7FFFFFFF)), _FLOATS)
    weight = Vectors(ir.FloatType(), LANES).spread(
        builder, builder.fptrunc(_scalar(group, 0), ir.FloatType())
    )
    return n, builder.fmul(builder.sitofp(n, _FLOATS), weight), z


def _is_small(builder: Any, n: Any, h: Any, z: Any) -> Any:
    """Return which of the eight are read from the small tables."""
    return builder.and_(
        builder.icmp_signed("<=", n, _all(_INTS, table.SMALL)),
        builder.fcmp_ordered("<", builder.fmul(h, z), _all(_FLOATS, table.HZ_LIMIT)),
    )


def _small_kinds(group: _Group) -> Any:
    builder = group.builder
    return builder.zext(builder.bitcast(_is_small(builder, *_tilt(group)), _BYTE), _INT)


def _normals(group: _Group) -> None:
    builder = group.builder
    word = group.load(0, _INTS)
    tail = builder.and_(builder.xor(word, builder.ashr(word, _all(_INTS, 31))), _all(_INTS, 0x7FFFFFFF))
    half_up = builder.fadd(builder.sitofp(tail, _FLOATS), _all(_FLOATS, 0.5))
    cell, place = _split(builder, half_up, table.NORMAL_BITS, -1)
    t = _cubic(builder, _rows(builder, group.data[1], cell, 4), 0, place)
    upper = builder.icmp_signed("<", word, _all(_INTS, 0))
    group.store(0, builder.select(upper, t, builder.fneg(t)))


def _small(group: _Group) -> None:
    builder = group.builder
    n, h, z = _tilt(group)
    t = group.load(2, _FLOATS)
    shifted = builder.fadd(z, _all(_FLOATS, table.Z_SHIFT))
    cell, place = _split(builder, shifted, table.MEAN_BITS, 2)
    cell = _at_most(builder, cell, table.MEAN_CELLS - 1)  # lanes of the other kinds must stay inside too
    mean = _cubic(builder, _rows(builder, group.data[3], cell, 8), 0, place)
    z_cell, z_place = _split(builder, shifted, table.Z_BITS, 2)
    z_cell = _at_most(builder, z_cell, table.Z_CELLS - 1)
    t_cell, t_place = _place_t(builder, t, table.T_CELLS)
    which = builder.sub(_at_least(builder, _at_most(builder, n, table.SMALL), 1), _all(_INTS, 1))
    cell = builder.add(builder.mul(which, _all(_INTS, table.Z_CELLS)), z_cell)
    cell = builder.add(builder.mul(cell, _all(_INTS, table.T_CELLS)), t_cell)
    ratio = _bicubic(builder, _rows(builder, group.data[4], cell, 16), 0, z_place, t_place)
    draw = builder.fmul(builder.fmul(h, mean), ratio)
    group.store(2, builder.select(_is_small(builder, n, h, z), draw, t))


def _large(group: _Group) -> None:
    builder = group.builder
    n, h, z = _tilt(group)
    t = group.load(2, _FLOATS)
    # the mean in doubles: relative to it a draw for large h hardly varies
    weight = Vectors(ir.DoubleType(), LANES).spread(builder, _scalar(group, 0))
    h64, plain = builder.fmul(builder.sitofp(n, _DOUBLES), weight), builder.fpext(z, _DOUBLES)
    cell, place = _split(builder, builder.fadd(plain, _all(_DOUBLES, table.Z_SHIFT)), table.MEAN64_BITS, 2)
    cell = _at_most(builder, builder.trunc(cell, _INTS), table.MEAN64_CELLS - 1)
    cell = _at_least(builder, cell, 0)  # beyond the table the bits that are left may be anything
    mean = _cubic(builder, _rows(builder, group.data[3], cell, 4), 0, place)

    cell, place = _split(builder, builder.fadd(z, _all(_FLOATS, table.Z_SHIFT)), table.MEAN_BITS, 2)
    cell = _at_most(builder, cell, table.MEAN_CELLS - 1)
    spread = _cubic(builder, _rows(builder, group.data[4], cell, 8), 4, place)
    d = builder.fdiv(spread, _call(builder, "llvm.sqrt", h))
    # beyond the tables, and if z is not a number, the limit
    inside = builder.fcmp_ordered("<", z, _all(_FLOATS, table.Z_LIMIT))
    mean = builder.select(inside, mean, builder.fdiv(_all(_DOUBLES, 0.5), plain))
    mean = builder.fmul(h64, mean)
    square = builder.fdiv(builder.fdiv(_all(_DOUBLES, 2.0), plain), h64)
    d = builder.select(inside, d, builder.fptrunc(_call(builder, "llvm.sqrt", square), _FLOATS))
    last = _all(_FLOATS, Z_LAST)
    near = builder.select(builder.fcmp_ordered("<", z, last), z, last)
    z_cell, z_place = _split(builder, builder.fadd(near, _all(_FLOATS, table.Z_SHIFT)), table.Z_BITS, 2)
    t_cell, t_place = _place_t(builder, t, table.T_CELLS_LARGE)
    cell = builder.add(builder.mul(z_cell, _all(_INTS, table.T_CELLS_LARGE)), t_cell)
    rows = _rows(builder, group.data[5], cell, 16 * table.D_TERMS)
    per_limit = Vectors(ir.FloatType(), LANES).spread(
        builder, builder.fptrunc(_scalar(group, 1), ir.FloatType())
    )
    bends = [_bicubic(builder, rows, 16 * k, z_place, t_place) for k in range(table.D_TERMS)]
    bend = _horner(builder, bends, builder.fmul(d, per_limit))
    offset = builder.fpext(builder.fmul(d, _call(builder, "llvm.fma", d, bend, t)), _DOUBLES)
    draw = builder.fptrunc(_call(builder, "llvm.fma", mean, offset, mean), _FLOATS)
    group.store(2, builder.select(_is_small(builder, n, h, z), t, draw))


def _on_group(body: Callable[[_Group], Any]) -> Callable[..., Any]:
    """Return what generates the code of ``body`` for arrays and the first of eight places."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = body(_Group(context, builder, signature, args))
        return context.get_dummy_value() if value is None else value

    return generate


def _make_small_kinds(typing, n, eta, scale, index):  # type: ignore[no-untyped-def]
    return types.int32(n, eta, scale, types.int64), _on_group(_small_kinds)


def _make_normals(typing, words, normal, index):  # type: ignore[no-untyped-def]
    return types.void(words, normal, types.int64), _on_group(_normals)


def _make_small(typing, n, eta, out, moments, small, scale, index):  # type: ignore[no-untyped-def]
    return types.void(n, eta, out, moments, small, scale, types.int64), _on_group(_small)


def _make_large(typing, n, eta, out, mean, moments, large, scale, index):  # type: ignore[no-untyped-def]
    return types.void(n, eta, out, mean, moments, large, scale, types.int64), _on_group(_large)


def _make_fused(typing, x, y, z):  # type: ignore[no-untyped-def]
    return x(x, x, x), lambda context, builder, signature, args: builder.fma(*args)


# which of the eight pairs are read from the small tables, a bit for each
small_kinds8: Any = intrinsic(_make_small_kinds)
# eight words become eight normals, in place
normals8: Any = intrinsic(_make_normals)
# eight normals in ``out`` become draws, those that are read from the small tables or all others
small8: Any = intrinsic(_make_small)
large8: Any = intrinsic(_make_large)
# x * y + z, rounded once
fused: Any = intrinsic(_make_fused)
