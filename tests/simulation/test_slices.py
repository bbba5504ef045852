"""Worlds with slices: vectors have the moments they should, counts the rows; and their truth is recovered."""

import numpy as np
import pytest

from bayesvec import priors
from bayesvec.counts.rows import with_rows
from bayesvec.errors import OptionError
from bayesvec.simulation.slices import simulate_slices
from evidence import agrees
from run_tools import draw_in_memory


def vectors(truth, slices):
    return truth.rho.reshape(-1, slices, truth.rho.shape[1])


def test_a_walk_has_its_moments():
    _, truth = simulate_slices(4000, 3, slices=["2005", "2001", "2002"], step_precision=5.0, pairs=10)
    assert truth.words[:3] == ("w0@2001", "w0@2002", "w0@2005")
    x = vectors(truth, 3)
    steps = np.concatenate([x[:, 0], x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]], axis=1)
    assert agrees(steps**2, np.repeat([1 / 3, 1 / 5, 3 / 5], 3))
    assert agrees(x[:, 0] * (x[:, 2] - x[:, 0]), np.zeros(3))
    assert not agrees(steps**2, np.repeat([1 / 3, 1 / 5, 1 / 5], 3))


def test_groups_have_their_moments():
    _, truth = simulate_slices(4000, 3, slices=2, kind="grouped", step_precision=5.0, pairs=10)
    x = vectors(truth, 2)
    assert agrees(x[:, 0] * x[:, 1], np.full(3, 1 / 3))
    assert agrees((x[:, 0] - x[:, 1]) ** 2, np.full(3, 2 / 5))


def test_counts_have_the_rows():
    counts, truth = simulate_slices(6, 2, slices=3, pairs=5000, contexts=4, zipf=True)
    assert counts.words == truth.words
    assert counts.groups == ("0", "1", "2") * 6
    assert counts.num_observations == 5000
    assert counts.num_contexts == 4
    again, _ = simulate_slices(6, 2, slices=3, pairs=5000, contexts=4, zipf=True)
    assert again.fingerprint == counts.fingerprint
    for bad, message in (
        ({"kind": "other"}, "kind is 'other'"),
        ({"slices": 1}, "slices is 1"),
        ({"slices": ["a", "b"]}, "neither a number nor a date"),
        ({"step_precision": 0.0}, "step_precision is 0"),
    ):
        with pytest.raises(OptionError, match=message):
            simulate_slices(6, 2, **bad)


VOCAB, DIM, SLICES, STEP, DRAWS = 30, 3, 4, 12.0, 400


def make_prior(kind, counts, step):
    if kind == "dynamic":
        return priors.dynamic(counts, precision=DIM, drift_precision=step)
    return priors.grouped(counts, precision=DIM, group_precision=step)


def cosines(rho):
    """Of all pairs of words in each slice, and how each differs between the first slice and the last."""
    x = rho[..., : VOCAB * SLICES, :].astype(np.float64)
    x = x.reshape(*x.shape[:-2], VOCAB, SLICES, DIM)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    one, other = np.triu_indices(VOCAB, 1)
    same = np.sum(x[..., one, :, :] * x[..., other, :, :], axis=-1)  # (..., pair, slice)
    return same, same[..., -1] - same[..., 0]


def covered(kind, world, *, step=STEP, pairs=25_000):
    """Share of true cosines, and of true differences, inside their 90% intervals."""
    counts, truth = simulate_slices(
        VOCAB, DIM, slices=SLICES, kind=kind, step_precision=STEP, pairs=pairs, seed=world
    )
    prior = make_prior(kind, counts, step)
    counts = with_rows(counts, prior.added)
    rho = draw_in_memory("gibbs", counts, prior, DIM, draws=DRAWS, warmup=200, thin=2, seed=world)[0][0]
    shares = []
    for draws, right in zip(cosines(rho), cosines(truth.rho), strict=True):
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        shares.append(np.mean((low <= right) & (right <= high)))
    return shares


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dynamic", "grouped"])
def test_intervals_cover_the_truth(kind):
    """90% intervals of similarities in each slice, and of their differences, over 20 worlds."""
    shares = np.array([covered(kind, world) for world in range(20)])
    print(f"{kind}: similarities {shares[:, 0].mean():.2%}, differences {shares[:, 1].mean():.2%}")
    assert np.all(np.abs(shares.mean(axis=0) - 0.9) < 0.015)


@pytest.mark.slow
def test_a_drift_that_is_too_small_covers_less():
    shares = np.array([covered("dynamic", world, step=10 * STEP) for world in range(5)])
    assert shares[:, 1].mean() < 0.85
