r"""Draws of a precision matrix that words and contexts share, and the orbit move given it.

.. math:: \Lambda \mid \rho, \alpha \sim W\big(\nu + R + C,\ (s I + \rho^\top \rho + \alpha^\top \alpha)^{-1}\big)

for the prior :math:`W(\nu, I / s)`, which no rotation changes. A state is therefore kept in the basis in which
:math:`\Lambda` is diagonal: its scales are the eigenvalues, and the rows are rotated along.

Rows with heavy tails are Gaussian given a scale of each (`bayesvec.kernels.row_scales`), which is drawn given the row
whenever it is needed and is no part of the state: with scales :math:`\tau`, the forms above are those of the rows
times :math:`\sqrt\tau`. The degrees of freedom are drawn with the scales integrated out.
"""

import math

import numpy as np

from bayesvec._types import Float32, Float64
from bayesvec.errors import NumericalError
from bayesvec.inference.gibbs.engine import Engine
from bayesvec.inference.gibbs.precisions import State, draw_by_slice
from bayesvec.inference.gibbs.redraw import row_scales_key
from bayesvec.kernels import rng
from bayesvec.kernels.axes import draw_axis_change
from bayesvec.kernels.row_scales import draw_row_scales
from bayesvec.priors import Prior
from bayesvec.priors.learned import TAILS, Learned

MOVES = 2  # draws of the matrix in a sweep, each after a move along the orbit

_AFTER = 1 << 20  # block from which on scales of rows are drawn here; a half-sweep draws its own from 0 on
_TAILS = 1 << 18  # row of the address of the degrees of freedom, after those of the matrix


def draw_precision_matrix(
    prior: Prior, state: State, key: rng.Key, orbit_key: rng.Key, engine: Engine, *, orbit: bool
) -> State:
    """Draw the shared matrix given the rows, and rotate the rows to its axes; draw the degrees of freedom.

    Parameters
    ----------
    prior : Prior
        The prior at the scales of the state.
    state : State
        Rows, on the axes of the current matrix; its eigenvalues, and the degrees of freedom if they are learned.
    key : Key
        The address of these draws.
    orbit_key : Key
        That of the moves along the orbit.
    engine : Engine
        Where the rows are multiplied.
    orbit : bool
        Whether to make these.
    """
    wishart = prior.shared
    assert wishart is not None
    rho, alpha, scales = state
    dim = rho.shape[1]
    scales, tails = scales[:dim], scales[dim:]
    roots = [
        _root_scales(rows, purpose, prior, key) for purpose, rows in ((rng.RHO, rho), (rng.ALPHA, alpha))
    ]
    forms = engine.gram(rho, roots[0]), engine.gram(alpha, roots[1])  # (K, K)
    sides = np.eye(dim), np.eye(dim)  # what the rows are multiplied by
    for move in range(MOVES):
        if orbit:
            changes = draw_axis_change(*forms, scales, 0.5 * (len(rho) - len(alpha)), orbit_key, move)
            sides = sides[0] @ changes[0], sides[1] @ changes[1]
        shape = wishart.shape + len(rho) + len(alpha)
        axes, scales = _draw(shape, forms[0] + forms[1] + wishart.rate * np.eye(dim), key, move * dim)
        sides = sides[0] @ axes, sides[1] @ axes
        forms = axes.T @ forms[0] @ axes, axes.T @ forms[1] @ axes
    rho, alpha = engine.multiplied(rho, sides[0]), engine.multiplied(alpha, sides[1])
    if len(tails):
        distances = [np.sum(scales * np.square(rows, dtype=np.float64), axis=1) for rows in (rho, alpha)]
        tails = np.array(
            [_draw_tails(float(tails[0]), _hyperprior(prior), np.concatenate(distances), dim, key)]
        )
    return State(rho, alpha, np.concatenate([scales, tails]))


def _root_scales(rows: Float32, purpose: int, prior: Prior, key: rng.Key) -> Float64 | None:
    """Draw the scale of each row given the row and return its root, (rows,); None if rows have none."""
    tails = prior.rho.tails
    if tails is None:
        return None
    x, scales = np.asarray(rows), np.empty(len(rows))
    precision = np.array(prior.rho.precision_rows(*x.shape), order="C")
    every, address = np.arange(len(x)), row_scales_key(purpose, key)
    draw_row_scales(0, len(x), every, x, precision, tails, address, _AFTER, scales)
    return np.sqrt(scales)


def _hyperprior(prior: Prior) -> Learned:
    found = next(part.learned for part in prior.rho.learned if part.name == TAILS)
    assert found is not None
    return found


def _draw_tails(before: float, gamma: Learned, distances: Float64, dim: int, key: rng.Key) -> float:
    """Draw the degrees of freedom given x^T Lambda x of all rows, (rows,), by slice sampling of their log."""

    def log_density(log_tails: float) -> float:
        tails = math.exp(log_tails)
        power = 0.5 * (tails + dim)
        constant = math.lgamma(power) - math.lgamma(0.5 * tails) - 0.5 * dim * log_tails
        rows = len(distances) * constant - power * float(np.log1p(distances / tails).sum())
        return gamma.shape * log_tails - gamma.rate * tails + rows

    return math.exp(draw_by_slice(math.log(before), log_density, key, _TAILS))


def _draw(shape: float, inverse_scale: Float64, key: rng.Key, first: int) -> tuple[Float64, Float64]:
    """Draw from a Wishart distribution by Bartlett's decomposition; return eigenvectors and eigenvalues."""
    dim = len(inverse_scale)
    triangle = np.zeros((dim, dim))
    for i in range(dim):
        rng.fill_normals(key, first + i, 0, triangle[i, :i])
        triangle[i, i] = math.sqrt(2.0 * rng.gamma(0.5 * (shape - i), key, first + i, dim))
    try:
        root = np.linalg.inv(np.linalg.cholesky(inverse_scale)).T @ triangle  # root root^T is the draw
    except np.linalg.LinAlgError:  # with far fewer vectors than axes rounding errors outweigh the prior
        raise NumericalError(
            f"the data are too few to learn a covariance of {dim} axes; use a smaller dim, or the spherical prior "
            "(--prior-precision learn)"
        ) from None
    axes, sizes, _ = np.linalg.svd(root)
    return axes, sizes**2
