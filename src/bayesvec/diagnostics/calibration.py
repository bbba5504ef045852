"""Simulation-based calibration of a method on data of the user's own size: ranks, and what intervals cover.

The statistics are those of `bayesvec.diagnostics.sbc`; here a method is run on each simulated data set, and the
result is put into words.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from bayesvec._cluster import Where, on_cluster
from bayesvec._pipeline import check_threads
from bayesvec._types import Float32
from bayesvec.chains.driver import Driver
from bayesvec.counts.pairs import PairCounts
from bayesvec.diagnostics.sbc import Ranks, Verdict, World, judge, sbc_ranks
from bayesvec.diagnostics.truth import inside, tail_ranks
from bayesvec.diagnostics.worlds import MakePrior, draw_world_of
from bayesvec.errors import NumericalError, OptionError
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.texts import plain
from bayesvec.inference.methods import Method, find
from bayesvec.priors import spherical
from bayesvec.priors.gaussian import Prior
from bayesvec.storage.kinds import APPROXIMATION, SWEEPS, WHOLE_CHAINS
from bayesvec.storage.memory import Memory
from bayesvec.storage.settings import Settings

THIN = {SWEEPS: 10, WHOLE_CHAINS: 2, APPROXIMATION: 1}  # between draws that are kept
FEWEST_EFFECTIVE = 0.7  # share of the draws that must be effective ones, or ranks crowd at the ends
PLURAL = {
    "cosine": "cosines",
    "co-occurrence probability": "co-occurrence probabilities",
    "strength": "strengths (mean squares)",
}


@dataclass(frozen=True)
class Coverage:
    """How many truths lie in the intervals of their draws.

    Attributes
    ----------
    share : float
        The share that does.
    error : float
        Its standard error, over worlds: quantities of one world depend on each other.
    """

    share: float
    error: float

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} ± {100 * self.error:.1f}%"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Whether a method is calibrated on worlds of one size.

    Attributes
    ----------
    method : str
        The method.
    settings : dict
        Sizes of the worlds, and how the method was run.
    level : float
        Probability of the intervals, as nearly as the number of draws allows.
    coverage : dict of str to Coverage
        For each kind of quantity, what they cover.
    test : Verdict
        The test that the ranks are uniform.
    effective : float
        Share of the draws that are effective ones: median over quantities, mean over worlds.
    ranks : Ranks
        Ranks of the truths among the draws.
    """

    method: str
    settings: dict[str, Any]
    level: float
    coverage: dict[str, Coverage]
    test: Verdict
    effective: float
    ranks: Ranks

    @property
    def ok(self) -> bool:
        """Whether nothing was seen against the method."""
        return self.test.uniform

    @property
    def verdict(self) -> str:
        """The answer in words."""
        covered = ", ".join(f"{share} of {PLURAL[kind]}" for kind, share in self.coverage.items())
        covers = f"{100 * self.level:.3g}% intervals cover {covered}"
        tested = f"p = {self.test.p_value:.2g}, a right method fails this test once in {self._once} times"
        if self.ok:
            return f"calibrated, as far as {len(self.ranks.values)} worlds can tell: {covers} ({tested})"
        doubt = ""
        if self.effective < FEWEST_EFFECTIVE:
            share = f"{100 * self.effective:.0f}% of the draws are effective ones"
            doubt = f"; but only {share}, which alone can look like this: take a larger --thin"
        return f"not calibrated: {self._fault()}: {covers} ({tested}){doubt}"

    @property
    def _once(self) -> str:
        return f"{1 / self.test.error_rate:.0f}"

    def _fault(self) -> str:
        """Say what the test with the smallest p-value has seen."""
        test, _, kind = min(self.test.tests, key=lambda name: self.test.tests[name]).partition(" of ")
        if test == "shape":
            return "ranks of single quantities are not uniform"
        of_kind = self.ranks.values[:, np.array(self.ranks.kinds) == kind] / self.ranks.num_draws - 0.5
        if test == "location":
            side = "low" if of_kind.mean() > 0 else "high"
            return f"draws of {PLURAL[kind]} are too {side}"
        size = self.ranks.num_draws
        narrow = (of_kind**2).mean() > (size + 2.0) / (12.0 * size)
        return f"intervals of {PLURAL[kind]} are too {'narrow' if narrow else 'wide'}"

    def __str__(self) -> str:
        given = self.settings
        worlds = f"{len(self.ranks.values)} worlds of {given['vocab']} words in {given['dim']} dimensions"
        size = f"{given['pairs']:,} samples, {self._prior}"
        ranked = f"{len(self.ranks.kinds)} quantities each, ranked among {self.ranks.num_draws} draws"
        return f"{self.method}, {worlds}, {size}: {ranked}\n{self.verdict}"

    @property
    def _prior(self) -> str:
        """Name the prior."""
        if "prior" in self.settings:
            return f"the {self.settings['prior'].get('kind', 'given')} prior"
        precision = self.settings["prior_precision"]
        return f"prior precision {'learned' if precision == 'learn' else f'{precision:g}'}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "method": self.method,
            "ok": self.ok,
            "verdict": self.verdict,
            "settings": self.settings,
            "worlds": len(self.ranks.values),
            "draws": self.ranks.num_draws,
            "level": self.level,
            "coverage": {kind: asdict(share) for kind, share in self.coverage.items()},
            "test": plain(asdict(self.test)),
            "effective": self.effective,
        }


