r"""Draws of the precisions that are learned, given the rows; and of how the two sides share them.

Each scale has a Gamma conditional (`bayesvec.priors.scales`). The data do not know how large rho is against
alpha, so rows and scales would follow each other there for very long. The exchange

.. math:: (\rho, \alpha, \tau_\rho, \tau_\alpha) \to (c\rho, \alpha/c, \tau_\rho/c^2, \tau_\alpha c^2)

changes neither the likelihood nor, but for the Gamma distributions, the prior: a generalised Gibbs step
(Liu & Sabatti 2000) draws

.. math:: c^2 \sim GIG\Big(\sum a_\alpha - \sum a_\rho,\ 2 \sum b_\alpha \tau_\alpha,\ 2 \sum b_\rho \tau_\rho\Big),

where a and b are the shapes and rates. It needs every scale of both sides to be learned.
"""

import math

import numpy as np
import numpy.typing as npt

from bayesvec.kernels import rng
from bayesvec.kernels.orbit import draw_gig
from bayesvec.priors import Prior, RowPrior
from bayesvec.priors.scales import Learned, Part
from bayesvec.samplers.state import ScaledState as State

Float64 = npt.NDArray[np.float64]

_EXCHANGE = 1 << 16  # the row of its address, after those of the scales


def start_scales(prior: Prior) -> Float64:
    """Return where the scales that are learned begin."""
    return np.array([part.scale for part, _ in _learned(prior)])


def draw_scales(prior: Prior, state: State, key: rng.Key, *, exchange: bool) -> State:
    """Draw the scales given the rows; with ``exchange`` also how the two sides share them.

    Parameters
    ----------
    prior : Prior
        At the current scales.
    state : State
        The rows.
    key : Key
        The address of these draws.
    exchange : bool
        Whether the prior leaves the exchange free: no mean, nothing anchored.
    """
    scales = []
    for row, prior_x in enumerate(conditionals(prior, state)):
        shape, rate = prior_x
        scales.append(rng.gamma(shape, key, row, 0) / rate)
    drawn = np.array(scales)
    if not (exchange and _all_learned(prior.rho) and _all_learned(prior.alpha)):
        return state._replace(scales=drawn)
    split = len(prior.rho.learned)
    gammas = [learned for _, learned in _learned(prior)]
    power = sum(gamma.shape for gamma in gammas[split:]) - sum(gamma.shape for gamma in gammas[:split])
    pulls = [2.0 * gamma.rate * scale for gamma, scale in zip(gammas, scales, strict=True)]
    square = draw_gig(power, sum(pulls[split:]), sum(pulls[:split]), key, _EXCHANGE)
    drawn[:split] /= square
    drawn[split:] *= square
    size = np.float32(math.sqrt(square))
    return State(state.rho * size, state.alpha / size, drawn)


def conditionals(prior: Prior, state: State) -> list[tuple[float, float]]:
    """Return shape and rate of the Gamma distribution of each scale given the rows."""
    found = []
    for side, rows in ((prior.rho, state.rho), (prior.alpha, state.alpha)):
        x = rows.astype(np.float64)
        gap = x - side.mean_rows(*x.shape)
        for part in side.learned:
            assert part.learned is not None
            shape = part.learned.shape + 0.5 * part.coordinates(*x.shape)
            found.append((shape, part.learned.rate + 0.5 * part.square(gap)))
    return found


def log_hyperprior(prior: Prior) -> float:
    """Return the log density of the scales that are learned, normalising constant included."""
    total = 0.0
    for part, gamma in _learned(prior):
        total += gamma.shape * math.log(gamma.rate) - math.lgamma(gamma.shape)
        total += (gamma.shape - 1.0) * math.log(part.scale) - gamma.rate * part.scale
    return total


def _learned(prior: Prior) -> list[tuple[Part, Learned]]:
    parts = (*prior.rho.learned, *prior.alpha.learned)
    return [(part, part.learned) for part in parts if part.learned is not None]


def _all_learned(prior: RowPrior) -> bool:
    return bool(prior.parts) and all(part.learned for part in prior.parts)
