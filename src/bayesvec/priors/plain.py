"""The spherical prior."""

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.priors.rows import Prior, RowPrior
from bayesvec.priors.scales import Learned, make_part, precision_of


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
    if isinstance(precision, Learned) or precision == "learn":
        part = make_part("precision", precision_of(precision, "the prior precision"), 1.0)
        return Prior(RowPrior.of_parts([part]), RowPrior.of_parts([part]))
    return Prior(RowPrior(precision), RowPrior(precision))
