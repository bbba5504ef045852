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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64
from bayesvec.errors import OptionError

Array = Float64

# Vehtari et al. (2021) ask for an ESS of 400 and, of one quantity, for an R-hat of 1.01. At that ESS the
# largest R-hat of 200 quantities is between 1.015 and 1.03 in chains that have converged, so 1.05 it is.
ESS_WANTED = 400
RHAT_ALLOWED = 1.05
ROUGH_ESS = (
    100  # the Monte Carlo error of the mean is a tenth of the standard deviation; with less, answers say so
)
SHARE_WANTED = 0.95  # of the quantities of a kind; the slowest are named

# Chains disagree on a quantity if R-hat is too large although each of them mixes: alone they have an ESS that is
# this large, and together this many times less.
SETTLED_ESS = 50.0  # of each chain, on average: slow chains seem to mix better than they do
APART = 4.0

FEWEST_DRAWS = 4  # below this the halves of a chain have no variance
TAIL = 0.05  # tail ESS is that of the 5% and the 95% quantile
_BLOCK_VALUES = 2**21  # values whose Fourier transforms are held at a time


class Measures(NamedTuple):
    """R-hat and ESS of some quantities, (...); NaN where a quantity has none."""

    rhat: Array
    ess_bulk: Array
    ess_tail: Array


def measures(draws: npt.ArrayLike) -> Measures:
    """Return `rhat`, `ess_bulk` and `ess_tail` together, in less time than one after another."""
    return Measures(*_by_columns(draws, _all_measures, 3))


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
    return _by_columns(draws, lambda x: (_rhat_halves(halves := _split(x), _z_scale(halves)),))[0]


def ess_bulk(draws: npt.ArrayLike) -> Array:
    """Return the bulk effective sample size; shapes as in `rhat`."""
    return _by_columns(draws, lambda x: (_ess(_z_scale(_split(x))),))[0]


def ess_tail(draws: npt.ArrayLike) -> Array:
    """Return the tail effective sample size, of the 5% or the 95% quantile; shapes as in `rhat`."""
    return _by_columns(draws, lambda x: (_ess_tail_columns(x),))[0]


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
    apart = np.asarray(rhats > RHAT_ALLOWED)
    if apart.any():
        some = array[:, :, apart]
        within = sum((ess_bulk(some[chain : chain + 1]) for chain in range(chains)), np.zeros(some.shape[2:]))
        apart[apart] = (within >= SETTLED_ESS * chains) & (within >= APART * ess[apart])
    apart |= np.isinf(rhats)  # each chain is constant, at a value of its own
    return apart if chains > 1 else np.zeros_like(apart)


def mcse(draws: npt.ArrayLike) -> Array:
    """Return the Monte Carlo standard error of the mean; shapes as in `rhat`."""
    return _by_columns(draws, lambda x: (x.std(axis=(1, 2), ddof=1) / np.sqrt(_ess(_split(x))),))[0]


def _by_columns(
    draws: npt.ArrayLike, measure: Callable[[Array], tuple[Array, ...]], number: int = 1
) -> list[Array]:
    """Apply ``measure``, which gives ``number`` results, to blocks of quantities, (M, chain, draw).

    The results are NaN where there is nothing to measure.
    """
    array = np.asarray(draws, dtype=np.float64)
    if array.ndim < 2:
        raise OptionError(f"draws have {array.ndim} dimensions; they must be (chain, draw, ...)")
    num_chains, num_draws, *shape = array.shape
    columns = array.reshape(num_chains, num_draws, -1)
    results = np.full((number, columns.shape[2]), np.nan)
    if num_draws >= FEWEST_DRAWS and num_chains:
        block = max(1, _BLOCK_VALUES // (num_chains * num_draws))
        for first in range(0, columns.shape[2], block):
            # the draws of a quantity one after another: sorts and transforms are faster by far
            part = np.ascontiguousarray(np.moveaxis(columns[:, :, first : first + block], 2, 0))
            varies = _vary(part)
            if varies.any():
                results[:, first : first + block][:, varies] = measure(part if varies.all() else part[varies])
    return [result.reshape(shape) for result in results]


def _vary(x: Array) -> npt.NDArray[np.bool_]:
    """Return which quantities, (M, chain, draw), are finite and not constant but for rounding."""
    low, high = x.min(axis=(1, 2), initial=np.inf), x.max(axis=(1, 2), initial=-np.inf)  # NaN if one is
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.isfinite(low)
            & np.isfinite(high)
            & (high - low > 8 * np.finfo(float).eps * np.maximum(np.abs(low), np.abs(high)))
        )


def _all_measures(x: Array) -> tuple[Array, Array, Array]:
    halves = _split(x)
    scores = _z_scale(halves)
    return _rhat_halves(halves, scores), _ess(scores), _ess_tail_columns(x)


