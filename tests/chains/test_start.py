"""Where chains start, and runs of the Gibbs sampler from there."""

import os

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import fitting as run
from bayesvec._checksums import read_arrays
from bayesvec.chains import start as start_module
from bayesvec.chains.start import jittered
from bayesvec.errors import OptionError
from bayesvec.inference.start import JITTER, LEAST_JITTER
from bayesvec.model.density import Model
from bayesvec.model.map import find_map
from bayesvec.priors import spherical
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes, small_counts


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


def gibbs(out, counts=None, **settings):
    given = {"draws": 12, "warmup": 6, "progress": False, "prior_precision": 0.5, **settings}
    return run.fit(counts or small_counts(), 2, out=out, **given)


def test_starts_scatter_around_the_map():
    generator = np.random.default_rng(0)
    start = {"rho": generator.standard_normal((400, 5)), "alpha": 3.0 * generator.standard_normal((300, 5))}
    first, second = (jittered(start, 1, chain) for chain in range(2))
    for side, size in (("rho", 1.0), ("alpha", 3.0)):
        noise = [each[side] - start[side] for each in (first, second)]
        for each in noise:
            count = each.size
            assert abs(each.std() / (JITTER * size) - 1.0) < 4.0 / np.sqrt(2 * count) + 4.0 / np.sqrt(count)
        assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 4.0 / np.sqrt(noise[0].size)
    np.testing.assert_array_equal(jittered(start, 1, 0)["rho"], first["rho"])


def test_a_strong_axis_scatters_more_and_a_weak_one_not_less_than_half_of_all():
    strong = np.array([3.0, 1.0, 0.0])  # root mean square of each axis
    rows = strong * np.sign(np.random.default_rng(0).normal(size=(4000, 3)))
    overall = np.sqrt(np.mean(strong**2))
    expected = JITTER * np.maximum(strong, LEAST_JITTER * overall)
    noise = jittered({"rho": rows, "alpha": rows}, 1, 0)["rho"] - rows
    np.testing.assert_allclose(noise.std(axis=0), expected, rtol=0.05)


def test_rows_of_which_much_is_known_scatter_less(tmp_path):
    """By one over the square root of the curvature, here by the plain formula."""
    counts = bv.simulate(vocab=20, dim=2, pairs=500_000, seed=1)[0]
    gibbs(tmp_path / "run", counts, init="map")
    begin = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    rho, alpha = begin["rho"], begin["alpha"]
    side = counts.by_word
    share = 1.0 / (1.0 + np.exp(-np.sum(rho[side.rows()] * alpha[side.other], axis=1)))
    weights = (side.n_pos + side.n_neg) * share * (1.0 - share) * np.mean(alpha[side.other] ** 2, axis=1)
    curvature = 0.5 + np.bincount(side.rows(), weights, minlength=counts.num_words)
    expected = np.repeat(1.0 / np.sqrt(curvature)[:, None], 2, axis=1)
    np.testing.assert_allclose(begin["rho_sizes"], expected, rtol=1e-4)
    noise = np.stack([jittered(begin, seed, 0)["rho"] - rho for seed in range(400)])  # (seed, row, axis)
    np.testing.assert_allclose(noise.std(axis=0), expected, rtol=0.2)


@pytest.mark.parametrize(("init", "scattered"), [("auto", False), ("map", True)])
def test_only_starts_at_a_point_are_scattered(tmp_path, init, scattered):
    """A state of a short run has the spread of the posterior; chains differ from their first sweep on."""
    counts = bv.simulate(vocab=20, dim=2, pairs=5_000, seed=1)[0]
    gibbs(tmp_path / "run", counts, init=init, warmup=0, chains=2, identify="none")
    begin = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    first, second = (jittered(begin, 1, chain) for chain in range(2))
    for side in ("rho", "alpha"):
        assert np.array_equal(first[side], second[side]) != scattered
        assert np.array_equal(first[side], begin[side]) != scattered
    draws = open_draws(tmp_path / "run").read("rho")
    assert not np.any(draws[0, 0] == draws[1, 0])


def test_starts_at_the_map_of_the_model(tmp_path):
    gibbs(tmp_path / "run", init="map")
    begin = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    found = find_map(small_counts(), spherical(0.5), 2, seed=1, max_iterations=100)
    np.testing.assert_allclose(begin["rho"], found.rho, atol=1e-10)


