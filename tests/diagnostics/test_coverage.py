"""Do the intervals hold what they promise, and does the sampler move? On the paper's worlds; slow."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.special import expit

from bayesvec._parallel import Threads, default_threads
from bayesvec.estimates.convergence import ess_bulk
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs
from bayesvec.priors import spherical
from bayesvec.simulation.pairs import simulate

VOCAB, DIM, DRAWS, WARMUP = 100, 5, 1000, 1000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
WORLDS = 10

pytestmark = pytest.mark.slow


def draw(counts, *, precision=DIM, seed=1, options=None):
    """Return draws of rho and alpha, (DRAWS, VOCAB, DIM) each."""
    problem = gibbs.prepare(Problem(counts, spherical(float(precision)), DIM, options=options))
    state, threads = problem.init(Start(seed=seed, chain=0)), Threads(1)
    kept = []
    for number in range(WARMUP + DRAWS):
        state, _ = problem.step(state, seed=seed, chain=0, number=number, threads=threads)
        if number >= WARMUP:
            kept.append(state)
    return np.array([s.rho for s in kept]), np.array([s.alpha for s in kept])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def share_covered(draws, truth):
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    return float(np.mean((truth >= low) & (truth <= high)))


def coverage(size, world, precision=DIM):
    """Coverage of 90% intervals of all co-occurrence probabilities, and of all cosines between words."""
    counts, truth = simulate(vocab=VOCAB, dim=DIM, pairs=size, seed=world)
    rho, alpha = draw(counts, precision=precision)
    probabilities = expit(np.einsum("dik,djk->dij", rho, alpha))
    upper = np.triu_indices(VOCAB, 1)
    cosines = np.einsum("dik,djk->dij", unit(rho), unit(rho))[:, *upper]
    true_cosines = (unit(truth.rho) @ unit(truth.rho).T)[upper]
    true_probabilities = expit(truth.rho @ truth.alpha.T)
    return share_covered(probabilities, true_probabilities), share_covered(cosines, true_cosines)


def all_coverages(precision=DIM, sizes=SIZES, worlds=WORLDS):
    cells = [(size, world, precision) for size in sizes for world in range(worlds)]
    with ThreadPoolExecutor(default_threads()) as pool:
        found = list(pool.map(lambda cell: coverage(*cell), cells))
    return 100 * np.array(found).reshape(len(sizes), worlds, 2)


def test_intervals_cover_what_they_promise():
    found = all_coverages()
    by_size = found.mean(axis=1)  # (size, what)
    print(
        "\n"
        + "\n".join(
            f"N={n:>9,}: probabilities {p:.2f}%, cosines {c:.2f}%"
            for n, (p, c) in zip(SIZES, by_size, strict=True)
        )
    )
    print(f"over all: probabilities {by_size[:, 0].mean():.2f}%, cosines {by_size[:, 1].mean():.2f}%")
    assert np.all(np.abs(by_size[:, 0] - 90) < 1.5)
    assert abs(by_size[:, 0].mean() - 90) < 0.7
    assert np.all(np.abs(by_size[:, 1] - 90) < 1.5)


def test_a_prior_that_is_too_tight_is_seen():
    found = all_coverages(precision=2 * DIM, sizes=(10_000,), worlds=4)
    assert abs(found[..., 0].mean() - 90) > 1.5


def worst_ess(options=None):
    counts, _ = simulate(vocab=VOCAB, dim=DIM, pairs=1_000_000, seed=0)
    rho, alpha = draw(counts, options=options)
    generator = np.random.default_rng(0)
    one = generator.integers(0, VOCAB, 200)
    other = (one + 1 + generator.integers(0, VOCAB - 1, 200)) % VOCAB
    cosines = np.einsum("dik,dik->di", unit(rho)[:, one], unit(rho)[:, other])
    probabilities = expit(np.einsum("dik,dik->di", rho[:, one], alpha[:, other]))
    return ess_bulk(cosines[None].astype(float)).min(), ess_bulk(probabilities[None].astype(float)).min()


def test_the_orbit_move_makes_cosines_mix():
    cosines, probabilities = worst_ess()
    plain, _ = worst_ess(gibbs.Options(orbit=False))
    print(
        f"\nworst ESS of 1000 draws: cosines {cosines:.0f} (without the orbit move {plain:.0f}), "
        f"probabilities {probabilities:.0f}"
    )
    assert cosines >= 150
    assert probabilities >= 300
    assert plain < 50
