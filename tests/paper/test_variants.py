"""Variants of the methods, and the metrics of their draws."""

import time

import numpy as np
import pytest

import bayesvec as bv
from bayesvec.counts.split import split_documents
from bayesvec.errors import AnchorError, OptionError
from bayesvec.model.identification import choose_anchors
from bayesvec.model.map import find_map
from bayesvec.paper.metrics import against_truth, effective
from bayesvec.paper.sampling import Clock, Drawn, draw
from bayesvec.paper.variants import VARIANTS
from bayesvec.paper.workspace import Workspace
from bayesvec.priors import spherical
from run_tools import draw_in_memory

VOCAB, DIM = 12, 2


@pytest.fixture(scope="module")
def world():
    return bv.simulate(VOCAB, DIM, pairs=20_000, seed=3)


@pytest.fixture
def workspace(tmp_path):
    return Workspace(2, tmp_path)


def drawn_by(name, world, workspace, **settings):
    given = {"draws": 20, "warmup": 5, "chains": 2, "threads": 2, **settings}
    return draw(name, world[0], DIM, prior_precision=float(DIM), workspace=workspace, **given)


def test_a_chain_is_that_of_a_run(world, workspace):
    found = drawn_by("gibbs", world, workspace)
    rho, alpha = draw_in_memory("gibbs", world[0], spherical(float(DIM)), DIM, chains=2, draws=20, warmup=5)
    assert np.array_equal(found.rho, rho)
    assert np.array_equal(found.alpha, alpha)
    assert not np.array_equal(found.rho[1], rho[0])
    one_thread = drawn_by("gibbs", world, workspace, threads=1)
    assert np.array_equal(found.rho, one_thread.rho)


def test_algorithm_1_keeps_the_last_contexts_at_the_map(world, workspace):
    found = drawn_by("paper", world, workspace)
    mode = find_map(world[0], spherical(float(DIM)), DIM, seed=1)
    anchors = choose_anchors(mode.alpha, "last")
    assert list(anchors.rows) == [VOCAB - 2, VOCAB - 1]
    assert np.allclose(found.alpha[:, :, -2:], anchors.values, rtol=1e-6)
    assert np.all(np.ptp(found.alpha[:, :, :-2], axis=(0, 1)) > 0)
    assert not found.rotates
    assert VARIANTS["paper"].options == {"restart": True, "inner_steps": 10, "hamiltonian": "never"}


def test_only_algorithm_1_fixes_a_map_of_zero(workspace):
    few = bv.simulate(VOCAB, DIM, pairs=20, seed=0)
    with pytest.raises(AnchorError, match="spans only 0 of 2 directions"):
        drawn_by("gibbs-last", few, workspace)
    assert not np.any(drawn_by("paper", few, workspace).alpha[:, :, -2:])
    settings = {
        "identify": "fixed",
        "anchors": "last",
        "prior_precision": float(DIM),
        "draws": 3,
        "warmup": 2,
    }
    with pytest.raises(AnchorError, match="spans only 0 of 2 directions"):
        bv.fit(few[0], DIM, **settings, progress=False)
    run = bv.fit(few[0], DIM, options={"restart": True}, **settings, progress=False)
    assert not np.any(run.draws.read("alpha")[:, :, -2:])


@pytest.mark.parametrize("name", ["mfvi", "mfvi-stan", "blockvi", "laplace", "map"])
def test_other_variants_give_draws_of_their_shape(world, workspace, name):
    found = drawn_by(name, world, workspace)
    assert found.rho.shape == ((1, 1) if name == "map" else (2, 20)) + (VOCAB, DIM)
    assert not found.rotates
    assert np.isfinite(found.rho).all()
    assert against_truth(found, world[1])["rmse_plugin"] < 0.2


@pytest.mark.long
def test_nuts_is_timed_after_warm_up(world, workspace):
    pytest.importorskip("nutpie", reason="nutpie is not installed (the extra 'nuts')", exc_type=ImportError)
    began = time.perf_counter()
    found = drawn_by("nuts", world, workspace, draws=300, warmup=100)
    whole = time.perf_counter() - began
    assert found.rho.shape == (2, 300, VOCAB, DIM)
    assert 0 < found.warmup_seconds < whole
    # NaN if the machine was faster than the reports: never a time that was not measured
    assert np.isnan(found.seconds) or 0 < found.seconds < whole - found.warmup_seconds + 1e-3
    assert found.summary["gradients_per_draw"] > 0


def test_draws_made_before_the_report_are_not_counted_as_free(workspace):
    """100 draws of warm-up and 400 after it at ten per second, reported every four seconds."""
    now = [0.0]
    clock = Clock(100, workspace, now=lambda: now[0])
    clock.start()
    for now[0] in (*np.arange(0.0, 50.0, 4.0), 50.0):
        clock.report(int(10 * now[0]))
    assert clock.seconds(400) == pytest.approx(40.0)
    late = Clock(100, workspace, now=lambda: 50.0)
    late.report(500)
    assert np.isnan(late.seconds(400))


