r"""The part of the Hessian that joins words and contexts, times eight directions at once.

The directions are the last axis and their number is fixed: eight sums side by side are two whole vectors, with
no sum across a vector and no remainder, whatever K is.
"""

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from bayesvec._types import Float64, Int32, Int64
from bayesvec.kernels.compiled import compiled
from bayesvec.kernels.vector import DOUBLES, as_index, emit_loop, row_of

WIDTH = 2 * DOUBLES.lanes  # directions


def _add_pair(typing, x, w, y, v, weight, residual, direction, out):  # type: ignore[no-untyped-def]
    number = types.float64
    signature = types.void(x, types.int64, y, types.int64, number, number, direction, out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> None:
        kinds = signature.args
        own, dim = row_of(context, builder, kinds[0], args[0], args[1])
        other, _ = row_of(context, builder, kinds[2], args[2], args[3])
        read, _ = row_of(context, builder, kinds[6], args[6], args[3])
        write, _ = row_of(context, builder, kinds[7], args[7], args[1])
        opposite = DOUBLES.spread(builder, builder.fneg(args[5]))

        def halves(k: Any) -> list[Any]:
            return [
                builder.add(builder.mul(k, as_index(WIDTH)), as_index(h * DOUBLES.lanes)) for h in range(2)
            ]

        def moved(k: Any, sums: list[Any]) -> list[Any]:
            scale = DOUBLES.spread(builder, builder.load(builder.gep(own, [k])))
            return [
                DOUBLES.multiply_add(builder, scale, DOUBLES.load(builder, read, offset), total)
                for offset, total in zip(halves(k), sums, strict=True)
            ]

        sums = emit_loop(builder, dim, [DOUBLES.zero] * 2, moved)

        def add(k: Any, nothing: list[Any]) -> list[Any]:
            value = builder.fmul(args[4], builder.load(builder.gep(other, [k])))
            scale = DOUBLES.spread(builder, value)
            for offset, total in zip(halves(k), sums, strict=True):
                new = DOUBLES.multiply_add(builder, scale, total, DOUBLES.load(builder, write, offset))
                taken = DOUBLES.load(builder, read, offset)
                DOUBLES.store(builder, DOUBLES.multiply_add(builder, opposite, taken, new), write, offset)
            return []

        emit_loop(builder, dim, [], add)

    return signature, generate


# out[w] += weight (x[w] . d) y[v] - residual d for each d of direction[v], whose rows are (K, 8), flattened
add_pair: Any = intrinsic(_add_pair)


@compiled
def mixed_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    residual: Float64,
    weight: Float64,
    x: Float64,
    y: Float64,
    direction: Float64,
    out: Float64,
) -> None:
    r"""Set rows of ``out`` to :math:`\sum_v n \sigma' (\rho_w^\top d_v) \alpha_v - r d_v` for eight d.

    That is the negative of the Hessian's mixed blocks times directions d of the other side.

    Parameters
    ----------
    first, last : int
        The rows.
    indptr, other : ndarray
        The pairs of this side.
    residual, weight : ndarray
        :math:`r = n^+ - n \sigma(\eta)` and :math:`n \sigma'(\eta)` of its entries.
    x, y : ndarray
        Vectors of this side (rows, K) and of the other.
    direction : ndarray
        The directions, (rows of the other side, K * 8), the eight next to each other.
    out : ndarray
        The result, in the same form.
    """
    for w in range(first, last):
        out[w] = 0.0
        for i in range(indptr[w], indptr[w + 1]):
            add_pair(x, w, y, np.int64(other[i]), weight[i], residual[i], direction, out)
