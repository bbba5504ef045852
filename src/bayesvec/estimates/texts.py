"""Numbers as text: values with the decimals that they deserve, and probabilities that are never printed as 0 or 1."""

import math
from typing import Any

LEAST = 0.001  # a smaller probability is printed as less than this


def many(number: int, what: str) -> str:
    """Return a number of things in words, such as ``2 chains``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def formatted(values: list[float], sd: float) -> list[str]:
    """Write values with the decimals that their standard deviation deserves, at least two."""
    if not sd > 0:
        return [f"{value:.3g}" for value in values]
    decimals = min(12, max(2, math.ceil(-math.log10(sd))))
    return [f"{value:z.{decimals}f}" for value in values]  # z: no negative zero


def probability_text(value: float, draws: int | None = None, *, decimals: int = 2) -> str:
    """Write a probability that was estimated by the fraction of draws in which something holds.

    What holds in all of n draws, or in none, is certain only up to 1 / (n + 1), the probability that a new draw is
    the first exception: it is written as ``> 0.999`` or ``< 0.001``, and of 20 draws as ``> 0.952``.

    Parameters
    ----------
    value : float
        A probability, or NaN.
    draws : int, optional
        How many draws; many if not given.
    decimals : int
        Two, near 0 and 1 three; or 3 for three significant digits everywhere.
    """
    if math.isnan(value):
        return "n/a"
    least = LEAST if draws is None else max(LEAST, math.ceil(1000 / (draws + 1)) / 1000)
    if value < LEAST / 2 or (draws and value < 0.5 / draws):
        return f"< {least:g}"
    if value > 1 - LEAST / 2 or (draws and value > 1 - 0.5 / draws):
        return f"> {1 - least:.3g}"
    near = min(value, 1 - value) < 0.005
    return f"{value:.3g}" if decimals == 3 else f"{value:.{3 if near else 2}f}"


def with_probability(
    sentence: str, name: str, probability: float, draws: int | None = None, *, decimals: int = 3
) -> str:
    """Add a probability to a sentence, unless it is NaN, as for a single point."""
    if math.isnan(probability):
        return sentence
    return f"{sentence}, {name} {probability_text(probability, draws, decimals=decimals)}"


def few_text(expected: float, claims: int, draws: int | None) -> str:
    """Write the expected number of false claims, which is not 0 only because the draws are finite."""
    least = claims / (draws + 1) if draws else LEAST
    return f"fewer than {least:.1g}" if expected < least else f"{expected:.2g}"


def plain(figures: dict[str, Any]) -> dict[str, Any]:
    """Replace what JSON cannot hold (NaN, infinity) by None."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in figures.items()
    }
