"""Rough times of fits on two cores: they order the cells and tell how long a run will take."""

import math
from collections.abc import Mapping
from typing import Any


def sweep_seconds(dim: int, rows: float, distinct: float) -> float:
    """Return the time of one Gibbs sweep over ``rows`` of both sides and ``distinct`` pairs, on one core."""
    row = 2e-6 + 5e-8 * dim + 3e-11 * dim**3  # measured, K from 5 to 100
    pair = 4.5e-8 + 1.2e-9 * dim + 2.6e-11 * dim**2
    return 4e-4 + rows * row + distinct * pair


def fit_seconds(settings: Mapping[str, Any], rows: int, distinct: float, *, trajectory: int = 100) -> float:
    """Return the time of a fit: of two chains on two cores, or of one chain on one.

    Parameters
    ----------
    settings : Mapping
        ``method``, ``dim``, ``draws``, ``warmup``, ``thin``.
    rows : int
        Rows of both sides.
    distinct : float
        Distinct pairs.
    trajectory : int
        Gradients per draw of NUTS.
    """
    dim, sweeps = settings["dim"], settings["warmup"] + settings.get("thin", 1) * settings["draws"]
    sweep = sweep_seconds(dim, rows, distinct)
    gradient = 1e-4 + distinct * 1.0e-8 * (1.0 + dim / 8)
    seconds = {
        "gibbs": sweeps * sweep,
        "paper": 10 * sweeps * sweep,
        "nuts": sweeps * trajectory * gradient,
        "map": 1000 * (gradient + 8e-8 * rows * dim),  # L-BFGS passes over its own vectors too
        "mfvi": (4000 if settings["method"] == "mfvi-stan" else 15000) * gradient,
        "blockvi": 150 * sweep,
        "laplace": 150 * sweep + 3e-11 * (rows * dim) ** 3,
    }
    return float(seconds[settings["method"].partition("-")[0]])


def world_seconds(settings: Mapping[str, Any]) -> float:
    """Return the time of fits of simulated worlds, their N pairs drawn uniformly from V x V."""
    vocab, pairs = settings["vocab"], settings["pairs"]
    distinct = vocab**2 * -math.expm1(-pairs / vocab**2)
    trajectory = 100 if pairs <= 20_000 else 500  # measured, K = 5 and 10
    one = 0.3 + fit_seconds(settings, 2 * vocab, distinct, trajectory=trajectory)
    metrics = 2e-8 * (settings["warmup"] + settings["draws"]) * vocab**2
    return float(settings.get("worlds", 2) / 2 * (one + metrics))


def congress_seconds(settings: Mapping[str, Any]) -> float:
    """Return the time to read and to fit speeches."""
    rows, distinct = 2 * settings["vocab"], congress_pairs(settings["pairs"])
    return float(settings["words"] / 1e5 + fit_seconds(settings, rows, distinct))


def congress_pairs(samples: float) -> float:
    """Return about how many distinct pairs so many samples of speeches have, with 5,000 words."""
    return 1.35 * math.pow(samples, 0.875)
