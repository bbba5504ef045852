r"""R-hat, effective sample size and Monte Carlo error, on plain arrays (chain, draw, ...).

Rank-normalised split R-hat and bulk and tail ESS as in Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021),
"Rank-normalization, folding, and localization: an improved R-hat", with Geyer's (1992) initial monotone
sequence. The values are those of arviz-stats (the tests hold them to it), computed for all columns at once
and without its second of imports. Two things differ on purpose: a constant column has no ESS and no R-hat
(NaN), and one chain has an R-hat, that of its two halves.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.errors import OptionError

Array = Float64

# Vehtari et al. (2021) ask for an ESS of 400 and, of one quantity, for an R-hat of 1.01. At that ESS the
# largest R-hat of 200 quantities is between 1.015 and 1.03 in chains that have converged, so 1.05 it is.
ESS_WANTED = 400
RHAT_ALLOWED = 1.05
SHARE_WANTED = 0.95  # of the quantities of a kind; the slowest are named

# Chains disagree on a quantity if R-hat is too large although each of them mixes: alone they have an ESS that is
# this large, and together this many times less.
SETTLED_ESS = 25.0  # of each chain, on average
APART = 4.0

FEWEST_DRAWS = 4  # below this the halves of a chain have no variance
TAIL = 0.05  # tail ESS is that of the 5% and the 95% quantile
_BLOCK_VALUES = 2**21  # values whose Fourier transforms are held at a time


def rhat(draws: npt.ArrayLike) -> Array:
    """Return the rank-normalised split R-hat, the larger of bulk and tail.

    Parameters
    ----------
    draws : array_like, (chain, draw, ...)
        Draws of any number of quantities.

    Returns
    -------
    ndarray, (...)
        One value per quantity; NaN where it is constant, not finite, or has fewer than 4 draws per chain.
    """
    return _by_columns(draws, _rhat_columns)


def ess_bulk(draws: npt.ArrayLike) -> Array:
    """Return the bulk effective sample size; shapes as in `rhat`."""
    return _by_columns(draws, lambda x: _ess(_z_scale(_split(x))))


def ess_tail(draws: npt.ArrayLike) -> Array:
    """Return the tail effective sample size, of the 5% or the 95% quantile; shapes as in `rhat`."""
    return _by_columns(draws, _ess_tail_columns)


def disagree(draws: npt.ArrayLike, rhats: Array, ess: Array) -> npt.NDArray[np.bool_]:
    """Return on which quantities chains disagree that have settled, each in a place of its own.

    Parameters
    ----------
    draws : array_like, (chain, draw, ...)
        The draws.
    rhats, ess : ndarray, (...)
        Their R-hat and bulk ESS.
    """
    array = np.asarray(draws, dtype=np.float64)
    chains = len(array)
    within = sum((ess_bulk(array[chain : chain + 1]) for chain in range(chains)), np.zeros(array.shape[2:]))
    apart = (rhats > RHAT_ALLOWED) & (within >= SETTLED_ESS * chains) & (within >= APART * ess)
    apart |= np.isinf(rhats)  # each chain is constant, at a value of its own
    return np.asarray(apart if chains > 1 else np.zeros_like(apart))


def mcse(draws: npt.ArrayLike) -> Array:
    """Return the Monte Carlo standard error of the mean; shapes as in `rhat`."""
    return _by_columns(draws, lambda x: x.std(axis=(0, 1), ddof=1) / np.sqrt(_ess(_split(x))))


def _by_columns(draws: npt.ArrayLike, measure: Callable[[Array], Array]) -> Array:
    """Apply ``measure`` to blocks of columns (chain, draw, M), NaN where there is nothing to measure."""
    array = np.asarray(draws, dtype=np.float64)
    if array.ndim < 2:
        raise OptionError(f"draws have {array.ndim} dimensions; they must be (chain, draw, ...)")
    num_chains, num_draws, *shape = array.shape
    columns = array.reshape(num_chains, num_draws, -1)
    result = np.full(columns.shape[2], np.nan)
    if num_draws >= FEWEST_DRAWS and num_chains:
        block = max(1, _BLOCK_VALUES // (num_chains * num_draws))
        for first in range(0, columns.shape[2], block):
            part = columns[:, :, first : first + block]
            with np.errstate(invalid="ignore"):
                spread = np.ptp(part, axis=(0, 1))
                varies = spread > 8 * np.finfo(float).eps * np.abs(part).max(axis=(0, 1), initial=0.0)
            varies &= np.isfinite(part).all(axis=(0, 1))
            if varies.any():
                result[first : first + block][varies] = measure(part[:, :, varies])
    return result.reshape(shape)


def _split(x: Array) -> Array:
    """Split each chain into its first and its second half, so that a drift shows as a difference of chains."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])  # (2 chain, draw // 2, M)


