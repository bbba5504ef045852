"""Gibbs against NUTS: two samplers that share no code agree on the posterior; and both are calibrated.

Means and standard deviations of cosines and co-occurrence probabilities differ by no more than their Monte
Carlo errors, at one error rate for all of them together; a Gibbs sampler with a prior 10% off does not agree.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from bayesvec._parallel import Threads, default_threads
from bayesvec.chains.start import jittered
from bayesvec.diagnostics.sbc import choose_functionals, judge, sbc_ranks
from bayesvec.estimates.convergence import mcse, rhat
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.inference.nuts.sampler import Nuts
from bayesvec.model.identification import choose_anchors
from bayesvec.model.map import find_map
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate
from evidence import ERROR_RATE
from run_tools import run_sampler, thinned_gibbs

# not imported here: that takes seconds in every worker
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("nutpie") is None, reason="nutpie is not installed (the extra 'nuts')"),
]


class Setting(NamedTuple):
    """A world, and how long to draw from its posterior."""

    vocab: int
    dim: int
    pairs: int
    functionals: int
    gibbs: tuple[int, int]  # warm-up and draws of each of four chains
    nuts: tuple[int, int]


SMALL = Setting(12, 2, 3000, 40, gibbs=(200, 2500), nuts=(300, 1500))
FREE = Setting(100, 5, 50_000, 500, gibbs=(500, 4000), nuts=(500, 2500))
ANCHORED = Setting(100, 5, 50_000, 500, gibbs=(500, 8000), nuts=(500, 8000))


def make_world(setting, anchored, weight=1.0):
    """Counts, the MAP, and anchors at it."""
    counts = replace(simulate(setting.vocab, setting.dim, pairs=setting.pairs, seed=0)[0], weight=weight)
    mode = find_map(counts, spherical(float(setting.dim)), setting.dim, seed=1)
    return counts, mode, choose_anchors(mode.alpha, "qr") if anchored else None


def measures(setting, rho, alpha):
    """Cosines and probabilities, and two means over them that see a small error common to all."""
    chosen = choose_functionals(setting.vocab, setting.vocab, setting.functionals, seed=2, pooled=True)
    return chosen(rho, alpha)


def by_gibbs(setting, world, *, factor=1.0, weight=None, chains=4):
    """Measures (chain, draw, M) of the Gibbs sampler, the prior's precision off by a ``factor``."""
    counts, mode, anchors = world
    counts = replace(counts, weight=weight or counts.weight)
    warmup, draws = setting.gibbs
    prior = spherical(factor * setting.dim)
    problem = gibbs.prepare(Problem(counts, prior, setting.dim, anchors=anchors))
    begin = {"rho": mode.rho, "alpha": mode.alpha}

    def run(chain):
        state = problem.init(Start(seed=3, chain=chain, **jittered(begin, 3, chain)))
        kept = []
        for number in range(1, warmup + draws + 1):
            state, _ = problem.step(state, seed=3, chain=chain, number=number, threads=Threads(1))
            if number > warmup:
                kept.append(state)
        return measures(setting, np.array([s.rho for s in kept]), np.array([s.alpha for s in kept]))

    with ThreadPoolExecutor(min(chains, default_threads())) as pool:
        return np.array(list(pool.map(run, range(chains))))


def by_nuts(setting, world, *, chains=4):
    counts, _, anchors = world
    warmup, draws = setting.nuts
    prior = spherical(float(setting.dim))
    sampler = Nuts(Problem(counts, prior, setting.dim, anchors=anchors, warmup=warmup, draws=draws))
    kept, last = run_sampler(sampler, chains=chains, draws=draws, seed=4, threads=default_threads())
    assert sampler.summary(last)["divergences"] == 0
    return np.array([measures(setting, kept["rho"][c], kept["alpha"][c]) for c in range(chains)])


def moments_and_errors(x):
    """Means and standard deviations of the columns of ``x`` (chain, draw, M), with their standard errors."""
    squares = (x - x.mean(axis=(0, 1))) ** 2
    sd = np.sqrt(squares.mean(axis=(0, 1)))
    # the standard deviation is the root of a mean, whose error it passes on divided by twice itself
    return np.concatenate([x.mean(axis=(0, 1)), sd]), np.concatenate([mcse(x), mcse(squares) / (2 * sd)])


def largest_z(x, y):
    (one, one_error), (two, two_error) = moments_and_errors(x), moments_and_errors(y)
    z = np.abs(one - two) / np.hypot(one_error, two_error)
    assert np.all(np.isfinite(z))
    return z.max(), stats.norm.isf(ERROR_RATE / (2 * len(z)))


def assert_agreement(setting, anchored, factor):
    world = make_world(setting, anchored)
    right, reference = by_gibbs(setting, world), by_nuts(setting, world)
    assert rhat(right).max() < 1.01
    assert rhat(reference).max() < 1.01
    z, bound = largest_z(right, reference)
    assert z < bound
    z, bound = largest_z(by_gibbs(setting, world, factor=factor), reference)
    assert z > bound


@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.usefixtures("_no_log_posterior")
def test_gibbs_and_nuts_agree_on_a_small_model(anchored):
    assert_agreement(SMALL, anchored, factor=1.4)


@pytest.mark.usefixtures("_no_log_posterior")
def test_gibbs_and_nuts_agree_on_a_weighted_likelihood():
    world = make_world(SMALL, False, weight=0.55)
    reference = by_nuts(SMALL, world)
    z, bound = largest_z(by_gibbs(SMALL, world), reference)
    assert z < bound
    z, bound = largest_z(by_gibbs(SMALL, world, weight=0.75), reference)
    assert z > bound


@pytest.mark.slow
@pytest.mark.parametrize("setting", [FREE, ANCHORED], ids=["free", "anchored"])
@pytest.mark.usefixtures("_no_log_posterior")
def test_gibbs_and_nuts_agree(setting):
    assert_agreement(setting, setting is ANCHORED, factor=1.1)


WORLDS = {"vocab": 20, "dim": 3, "pairs": 2000, "prior_precision": 2.0}
RANKED = 63  # draws in each world, thinned until they are about independent


def gibbs_draws(factor=1.0, warmup=200, thin=8):
    return thinned_gibbs(2.0 * factor, 3, warmup=warmup, draws=RANKED, thin=thin)


def nuts_draws(warmup=200, thin=4):
    def draw(counts, seed):
        draws = RANKED * thin
        sampler = Nuts(Problem(counts, spherical(2.0), 3, warmup=warmup, draws=draws))
        kept, _ = run_sampler(sampler, chains=1, draws=draws, seed=seed)
        return kept["rho"][0, ::thin], kept["alpha"][0, ::thin]

    return draw


METHODS = {
    "gibbs": (gibbs_draws(), True),
    "nuts": (nuts_draws(), True),
    # 10% off is less than 300 worlds can tell at this error rate; the agreement above does tell it
    "gibbs, precision 30% off": (gibbs_draws(factor=1.3), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_ranks_are_uniform_in_300_worlds(name):
    draw, right = METHODS[name]
    ranks = sbc_ranks(draw, worlds=300, count=40, pooled=True, seed=11, threads=default_threads(), **WORLDS)
    verdict = judge(ranks, error_rate=0.001)
    assert verdict.uniform == right, verdict