def calibrate(
    method: str = "gibbs",
    *,
    vocab: int = 20,
    dim: int = 3,
    pairs: int = 2000,
    worlds: int = 200,
    prior_precision: float | str = 1.0,
    prior: MakePrior | None = None,
    slices: int | None = None,
    zipf: bool = False,
    draws: int = 99,
    warmup: int = 100,
    thin: int | None = None,
    identify: str = "none",
    options: Mapping[str, Any] | None = None,
    quantities: int = 20,
    level: float = LEVEL,
    error_rate: float = 0.01,
    seed: int = 0,
    threads: int | None = None,
    report: Callable[[int], None] = lambda done: None,
    engine: str = Where.engine,
    address: str | None = None,
    workers: int | None = None,
) -> Calibration:
    """Draw worlds from the prior, fit each with a method, and see whether the truth is one more draw.

    Parameters
    ----------
    method : str
        The method.
    vocab, dim, pairs, zipf
        Size of the worlds, see `simulate`.
    worlds : int
        How many; errors that are small need hundreds.
    prior_precision : float or "learn"
        Of the prior that the worlds are drawn from and that the method is given. If it is learned, each world has its
        own, drawn from the hyperprior.
    prior : callable, optional
        Another prior: given counts, returns it, such as ``lambda counts: bv.priors.grouped(counts)``.
    slices : int, optional
        Number of slices of the worlds, for a prior over groups or time.
    draws, warmup : int
        Draws that truths are ranked among, and sweeps before them.
    thin : int, optional
        Sweeps between draws that are kept: they must be about independent.
    identify : {"none", "fixed"}
        Draw freely (what is ranked does not depend on the rotation), or fix K context rows at their MAP,
        as the paper does.
    options : Mapping, optional
        Options of the method.
    quantities : int
        Cosines, and co-occurrence probabilities, to rank.
    level : float
        Probability of the intervals whose coverage is reported.
    error_rate : float
        Probability of calling a correct method not calibrated.
    seed : int
        Decides everything.
    threads : int, optional
        Threads; the result does not depend on it.
    report : callable, optional
        Given the number of worlds done; may raise to stop.
    engine, address, workers
        Fit the worlds on the threads of this process, or on a Ray cluster; as in `bayesvec.count`.
    """
    chosen = find(method)
    if chosen.is_point:
        raise OptionError(f"method {method} gives one point and no intervals; there is nothing to calibrate")
    num_threads = check_threads(threads)
    thin = THIN[chosen.kind] if thin is None else thin
    least = {"draws": (draws, 9), "warmup": (warmup, 0), "quantities": (quantities, 1), "thin": (thin, 1)}
    _check(identify, level, error_rate, **least)
    settings = Settings(
        dim=dim,
        method=method,
        chains=1,
        draws=draws,
        warmup=warmup,
        thin=thin,
        identify=identify,
        prior_precision=None if prior is not None else prior_precision,
        options=chosen.make_options(options or {}),
        sweeping=chosen.kind == SWEEPS,
    )
    size: dict[str, Any] = {"vocab": vocab, "dim": dim, "pairs": pairs, "zipf": zipf}
    world = _worlds(method, prior, prior_precision, slices, seed, **size)
    first = None if world is None else world(0)
    trial = _Trial(chosen, settings)
    stated: dict[str, Any] = {"prior_precision": prior_precision}
    if prior is not None and first is not None:
        stated = {"prior": {name: each for name, each in first[1].recipe.items() if name != "slices"}}
    precision = prior_precision if isinstance(prior_precision, float | int) else 1.0
    ranked: dict[str, Any] = {"count": quantities, "pooled": True, "seed": seed, "prior_precision": precision}
    where = Where(engine, address, workers)
    with threadpool_limits(limits=1, user_api="blas"), on_cluster(where, num_threads) as at_once:
        ranks = sbc_ranks(trial, worlds=worlds, **size, **ranked, world=world, threads=at_once, report=report)
    size |= stated | ({} if slices is None else {"slices": slices})
    how = {"warmup": warmup, "thin": thin, "identify": identify, "options": settings.options, "seed": seed}
    nominal, coverage = covered(ranks, level)
    verdict = judge(ranks, error_rate=error_rate)
    return Calibration(method, {**size, **how}, nominal, coverage, verdict, ranks.effective, ranks)


