"""How long a run must be, decided by its draws: when warm-up ends, how to thin, when to stop.

The rules look at committed draws only, never at the clock. So a run ends at the same draw on any number of threads,
and after any number of interruptions.
"""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from bayesvec._types import Array, Float64
from bayesvec._validate import size_in_bytes, whole
from bayesvec.diagnostics.check import check
from bayesvec.errors import OptionError
from bayesvec.estimates.convergence import ESS_WANTED, ess_bulk, rhat
from bayesvec.storage.layout import MONITORED
from bayesvec.storage.reader import Draws
from bayesvec.storage.settings import AUTO, MAX_DRAWS, Auto, Settings

FIRST_WARMUP = 60  # sweeps; doubled until the chains have forgotten their start
MAX_WARMUP = 800
WARM_RHAT = 1.1  # over the second half of warm-up, of most cosines; of the log posterior see `is_warm`
WARM_SHARE = 0.75  # not of all: these are few sweeps
HEADROOM = 2.0  # autocorrelation time of the slowest twentieth of quantities over the median of the cosines
MARGIN = 1.1  # of the ESS that is planned for over the ESS wanted, as estimates of it vary
MOST_WORTH = 0.95  # of an independent draw, that a stored draw is planned to be worth
LEAST_DRAWS = 100  # of each chain: fewer are never enough
FASTEST_GROWTH = 1.5  # of the number of draws, from one decision to the next
SLOWEST_GROWTH = 1.25
PATIENCE = 4  # times the first number of draws, after which chains that disagree are stopped


def first_draws(chains: int) -> int:
    """Return how many draws of each chain are taken before the first decision."""
    return max(LEAST_DRAWS, math.ceil(ESS_WANTED / chains))


def planned(
    *, draws: int | str, warmup: int | str, thin: int | str, max_draws: int, max_size: int | str, chains: int
) -> dict[str, Any]:
    """Return the settings of a run's length, as far as it is given; what is ``auto`` is chosen while it runs."""
    given = {"draws": draws, "warmup": warmup, "thin": thin}
    for name, value in given.items():
        if isinstance(value, str) and value != AUTO:
            raise OptionError(f"{name} is {value!r}; it must be a whole number, or {AUTO}")
    chosen = {name: value == AUTO for name, value in given.items()}
    chosen["thin"] &= chosen["draws"]  # a given number of draws is taken one per sweep
    draws_first = min(first_draws(whole("chains", chains, 1)), whole("max_draws", max_draws, 1))
    first = {"draws": draws_first, "warmup": FIRST_WARMUP, "thin": 1}
    lengths: dict[str, Any] = {name: first[name] if value == AUTO else value for name, value in given.items()}
    if chosen["draws"] or chosen["warmup"]:
        size = size_in_bytes("max_size", max_size)
        lengths["auto"] = asdict(Auto(**chosen, max_draws=max_draws, max_size=size, warming=chosen["warmup"]))
    return lengths


def draws_that_fit(settings: Settings, draw_bytes: int) -> int:
    """Return how many draws of each chain the size allows; raise an `OptionError` if they are too few."""
    rules = settings.rules
    fits = rules.max_size // max(1, draw_bytes * settings.chains)
    if fits < min(LEAST_DRAWS, rules.max_draws):
        needed = LEAST_DRAWS * settings.chains * draw_bytes
        raise OptionError(
            f"max_size is {rules.max_size / 1e9:.3g} GB, which holds {fits} draws of each chain; at least "
            f"{LEAST_DRAWS} are needed: ask for --max-size {math.ceil(needed / 1e9)}GB or more, or keep less with "
            "--store rho or --store summary"
        )
    return fits


def next_settings(settings: Settings, draws: Draws, traces: Array | None) -> Settings | None:
    """Return the settings to continue with when all chains have reached theirs; None if nothing is left to decide.

    Parameters
    ----------
    settings : Settings
        The settings that the chains have reached.
    draws : Draws
        The committed draws.
    traces : ndarray, (chain, sweep, 1 + pair), optional
        Log posterior and monitored cosines of every sweep, while the end of warm-up is not decided.
    """
    rules = settings.rules
    if rules.warming:
        size = (len(draws.words) + len(draws.contexts)) * draws.dim
        if traces is not None and settings.warmup < MAX_WARMUP and not is_warm(traces, size):
            return replace(settings, warmup=min(2 * settings.warmup, MAX_WARMUP))
        thin = settings.thin
        if rules.thin and traces is not None:
            thin = thinning(traces, min(draws_that_fit(settings, draws.draw_bytes), MAX_DRAWS))
        return replace(settings, thin=thin, auto=asdict(replace(rules, warming=False)))
    if not rules.draws or rules.ended:
        return None
    wanted = more_draws(draws, min(draws_that_fit(settings, draws.draw_bytes), rules.max_draws))
    if wanted is None:
        return replace(settings, auto=asdict(replace(rules, ended=True)))
    return replace(settings, draws=wanted)


