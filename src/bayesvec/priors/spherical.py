"""The spherical prior."""

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, make_part, precision_of


def spherical(precision: float | str | Learned) -> Prior:
    """Return the plain prior: every coordinate of every row is normal with mean 0 and this ``precision``.

    Parameters
    ----------
    precision : float, "learn" or Learned
        A number; or each side has a precision of its own, which is learned.
    """
    if np.ndim(precision):  # type: ignore[arg-type]
        raise OptionError(
            f"the prior precision has shape {np.shape(precision)}; a spherical prior takes one number"  # type: ignore[arg-type]
        )
    value = precision_of(precision, "the prior precision")
    return Prior(independent(value), independent(value))


def independent(precision: float | Learned) -> RowPrior:
    """Return the prior of one side under which every coordinate has mean 0 and the same ``precision``."""
    if isinstance(precision, Learned):
        return RowPrior.of_parts([make_part("precision", precision, 1.0)])
    return RowPrior(precision)
