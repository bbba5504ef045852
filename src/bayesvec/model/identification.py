r"""Identification: which of the many equivalent embeddings a draw is stored as.

The likelihood sees only the products :math:`\rho_w^\top \alpha_v`; a spherical prior leaves the rotations.
Draws are either sampled freely and aligned to one reference (``procrustes``; under a prior that distinguishes some
axes, by the rotations that it leaves free), or K context rows stay fixed at their MAP values (``fixed``, the paper's
section 2), or nothing is done (``none``).
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bayesvec._held import HeldRows
from bayesvec._types import Float64, Int64
from bayesvec.errors import AnchorError, OptionError
from bayesvec.kernels import products

AnchorChoice = Literal["qr", "last", "first", "random"]
Array = npt.NDArray[np.floating]
Axes = Sequence[Int64] | None
Alignment = Float64 | None  # an orthogonal matrix, (K, K), that rows are multiplied by; None for none

# Anchors must span K directions; a direction with a singular value below this fraction of the largest is missing.
_RANK_TOLERANCE = 1e-6


class Anchors(NamedTuple):
    """Context rows that stay at given values."""

    rows: Int64  # (K,)
    values: Float64  # (K, K), invertible


class Reference(NamedTuple):
    """The vectors to which stored draws are aligned."""

    rho: Float64  # (R, K)
    alpha: Float64  # (C, K)


def align(rho: Array, alpha: Array, reference: Reference, axes: Axes = None) -> tuple[Array, Array]:
    """Align both sides to the reference by one orthogonal matrix (Procrustes).

    Parameters
    ----------
    rho, alpha : ndarray
        The two sides.
    reference : Reference
        What to align them to.
    axes : sequence of ndarray, optional
        Sets of axes that may be rotated among themselves; other axes stay. By default all axes are one set.
    """
    alignment = find_alignment(rho, alpha, reference, axes)
    return aligned(rho, alignment), aligned(alpha, alignment)


def find_alignment(rho: Array, alpha: Array, reference: Reference, axes: Axes = None) -> Float64:
    r"""Return the matrix by which `aligned` multiplies either side; the arguments are those of `align`.

    On each set of axes it is the orthogonal O that minimises
    :math:`\|\rho O - \rho^*\|^2 + \|\alpha O - \alpha^*\|^2`. With
    :math:`\rho^\top\rho^* + \alpha^\top\alpha^* = U S V^\top` it is :math:`U V^\top` (Schönemann 1966).
    """
    cross = _cross(rho, reference.rho) + _cross(alpha, reference.alpha)  # (K, K)
    alignment = np.eye(len(cross))
    for some in (np.arange(len(cross)),) if axes is None else axes:
        block = np.ix_(some, some)
        left, _, right = np.linalg.svd(cross[block])
        alignment[block] = left @ right
    return alignment


def aligned(rows: Any, alignment: Alignment) -> Any:
    """Return rows multiplied by the matrix of an alignment; those that others hold stay there."""
    if alignment is None:
        return rows
    return rows.multiplied(alignment) if isinstance(rows, HeldRows) else products.multiplied(rows, alignment)


def _cross(rows: Any, reference: Float64) -> Float64:
    """Return rows^T reference: that of draws with the same bits wherever it is computed."""
    if isinstance(rows, HeldRows):
        return rows.cross(reference)
    if rows.dtype == np.float32:
        return products.cross(rows, reference)
    return np.asarray(rows.T @ reference)


def settle_reference(states: Sequence[tuple[Array, Array]], rounds: int = 3, axes: Axes = None) -> Reference:
    """Return the mean of a few draws aligned to each other, rotated to its principal axes.

    Parameters
    ----------
    states : sequence of (rho, alpha)
        Late warm-up states of one chain; the last one is the first reference.
    rounds : int, optional
        How often all states are aligned to their mean.
    axes : sequence of ndarray, optional
        As in `align`.
    """
    if not states:
        raise ValueError("settle_reference needs at least one state")
    reference = Reference(*(np.asarray(side, dtype=np.float64) for side in states[-1]))
    for _ in range(rounds):
        total = [np.zeros_like(side) for side in reference]
        for rho, alpha in states:
            for sum_, side in zip(total, align(rho, alpha, reference, axes), strict=True):
                sum_ += side
        reference = Reference(*(sum_ / len(states) for sum_ in total))
    if axes is None:
        return _principal(reference)
    for some in axes:
        part = _principal(Reference(*(side[:, some] for side in reference)))
        for out, side in zip(reference, part, strict=True):
            out[:, some] = side
    return reference


def _principal(reference: Reference) -> Reference:
    """Rotate a reference to its principal axes, largest first; on each, the largest entry is positive."""
    stacked = np.vstack(reference)
    _, axes = np.linalg.eigh(stacked.T @ stacked)  # K axes even if there are fewer rows
    rotated = stacked @ axes[:, ::-1]
    largest = rotated[np.argmax(np.abs(rotated), axis=0), np.arange(rotated.shape[1])]
    rotated *= np.where(largest < 0, -1.0, 1.0)
    return Reference(rotated[: len(reference.rho)], rotated[len(reference.rho) :])


def choose_anchors(
    alpha: Float64,
    how: AnchorChoice | Sequence[int] = "qr",
    *,
    seed: int = 0,
    spanning: bool = True,
) -> Anchors:
    """Choose the K context rows to fix, at their values in ``alpha``.

    Parameters
    ----------
    alpha : ndarray, shape (C, K)
        Context vectors of the MAP.
    how : {"qr", "last", "first", "random"} or sequence of int, optional
        The rows chosen by a pivoted QR (well conditioned), the last K (the paper's), the first K, K random rows, or
        the rows themselves.
    seed : int, optional
        Seed of ``random``.
    spanning : bool, optional
        Raise an `AnchorError` if the rows span fewer than K directions, which leaves rotations free.
    """
    size, dim = alpha.shape
    if dim > size:
        raise OptionError(
            f"dim is {dim} but there are {size} contexts; identify='fixed' needs dim <= {size}: "
            "take a smaller dim or identify='procrustes'"
        )
    rows = _anchor_rows(alpha, how, seed)
    values = alpha[rows].astype(np.float64)
    singular = np.linalg.svd(values, compute_uv=False)
    if spanning and not singular[-1] > _RANK_TOLERANCE * max(1.0, singular[0]):
        rank = int((singular > _RANK_TOLERANCE * max(1.0, singular[0])).sum())
        raise AnchorError(
            f"the MAP of the {dim} anchor contexts spans only {rank} of {dim} directions (with little data "
            "the MAP is zero), so they cannot identify the model; use identify='procrustes', a smaller dim "
            "or more data"
        )
    return Anchors(rows, values)


def _anchor_rows(alpha: Float64, how: AnchorChoice | Sequence[int], seed: int) -> Int64:
    size, dim = alpha.shape
    if how == "qr":
        from scipy.linalg import qr

        return np.sort(qr(alpha.T, mode="r", pivoting=True)[1][:dim]).astype(np.int64)
    if how == "last":
        return np.arange(size - dim, size)
    if how == "first":
        return np.arange(dim)
    if how == "random":
        return np.sort(np.random.Generator(np.random.Philox(seed)).permutation(size)[:dim]).astype(np.int64)
    if isinstance(how, str):
        raise OptionError(
            f"anchors is {how!r}; it must be one of {', '.join(get_args(AnchorChoice))}, or rows"
        )
    rows = np.asarray(how)
    if rows.dtype.kind not in "iu" or len(set(rows.tolist())) != dim or len(rows) != dim:
        raise OptionError(f"anchors must be {dim} different context rows, got {list(how)}")
    if rows.min() < 0 or rows.max() >= size:
        raise OptionError(f"anchors must be rows from 0 to {size - 1}, got {list(how)}")
    return rows.astype(np.int64)


def to_gauge(rho: Array, alpha: Array, anchors: Anchors) -> tuple[Array, Array]:
    r"""Map an embedding to the one of equal likelihood with the anchor rows at their values (Proposition 1).

    With :math:`A = \hat\alpha_I^{-1} M`: :math:`\alpha = \hat\alpha A`, :math:`\rho = \hat\rho A^{-\top}`.
    """
    at_anchors = alpha[anchors.rows]
    if np.linalg.matrix_rank(at_anchors) < len(at_anchors):
        raise OptionError("the anchor rows of this embedding are not invertible; choose other anchors")
    change = np.linalg.solve(at_anchors, anchors.values)  # A
    return np.linalg.solve(change, rho.T).T, alpha @ change
