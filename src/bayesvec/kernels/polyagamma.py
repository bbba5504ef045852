r"""Polya-Gamma draws by table: one 32-bit word a draw, no rejection, no logarithm.

The word is turned into a standard normal t, and t into a draw of PG(h, z) through the tables of
`polyagamma_tables`. The error of the distribution function is below 1e-6 everywhere (see the tests), which a
thousand million draws would not show.

The functions of one draw here are the definition; whole blocks of eight go through their vector twins, which
give the same bits.
"""

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec.errors import OptionError
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.polyagamma_tables import (
    D_LIMIT,
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
    load_tables,
)
from bayesvec.kernels.polyagamma_vector import LANES, Z_LAST, fused, kinds8, large8, normals8, small8
from bayesvec.kernels.rng import USER, Key, fill_words, make_key

__all__ = [
    "Tables",
    "draws_from_normals",
    "fill_polyagamma",
    "load_tables",
    "normals_from_words",
    "random_polyagamma",
]

F32 = Any  # a float32 scalar; NumPy's stubs know no arithmetic that stays in it

_EVERY = (1 << LANES) - 1
_HALF_WORD = np.int32(0x7FFFFFFF)
_HALF = np.float32(0.5)
_Z_SHIFT = np.float32(Z_SHIFT)
_Z_LIMIT = np.float32(Z_LIMIT)
_HZ_LIMIT = np.float32(HZ_LIMIT)
_Z_LAST = np.float32(Z_LAST)
_T_LIMIT = np.float32(T_LIMIT)
_T_SCALE = np.float32(T_CELLS / (2.0 * T_LIMIT))
_T_SCALE_LARGE = np.float32(T_CELLS_LARGE / (2.0 * T_LIMIT))
_D_SCALE = np.float32(1.0 / D_LIMIT)


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
def _small_draw(h: int, z: F32, t: F32, tables: Tables) -> F32:
    """Return the draw of PG(h, z) at the normal ``t`` for h <= SMALL and h z < HZ_LIMIT."""
    shifted = z + _Z_SHIFT
    cell, place = _cell(shifted, MEAN_BITS, 2)
    mean = _cubic(tables.moments, cell, 0, place)
    z_cell, z_place = _cell(shifted, Z_BITS, 2)
    t_cell, t_place = _place_t(t, _T_SCALE, T_CELLS)
    row = ((h - 1) * Z_CELLS + z_cell) * T_CELLS + t_cell
    return np.float32(h) * mean * _bicubic(tables.small, row, 0, z_place, t_place)


@compiled
def _unit_mean(z: float, mean: npt.NDArray[np.float64]) -> float:
    """Return the mean of PG(1, z) for z < Z_LIMIT."""
    pattern = np.float64(z + Z_SHIFT).view(np.int64)
    shift = 52 - MEAN64_BITS
    place = np.float64(pattern & ((1 << shift) - 1)) * (1.0 / (1 << shift))
    return float(_cubic(mean, (pattern >> shift) - ((1023 + 2) << MEAN64_BITS), 0, place))


@compiled
def _large_draw(h: int, z: float, t: F32, tables: Tables) -> float:
    """Return the draw of PG(h, z) at the normal ``t`` for h > SMALL or h z >= HZ_LIMIT."""
    near = np.float32(z)
    if z < Z_LIMIT:
        mean = h * _unit_mean(np.float64(z), tables.mean)
        cell, place = _cell(near + _Z_SHIFT, MEAN_BITS, 2)
        d = _cubic(tables.moments, cell, 4, place) / np.sqrt(np.float32(h))
    else:  # also if z is not a number
        mean = h * (0.5 / np.float64(z))
        d = np.float32(math.sqrt(2.0 / np.float64(z) / h))
    near = near if near < _Z_LAST else _Z_LAST
    z_cell, z_place = _cell(near + _Z_SHIFT, Z_BITS, 2)
    t_cell, t_place = _place_t(t, _T_SCALE_LARGE, T_CELLS_LARGE)
    row = z_cell * T_CELLS_LARGE + t_cell
    bend = _bicubic(tables.large, row, 16 * (D_TERMS - 1), z_place, t_place)
    for k in range(D_TERMS - 2, -1, -1):
        bend = fused(d * _D_SCALE, bend, _bicubic(tables.large, row, 16 * k, z_place, t_place))
    return float(fused(mean, np.float64(d * fused(d, bend, t)), mean))


@compiled
def normals_from_words(words: npt.NDArray[np.int32], normal: Table, out: npt.NDArray[np.float32]) -> None:
    """Turn uniform 32-bit words into standard normals, one by one."""
    for i in range(len(words)):
        out[i] = _normal(words[i], normal)


