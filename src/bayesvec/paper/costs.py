"""About how long fits take on two cores: hints that put the cheap cells first and tell what a run will need."""

import math


def distinct_pairs(vocab: int, pairs: int) -> float:
    """Return how many of the V x V pairs are seen if N are drawn uniformly."""
    return vocab**2 * -math.expm1(-pairs / vocab**2)


def sweep_seconds(dim: int, rows: float, distinct: float) -> float:
    """Return the time of one Gibbs sweep over ``rows`` of both sides and ``distinct`` pairs, on one core."""
    row = 2e-6 + 5e-8 * dim + 3e-11 * dim**3  # measured, K from 5 to 100
    pair = 4.5e-8 + 1.2e-9 * dim + 2.6e-11 * dim**2
    return 4e-4 + rows * row + distinct * pair


def fit_seconds(
    way: str, dim: int, vocab: int, pairs: int, *, sweeps: int, at_once: int = 1, fits: int = 1
) -> float:
    """Return the time of some fits of a simulated world, ``at_once`` side by side.

    Parameters
    ----------
    way : str
        One of `bayesvec.paper.variants.WAYS`.
    dim, vocab, pairs : int
        The world.
    sweeps : int
        Warm-up and draws of each.
    at_once, fits : int
        Fits side by side, and in all.
    """
    distinct = distinct_pairs(vocab, pairs)
    one = sweep_seconds(dim, 2 * vocab, distinct)
    gradient = 5e-5 + distinct * 1.0e-8 * (1.0 + dim / 8)
    if way.startswith("paper"):
        seconds = 10 * sweeps * one
    elif way.startswith("gibbs"):
        seconds = sweeps * one
    elif way.startswith("nuts"):
        steps = 100 if pairs <= 20_000 else 500  # of a trajectory; measured, K = 5 and 10
        seconds = sweeps * steps * gradient
    elif way == "map":
        seconds = 300 * gradient
    elif way == "mfvi":
        seconds = 8000 * gradient + 2e-4 * sweeps
    elif way == "mfvi-stan":
        seconds = 2000 * gradient + 2e-4 * sweeps
    else:  # blockvi, laplace
        seconds = 300 * one + 5e-4 * sweeps + 2e-9 * (vocab * dim) ** 3 / 8
    return fits / at_once * seconds + 0.3


def counts_seconds(way: str, dim: int, rows: int, distinct: float, *, sweeps: int) -> float:
    """Return the time of a fit of two chains to real data, on two cores.

    Parameters
    ----------
    way : str
        One of `bayesvec.paper.variants.WAYS`.
    dim, rows : int
        Axes, and rows of both sides.
    distinct : float
        Distinct pairs.
    sweeps : int
        Warm-up and draws of a chain.
    """
    one = sweep_seconds(dim, rows, distinct)
    gradient = 1e-4 + distinct * 1.0e-8 * (1.0 + dim / 8)
    if way.startswith("paper"):
        return 10 * sweeps * one
    if way.startswith("gibbs"):
        return sweeps * one
    if way.startswith("nuts"):
        return sweeps * 100 * gradient
    if way == "map":
        return 1000 * (gradient + 8e-8 * rows * dim)  # L-BFGS goes over its own vectors too
    if way.startswith("mfvi"):
        return (4000 if way == "mfvi-stan" else 15000) * gradient
    return 150 * one  # blockvi


def congress_pairs(samples: int) -> float:
    """Return about how many distinct pairs so many samples of speeches have, 5,000 words."""
    return 1.35 * math.pow(samples, 0.875)
