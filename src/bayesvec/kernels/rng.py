r"""Addressed random numbers: every number is a function of where it is used, none of what was drawn before.

The generator is Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as
1, 2, 3"). Its key is the user's seed; its counter is the address (purpose and chain, sweep, row, block).
So a chain is the same on any number of threads, on any number of workers and after a crash (on processors of
one kind: another kind may round a product and a sum together, and so differ in the last bits).
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float64, Int32
from bayesvec.errors import OptionError
from bayesvec.kernels.compiled import compiled, inlined

# What a number is for. Two purposes never share an address.
RHO, ALPHA, ORBIT, START, NEGATIVES, SUBSAMPLE, SIMULATE, SPLIT, USER, APPROXIMATION, QUESTION = range(11)
SCALES = 11
WORD_SCALES, CONTEXT_SCALES = 12, 13  # of single rows

U32 = np.uint32
U64 = np.uint64

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


class Start(IntEnum):
    """What it is that starts: the sweep of an address whose purpose is START."""

    MODE = 0
    MONITORED = 1
    JITTER = 2
    ASCENT = 3
    ROWS = 4
    FILLED = 5
    LANCZOS = 6


class Key(NamedTuple):
    """All of an address but the row and the block: made once for each half-sweep."""

    seed_low: np.uint32
    seed_high: np.uint32
    sweep: np.uint32
    purpose: np.uint32


def make_key(seed: int, purpose: int, *, chain: int = 0, sweep: int = 0) -> Key:
    """Return the key of ``purpose`` at one sweep of one chain.

    Parameters
    ----------
    seed : int
        The user's seed, from 0 to 2**64 - 1.
    purpose : int
        One of this module's constants (``RHO``, ``ALPHA``, ...).
    chain : int, optional
        The chain, below 2**24.
    sweep : int, optional
        The sweep, below 2**32.
    """
    if not 0 <= seed < 2**64:
        raise OptionError(f"seed is {seed}; it must be from 0 to 2**64 - 1")
    return Key(
        np.uint32(seed & 0xFFFFFFFF),
        np.uint32(seed >> 32),
        np.uint32(sweep),
        np.uint32(chain << 8 | purpose),
    )


def with_purpose(key: Key, purpose: int) -> Key:
    """Return ``key`` of the same chain and sweep for another purpose."""
    return key._replace(purpose=np.uint32(int(key.purpose) >> 8 << 8 | purpose))


@compiled
def at_sweep(key: Key, sweep: int) -> Key:
    """Return ``key`` moved to another sweep."""
    return Key(key.seed_low, key.seed_high, np.uint32(sweep), key.purpose)


@inlined
def philox(c0: U32, c1: U32, c2: U32, c3: U32, k0: U32, k1: U32) -> tuple[U32, U32, U32, U32]:
    """Return the four 32-bit words of Philox4x32-10 at counter ``c`` under key ``k`` (all uint32)."""
    for _ in range(10):
        p0 = _M0 * np.uint64(c0)
        p1 = _M1 * np.uint64(c2)
        c0, c1, c2, c3 = (
            np.uint32(p1 >> _32) ^ c1 ^ k0,
            np.uint32(p1 & _LOW),
            np.uint32(p0 >> _32) ^ c3 ^ k1,
            np.uint32(p0 & _LOW),
        )
        k0 = np.uint32(k0 + _W0)
        k1 = np.uint32(k1 + _W1)
    return c0, c1, c2, c3


@compiled
def bits(key: Key, row: int, block: int) -> tuple[U64, U64]:
    """Return two independent 64-bit words at (``key``, ``row``, ``block``)."""
    w0, w1, w2, w3 = philox(
        np.uint32(block), np.uint32(row), key.sweep, key.purpose, key.seed_low, key.seed_high
    )
    return (np.uint64(w0) << _32) | np.uint64(w1), (np.uint64(w2) << _32) | np.uint64(w3)


@compiled
def _words_of_block(key: Key, row: int, block: int, skip: int, out: Int32) -> None:
    """Fill ``out`` with the words of one block after the first ``skip``."""
    w0, w1, w2, w3 = philox(
        np.uint32(block), np.uint32(row), key.sweep, key.purpose, key.seed_low, key.seed_high
    )
    for i in range(len(out)):
        part = skip + i
        low = np.int32(w0) if part == 0 else np.int32(w1)
        high = np.int32(w2) if part == 2 else np.int32(w3)
        out[i] = low if part < 2 else high


@compiled
def fill_blocks(key: Key, row: int, first_block: int, out: Int32) -> None:
    """Fill ``out``, whose length is a multiple of 4, with the words of whole blocks."""
    for b in range(len(out) >> 2):  # a loop that LLVM vectorises
        w0, w1, w2, w3 = philox(
            np.uint32(first_block + b), np.uint32(row), key.sweep, key.purpose, key.seed_low, key.seed_high
        )
        out[4 * b] = np.int32(w0)
        out[4 * b + 1] = np.int32(w1)
        out[4 * b + 2] = np.int32(w2)
        out[4 * b + 3] = np.int32(w3)


@compiled
def fill_words(key: Key, row: int, first_index: int, out: Int32) -> None:
    """Fill ``out`` with the 32-bit words of a row from number ``first_index`` on.

    Number i is word i % 4 of block i // 4, so that it does not matter how a row is cut.
    """
    head = min(-first_index & 3, len(out))
    if head:
        _words_of_block(key, row, first_index >> 2, first_index & 3, out[:head])
    first_block = (first_index + head) >> 2
    body = out[head:]
    blocks = len(body) >> 2
    fill_blocks(key, row, first_block, body[: 4 * blocks])
    if len(body) & 3:
        _words_of_block(key, row, first_block + blocks, 0, body[4 * blocks :])


@inlined
def to_uniform(word: U64) -> float:
    """Map a 64-bit word to the open interval (0, 1), 2**52 equally spaced values."""
    # one bit more and the last value would round to 1
    return (np.float64(word >> np.uint64(12)) + 0.5) * 2.0**-52


@compiled
def uniforms(key: Key, row: int, block: int) -> tuple[float, float]:
    """Return two independent uniforms in (0, 1)."""
    first, second = bits(key, row, block)
    return to_uniform(first), to_uniform(second)


@compiled
def normals(key: Key, row: int, block: int) -> tuple[float, float]:
    """Return two independent standard normals (Box & Muller 1958)."""
    u, v = uniforms(key, row, block)
    radius = math.sqrt(-2.0 * math.log(u))
    angle = 2.0 * np.pi * v
    return radius * math.cos(angle), radius * math.sin(angle)


@compiled
def fill_normals(key: Key, row: int, first_block: int, out: Float64) -> None:
    """Fill the vector ``out`` with standard normals from ``first_block`` on."""
    size = len(out)
    for i in range(0, size - 1, 2):
        out[i], out[i + 1] = normals(key, row, first_block + i // 2)
    if size % 2:
        out[size - 1] = normals(key, row, first_block + size // 2)[0]


@compiled
def exponential(key: Key, row: int, block: int) -> float:
    """Return a standard exponential."""
    return -math.log(uniforms(key, row, block)[0])


@compiled
def gamma(shape: float, key: Key, row: int, first_block: int) -> float:
    """Return a gamma variate of ``shape`` > 0 and scale 1 (Marsaglia & Tsang 2000).

    Blocks from ``first_block`` on are used, two for each try (one try in twenty fails).
    """
    boosted = shape if shape >= 1.0 else shape + 1.0
    d = boosted - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    block = first_block
    while True:
        x = normals(key, row, block)[0]
        u, extra = uniforms(key, row, block + 1)
        block += 2
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            draw = d * v
            return draw if shape >= 1.0 else draw * math.pow(extra, 1.0 / shape)
