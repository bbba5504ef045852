"""One Polya-Gamma draw at a time: what the vector twins of `polyagamma_vector` are held to, bit by bit."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32, Float64, Int32
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.polyagamma_tables import (
    D_TERMS,
    HZ_LIMIT,
    MEAN64_BITS,
    MEAN_BITS,
    NORMAL_BITS,
    SMALL,
    T_CELLS,
    T_CELLS_LARGE,
    T_LIMIT,
    Z_BITS,
    Z_CELLS,
    Z_LIMIT,
    Z_SHIFT,
    Table,
    Tables,
)
from bayesvec.kernels.polyagamma_vector import Z_LAST, fused

F32 = Any  # a float32 scalar; NumPy's stubs know no arithmetic that stays in it

_HALF_WORD = np.int32(0x7FFFFFFF)
_HALF = np.float32(0.5)
_Z_SHIFT = np.float32(Z_SHIFT)
_HZ_LIMIT = np.float32(HZ_LIMIT)
_Z_LIMIT = np.float32(Z_LIMIT)
_Z_LAST = np.float32(Z_LAST)
_T_LIMIT = np.float32(T_LIMIT)
_T_SCALE = np.float32(T_CELLS / (2.0 * T_LIMIT))
_T_SCALE_LARGE = np.float32(T_CELLS_LARGE / (2.0 * T_LIMIT))


@inlined
def _cell(x: F32, bits: int, first: int) -> tuple[Any, F32]:
    """Return the cell of ``x``, 2**bits in an octave from 2**first on, and the place in it in [0, 1)."""
    pattern = np.float32(x).view(np.int32)
    shift = 23 - bits
    place = np.float32(pattern & ((1 << shift) - 1)) * np.float32(1.0 / (1 << shift))
    return (pattern >> shift) - ((127 + first) << bits), place


@compiled
def _cubic(table: Any, row: Any, offset: int, x: Any) -> Any:
    """Evaluate the four coefficients of a row that begin at ``offset``."""
    c0, c1 = table[row, offset], table[row, offset + 1]
    c2, c3 = table[row, offset + 2], table[row, offset + 3]
    return fused(x, fused(x, fused(x, c3, c2), c1), c0)


@compiled
def _column(table: Table, row: int, offset: int, x: F32) -> F32:
    c0, c1 = table[row, offset], table[row, offset + 4]
    c2, c3 = table[row, offset + 8], table[row, offset + 12]
    return fused(x, fused(x, fused(x, c3, c2), c1), c0)


@compiled
def _bicubic(table: Table, row: int, offset: int, x: F32, y: F32) -> F32:
    """Evaluate the 16 coefficients of x^i y^j of a row that begin at ``offset``."""
    a, b = _column(table, row, offset, x), _column(table, row, offset + 1, x)
    c, d = _column(table, row, offset + 2, x), _column(table, row, offset + 3, x)
    return fused(y, fused(y, fused(y, d, c), b), a)


@inlined
def _place_t(t: F32, scale: F32, cells: int) -> tuple[int, F32]:
    scaled = (t + _T_LIMIT) * scale
    cell = max(min(int(scaled), cells - 1), 0)
    return cell, scaled - np.float32(cell)


@compiled
def _normal(word: np.int32, normal: Table) -> F32:
    """Return the standard normal of a uniform word; it increases in the word taken as unsigned."""
    # a set top bit is the upper half: the complement counts down towards the upper tail
    tail = (word ^ (word >> 31)) & _HALF_WORD
    cell, place = _cell(np.float32(tail) + _HALF, NORMAL_BITS, -1)
    t = _cubic(normal, cell, 0, place)
    return t if word < 0 else -t


@compiled
def small_draw(n: int, z: F32, t: F32, tables: Tables) -> F32:
    """Return the draw of PG(h, z), h = n weight, at the normal ``t`` for n <= SMALL and h z < HZ_LIMIT."""
    shifted = z + _Z_SHIFT
    cell, place = _cell(shifted, MEAN_BITS, 2)
    mean = _cubic(tables.moments, cell, 0, place)
    z_cell, z_place = _cell(shifted, Z_BITS, 2)
    t_cell, t_place = _place_t(t, _T_SCALE, T_CELLS)
    row = ((n - 1) * Z_CELLS + z_cell) * T_CELLS + t_cell
    return (
        np.float32(n) * np.float32(tables.scale[0]) * mean * _bicubic(tables.small, row, 0, z_place, t_place)
    )


@compiled
def _unit_mean(z: float, mean: Float64) -> float:
    """Return the mean of PG(1, z) for z < Z_LIMIT."""
    pattern = np.float64(z + Z_SHIFT).view(np.int64)
    shift = 52 - MEAN64_BITS
    place = np.float64(pattern & ((1 << shift) - 1)) * (1.0 / (1 << shift))
    return float(_cubic(mean, (pattern >> shift) - ((1023 + 2) << MEAN64_BITS), 0, place))


@compiled
def large_draw(n: int, z: float, t: F32, tables: Tables) -> float:
    """Return the draw of PG(h, z), h = n weight, at the normal ``t`` for n > SMALL or h z >= HZ_LIMIT."""
    h = n * tables.scale[0]
    near = np.float32(z)
    if near < _Z_LIMIT:  # as rounded, so that the cell is inside the table
        mean = h * _unit_mean(np.float64(z), tables.mean)
        cell, place = _cell(near + _Z_SHIFT, MEAN_BITS, 2)
        d = _cubic(tables.moments, cell, 4, place) / np.sqrt(np.float32(n) * np.float32(tables.scale[0]))
    else:  # also if z is not a number
        mean = h * (0.5 / np.float64(z))
        d = np.float32(math.sqrt(2.0 / np.float64(z) / h))
    near = near if near < _Z_LAST else _Z_LAST
    z_cell, z_place = _cell(near + _Z_SHIFT, Z_BITS, 2)
    t_cell, t_place = _place_t(t, _T_SCALE_LARGE, T_CELLS_LARGE)
    row = z_cell * T_CELLS_LARGE + t_cell
    bend = _bicubic(tables.large, row, 16 * (D_TERMS - 1), z_place, t_place)
    for k in range(D_TERMS - 2, -1, -1):
        bend = fused(
            d * np.float32(tables.scale[1]), bend, _bicubic(tables.large, row, 16 * k, z_place, t_place)
        )
    return float(fused(mean, np.float64(d * fused(d, bend, t)), mean))


@compiled
def normals_from_words(words: Int32, normal: Table, out: Float32) -> None:
    """Map uniform 32-bit words to standard normals, one by one."""
    for i in range(len(words)):
        out[i] = _normal(words[i], normal)


@compiled
def draws_from_normals(
    n: Int32,
    eta: npt.NDArray[np.floating],
    t: Float32,
    tables: Tables,
    out: npt.NDArray[np.floating],
) -> None:
    """Map standard normals ``t`` to draws of PG(n, eta), one by one; ``out`` may be ``t``."""
    for i in range(len(n)):
        z = abs(eta[i])
        if n[i] <= SMALL and np.float32(n[i]) * np.float32(tables.scale[0]) * z < _HZ_LIMIT:
            out[i] = small_draw(n[i], np.float32(z), t[i], tables)
        else:
            out[i] = large_draw(n[i], z, t[i], tables)
