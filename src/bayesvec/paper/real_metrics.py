"""Intervals from samples against a reference: coverage, bias and spread."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesvec._types import Bool, Float32, Float64
from bayesvec.estimates.convergence import rhat

LEVEL = 0.9
DISAGREE = 1.05  # R-hat above which the chains of the reference disagree


def compare(samples: Sequence[Float32], reference: Float32) -> dict[str, Any]:
    """Compare draws of some quantities given samples with those given a reference.

    Parameters
    ----------
    samples : sequence of ndarray, each (chain, draw, M)
        Draws given each sample.
    reference : ndarray, (chain, draw, M)
        Draws given the reference; a single one if the values are known.

    Returns
    -------
    dict
        ``covered`` and ``covered_difference``: by sample, the share of 90% intervals that hold the mean of the
        reference, and of intervals of the difference of two draws that hold zero; ``covered_all`` the former for all
        quantities. Mean and root mean square of ``z``, with the sign of the reference's deviation from its mean in
        ``z_outward``; ``slope`` of the reference on the samples' means; ``slope_on_reference`` the reverse;
        ``variance_ratio``: variance of means between samples over the posterior variance; ``error``: root mean
        square error over the spread of the reference.
    """
    agree = agreed(reference)
    truth = reference.mean(axis=(0, 1), dtype=np.float64)  # (M,)
    flat = [each.reshape(-1, each.shape[-1]).astype(np.float64) for each in samples]
    held = np.array([_holds(each, truth) for each in flat])  # (sample, M)
    others = reference.reshape(-1, reference.shape[-1])
    gaps = np.array([_holds(each - others[np.arange(len(each)) % len(others)], 0.0) for each in flat])
    mean, sd = (
        np.array([each.mean(axis=0) for each in flat]),
        np.array([each.std(axis=0, ddof=1) for each in flat]),
    )
    z, m, t = ((truth - mean) / sd)[:, agree], mean[:, agree], truth[agree]
    outward = np.sign(t - t.mean())
    spread = float(np.std(t))
    between = np.mean(np.var(m, axis=0, ddof=1)) if len(m) > 1 else None
    return {
        "covered": held[:, agree].mean(axis=1),
        "covered_all": held.mean(axis=1),
        "covered_difference": gaps[:, agree].mean(axis=1),
        "z": float(z.mean()),
        "z_outward": float((z * outward).mean()),
        "z_rms": float(np.sqrt((z**2).mean())),
        "slope": float(np.mean([np.polyfit(row, t, 1)[0] for row in m])),
        "slope_on_reference": float(np.mean([np.polyfit(t, row, 1)[0] for row in m])),
        "variance_ratio": None if between is None else float(between / np.mean(sd[:, agree] ** 2)),
        "error": float(np.sqrt(np.mean((m - t) ** 2)) / spread),
        "sd": float(sd[:, agree].mean()),
        "spread": spread,
    }


def _holds(draws: Float64, value: Any) -> Any:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return (low <= value) & (value <= high)


def agreed(reference: Float32) -> Bool:
    """Return on which quantities the chains of the reference agree; on all if it is a single draw."""
    if reference.shape[0] * reference.shape[1] == 1:
        return np.ones(reference.shape[2], dtype=bool)
    return np.asarray(rhat(reference) <= DISAGREE)