def reason(settings: Settings, longer: Settings, draws: Draws) -> str:
    """Say why a run that had ``settings`` continues with ``longer``; empty if it was planned so."""
    if longer.warmup > settings.warmup:
        return f"the chains do not agree yet: warm-up is extended to {longer.warmup} sweeps"
    if settings.rules.warming and settings.warmup >= MAX_WARMUP:
        return f"warm-up ends at its limit of {settings.warmup} sweeps"
    if longer.draws > settings.draws:
        short = check(draws).shortfall or "too few draws to judge"
        return f"{settings.draws} draws of each chain are not enough: {short}; going on to {longer.draws}"
    return ""


def is_warm(traces: Array, size: int) -> bool:
    """Whether chains have forgotten their start, by the second half of their warm-up.

    Most cosines must have a low R-hat. The log posterior must have one too; or it must vary between half-chains, and
    drift from the first halves to the second, by no more than its standard deviation: that within half-chains, or
    sqrt(size / 2), as of ``size`` normal coordinates, where that is more. (A drift adds more to the former.)
    """
    late = _late(traces)
    rhats = rhat(late)  # (1 + pair,)
    level, cosines = rhats[0], rhats[1:][np.isfinite(rhats[1:])]
    share = np.mean(cosines <= WARM_RHAT) if len(cosines) else 1.0
    parts = np.array_split(late[:, :, 0], 2, axis=1)  # first and second halves, (chain, sweep)
    halves = np.array([half.mean(axis=1) for half in parts])  # (2, chain)
    drift = abs(halves[1].mean() - halves[0].mean())
    usual = max(math.sqrt(size / 2), float(np.mean([half.std(axis=1) for half in parts])))
    settled = not level > WARM_RHAT or max(halves.std(ddof=1), drift) <= usual
    return bool(settled and share >= WARM_SHARE)


def thinning(traces: Array, most: int) -> int:
    r"""Return the sweeps per stored draw with which ``most`` draws of each chain are worth enough.

    The autocorrelation time is the median of the monitored cosines at the end of warm-up: of so few sweeps the
    extremes are chance. (Times that so few sweeps cannot show would not have let warm-up end.) A quantity of
    autocorrelation time t is taken for autoregressive, with coefficient r = (t - 1) / (t + 1). Of its draws
    every m sweeps each is worth :math:`(1 - r^m) / (1 + r^m)`: more sweeps cannot make it worth more than 1.
    """
    late = _late(traces)[:, :, 1:]
    within = sum(ess_bulk(chain[None]) for chain in late)  # chains that disagree are not slow for that
    times = late.shape[0] * late.shape[1] / within
    times = times[np.isfinite(times)]
    slow = HEADROOM * (float(np.median(times)) if len(times) else 1.0)
    if slow <= 1.0:
        return 1
    worth = min(MOST_WORTH, MARGIN * ESS_WANTED / (len(traces) * most))
    return max(1, math.ceil(math.log((1.0 - worth) / (1.0 + worth)) / math.log((slow - 1.0) / (slow + 1.0))))


def more_draws(draws: Draws, most: int) -> int | None:
    """Return how many draws of each chain to go on to; None if they are enough, or cannot become more."""
    count = draws.num_draws
    found = check(draws)
    bad = [each for each in found.diagnoses if not each.ok]
    if count >= most or found.ok or (found.diagnoses and not bad):
        return None
    if found.disagreement and count >= PATIENCE * first_draws(draws.num_chains):
        return None
    growth = 1.1 * max((each.missing for each in bad), default=FASTEST_GROWTH)
    wanted = count * min(FASTEST_GROWTH, max(SLOWEST_GROWTH, growth))
    return min(most, 10 * math.ceil(wanted / 10))


def _late(traces: Array) -> Float64:
    """Return log posterior and cosines of random pairs, not of frequent words, in the second half of warm-up."""
    return np.asarray(traces[:, traces.shape[1] // 2 :, : 1 + MONITORED], dtype=np.float64)
