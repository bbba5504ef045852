r"""Polya-Gamma draws by table: one 32-bit word a draw, no rejection, no logarithm.

The word is turned into a standard normal t, t into a draw of PG(h, z) through the tables of
`polyagamma_tables`. The error of the distribution function is below 1e-6 everywhere (see the tests), a
hundred times less than a million draws could show.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.polyagamma_tables import (
    D_LIMIT,
    D_TERMS,
    MEAN_BITS,
    NORMAL_BITS,
    SMALL,
    T_CELLS,
    T_CELLS_LARGE,
    T_LIMIT,
    Z_BITS,
    Z_CELLS_LARGE,
    Z_EDGES,
    Z_LIMIT,
    Z_SHIFT,
    Table,
    Tables,
    load_tables,
)
from bayesvec.kernels.rng import Key, fill_words

__all__ = ["Tables", "draws_from_normals", "fill_polyagamma", "load_tables", "normals_from_words"]

F32 = Any  # a float32 scalar; NumPy's stubs know no arithmetic that stays in it

_MANTISSA = 23
_HALF_WORD = np.int32(0x7FFFFFFF)
_FIRST_OCTAVE = 126  # the exponent field of 1/2, the smallest word + 1/2
_FIRST_Z = np.int32(129)  # the exponent field of Z_SHIFT
_HALF = np.float32(0.5)
_Z_SHIFT = np.float32(Z_SHIFT)
_Z_CONSTANT = np.float32(Z_EDGES[-2] * (1.0 - 2.0**-22))  # the last z of the table for large h
_T_LIMIT = np.float32(T_LIMIT)
_T_SCALE = np.float32(T_CELLS / (2.0 * T_LIMIT))
_T_SCALE_LARGE = np.float32(T_CELLS_LARGE / (2.0 * T_LIMIT))


@inlined
def _cell(x: F32, bits: int) -> tuple[Any, F32]:
    """Return the cell of ``x`` > 0, 2**bits of them in an octave, and the place in it in [0, 1)."""
    pattern = np.float32(x).view(np.int32)
    shift = _MANTISSA - bits
    place = np.float32(pattern & ((1 << shift) - 1)) * np.float32(1.0 / (1 << shift))
    return pattern >> shift, place


@inlined
def _cubic(c: Table, x: F32) -> F32:
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]))


@inlined
def _bicubic(c: Table, x: F32, y: F32) -> F32:
    """Evaluate the 16 coefficients ``c`` of x^i y^j."""
    a0 = c[0] + x * (c[4] + x * (c[8] + x * c[12]))
    a1 = c[1] + x * (c[5] + x * (c[9] + x * c[13]))
    a2 = c[2] + x * (c[6] + x * (c[10] + x * c[14]))
    a3 = c[3] + x * (c[7] + x * (c[11] + x * c[15]))
    return a0 + y * (a1 + y * (a2 + y * a3))


@compiled
def normals_from_words(words: npt.NDArray[np.int32], normal: Table, out: npt.NDArray[np.float32]) -> None:
    """Turn uniform 32-bit words into standard normals, increasing in the unsigned word; may be in place."""
    for i in range(len(words)):
        word = words[i]
        # a set top bit is the upper half: its complement counts down towards the upper tail
        tail = (word ^ (word >> 31)) & _HALF_WORD
        cell, place = _cell(np.float32(tail) + _HALF, NORMAL_BITS)
        t = _cubic(normal[cell - (_FIRST_OCTAVE << NORMAL_BITS)], place)
        out[i] = t if word < 0 else -t


@inlined
def _small_draw(h: int, z: F32, t: F32, mean: Table, small: Table) -> F32:
    """Return a draw of PG(h, z) for h <= SMALL and h z < Z_LIMIT from the normal ``t``."""
    shifted = z + _Z_SHIFT
    mean_cell, mean_place = _cell(shifted, MEAN_BITS)
    z_cell, z_place = _cell(shifted, Z_BITS)
    scaled = (t + _T_LIMIT) * _T_SCALE
    t_cell = int(scaled)
    t_place = scaled - np.float32(t_cell)
    ratio = _bicubic(small[h - 1, z_cell - (_FIRST_Z << Z_BITS), t_cell], z_place, t_place)
    return np.float32(h) * _cubic(mean[mean_cell - (_FIRST_Z << MEAN_BITS)], mean_place) * ratio


@inlined
def _moments(z: float) -> tuple[float, float]:
    """Return the mean of PG(1, z), z >= 0, and its variance over the squared mean."""
    if z < 0.05:
        w2 = z * z / 4.0
        ratio = 1.0 - w2 * (1.0 / 3.0 - w2 * (2.0 / 15.0 - w2 * (17.0 / 315.0)))
        return ratio / 4.0, 2.0 * (1.0 / 3.0 - w2 * (4.0 / 15.0 - w2 * (17.0 / 105.0))) / (ratio * ratio)
    e = math.exp(-z)
    return (1.0 - e) / (2.0 * z * (1.0 + e)), 2.0 * (1.0 - e * e - 2.0 * z * e) / (z * (1.0 - e) * (1.0 - e))


@compiled
def _large_draw(h: int, z: float, t: F32, large: Table) -> F32:
    """Return a draw of PG(h, z) for h > SMALL or h z >= Z_LIMIT from the normal ``t``."""
    unit_mean, unit_spread = _moments(z)
    d = math.sqrt(unit_spread / h)
    z_cell, z_place = _cell(min(np.float32(z), _Z_CONSTANT) + _Z_SHIFT, Z_BITS)
    z_cell = min(max(z_cell - (_FIRST_Z << Z_BITS), 0), Z_CELLS_LARGE - 1)
    scaled = (t + _T_LIMIT) * _T_SCALE_LARGE
    t_cell = min(max(int(scaled), 0), T_CELLS_LARGE - 1)
    t_place = scaled - np.float32(t_cell)
    bend = 0.0
    for k in range(D_TERMS - 1, -1, -1):
        bend = bend * (d / D_LIMIT) + _bicubic(large[z_cell, t_cell, k], z_place, t_place)
    return h * unit_mean * (1.0 + d * (t + d * bend))


@compiled
def draws_from_normals(
    n: npt.NDArray[np.int32],
    eta: npt.NDArray[np.floating],
    t: npt.NDArray[np.float32],
    tables: Tables,
    out: npt.NDArray[np.floating],
) -> None:
    """Turn standard normals ``t`` into draws of PG(n, eta); ``out`` may be ``t``."""
    for i in range(len(n)):
        z = abs(eta[i])
        if n[i] <= SMALL and n[i] * z < Z_LIMIT:
            out[i] = _small_draw(n[i], np.float32(z), t[i], tables.mean, tables.small)
        else:
            out[i] = _large_draw(n[i], z, t[i], tables.large)


@compiled
def fill_polyagamma(
    n: npt.NDArray[np.int32],
    eta: npt.NDArray[np.float32],
    key: Key,
    row: int,
    first_index: int,
    tables: Tables,
    out: npt.NDArray[np.float32],
) -> None:
    """Fill ``out`` with draws of PG(n, eta), one for each pair of a row from number ``first_index`` on.

    Pair number i uses word i % 4 of block i // 4, so that the draws do not depend on how a row is cut. A NaN
    in ``eta`` gives NaN.

    Parameters
    ----------
    n : ndarray of int32
        Samples of each pair, at least 1.
    eta : ndarray of float32
        The tilt of each pair.
    key : Key
        The address but for row and block.
    row, first_index : int
        The row, and the number in it of the first pair given.
    tables : Tables
        From `polyagamma_tables.tables`.
    out : ndarray of float32
        Where the draws go.
    """
    words = out.view(np.int32)
    fill_words(key, row, first_index, words)
    normals_from_words(words, tables.normal, out)
    draws_from_normals(n, eta, out, tables, out)
