"""The spherical prior."""

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, make_part, plain, precision_of, stated
from bayesvec.priors.table import PRECISION, Family, Recipe


def spherical(precision: float | str | Learned = "learn") -> Prior:
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
    return Prior(independent(value), independent(value), {"kind": "spherical", "precision": plain(value)})


def independent(precision: float | Learned) -> RowPrior:
    """Return the prior of one side under which every coordinate has mean 0 and the same ``precision``."""
    return RowPrior.of_parts([make_part("precision", precision, 1.0)])


def _sentence(recipe: Recipe) -> str:
    precision = recipe["precision"]
    if not isinstance(precision, float | int):
        return (
            f"Every coordinate of every vector is normal with mean 0 and a precision that was {stated(precision)}, "
            "one for words and one for contexts."
        )
    return (
        f"Every coordinate of every vector is normal with mean 0 and precision {precision:g}, that is a standard "
        f"deviation of {precision**-0.5:.3g}. It was chosen, not learned."
    )


FAMILY = Family(
    "spherical",
    "Every coordinate of every vector is independent and normal with mean 0.",
    spherical,
    (PRECISION,),
    _sentence,
    example="--prior-precision 2",
)