@compiled
def draws_from_normals(
    n: npt.NDArray[np.int32],
    eta: npt.NDArray[np.floating],
    t: npt.NDArray[np.float32],
    tables: Tables,
    out: npt.NDArray[np.floating],
) -> None:
    """Turn standard normals ``t`` into draws of PG(n, eta), one by one; ``out`` may be ``t``."""
    for i in range(len(n)):
        z = abs(eta[i])
        if n[i] <= SMALL and np.float32(n[i]) * z < _HZ_LIMIT:
            out[i] = _small_draw(n[i], np.float32(z), t[i], tables)
        else:
            out[i] = _large_draw(n[i], z, t[i], tables)


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

    Pair number i uses word i % 4 of block i // 4, so that the draws do not depend on how a row is cut. An
    ``eta`` that is not a number gives NaN, an infinite one 0 (the limit).

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
        From `load_tables`.
    out : ndarray of float32
        Where the draws go.
    """
    words = out.view(np.int32)
    fill_words(key, row, first_index, words)
    size = len(n)
    if size < LANES:
        normals_from_words(words, tables.normal, out)
        draws_from_normals(n, eta, out, tables, out)
        return
    for i in range(0, size, LANES):
        first = min(i, size - LANES)  # the last group reaches back over draws that are done, and skips them
        normals8(out, tables.normal, first, i - first)
    for i in range(0, size, LANES):
        first = min(i, size - LANES)
        skip = i - first
        kinds = kinds8(n, eta, first, skip)
        if kinds & _EVERY:
            small8(n, eta, out, tables.moments, tables.small, first, skip)
        if kinds >> LANES:
            large8(n, eta, out, tables.mean, tables.moments, tables.large, first, skip)
        if (kinds | kinds >> LANES) & _EVERY != _EVERY:  # some eta is huge or not a number
            for k in range(i, first + LANES):
                if not abs(eta[k]) < _Z_LIMIT:
                    out[k] = _large_draw(n[k], abs(eta[k]), out[k], tables)


@compiled
def _fill_user(
    h: npt.NDArray[np.int32],
    z: npt.NDArray[np.float64],
    key: Key,
    row: int,
    first_index: int,
    tables: Tables,
    out: npt.NDArray[np.float64],
) -> None:
    """Fill ``out`` like `fill_polyagamma`, in doubles."""
    words = np.empty(len(out), dtype=np.int32)
    t = np.empty(len(out), dtype=np.float32)
    fill_words(key, row, first_index, words)
    normals_from_words(words, tables.normal, t)
    draws_from_normals(h, z, t, tables, out)


def _whole_numbers(h: npt.ArrayLike) -> npt.NDArray[np.int32]:
    """Check that ``h`` holds positive integers (floats that are whole will do) and return them."""
    given = np.asarray(h)
    if given.dtype.kind in "iuf":
        wrong = ~((given >= 1) & (given < 2**31) & (given == np.floor(given)))
        if not wrong.any():
            return given.astype(np.int32)
        got = given[wrong][0]
    else:
        got = h
    raise OptionError(f"h is {got}; it must be an integer from 1 to 2**31 - 1")


def random_polyagamma(
    h: npt.ArrayLike,
    z: npt.ArrayLike,
    size: int | tuple[int, ...] | None = None,
    seed: int = 0,
) -> float | npt.NDArray[np.float64]:
    """Draw from the Polya-Gamma distribution PG(h, z).

    The distribution function of the draws is right to 1e-6, their quantiles out to tails of 1e-9.

    Parameters
    ----------
    h : array_like of int
        The shape, a positive integer.
    z : array_like of float
        The tilt; its sign does not matter.
    size : int or tuple of int, optional
        The shape of the result; ``h`` and ``z`` are broadcast to it. By default their common shape.
    seed : int, optional
        From 0 to 2**64 - 1. The same seed gives the same draws; there is no hidden state.

    Returns
    -------
    float or ndarray
        The draws; a float if ``h`` and ``z`` are scalars and ``size`` is not given.

    References
    ----------
    Polson, Scott & Windle (2013), Bayesian inference for logistic models using Polya-Gamma latent variables.

    Examples
    --------
    >>> import bayesvec as bv
    >>> bv.random_polyagamma(1, 2.5, size=3, seed=1).shape
    (3,)
    """
    whole = _whole_numbers(h)
    try:
        tilt = np.asarray(z, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"z is {z!r}; it must be a number or an array of numbers") from None
    if not np.isfinite(tilt).all():
        raise OptionError(f"z holds {tilt[~np.isfinite(tilt)][0]}; it must be finite")
    try:
        key = make_key(operator.index(seed), USER)
    except TypeError:
        raise OptionError(f"seed is {seed!r}; it must be an integer from 0 to 2**64 - 1") from None
    try:
        shape = np.broadcast_shapes(whole.shape, tilt.shape) if size is None else size
        whole, tilt = (np.ascontiguousarray(np.broadcast_to(a, shape)).ravel() for a in (whole, tilt))
    except (TypeError, ValueError):
        raise OptionError(
            f"h has shape {whole.shape}, z has shape {tilt.shape} and size is {size}; "
            "they must broadcast, to size if it is given"
        ) from None
    out = np.empty(len(whole))
    chunk = 1 << 16
    for start in range(0, len(out), chunk):
        part = slice(start, start + chunk)
        # a row has 2**33 words; each uses its first half
        _fill_user(whole[part], tilt[part], key, start >> 32, start & 0xFFFFFFFF, load_tables(), out[part])
    return float(out[0]) if shape == () else out.reshape(shape)
