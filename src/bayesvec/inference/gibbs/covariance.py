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
    prior: Prior, state: State, key: rng.Key, orbit_key: rng.Key, *, orbit: bool
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
    orbit : bool
        Whether to make these.
    """
    wishart = prior.shared
    assert wishart is not None
    rho, alpha = (x.astype(np.float64) for x in state[:2])
    dim = rho.shape[1]
    scales, tails = state.scales[:dim], state.scales[dim:]
    forms = _form(rho, rng.RHO, prior, state.rho, key), _form(alpha, rng.ALPHA, prior, state.alpha, key)
    sides = np.eye(dim), np.eye(dim)  # what the rows are multiplied by
    for move in range(MOVES):
        if orbit:
            changes = draw_axis_change(*forms, scales, 0.5 * (len(rho) - len(alpha)), orbit_key, move)
            sides = sides[0] @ changes[0], sides[1] @ changes[1]
        shape = wishart.shape + len(rho) + len(alpha)
        axes, scales = _draw(shape, forms[0] + forms[1] + wishart.rate * np.eye(dim), key, move * dim)
        sides = sides[0] @ axes, sides[1] @ axes
        forms = axes.T @ forms[0] @ axes, axes.T @ forms[1] @ axes
    rho, alpha = rho @ sides[0], alpha @ sides[1]
    if len(tails):
        distances = np.concatenate([(x**2 @ scales) for x in (rho, alpha)])
        tails = np.array([_draw_tails(float(tails[0]), _hyperprior(prior), distances, dim, key)])
    return State(rho.astype(np.float32), alpha.astype(np.float32), np.concatenate([scales, tails]))


def _form(x: Float64, purpose: int, prior: Prior, rows: Float32, key: rng.Key) -> Float64:
    """Return the sum of the outer products of rows (K, K), each times its scale if rows have one."""
    tails = prior.rho.tails
    if tails is None:
        return np.asarray(x.T @ x)
    scales, precision = np.empty(len(x)), np.array(prior.rho.precision_rows(*x.shape), order="C")
    draw_row_scales(0, len(x), rows, precision, tails, row_scales_key(purpose, key), _AFTER, scales)
    return np.asarray(x.T @ (scales[:, None] * x))


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
