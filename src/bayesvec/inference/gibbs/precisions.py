r"""Draws of the learned precisions given the rows, and of how the two sides share them.

Each scale has a Gamma conditional (`bayesvec.priors.learned`). The data do not identify the scale of rho relative to
alpha, so rows and scales would mix very slowly in that direction. The exchange

.. math:: (\rho, \alpha, \tau_\rho, \tau_\alpha) \to (c\rho, \alpha/c, \tau_\rho/c^2, \tau_\alpha c^2)

changes neither the likelihood nor, but for the Gamma distributions, the prior: a generalised Gibbs step
(Liu & Sabatti 2000) draws

.. math:: c^2 \sim GIG\Big(\sum a_\alpha - \sum a_\rho,\ 2 \sum b_\alpha \tau_\alpha,\ 2 \sum b_\rho \tau_\rho\Big),

where a and b are the shapes and rates. It needs every scale of both sides to be learned.

Where the data carry little information about single vectors, a scale can hardly move given the vectors. Every few
sweeps it therefore moves together with them: the part of the rows that it governs (all of them, the roots of walks,
or the steps) is multiplied by r and the scale divided by :math:`r^2`. The density of the standardised vectors does
not change, so the likelihood, the other parts of the prior and the scale's own Gamma distribution decide. This is
the ancillarity-sufficiency interweaving strategy (ASIS): a draw in the non-centred parametrisation, interwoven with
one in the centred (Yu & Meng 2011). The draw is by slice sampling of the log of the scale (Neal 2003). The scales
of rho move like that, and those of alpha where there is no exchange, which otherwise hands on to them what those of
rho find.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64
from bayesvec.inference.gibbs.engine import Engine
from bayesvec.inference.sides import Half
from bayesvec.kernels import rng
from bayesvec.kernels.orbit import draw_gig
from bayesvec.priors import Prior, RowPrior
from bayesvec.priors.learned import TAILS, Learned, Part

INTERWEAVE_EVERY = 4  # sweeps from one move of the scales with their rows to the next
_WIDTH = 0.2  # of the first interval around the log of a scale
_MOST_STEPS = 8  # of this width that the interval grows by

# rows of the addresses, after those of the scales
_EXCHANGE = 1 << 16
_INTERWEAVE = 1 << 17


class State(NamedTuple):
    """The vectors of both sides and the scales of a prior whose precisions are learned."""

    rho: Float32  # (R, K)
    alpha: Float32  # (C, K)
    scales: Float64 = np.zeros(0)


def start_scales(prior: Prior) -> Float64:
    """Return the starting values of the learned scales."""
    learned = prior.rho.learned if prior.shared is not None else [part for part, _ in _learned(prior)]
    return np.array([part.scale for part in learned])


def draw_scales(prior: Prior, state: State, key: rng.Key, engine: Engine, *, exchange: bool) -> State:
    """Draw the scales given the rows; with ``exchange`` also how the two sides share them.

    Parameters
    ----------
    prior : Prior
        At the current scales.
    state : State
        The rows.
    key : Key
        The address of these draws.
    engine : Engine
        Where sums over rows are computed.
    exchange : bool
        Whether to; the prior must leave it free: every scale learned (`all_learned`), no mean, nothing anchored.
    """
    scales = []
    for row, (shape, rate) in enumerate(conditionals(prior, state, engine)):
        scales.append(rng.gamma(shape, key, row, 0) / rate)
    drawn = np.array(scales)
    if not exchange:
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


def conditionals(prior: Prior, state: State, engine: Engine) -> list[tuple[float, float]]:
    """Return shape and rate of the Gamma distribution of each scale given the rows."""
    found = []
    for side, rows in ((prior.rho, state.rho), (prior.alpha, state.alpha)):
        if not side.learned:
            continue
        if _scales_rows(side):
            squares = [float(np.sum(side.parts[0].precision * np.diag(engine.gram(rows))))]
        else:
            gap = rows.astype(np.float64) - side.mean_rows(*rows.shape)
            squares = [part.square(gap) for part in side.learned]
        for part, square in zip(side.learned, squares, strict=True):
            assert part.learned is not None
            shape = part.learned.shape + 0.5 * part.coordinates(*rows.shape)
            found.append((shape, part.learned.rate + 0.5 * square))
    return found


def _scales_rows(side: RowPrior) -> bool:
    """Whether the rows of one side have no mean and one scale, and no row another precision or a neighbour."""
    return (
        len(side.parts) == 1
        and side.coupling is None
        and len(side.parts[0].precision) == 1
        and not np.any(side.mean)
    )


def interweave_scales(prior: Prior, state: State, half: Half, key: rng.Key, engine: Engine) -> State:
    """Draw each scale of one side jointly with the part of the rows it governs, given the standardised rows.

    Parameters
    ----------
    prior : Prior
        At any scales: those of the state are used.
    state : State
        Rows and scales; no row of this side is anchored.
    half : Half
        The data by word to move rho, by context to move alpha.
    key : Key
        The address of these draws.
    engine : Engine
        Where the likelihood is computed.
    """
    of_alpha = half.purpose == rng.ALPHA
    rows, other = (state.alpha, state.rho) if of_alpha else (state.rho, state.alpha)
    first, last = (len(prior.rho.learned), len(state.scales)) if of_alpha else (0, len(prior.rho.learned))
    scales = state.scales.copy()
    for number in range(first, last):
        now = prior.at(scales)
        side = now.alpha if of_alpha else now.rho
        part = side.learned[number - first]
        if _scales_rows(side):  # all rows are multiplied by the same number, wherever they are
            after = _draw_log_scale(
                part, engine.line(half, rows, rows, other), (0.0, 0.0), key, _INTERWEAVE + number
            )
            rows = rows * np.float32(math.exp(0.5 * (math.log(part.scale) - after)))
            scales[number] = math.exp(after)
            continue
        x = rows.astype(np.float64)
        gap = x - side.mean_rows(*x.shape)
        direction = side.component(part, gap, half.weight)
        if direction is None:
            continue
        shares = engine.line(half, rows, direction, other)
        pull = _pull_along([each for each in side.parts if each is not part], gap, direction)
        after = _draw_log_scale(part, shares, pull, key, _INTERWEAVE + number)
        rows = (x + math.expm1(0.5 * (math.log(part.scale) - after)) * direction).astype(np.float32)
        scales[number] = math.exp(after)
    return State(other, rows, scales) if of_alpha else State(rows, other, scales)


def _pull_along(others: list[Part], gap: Float64, direction: Float64) -> tuple[float, float]:
    """Return by what times s and s^2 the log density of gap + s direction under some parts grows from that at 0."""
    own = sum(part.scale * part.square(gap) for part in others)
    square = sum(part.scale * part.square(direction) for part in others)
    both = sum(part.scale * part.square(gap + direction) for part in others) - own - square
    return -0.5 * both, -0.5 * square


def _draw_log_scale(
    part: Part,
    shares: Callable[[float], Float64],
    pull: tuple[float, float],
    key: rng.Key,
    row: int,
) -> float:
    """Draw the log of a scale by slice sampling.

    Parameters
    ----------
    part : Part
        Whose scale; it has its current value.
    shares, pull
        Of rows + s direction as functions of s: see `Engine.line` and `_pull_along`.
    key : Key
        The address of the draws.
    row : int
        Their row in it.
    """
    gamma, before = part.learned, math.log(part.scale)
    assert gamma is not None

    def log_density(log_scale: float) -> float:
        s = math.expm1(0.5 * (before - log_scale))
        own = gamma.shape * log_scale - gamma.rate * math.exp(log_scale)
        return own + s * pull[0] + s * s * pull[1] + float(shares(s).sum())

    return draw_by_slice(before, log_density, key, row)


def draw_by_slice(before: float, log_density: Callable[[float], float], key: rng.Key, row: int) -> float:
    """Draw a number by slice sampling from where it is: an interval that steps out, then shrinks."""
    level = log_density(before) - rng.exponential(key, row, 0)
    place, share = rng.uniforms(key, row, 1)
    low = before - _WIDTH * place
    high = low + _WIDTH
    below = int(_MOST_STEPS * share)
    for _ in range(below):
        if log_density(low) <= level:
            break
        low -= _WIDTH
    for _ in range(_MOST_STEPS - 1 - below):
        if log_density(high) <= level:
            break
        high += _WIDTH
    block = 2
    while True:
        after = low + (high - low) * rng.uniforms(key, row, block)[0]
        if log_density(after) > level or after == before:
            return after
        low, high = (after, high) if after < before else (low, after)
        block += 1


def log_hyperprior(prior: Prior) -> float:
    """Return the log density of the scales that are learned, normalising constant included."""
    total, learned = 0.0, _learned(prior)
    if prior.shared is not None:
        matrix = [part.scale for part in prior.rho.learned if part.name != TAILS]
        total = prior.shared.log_density(matrix)
        learned = learned[len(matrix) : len(prior.rho.learned)]  # the tails, which both sides share
    for part, gamma in learned:
        total += gamma.shape * math.log(gamma.rate) - math.lgamma(gamma.shape)
        total += (gamma.shape - 1.0) * math.log(part.scale) - gamma.rate * part.scale
    return total


def _learned(prior: Prior) -> list[tuple[Part, Learned]]:
    parts = (*prior.rho.learned, *prior.alpha.learned)
    return [(part, part.learned) for part in parts if part.learned is not None]


def all_learned(prior: Prior) -> bool:
    """Tell whether every precision of both sides is learned."""
    return all(side.parts and all(part.learned for part in side.parts) for side in (prior.rho, prior.alpha))
