"""Means and squared deviations of rows over draws (Welford 1962)."""

import numpy as np

from bayesvec._types import Array, Float64


def add_draw(mean: Float64, squares: Float64, draw: Array, number: int) -> None:
    """Add one draw, in place, to the mean and the sum of squared deviations of ``number`` others."""
    difference = draw - mean
    mean += difference / (number + 1)
    difference *= draw - mean
    squares += difference


def with_draw(
    mean: Float64 | None, squares: Float64 | None, draw: Array, number: int
) -> tuple[Float64, Float64]:
    """Return what `add_draw` makes of them, in new arrays; None stands for zeros."""
    new, deviations = (np.zeros(draw.shape) if each is None else each.copy() for each in (mean, squares))
    add_draw(new, deviations, draw, number)
    return new, deviations