def test_starts_after_a_short_run(tmp_path):
    """Its last state has the log posterior of a long run; on any number of threads it is the same."""
    counts = bv.simulate(vocab=60, dim=3, pairs=40_000, seed=1)[0]
    begins = []
    for threads in (1, 2):
        post = bv.fit(
            counts, 3, draws=200, warmup=100, threads=threads, out=tmp_path / f"{threads}", progress=False
        )
        begins.append(read_arrays(tmp_path / f"{threads}" / "state" / "begin.arrays"))
    for name, array in begins[0].items():
        np.testing.assert_array_equal(begins[1][name], array)
    begin, prior = begins[0], bv.priors.covariance(3)
    model = Model(counts, prior.at(begin["scales"]))
    there = model.log_posterior(begin["rho"], begin["alpha"]) + prior.shared.log_density(begin["scales"])
    draws = post.draws.stats("lp")
    assert abs(there - draws.mean()) < 5.0 * draws.std()
    mode = find_map(counts, prior.at(begin["scales"]), 3, max_iterations=100)
    at_mode = mode.log_posterior + prior.shared.log_density(begin["scales"])
    assert abs(at_mode - draws.mean()) > 8.0 * draws.std()  # which a start at the mode would not have


def test_zero_map_starts_at_random(tmp_path):
    gibbs(tmp_path / "run", prior_precision=1e4, init="map")
    assert read_arrays(tmp_path / "run" / "state" / "begin.arrays") == {}
    assert open_draws(tmp_path / "run").finished


def test_zero_map_has_no_anchors(tmp_path):
    with pytest.raises(OptionError, match="use identify='procrustes'"):
        gibbs(tmp_path / "run", prior_precision=1e4, identify="fixed")
    assert not list(tmp_path.iterdir())  # the name is free for another try


@pytest.mark.parametrize("settings", [{}, {"identify": "fixed"}, {"identify": "none", "init": "random"}])
def test_same_draws_on_any_number_of_threads(tmp_path, settings):
    gibbs(tmp_path / "one", threads=1, **settings)
    for threads in (2, 5):
        gibbs(tmp_path / f"{threads}", threads=threads, **settings)
        assert draw_bytes(tmp_path / "one") == draw_bytes(tmp_path / f"{threads}")


@pytest.mark.parametrize("settings", [{}, {"identify": "fixed", "anchors": "last"}])
def test_extended_is_the_longer_run(tmp_path, settings):
    gibbs(tmp_path / "run", draws=5, **settings)
    run.resume_run(tmp_path / "run", wanted={"draws": 12}, progress=False)
    gibbs(tmp_path / "long", **settings)
    for name in ("rho", "alpha"):
        short, long = (open_draws(tmp_path / path).read(name) for path in ("run", "long"))
        np.testing.assert_array_equal(short, long)


@pytest.mark.parametrize(("iterations", "converged"), [(5000, True), (2, False)])
def test_anchors_away_from_the_map_are_reported(tmp_path, monkeypatch, capsys, iterations, converged):
    monkeypatch.setattr(start_module, "ANCHOR_ITERATIONS", iterations)
    gibbs(tmp_path / "run", identify="fixed")
    kept = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    assert bool(kept["map_converged"]) is converged
    assert (kept["map_scaled_gradient"] <= 1e-4) == converged
    for told in (
        capsys.readouterr().err,
        run.resume_run(tmp_path / "run", progress=False) and capsys.readouterr().err,
    ):
        assert told.count("\n") == (not converged)
        assert converged or "anchors are fixed at has not converged (its scaled gradient is" in told


def test_anchors_stay(tmp_path):
    there = gibbs(tmp_path / "run", identify="fixed", anchors="last").draws
    begin = read_arrays(tmp_path / "run" / "state" / "begin.arrays")
    np.testing.assert_array_equal(begin["anchor_rows"], [7, 8])
    alpha = there.read("alpha")
    np.testing.assert_array_equal(
        alpha[:, :, 7:], np.broadcast_to(begin["anchor_values"].astype("f4"), (2, 12, 2, 2))
    )
    assert np.all(alpha[:, :, :7].std((0, 1)) > 0.0)