def _worlds(
    method: str, prior: MakePrior | None, precision: float | str, slices: int | None, seed: int, **size: Any
) -> Callable[[int], tuple[World, Prior]] | None:
    """Return what draws worlds from a prior; None for the spherical prior with a given precision."""
    if prior is None and slices is not None:
        raise OptionError(f"slices is {slices}; give it with a prior over slices, such as grouped or dynamic")
    if precision == "learn" and method != "gibbs":
        raise OptionError(f"prior_precision is 'learn', which gibbs can do, and the method is {method}")
    if prior is None and precision != "learn":
        return None
    make = prior or (lambda counts: spherical("learn"))
    return lambda number: draw_world_of(number, make, slices=slices, seed=seed, **size)


def _check(identify: str, level: float, error_rate: float, **least: tuple[int, int]) -> None:
    """Refuse impossible arguments before the work starts."""
    if identify not in ("none", "fixed"):
        raise OptionError(f"identify is {identify!r}; it must be none (a rotation changes nothing) or fixed")
    tails(level)
    if not 0.0 < error_rate < 1.0:
        raise OptionError(f"error_rate is {error_rate:g}; it must be between 0 and 1")
    for name, (value, smallest) in least.items():
        if value < smallest:
            raise OptionError(f"{name} is {value}; it must be {smallest} or more")


def covered(ranks: Ranks, level: float) -> tuple[float, dict[str, Coverage]]:
    """Return the level that ranks allow which is nearest to ``level``, and what such intervals cover."""
    out = tail_ranks(ranks.num_draws, level)
    covers = inside(ranks.values, ranks.num_draws, level)  # (world, M)
    kinds = np.array(ranks.kinds)
    found = {}
    for kind in dict.fromkeys(ranks.kinds):
        shares = covers[:, kinds == kind].mean(axis=1)
        found[kind] = Coverage(float(shares.mean()), float(shares.std(ddof=1) / math.sqrt(len(shares))))
    return 1.0 - 2.0 * out / (ranks.num_draws + 1), found


@dataclass(frozen=True, eq=False)
class _Trial:
    """A method on one world."""

    method: Method
    settings: Settings

    def __call__(self, counts: PairCounts, seed: int, prior: Prior | None = None) -> tuple[Float32, Float32]:
        """Return draws of rho (draw, R, K) and of alpha (draw, C, K)."""
        if prior is None:
            precision = self.settings.prior_precision
            assert precision is not None
            prior = spherical(precision)
        if prior.scale_names and not self.method.learns:
            remedy = "choose another prior" if prior.shared else "give numbers"
            raise OptionError(
                f"the prior's precisions are learned, which gibbs can do, and the method is {self.method.name}; "
                f"{remedy}, or use method gibbs"
            )
        memory = Memory(replace(self.settings, seed=seed), counts)
        try:
            Driver(memory, self.method, counts, prior).run_chain(0)
        except NumericalError as error:
            raise NumericalError(f"in one of the worlds: {error}", word=error.word) from error
        return memory.arrays["rho"][0], memory.arrays["alpha"][0]
