"""Metrics of draws: coverage of a truth, distance from it, effective sample sizes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.diagnostics.sbc import COSINE, choose_functionals
from bayesvec.diagnostics.truth import inside, rmse_co
from bayesvec.estimates.convergence import ess_bulk, ess_tail
from bayesvec.estimates.per_draw import logistic
from bayesvec.paper.sampling import Drawn
from bayesvec.simulation.pairs import Truth

LEVEL = 0.9


def against_truth(drawn: Drawn, truth: Truth) -> dict[str, float]:
    """Return the coverage of 90% intervals and the distance of estimates from the truth.

    An interval goes from the n-th smallest draw to the n-th largest, n being 5% of the number of draws plus one;
    with independent draws it covers the truth with a probability of 90%. The quantities are the co-occurrence
    probabilities of all pairs and the cosines of all pairs of words. The distances are the paper's RMSE_co, of
    the mean vectors and of the mean probabilities.
    """
    probability, cosine, mean = _ranks(drawn, truth)
    upper = np.triu_indices(len(truth.rho), 1)
    found = {
        "rmse_plugin": rmse_co(*drawn.mean(), truth.rho, truth.alpha),
        "rmse_probability": float(np.sqrt(np.mean((mean - truth.cooccurrence()) ** 2))),
    }
    size = drawn.rho.shape[0] * drawn.rho.shape[1]
    if size > 1:
        found["coverage_probability"] = float(np.mean(inside(probability, size, LEVEL)))
        found["coverage_cosine"] = float(np.mean(inside(cosine[upper], size, LEVEL)))
    return found


def _ranks(drawn: Drawn, truth: Truth) -> tuple[Any, Any, Float64]:
    """Return the number of draws below the truth, of each product and cosine, and the mean probabilities."""
    true_eta, true_cosine = truth.rho @ truth.alpha.T, truth.similarity()
    probability, cosine = (np.zeros(x.shape, dtype=np.int64) for x in (true_eta, true_cosine))
    mean = np.zeros(true_eta.shape)
    count = 0
    for chain in zip(drawn.rho, drawn.alpha, strict=True):
        for rho, alpha in zip(*chain, strict=True):
            eta = rho.astype(np.float64) @ alpha.astype(np.float64).T
            probability += eta < true_eta  # the logistic function is monotone
            mean += logistic(eta)
            length = np.linalg.norm(rho, axis=1, keepdims=True)
            unit = np.divide(rho, length, out=np.zeros_like(rho), where=length > 0)
            cosine += unit @ unit.T < true_cosine
            count += 1
    return probability, cosine, mean / count


def effective(drawn: Drawn, count: int, *, parameters: bool = True) -> dict[str, dict[str, float]]:
    """Return the median and the worst ESS of probabilities, cosines and (aligned) parameters.

    ``median`` and ``worst`` are of the bulk ESS, ``tail_median`` and ``tail_worst`` of the tail ESS, and
    ``least_median`` and ``least_worst`` of the smaller of both.

    Parameters
    ----------
    drawn : Drawn
        The draws.
    count : int
        How many probabilities and how many cosines, chosen at random.
    parameters : bool
        Include every coordinate of both sides that is not fixed.
    """
    chosen = choose_functionals(drawn.rho.shape[2], drawn.alpha.shape[2], count, seed=0)
    values = np.array(
        [
            [chosen(rho, alpha) for rho, alpha in zip(*chain, strict=True)]
            for chain in zip(drawn.rho, drawn.alpha, strict=True)
        ]
    )
    is_cosine = np.array(chosen.kinds) == COSINE
    found = {"probability": _summary(values[..., ~is_cosine]), "cosine": _summary(values[..., is_cosine])}
    if parameters:
        sides = [side.reshape(*side.shape[:2], -1) for side in drawn.aligned()]
        found["parameter"] = _summary(np.concatenate(sides, axis=-1))
    return found


def _summary(values: npt.NDArray[np.floating[Any]]) -> dict[str, float]:
    bulk, tail = ess_bulk(values), ess_tail(values)
    found: dict[str, float] = {}
    for name, ess in (("", bulk), ("tail_", tail), ("least_", np.minimum(bulk, tail))):
        found |= {f"{name}median": float(np.nanmedian(ess)), f"{name}worst": float(np.nanmin(ess))}
    return found