def test_sweeps_are_timed_after_warm_up(workspace):
    now = [3.0]
    for warmup, expected in ((10, 20.0), (0, 30.0)):
        clock = Clock(warmup, workspace, now=lambda: now[0])
        now[0] = 3.0
        clock.start()
        for sweep in range(1, 31):
            now[0] += 1.0
            clock.at(sweep, 0.0)
        assert clock.seconds(30 - warmup) == expected
    workspace.stop.set()
    with pytest.raises(KeyboardInterrupt):
        clock.at(31, 0.0)


def test_alignment_changes_no_product_and_allows_means(world, workspace):
    found = drawn_by("gibbs", world, workspace)
    rho, alpha = found.aligned()
    raw = np.einsum("cdik,cdjk->cdij", found.rho, found.alpha)
    assert np.allclose(np.einsum("cdik,cdjk->cdij", rho, alpha), raw, atol=1e-4)
    length = np.linalg.norm(found.rho, axis=-1).mean(axis=(0, 1))
    assert np.median(np.linalg.norm(found.mean()[0], axis=-1) / length) > 0.8
    assert np.median(np.linalg.norm(found.rho.mean(axis=(0, 1)), axis=-1) / length) < 0.8


def fake_draws(truth, *, shift=0.0, scale=1.0, size=999, seed=0):
    """Draws around an estimate whose error has the distribution that they claim."""
    generator = np.random.default_rng(seed)
    sides = []
    for side in (truth.rho, truth.alpha):
        estimate = side + 0.01 * generator.normal(size=side.shape)
        noise = 0.01 * scale * generator.normal(size=(1, size, *side.shape))
        sides.append((estimate + shift + noise).astype(np.float32))
    return Drawn(*sides, rotates=False, warmup_seconds=0.0, seconds=1.0)


@pytest.mark.long
def test_coverage_is_nominal_and_a_wrong_one_is_seen():
    _, truth = bv.simulate(40, 3, pairs=10, seed=0)

    def covered(**how):
        worlds = [against_truth(fake_draws(truth, seed=seed, **how), truth) for seed in range(10)]
        return [
            (np.mean(shares), np.std(shares, ddof=1) / np.sqrt(10))
            for shares in ([w[f"coverage_{kind}"] for w in worlds] for kind in ("probability", "cosine"))
        ]

    for mean, error in covered():
        assert abs(mean - 0.9) < 4 * error
    for mean, error in covered(scale=0.8):  # intervals a fifth too narrow
        assert mean - 0.9 < -4 * error
    for mean, error in covered(scale=1.25):
        assert mean - 0.9 > 4 * error


def test_distance_from_the_truth():
    _, truth = bv.simulate(30, 3, pairs=10, seed=0)
    near, far = (against_truth(fake_draws(truth, shift=shift), truth) for shift in (0.0, 0.3))
    assert near["rmse_plugin"] < 0.01 < far["rmse_plugin"]
    assert near["rmse_probability"] < 0.01 < far["rmse_probability"]


def test_effective_draws_of_independent_and_of_sticky_ones():
    _, truth = bv.simulate(30, 3, pairs=10, seed=0)
    independent = fake_draws(truth, size=1000)
    sticky = Drawn(
        np.repeat(independent.rho[:, :250], 4, axis=1),
        np.repeat(independent.alpha[:, :250], 4, axis=1),
        False,
        0,
        1,
    )
    for quantity in ("probability", "cosine", "parameter"):
        assert 850 < effective(independent, 100)[quantity]["median"] < 1150
        assert 200 < effective(sticky, 100)[quantity]["median"] < 330


def test_units_stay_together():
    generator = np.random.default_rng(0)
    documents = [" ".join(generator.choice(list("abcdefgh"), 12)) for _ in range(60)]
    counts = bv.count(documents=documents, progress=False)
    units = np.arange(60) // 3
    parts = split_documents(counts, (0.2, 0.5, 0.3), 7, units=units)
    assert sum(part.num_observations for part in parts) == counts.num_observations
    seen = [set(units[part.source.numbers].tolist()) for part in parts]
    assert [len(units_) for units_ in seen] == [4, 10, 6]
    assert set().union(*seen) == set(range(20))
    with pytest.raises(OptionError, match="units has 3 entries for 60 documents"):
        split_documents(counts, units=[1, 2, 3])
    alone = split_documents(counts, (0.5, 0.5), 7, units=np.arange(60))
    assert [part.fingerprint for part in alone] == [
        part.fingerprint for part in split_documents(counts, (0.5, 0.5), 7)
    ]
