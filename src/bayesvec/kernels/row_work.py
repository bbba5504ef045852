"""What the kernels that go over rows share: the data of one side, and the scratch of one thread."""

from typing import NamedTuple

import numpy as np

from bayesvec._types import Bool, Float32, Float64, Int32, Int64
from bayesvec.kernels.compiled import inlined
from bayesvec.kernels.vector import aligned_zeros, padded


class RowSide(NamedTuple):
    """One side's data and prior, as the kernels take them."""

    indptr: Int64  # (rows + 1,)
    other: Int32  # (pairs,)
    n: Int32  # (pairs,) n+ + n-
    kappa: Float32  # (pairs,) (n+ - n / 2) times the weight
    precision: Float64  # (rows, K) diagonal of the prior precision of each row given the others
    shift: Float64  # (rows, K) that precision * the mean given the others
    fixed: Bool  # (rows,) rows that stay as they are (anchors)
    weight: float  # of a sample: the power of the likelihood


class Work(NamedTuple):
    """What one thread needs to redraw a row; P pairs share a panel."""

    dim: int  # K
    panel: Float32  # (P, padded K) the other side's rows, scaled
    numbers: Int32  # (P,) their numbers, and n and kappa of the pairs
    n: Int32
    kappa: Float32
    eta: Float32  # (P,)
    omega: Float32  # (P,) and then its root
    share: Float32  # (padded K,) a panel's share of b
    gram: Float64  # (padded K, padded (K + 1)) Q, with b in column K
    few: Float32  # (K, padded K) the scaled rows of a row with few pairs, transposed
    line: Float32  # (1, padded K)
    noise: Float64  # (2 K,)
    x: Float64  # (padded (K + 1),)
    terms: Float32  # (P,) log likelihoods


def make_work(dim: int) -> Work:
    """Return the scratch of one thread.

    A panel is about 24 kB, most of a processor's first cache; but not less than 64 rows, as adding a shorter one to
    the sums in float64 costs more than the cache saves.
    """
    width = padded(dim)
    size = min(256, max(64, 6144 // width // 32 * 32))
    return Work(
        dim=dim,
        panel=aligned_zeros((size, width)),
        numbers=np.zeros(size, dtype=np.int32),
        n=np.zeros(size, dtype=np.int32),
        kappa=np.zeros(size, dtype=np.float32),
        eta=np.zeros(size, dtype=np.float32),
        omega=np.zeros(size, dtype=np.float32),
        share=aligned_zeros((width,)),
        gram=aligned_zeros((width, padded(dim + 1)), np.float64),
        few=aligned_zeros((dim, width)),
        line=aligned_zeros((1, width)),
        noise=np.zeros(2 * dim),
        x=np.zeros(padded(dim + 1)),
        terms=np.zeros(size, dtype=np.float32),
    )


@inlined
def padded_count(count: int) -> int:
    """Return ``count`` rounded up to whole vectors."""
    return (count + 7) // 8 * 8


@inlined
def clear(matrix: Float64, rows: int, columns: int) -> None:
    """Put zeros into the first rows and columns of a matrix."""
    for i in range(rows):
        for j in range(columns):
            matrix[i, j] = 0.0


@inlined
def take_pairs(start: int, count: int, side: RowSide, work: Work) -> int:
    """Put ``count`` pairs from ``start`` on into ``work``, and pairs that weigh nothing up to whole vectors.

    Returns their number.
    """
    numbers, n, kappa = work.numbers, work.n, work.kappa
    for p in range(count):
        numbers[p] = side.other[start + p]
        n[p] = side.n[start + p]
        kappa[p] = side.kappa[start + p]
    size = padded_count(count)
    for p in range(count, size):
        numbers[p] = numbers[count - 1]
        n[p] = 1
        kappa[p] = 0.0
    return size