def _z_scale(x: Array) -> Array:
    """Replace values by the normal scores of their ranks over all chains (Blom's offset 3/8)."""
    flat = x.reshape(-1, x.shape[2])
    size = len(flat)
    order = np.argsort(flat, axis=0)
    ranked = np.take_along_axis(flat, order, axis=0)
    differs = np.ones((size + 1, flat.shape[1]), dtype=bool)
    differs[1:-1] = ranked[1:] != ranked[:-1]
    place = np.arange(size)[:, None]
    # Equal values share the mean of their ranks: first and last place of each run of them.
    first = np.maximum.accumulate(np.where(differs[:-1], place, 0), axis=0)
    last = np.minimum.accumulate(np.where(differs[1:], place, size)[::-1], axis=0)[::-1]
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, _normal_scores(size)[first + last], axis=0)
    return scores.reshape(x.shape)


@lru_cache(maxsize=4)
def _normal_scores(size: int) -> Array:
    """Normal scores of the mean ranks 1, 1.5, 2, ..., ``size``."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile((1 + k / 2 - 3 / 8) / (size + 1 / 4)) for k in range(2 * size - 1)])


def _rhat_columns(x: Array) -> Array:
    halves = _split(x)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.fmax(_rhat_plain(_z_scale(halves)), _rhat_plain(_z_scale(folded)))


def _rhat_plain(x: Array) -> Array:
    num_draws = x.shape[1]
    between = num_draws * x.mean(axis=1).var(axis=0, ddof=1)
    within = x.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that are constant at different values: inf
        return np.asarray(np.sqrt((between / within + num_draws - 1) / num_draws))


def _ess_tail_columns(x: Array) -> Array:
    low, high = np.quantile(x, [TAIL, 1 - TAIL], axis=(0, 1))
    # Where ties make an indicator constant it is uninformative; the other one then decides.
    below, above = ((x <= edge).astype(np.float64) for edge in (low, high))
    return np.fmin(_ess_or_nan(below), _ess_or_nan(above))


def _ess_or_nan(x: Array) -> Array:
    result = np.full(x.shape[2], np.nan)
    varies = np.ptp(x, axis=(0, 1)) > 0
    if varies.any():
        result[varies] = _ess(_split(x[:, :, varies]))
    return result


def _ess(x: Array) -> Array:
    """Effective sample size of columns (chain, draw, M): draws over the autocorrelation time."""
    num_chains, num_draws, _ = x.shape
    covariance = _autocovariance(x).mean(axis=0)  # (draw, M)
    within = covariance[0] * num_draws / (num_draws - 1)
    total = covariance[0] + (x.mean(axis=1).var(axis=0, ddof=1) if num_chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    tau = _autocorrelation_time(rho)
    # Antithetic chains may beat independent draws, but no further than this.
    shortest = 1.0 / math.log10(num_chains * num_draws)
    return np.asarray(num_chains * num_draws / np.maximum(tau, shortest))


def _autocorrelation_time(rho: Array) -> Array:
    """Sum autocorrelations over Geyer's initial monotone sequence of pairs (2 t, 2 t + 1)."""
    num_pairs = max(1, (len(rho) - 1) // 2)
    even, odd = rho[0 : 2 * num_pairs : 2], rho[1 : 2 * num_pairs : 2]
    pairs = even + odd
    stops = pairs <= 0
    stops[-1] = True  # the last pair ends the sequence whatever its sign
    stop = np.argmax(stops, axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    kept = np.arange(num_pairs)[:, None] < stop
    # Of the pair that ends the sequence the first term counts, once, and not if it made the sum negative.
    last, ending = (np.take_along_axis(x, stop[None], axis=0)[0] for x in (even, pairs))
    edge = np.where(ending > 0, last, np.maximum(last, 0.0))
    return np.asarray(-1.0 + 2.0 * np.where(kept, monotone, 0.0).sum(axis=0) + edge)


def _autocovariance(x: Array) -> Array:
    """Autocovariance at every lag along axis 1, divided by the number of draws."""
    num_draws = x.shape[1]
    length = 1 << (2 * num_draws - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), n=length, axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(power, n=length, axis=1)[:, :num_draws] / num_draws)
