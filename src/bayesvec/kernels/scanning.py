"""Bytes to numbered words: the compiled part of tokenising.

A segment is a piece of text that can hold words only within itself. Segments of ASCII are cut into words
here; a segment with any other byte is numbered whole, and Python's own Unicode rules cut it once for all its
occurrences (`bayesvec.text.tokens`).
"""

import numpy as np

from bayesvec._types import Int32, Int64, UInt8, UInt64
from bayesvec.kernels.compiled import compiled, inlined

# What a byte does.
BREAK, LETTER, JOIN, FOREIGN = 0, 1, 2, 3

_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_32 = np.uint64(32)


@inlined
def _hashed(value: np.uint64, byte: np.uint8) -> np.uint64:
    """Return the hash of one byte more (FNV-1a, Fowler, Noll & Vo)."""
    return (value ^ np.uint64(byte)) * _PRIME


@compiled
def _segment(data: UInt8, first: int, end: int, classes: UInt8) -> tuple[int, np.uint64]:
    """Return where the segment that begins at ``first`` ends, and its hash.

    While it is ASCII it is one word: letters, and single joining bytes between two of them. Once another byte
    is met it extends to the next break.
    """
    at = first
    value = _OFFSET
    foreign = False
    while at < end:
        byte = data[at]
        kind = classes[byte]
        if kind != LETTER:
            following = classes[data[at + 1]] if at + 1 < end else BREAK
            foreign = foreign or kind == FOREIGN or (kind == JOIN and following == FOREIGN)
            if kind == BREAK or (kind == JOIN and not foreign and following != LETTER):
                break
        value = _hashed(value, byte)
        at += 1
    return at, value ^ (value >> _32)


@compiled
def _find(
    data: UInt8,
    first: int,
    last: int,
    value: np.uint64,
    slots: Int32,
    hashes: UInt64,
    types: Int64,
) -> tuple[np.uint64, int]:
    """Return the slot of the bytes ``first`` to ``last`` and the type that stands in it (-1: none yet)."""
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while slots[slot] >= 0:
        number = int(slots[slot])
        begin, length = types[number, 0], types[number, 1] - types[number, 0]
        if hashes[number] == value and length == last - first:
            at = 0
            while at < length and data[begin + at] == data[first + at]:
                at += 1
            if at == length:
                return slot, number
        slot = (slot + np.uint64(1)) & mask
    return slot, -1


@compiled
def _grown(hashes: UInt64, slots: Int32) -> Int32:
    """Return a table of twice the size with the same types in it."""
    larger = np.full(2 * len(slots), -1, np.int32)
    mask = np.uint64(len(larger) - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & mask
        while larger[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        larger[slot] = number
    return larger


@compiled
def scan(data: UInt8, starts: Int64, ends: Int64, classes: UInt8) -> tuple[Int32, Int64, Int64]:
    """Number the segments of a block of text.

    Parameters
    ----------
    data : ndarray of uint8
        The text, as UTF-8.
    starts, ends : ndarray of int64
        The bytes of each document.
    classes : ndarray of uint8
        What each byte does (``BREAK``, ``LETTER``, ``JOIN`` or ``FOREIGN``).

    Returns
    -------
    segments : ndarray of int32
        The type of each segment, numbered in order of first occurrence.
    last : ndarray of int64
        One past the last segment of each document.
    types : ndarray of int64
        The bytes of the first occurrence of each type: its first, and one past its last.
    """
    segments = np.empty(np.sum((ends - starts + 1) // 2), np.int32)
    last = np.empty(len(starts), np.int64)
    slots = np.full(1 << 12, -1, np.int32)
    hashes = np.empty(1 << 11, np.uint64)
    types = np.empty((1 << 11, 2), np.int64)
    num_types = 0
    num_segments = 0
    for document in range(len(starts)):
        at = starts[document]
        end = ends[document]
        while at < end:
            kind = classes[data[at]]
            if kind == BREAK or kind == JOIN:  # noqa: SIM109
                at += 1
                continue
            stop, value = _segment(data, at, end, classes)
            slot, number = _find(data, at, stop, value, slots, hashes, types)
            if number < 0:
                number = num_types
                slots[slot] = number
                hashes[number] = value
                types[number, 0] = at
                types[number, 1] = stop
                num_types += 1
                if num_types == len(hashes):
                    slots = _grown(hashes, slots)
                    hashes = np.concatenate((hashes, np.empty_like(hashes)))
                    types = np.concatenate((types, np.empty_like(types)))
            segments[num_segments] = number
            num_segments += 1
            at = stop
        last[document] = num_segments
    return segments[:num_segments], last, types[:num_types]


@compiled
def expand(
    segments: Int32, last: Int64, bounds: Int64, words: Int32, frequency: Int64
) -> tuple[Int32, Int64]:
    """Replace each segment by its words and count them.

    Parameters
    ----------
    segments, last : ndarray
        As `scan` returns them.
    bounds : ndarray of int64
        Type ``k`` stands for ``words[bounds[k] : bounds[k + 1]]``.
    words : ndarray of int32
        The words of all types of segments, one after another.
    frequency : ndarray of int64
        How often each word occurred; added to.

    Returns
    -------
    tokens : ndarray of int32
        The words, one after another.
    lengths : ndarray of int64
        The number of words in each document.
    """
    size = np.int64(0)
    for segment in segments:
        size += bounds[segment + 1] - bounds[segment]
    tokens = np.empty(size, np.int32)
    lengths = np.empty(len(last), np.int64)
    at = 0
    segment_at = 0
    for document in range(len(last)):
        begin = at
        while segment_at < last[document]:
            segment = segments[segment_at]
            for k in range(bounds[segment], bounds[segment + 1]):
                tokens[at] = words[k]
                frequency[words[k]] += 1
                at += 1
            segment_at += 1
        lengths[document] = at - begin
    return tokens, lengths
