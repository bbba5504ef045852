"""The compiled loops of the model: log likelihood, gradient and Hessian products over the pairs of a row.

Every loop runs over rows ``first`` to ``last`` of one side and writes to those rows (or to the entries of
those rows) only, so rows are shared out among threads without atomics and no result depends on how they were.
"""

from typing import Any

import numpy as np

from bayesvec._types import Float64, Int32, Int64
from bayesvec.kernels.compiled import compiled, summing
from bayesvec.kernels.logistic import curve, link

BLOCK = 32  # entries whose vectors are gathered once and stay in the first cache (25 kB at K = 100)


@summing
def _dot(x: Float64, a: Float64) -> float:
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * a[k]
    return total


@summing
def _dot4(x: Float64, a: Float64, b: Float64, c: Float64, d: Float64) -> tuple[float, float, float, float]:
    s0 = s1 = s2 = s3 = 0.0
    for k in range(x.shape[0]):
        s0 += x[k] * a[k]
        s1 += x[k] * b[k]
        s2 += x[k] * c[k]
        s3 += x[k] * d[k]
    return s0, s1, s2, s3


@summing
def add_scaled(out: Float64, r: float, a: Float64) -> None:
    """Add ``r * a`` to ``out``."""
    for k in range(out.shape[0]):
        out[k] += r * a[k]


@summing
def add_scaled4(out: Float64, r: float, a: Any, s: float, b: Any, t: float, c: Any, u: float, d: Any) -> None:
    """Add four vectors, of doubles or of floats, to ``out``, each times its own factor."""
    for k in range(out.shape[0]):
        out[k] += r * a[k] + s * b[k] + t * c[k] + u * d[k]


@summing
def _sum(terms: Float64, size: int) -> float:
    total = 0.0
    for i in range(size):
        total += terms[i]
    return total


@compiled
def _dots(x: Float64, other: Int32, vectors: Float64, out: Float64) -> None:
    """Set ``out[i]`` to the product of ``x`` with row ``other[i]`` of ``vectors``."""
    size = other.shape[0]
    whole = size - size % 4
    for i in range(0, whole, 4):
        out[i], out[i + 1], out[i + 2], out[i + 3] = _dot4(
            x, vectors[other[i]], vectors[other[i + 1]], vectors[other[i + 2]], vectors[other[i + 3]]
        )
    for i in range(whole, size):
        out[i] = _dot(x, vectors[other[i]])


@compiled
def _combine(weight: Float64, other: Int32, vectors: Float64, out: Float64) -> None:
    """Add to ``out`` the rows ``other`` of ``vectors``, each times its ``weight``."""
    size = other.shape[0]
    whole = size - size % 4
    for i in range(0, whole, 4):
        r, s, t, u = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        a, b, c, d = vectors[other[i]], vectors[other[i + 1]], vectors[other[i + 2]], vectors[other[i + 3]]
        add_scaled4(out, r, a, s, b, t, c, u, d)
    for i in range(whole, size):
        add_scaled(out, weight[i], vectors[other[i]])


@compiled
def likelihood_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    n_pos: Int32,
    n_neg: Int32,
    rho: Float64,
    alpha: Float64,
    value: Float64,
) -> None:
    """Set ``value`` (rows,) to the log likelihood of each row's pairs."""
    eta, term = np.empty(BLOCK), np.empty(BLOCK)
    for w in range(first, last):
        total = 0.0
        for a in range(indptr[w], indptr[w + 1], BLOCK):
            b = min(a + BLOCK, indptr[w + 1])
            _dots(rho[w], other[a:b], alpha, eta)
            link(eta[: b - a], n_pos[a:b], n_neg[a:b], term)
            total += _sum(term, b - a)
        value[w] = total


@compiled
def gradient_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    n_pos: Int32,
    n_neg: Int32,
    rho: Float64,
    alpha: Float64,
    value: Float64,
    residual: Float64,
    gradient: Float64,
) -> None:
    r"""Set each row's log likelihood, gradient :math:`\sum_v r_{wv} \alpha_v` and its entries' residuals.

    The residual :math:`r = n^+ - n \sigma(\eta)` is kept by entry, so that the other side needs no second
    product and no second exponential.
    """
    term = np.empty(BLOCK)
    for w in range(first, last):
        total = 0.0
        gradient[w] = 0.0
        for a in range(indptr[w], indptr[w + 1], BLOCK):
            b = min(a + BLOCK, indptr[w + 1])
            block = residual[a:b]
            _dots(rho[w], other[a:b], alpha, block)
            link(block, n_pos[a:b], n_neg[a:b], term)
            total += _sum(term, b - a)
            _combine(block, other[a:b], alpha, gradient[w])
        value[w] = total


