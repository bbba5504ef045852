r"""Simulation-based calibration: whether a method draws from the posterior, on data of a given size.

A world is drawn from the prior and data from the world; a method then draws from the posterior given the data.
If it is right, the truth is one more draw: its rank among the method's draws is uniform, whatever is measured
(Cook, Gelman & Rubin 2006; Talts, Betancourt, Simpson, Vehtari & Gelman 2018). Ranks crowd at both ends where
intervals are too narrow, in the middle where they are too wide, at one end where draws are shifted.

Measured are cosines of words and co-occurrence probabilities of pairs: neither depends on the rotation.
Draws must be thinned until they are nearly independent, or their ranks crowd at the ends too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._pipeline import in_order
from bayesvec._types import Float64, Int64
from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.random_pairs import random_pairs
from bayesvec.diagnostics.truth import inside
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.kernels import rng
from bayesvec.priors.gaussian import Prior
from bayesvec.simulation.pairs import Truth, simulate

# Draws of both sides, (draw, R, K) and (draw, C, K), given counts, a seed and, if the world has one, its prior.
Method = Callable[..., tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]]

COSINE, PROBABILITY, STRENGTH = "cosine", "co-occurrence probability", "strength"
EXPECTED_IN_BIN = 10.0  # worlds in a bin of the chi-square test, at least


@dataclass(frozen=True, eq=False)
class Functionals:
    """Cosines of some pairs of words and co-occurrence probabilities of some (word, context) pairs.

    Attributes
    ----------
    first, second : ndarray of int64
        Words whose cosine is measured.
    word, context : ndarray of int64
        Pairs whose probability is measured.
    pooled : bool
        Measure two strengths as well: the mean squared cosine, and the mean squared distance of the
        probabilities from 1/2. Draws that are all a little too near to zero, or too far from it, hardly show
        in the ranks of single quantities, where one sign makes up for the other (Modrák et al. 2023).
    """

    first: Int64
    second: Int64
    word: Int64
    context: Int64
    pooled: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each of the measured quantities is."""
        return (COSINE,) * len(self.first) + (PROBABILITY,) * len(self.word) + (STRENGTH,) * (2 * self.pooled)

    def __call__(self, rho: npt.ArrayLike, alpha: npt.ArrayLike) -> Float64:
        """Measure embeddings ``rho`` (..., R, K) and ``alpha`` (..., C, K): (..., M)."""
        x, y = np.asarray(rho, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
        length = np.linalg.norm(x, axis=-1)
        cosine = _dots(x[..., self.first, :], x[..., self.second, :])
        cosine /= length[..., self.first] * length[..., self.second]
        eta = _dots(x[..., self.word, :], y[..., self.context, :])
        half = 0.5 * np.tanh(0.5 * eta)  # the probability is 1/2 more
        measured = [cosine, 0.5 + half]
        if self.pooled:
            measured += [np.mean(part**2, axis=-1, keepdims=True) for part in (cosine, half)]
        return np.concatenate(measured, axis=-1)


def _dots(x: Float64, y: Float64) -> Float64:
    return np.asarray(np.einsum("...k,...k->...", x, y))


def choose_functionals(
    num_words: int, num_contexts: int, count: int, *, seed: int = 0, pooled: bool = False
) -> Functionals:
    """Choose ``count`` cosines and as many probabilities at random (all there are, if fewer)."""
    return Functionals(
        *random_pairs(num_words, None, count, seed=seed),
        *random_pairs(num_words, num_contexts, count, seed=seed),
        pooled=pooled,
    )


class World(NamedTuple):
    """A truth from the prior, data from it, and the seed that a method is to use on them."""

    counts: PairCounts
    truth: Truth
    seed: int


def draw_world(
    number: int,
    *,
    vocab: int,
    dim: int,
    pairs: int,
    prior_precision: float,
    zipf: bool = False,
    contexts: int | None = None,
    seed: int = 0,
) -> World:
    """Draw world ``number``: all vectors from the spherical prior, counts from the likelihood.

    Parameters
    ----------
    number : int
        Which world; with the seed it decides everything.
    vocab, dim, pairs, zipf, contexts
        As in `simulate`: how many samples each pair gets does not depend on the vectors.
    prior_precision : float
        Precision of every coordinate.
    seed : int
        Seed of all worlds.
    """
    if not prior_precision > 0.0:
        raise OptionError(f"prior_precision is {prior_precision}; it must be positive")
    own, of_method = rng.bits(rng.make_key(seed, rng.SIMULATE, sweep=number), 0, 0)
    counts, truth = simulate(
        vocab,
        dim,
        pairs=pairs,
        zipf=zipf,
        contexts=contexts,
        epsilon=float(np.sqrt(dim / prior_precision)),  # the variance is epsilon^2 / K
        seed=int(own),
    )
    return World(counts, truth, int(of_method))


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of truths among draws.

    Attributes
    ----------
    values : ndarray of int64, (world, M)
        How many draws lie below the truth: from 0 to ``num_draws``.
    num_draws : int
        Draws in each world.
    kinds : tuple of str, (M,)
        What each quantity is.
    effective : float
        Share of the draws that are effective ones: median over quantities, mean over worlds.
    """

    values: Int64
    num_draws: int
    kinds: tuple[str, ...]
    effective: float = math.nan

    def coverage(self, level: float = 0.9) -> dict[str, float]:
        """Return for each kind of quantity the fraction of truths inside the equal-tailed interval of their draws."""
        covered, kinds = inside(self.values, self.num_draws, level), np.array(self.kinds)
        return {kind: float(covered[:, kinds == kind].mean()) for kind in dict.fromkeys(self.kinds)}


def sbc_ranks(
    draw: Method,
    *,
    worlds: int,
    vocab: int,
    dim: int,
    pairs: int,
    prior_precision: float,
    zipf: bool = False,
    contexts: int | None = None,
    world: Callable[[int], tuple[World, Prior]] | None = None,
    count: int = 20,
    pooled: bool = False,
    seed: int = 0,
    threads: int = 1,
    report: Callable[[int], None] = lambda done: None,
) -> Ranks:
    """Rank the truth of each world among the draws of a method.

    Parameters
    ----------
    draw : callable
        ``draw(counts, seed)`` returns draws of rho (draw, R, K) and of alpha (draw, C, K) from what the method
        takes for the posterior under the same prior, about independent of each other, always as many.
    worlds : int
        How many worlds.
    vocab, dim, pairs, prior_precision, zipf, contexts
        Of the worlds, see `draw_world`.
    world : callable, optional
        Returns the world of a number and its prior, which ``draw`` is given too; by default `draw_world`.
    count : int
        Cosines and probabilities to rank, of each kind; the same in all worlds.
    pooled : bool
        Rank the two strengths of `Functionals` too.
    seed : int
        Decides the worlds, the quantities, and the seeds that the method is given.
    threads : int
        Worlds at a time; the ranks do not depend on it.
    report : callable, optional
        Called with the number of worlds that are done; may raise to stop.
    """
    if worlds < 2:
        raise OptionError(
            f"worlds is {worlds}; calibration needs 2 at least, and hundreds to see small errors"
        )
    columns = vocab if contexts is None else contexts
    rows = vocab if world is None else world(0)[0].counts.num_words
    functionals = choose_functionals(rows, columns, count, seed=seed, pooled=pooled)
    given: dict[str, Any] = {"vocab": vocab, "dim": dim, "pairs": pairs, "prior_precision": prior_precision}

    def of_world(number: int) -> tuple[int, Int64, float]:
        if world is None:
            drawn = draw_world(number, zipf=zipf, contexts=contexts, seed=seed, **given)
            measured = functionals(*draw(drawn.counts, drawn.seed))  # (draw, M)
        else:
            drawn, prior = world(number)
            measured = functionals(*draw(drawn.counts, drawn.seed, prior))
        ranks = rank(measured, functionals(drawn.truth.rho, drawn.truth.alpha))
        return len(measured), ranks, _effective_share(measured)

    values: list[Int64] = []
    sizes: set[int] = set()
    shares: list[float] = []
    for size, ranks, share in in_order(of_world, range(worlds), threads=threads):
        sizes.add(size)
        values.append(ranks)
        shares.append(share)
        report(len(values))
    if len(sizes) != 1:
        raise OptionError(
            f"the method gave {sorted(sizes)} draws in different worlds; it must give as many in each"
        )
    effective = math.fsum(shares) / worlds
    return Ranks(np.array(values), sizes.pop(), functionals.kinds, effective)


def _effective_share(measured: Float64) -> float:
    """Return the median share of effective draws over quantities, (draw, M); NaN if none has one."""
    ess = ess_bulk(measured[None])
    return float(np.nanmedian(ess)) / len(measured) if np.isfinite(ess).any() else math.nan


def rank(draws: npt.ArrayLike, truth: npt.ArrayLike) -> Int64:
    """Return how many of the ``draws`` (draw, M) lie below the ``truth`` (M,)."""
    below = np.asarray(draws) < np.asarray(truth)
    return np.asarray(below.sum(axis=0), dtype=np.int64)


@dataclass(frozen=True)
class Verdict:
    """Whether ranks are uniform.

    Attributes
    ----------
    uniform : bool
        False if uniform ranks would be this far off with at most probability ``error_rate``.
    p_value : float
        Of all tests together: the smallest one times the number of tests, 1 at the most.
    error_rate : float
        Probability of rejecting a right method.
    tests : dict of str to float
        The p-value of each test: location and spread of each kind, and the shape for the worst quantity
        (times the number of quantities).
    """

    uniform: bool
    p_value: float
    error_rate: float
    tests: dict[str, float]


def judge(ranks: Ranks, *, error_rate: float = 0.01) -> Verdict:
    r"""Test whether ranks are uniform, with a stated rate of rejecting a right method.

    Worlds are independent; quantities within one are not. So for each kind of quantity the mean over the
    quantities of :math:`u - 1/2` (location) and of :math:`(u - 1/2)^2` (spread), :math:`u` the rank over the
    number of draws, is one number per world, and its mean over worlds has a t-test against what uniform ranks
    give. And each quantity by itself has a chi-square test of its shape. Bonferroni's bound over them all
    holds whatever depends on what.

    Parameters
    ----------
    ranks : Ranks
        From `sbc_ranks`.
    error_rate : float
        Of all tests together.
    """
    if not 0.0 < error_rate < 1.0:
        raise OptionError(f"error_rate is {error_rate}; it must be between 0 and 1")
    size = ranks.num_draws
    centred = ranks.values / size - 0.5
    variance = (size + 2.0) / (12.0 * size)  # of a whole number that is uniform on 0..size, over size
    kinds = np.array(ranks.kinds)
    tests: dict[str, float] = {}
    for kind in dict.fromkeys(ranks.kinds):
        of_kind = centred[:, kinds == kind]
        tests[f"location of {kind}"] = _mean_test(of_kind.mean(axis=1), 0.0)
        tests[f"spread of {kind}"] = _mean_test((of_kind**2).mean(axis=1), variance)
    shapes = _shape_tests(ranks)
    tests["shape"] = min(1.0, float(shapes.min()) * len(shapes))
    p_value = min(1.0, min(tests.values()) * len(tests))
    return Verdict(p_value > error_rate, p_value, error_rate, tests)


def _mean_test(values: Float64, expected: float) -> float:
    """Two-sided p-value of the mean of independent values, by Student's t."""
    from scipy.stats import t

    error = values.std(ddof=1) / np.sqrt(len(values))
    gap = abs(values.mean() - expected)
    if error == 0.0:
        return 1.0 if gap == 0.0 else 0.0
    return float(2.0 * t.sf(gap / error, len(values) - 1))


def _shape_tests(ranks: Ranks) -> Float64:
    """P-value of a chi-square test over bins of the ranks, for each quantity."""
    from scipy.stats import chi2

    num_worlds = len(ranks.values)
    num_bins = int(np.clip(num_worlds / EXPECTED_IN_BIN, 2, min(20, ranks.num_draws + 1)))
    bin_of = np.arange(ranks.num_draws + 1) * num_bins // (ranks.num_draws + 1)
    expected = np.bincount(bin_of) * num_worlds / (ranks.num_draws + 1)
    binned = bin_of[ranks.values]  # (world, M)
    found = np.stack([(binned == bin_).sum(axis=0) for bin_ in range(num_bins)])  # (bin, M)
    statistic = ((found - expected[:, None]) ** 2 / expected[:, None]).sum(axis=0)
    return np.asarray(chi2.sf(statistic, num_bins - 1))