def _split(x: Array) -> Array:
    """Split each chain into its first and its second half, so that a drift shows as a difference of chains."""
    half = x.shape[2] // 2
    return np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)  # (M, 2 chain, draw // 2)


def _z_scale(x: Array) -> Array:
    """Replace values by the normal scores of their ranks over all chains (Blom's offset 3/8)."""
    flat = x.reshape(len(x), -1)
    size = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ranked = np.take_along_axis(flat, order, axis=1)
    same = ranked[:, 1:] == ranked[:, :-1]
    scores = np.empty_like(flat)
    if not same.any():
        np.put_along_axis(scores, order, _normal_scores(size)[None, ::2], axis=1)
        return scores.reshape(x.shape)
    differs = np.ones((len(flat), size + 1), dtype=bool)
    differs[:, 1:-1] = ~same
    place = np.arange(size)
    # Equal values share the mean of their ranks: first and last place of each run of them.
    first = np.maximum.accumulate(np.where(differs[:, :-1], place, 0), axis=1)
    last = np.minimum.accumulate(np.where(differs[:, 1:], place, size)[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(scores, order, _normal_scores(size)[first + last], axis=1)
    return scores.reshape(x.shape)


@lru_cache(maxsize=4)
def _normal_scores(size: int) -> Array:
    """Normal scores of the mean ranks 1, 1.5, 2, ..., ``size``."""
    quantile = NormalDist().inv_cdf
    return np.array([quantile((1 + k / 2 - 3 / 8) / (size + 1 / 4)) for k in range(2 * size - 1)])


def _rhat_halves(halves: Array, scores: Array) -> Array:
    """Return R-hat of half chains, given their normal scores."""
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    return np.fmax(_rhat_plain(scores), _rhat_plain(_z_scale(folded)))


def _rhat_plain(x: Array) -> Array:
    num_draws = x.shape[2]
    between = num_draws * x.mean(axis=2).var(axis=1, ddof=1)
    within = x.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # chains that are constant at different values: inf
        return np.asarray(np.sqrt((between / within + num_draws - 1) / num_draws))


def _ess_tail_columns(x: Array) -> Array:
    low, high = np.quantile(x.reshape(len(x), -1), [TAIL, 1 - TAIL], axis=1)
    # Where ties make an indicator constant it is uninformative; the other one then decides.
    below, above = ((x <= edge[:, None, None]).astype(np.float64) for edge in (low, high))
    return np.fmin(_ess_or_nan(below), _ess_or_nan(above))


def _ess_or_nan(x: Array) -> Array:
    result = np.full(len(x), np.nan)
    varies = np.ptp(x, axis=(1, 2)) > 0
    if varies.any():
        result[varies] = _ess(_split(x[varies]))
    return result


def _ess(x: Array) -> Array:
    """Effective sample size of quantities (M, chain, draw): draws over the autocorrelation time."""
    _, num_chains, num_draws = x.shape
    covariance = _autocovariance(x).mean(axis=1)  # (M, draw)
    within = covariance[:, :1] * num_draws / (num_draws - 1)
    total = covariance[:, :1] + (x.mean(axis=2).var(axis=1, ddof=1, keepdims=True) if num_chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[:, 0] = 1.0
    tau = _autocorrelation_time(rho)
    # Antithetic chains may beat independent draws, but no further than this.
    shortest = 1.0 / math.log10(num_chains * num_draws)
    return np.asarray(num_chains * num_draws / np.maximum(tau, shortest))


def _autocorrelation_time(rho: Array) -> Array:
    """Sum autocorrelations, (M, draw), over Geyer's initial monotone sequence of pairs (2 t, 2 t + 1)."""
    num_pairs = max(1, (rho.shape[1] - 1) // 2)
    even, odd = rho[:, 0 : 2 * num_pairs : 2], rho[:, 1 : 2 * num_pairs : 2]
    pairs = even + odd
    stops = pairs <= 0
    stops[:, -1] = True  # the last pair ends the sequence whatever its sign
    stop = np.argmax(stops, axis=1)[:, None]
    monotone = np.minimum.accumulate(pairs, axis=1)
    kept = np.arange(num_pairs) < stop
    # Of the pair that ends the sequence the first term counts, once, and not if it made the sum negative.
    last, ending = (np.take_along_axis(x, stop, axis=1)[:, 0] for x in (even, pairs))
    edge = np.where(ending > 0, last, np.maximum(last, 0.0))
    return np.asarray(-1.0 + 2.0 * np.where(kept, monotone, 0.0).sum(axis=1) + edge)


def _autocovariance(x: Array) -> Array:
    """Autocovariance at every lag along the last axis, divided by the number of draws."""
    num_draws = x.shape[2]
    length = 1 << (2 * num_draws - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(axis=2, keepdims=True), n=length, axis=2)
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(power, n=length, axis=2)[:, :, :num_draws] / num_draws)