@compiled
def combine_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    permutation: Int64,
    weight: Float64,
    vectors: Float64,
    out: Float64,
) -> None:
    """Add to each row of ``out`` the other side's ``vectors``, each times its entry's ``weight``.

    Entry ``j`` of this side finds its weight at ``permutation[j]``.
    """
    block = np.empty(BLOCK)
    for v in range(first, last):
        for a in range(indptr[v], indptr[v + 1], BLOCK):
            b = min(a + BLOCK, indptr[v + 1])
            for j in range(b - a):
                block[j] = weight[permutation[a + j]]
            _combine(block, other[a:b], vectors, out[v])


@compiled
def curvature_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    n_pos: Int32,
    n_neg: Int32,
    rho: Float64,
    alpha: Float64,
    residual: Float64,
    weight: Float64,
) -> None:
    r"""Set by entry the residual :math:`n^+ - n \sigma(\eta)` and the weight :math:`n \sigma'(\eta)`."""
    for w in range(first, last):
        for a in range(indptr[w], indptr[w + 1], BLOCK):
            b = min(a + BLOCK, indptr[w + 1])
            _dots(rho[w], other[a:b], alpha, residual[a:b])
            curve(residual[a:b], n_pos[a:b], n_neg[a:b], weight[a:b])


@compiled
def product_rows(
    first: int,
    last: int,
    indptr: Int64,
    other: Int32,
    residual: Float64,
    weight: Float64,
    rho: Float64,
    alpha: Float64,
    d_rho: Float64,
    d_alpha: Float64,
    change: Float64,
    out: Float64,
) -> None:
    r"""Add the word side of the Hessian times the direction (``d_rho``, ``d_alpha``) to ``out``.

    A pair's :math:`\eta` moves by :math:`t = d\rho_w^\top \alpha_v + \rho_w^\top d\alpha_v`, so the gradient
    of :math:`\rho_w` moves by :math:`-n \sigma' t \alpha_v + r\, d\alpha_v`. The factor
    :math:`-n \sigma' t` is kept in ``change`` for the other side.
    """
    moved = np.empty(BLOCK)
    for w in range(first, last):
        for a in range(indptr[w], indptr[w + 1], BLOCK):
            b = min(a + BLOCK, indptr[w + 1])
            block = change[a:b]
            _dots(d_rho[w], other[a:b], alpha, block)
            _dots(rho[w], other[a:b], d_alpha, moved)
            for j in range(b - a):
                block[j] = -weight[a + j] * (block[j] + moved[j])
            _combine(block, other[a:b], alpha, out[w])
            _combine(residual[a:b], other[a:b], d_alpha, out[w])


@summing
def _outer4(
    out: Float64, r: float, a: Float64, s: float, b: Float64, t: float, c: Float64, u: float, d: Float64
) -> None:
    for k in range(out.shape[0]):
        f, g, h, i = r * a[k], s * b[k], t * c[k], u * d[k]
        for m in range(k + 1):
            out[k, m] += f * a[m] + g * b[m] + h * c[m] + i * d[m]


@compiled
def outer_rows(
    first: int,
    last: int,
    rows: Int64,
    indptr: Int64,
    other: Int32,
    permutation: Int64,
    weight: Float64,
    vectors: Float64,
    out: Float64,
) -> None:
    r"""Set ``out[i]`` (K, K) to :math:`\sum_v n \sigma' \alpha_v \alpha_v^\top` over ``rows[i]``'s pairs."""
    nothing = np.zeros(vectors.shape[1])
    for i in range(first, last):
        w = rows[i]
        block = out[i]
        block[:] = 0.0
        start, stop = indptr[w], indptr[w + 1]
        whole = stop - (stop - start) % 4
        for j in range(start, whole, 4):
            r, s, t, u = (
                weight[permutation[j]],
                weight[permutation[j + 1]],
                weight[permutation[j + 2]],
                weight[permutation[j + 3]],
            )
            a, b, c, d = (
                vectors[other[j]],
                vectors[other[j + 1]],
                vectors[other[j + 2]],
                vectors[other[j + 3]],
            )
            _outer4(block, r, a, s, b, t, c, u, d)
        for j in range(whole, stop):
            _outer4(
                block, weight[permutation[j]], vectors[other[j]], 0.0, nothing, 0.0, nothing, 0.0, nothing
            )
        for k in range(block.shape[0]):
            for m in range(k):
                block[m, k] = block[k, m]
