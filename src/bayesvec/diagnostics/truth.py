"""Distance from a known truth, and coverage of it by intervals."""

import numpy as np
import numpy.typing as npt

from bayesvec._types import Bool, Int64
from bayesvec.errors import NumericalError, OptionError
from bayesvec.estimates.intervals import tails
from bayesvec.estimates.per_draw import logistic

_BLOCK_VALUES = 1 << 22


def rmse_co(rho: npt.ArrayLike, alpha: npt.ArrayLike, rho2: npt.ArrayLike, alpha2: npt.ArrayLike) -> float:
    r"""Return the root mean squared difference of the co-occurrence probabilities of all pairs.

    The paper's :math:`\text{RMSE}_{co}`; it does not change under :math:`(\rho A, \alpha A^{-\top})`.

    Parameters
    ----------
    rho, alpha : array_like, (R, K) and (C, K)
        An embedding.
    rho2, alpha2 : array_like, (R, K2) and (C, K2)
        Another one of the same rows.
    """
    one, two = (np.asarray(x, dtype=np.float64) for x in (rho, rho2))
    first, second = (np.asarray(x, dtype=np.float64) for x in (alpha, alpha2))
    if len(one) != len(two) or len(first) != len(second):
        sizes = f"{len(one)} x {len(first)} and {len(two)} x {len(second)}"
        raise OptionError(f"the embeddings have {sizes} words and contexts; they must have the same")
    total = 0.0
    step = max(1, _BLOCK_VALUES // len(first))
    for a in range(0, len(one), step):
        difference = logistic(one[a : a + step] @ first.T) - logistic(two[a : a + step] @ second.T)
        total += float(np.sum(difference**2))
    return float(np.sqrt(total / (len(one) * len(first))))


def tail_ranks(num_draws: int, level: float) -> int:
    """Return how many ranks of the truth among the draws an equal-tailed interval leaves out on each side.

    Of independent draws the rank of the truth is uniform on 0, ..., ``num_draws``; the interval has the probability
    ``level`` as nearly as the number of draws allows.
    """
    return round((num_draws + 1) * tails(level)[0])


def inside(ranks: Int64, num_draws: int, level: float) -> Bool:
    """Return whether each truth lies in the interval of its draws, given how many of these are below it."""
    out = tail_ranks(num_draws, level)
    return np.asarray((ranks >= out) & (ranks <= num_draws - out))


def coverage(draws: npt.ArrayLike, truth: npt.ArrayLike, level: float = 0.9) -> float:
    """Return the fraction of true values that lie in the equal-tailed interval of their draws.

    Parameters
    ----------
    draws : array_like, (chain, draw, ...)
        Draws of any number of quantities.
    truth : array_like, (...)
        Their true values.
    level : float, optional
        Probability of the intervals.
    """
    values, true = np.asarray(draws), np.asarray(truth)
    if values.shape[2:] != true.shape:
        raise OptionError(f"there are draws of {values.shape[2:]} quantities and {true.shape} true values")
    if not (np.isfinite(values).all() and np.isfinite(true).all()):
        raise NumericalError("draws or true values are not finite; coverage needs numbers")
    ranks = (values < true).sum(axis=(0, 1))
    return float(np.mean(inside(ranks, values.shape[0] * values.shape[1], level)))
