r"""Draws of a precision matrix that words and contexts share, and the orbit move given it.

.. math:: \Lambda \mid \rho, \alpha \sim W\big(\nu + R + C,\ (s I + \rho^\top \rho + \alpha^\top \alpha)^{-1}\big)

for the prior :math:`W(\nu, I / s)`, which no rotation changes. A state is therefore kept in the basis in which
:math:`\Lambda` is diagonal: its scales are the eigenvalues, and the rows are rotated along.
"""

import math

import numpy as np

from bayesvec._types import Float64
from bayesvec.errors import NumericalError
from bayesvec.inference.gibbs.engine import Engine
from bayesvec.inference.gibbs.precisions import State
from bayesvec.kernels import rng
from bayesvec.kernels.axes import draw_axis_change
from bayesvec.priors.learned import Wishart

MOVES = 2  # draws of the matrix in a sweep, each after a move along the orbit


def draw_precision_matrix(
    wishart: Wishart, state: State, key: rng.Key, orbit_key: rng.Key, engine: Engine, *, orbit: bool
) -> State:
    """Draw the shared matrix given the rows, and rotate the rows to its axes.

    Parameters
    ----------
    wishart : Wishart
        Its prior.
    state : State
        Rows, on the axes of the current matrix, and its eigenvalues.
    key : Key
        The address of these draws.
    orbit_key : Key
        That of the moves along the orbit.
    engine : Engine
        Where the rows are multiplied.
    orbit : bool
        Whether to make these.
    """
    rho, alpha, scales = state
    forms = engine.gram(rho), engine.gram(alpha)  # (K, K)
    dim = len(scales)
    sides = np.eye(dim), np.eye(dim)  # what the rows are multiplied by
    for move in range(MOVES):
        if orbit:
            changes = draw_axis_change(*forms, scales, 0.5 * (len(rho) - len(alpha)), orbit_key, move)
            sides = sides[0] @ changes[0], sides[1] @ changes[1]
        shape = wishart.shape + len(rho) + len(alpha)
        axes, scales = _draw(shape, forms[0] + forms[1] + wishart.rate * np.eye(dim), key, move * dim)
        sides = sides[0] @ axes, sides[1] @ axes
        forms = axes.T @ forms[0] @ axes, axes.T @ forms[1] @ axes
    return State(engine.multiplied(rho, sides[0]), engine.multiplied(alpha, sides[1]), scales)


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
