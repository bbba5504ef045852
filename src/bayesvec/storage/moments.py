"""Means and squared deviations of rows over draws (Welford 1962)."""

from bayesvec._types import Array, Float64


def add_draw(mean: Float64, squares: Float64, draw: Array, number: int) -> None:
    """Add one draw, in place, to the mean and the sum of squared deviations of ``number`` others."""
    difference = draw - mean
    mean += difference / (number + 1)
    difference *= draw - mean
    squares += difference


def with_draw(mean: Float64, squares: Float64, draw: Array, number: int) -> tuple[Float64, Float64]:
    """Return what `add_draw` makes of them, in new arrays."""
    mean, squares = mean.copy(), squares.copy()
    add_draw(mean, squares, draw, number)
    return mean, squares
