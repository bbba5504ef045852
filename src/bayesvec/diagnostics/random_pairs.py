"""Pairs chosen at random, to judge a run by."""

import numpy as np

from bayesvec._types import Int64


def random_pairs(num_rows: int, num_other: int | None, count: int, *, seed: int) -> tuple[Int64, Int64]:
    """Choose different pairs at random, of two rows of one side or of a row of each side.

    Parameters
    ----------
    num_rows : int
        Rows of the first side.
    num_other : int or None
        Rows of the second side; None for pairs (a, b) with a < b of the first.
    count : int
        How many; all there are if there are fewer.
    seed : int
        The choice is a function of this and the sizes.

    Returns
    -------
    first, second : ndarray of int64, (at most count,)
    """
    from bayesvec.kernels import rng  # takes time to import

    key = rng.make_key(seed, rng.QUESTION)
    possible = num_rows * num_other if num_other is not None else num_rows * (num_rows - 1) // 2
    if possible <= 2 * count:  # few: order them all at random
        order = np.argsort([rng.uniforms(key, cell, 0)[0] for cell in range(possible)])
        cells = np.sort(order[:count]).astype(np.int64)
    else:
        chosen: dict[int, None] = {}  # distinct, in the order in which they were drawn
        attempt = 0
        while len(chosen) < count:
            chosen[int(rng.uniforms(key, attempt, 0)[0] * possible)] = None
            attempt += 1
        cells = np.array(list(chosen), dtype=np.int64)
    if num_other is not None:
        return cells // num_other, cells % num_other
    # Cell c of the triangle: row b = 1, 2, ... holds the pairs (0, b), ..., (b - 1, b).
    second = ((1 + np.sqrt(1 + 8 * cells.astype(np.float64))) / 2).astype(np.int64)
    second -= second * (second - 1) // 2 > cells  # the square root may round either way
    second += second * (second + 1) // 2 <= cells
    return cells - second * (second - 1) // 2, second
