r"""Polya-Gamma draws by table: one 32-bit word per draw, no rejection, no logarithm.

The word is mapped to a standard normal t, and t to a draw of PG(h, z) through the tables of
`polyagamma_tables`. The error of the distribution function is below 1e-6 for shapes of 1 or more (see the
tests), which a thousand million draws would not show, and below 3e-5 for the smaller shapes of weighted samples.
"""

import operator

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float32, Float64, Int32
from bayesvec.errors import OptionError
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.polyagamma_scalar import draws_from_normals, normals_from_words
from bayesvec.kernels.polyagamma_tables import Tables, load_tables
from bayesvec.kernels.polyagamma_vector import LANES, large8, normals8, small8, small_kinds8
from bayesvec.kernels.rng import USER, Key, fill_words, make_key

__all__ = ["Tables", "fill_polyagamma", "load_tables", "random_polyagamma"]

_EVERY = (1 << LANES) - 1


@compiled
def draw_groups(n: Int32, eta: Float32, tables: Tables, out: Float32) -> None:
    """Replace uniform words, the bits of ``out``, by draws of PG(h, eta), eight at a time; h = n weight."""
    for first in range(0, len(n), LANES):
        normals8(out, tables.normal, first)
        small = small_kinds8(n, eta, tables.scale, first)
        if small:
            small8(n, eta, out, tables.moments, tables.small, tables.scale, first)
        if small != _EVERY:
            large8(n, eta, out, tables.mean, tables.moments, tables.large, tables.scale, first)


@compiled
def fill_polyagamma(
    n: Int32,
    eta: Float32,
    key: Key,
    row: int,
    first_index: int,
    tables: Tables,
    out: Float32,
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
    whole = len(n) // LANES * LANES
    draw_groups(n[:whole], eta[:whole], tables, out[:whole])
    normals_from_words(words[whole:], tables.normal, out[whole:])
    draws_from_normals(n[whole:], eta[whole:], out[whole:], tables, out[whole:])


@compiled
def _fill_user(
    h: Int32,
    z: Float64,
    key: Key,
    row: int,
    first_index: int,
    tables: Tables,
    out: Float64,
) -> None:
    """Fill ``out`` like `fill_polyagamma`, in doubles."""
    words = np.empty(len(out), dtype=np.int32)
    t = np.empty(len(out), dtype=np.float32)
    fill_words(key, row, first_index, words)
    normals_from_words(words, tables.normal, t)
    draws_from_normals(h, z, t, tables, out)


def _whole_numbers(h: npt.ArrayLike) -> Int32:
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
) -> float | Float64:
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
