"""What every method keeps to: the same inputs, the same kind of run folder, the same questions answered.

The tests run over all methods of the table: a new one is tested by this as soon as its folder is there.
"""

import importlib.util
import os

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import fitting as run
from bayesvec._checksums import read_arrays
from bayesvec.chains import driver as driver_module
from bayesvec.chains import start as start_module
from bayesvec.chains.display import ChainProgress
from bayesvec.errors import BayesvecError, RunError
from bayesvec.fitting import running
from bayesvec.inference import methods
from bayesvec.priors import spherical
from bayesvec.storage.kinds import APPROXIMATION, POINT, SWEEPS, WHOLE_CHAINS
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes, draw_in_memory, small_counts

METHODS = sorted(set(methods.names()) - {"fake"})
SETTINGS = {"chains": 2, "draws": 12, "warmup": 20, "prior_precision": 0.5, "progress": False}
QUICK = {"mfvi": {"max_iterations": 300}}  # converged or not is tested elsewhere
DIM = 2


@pytest.fixture(params=METHODS)
def method(request):
    if request.param == "nuts" and importlib.util.find_spec("nutpie") is None:
        pytest.skip("nutpie is not installed (the extra 'nuts'): NUTS is not tested")
    return request.param


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs by method and settings, each made once."""
    made = {}

    def get(method, **settings):
        name = "-".join([method, *(f"{key}={value}" for key, value in sorted(settings.items()))])
        if name not in made:
            made[name] = fit(tmp_path_factory.mktemp("runs") / name, method, **settings)
        return made[name]

    return get


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and tested elsewhere


def fit(out, method, **settings):
    options = settings.pop("options", QUICK.get(method))
    return bv.fit(small_counts(), DIM, method=method, out=out, options=options, **(SETTINGS | settings))


def is_point(method):
    return methods.find(method).is_point


def size_of(method):
    """Chains and draws of a run of the method."""
    return (1, 1) if is_point(method) else (SETTINGS["chains"], SETTINGS["draws"])


def test_all_methods_of_the_design_are_there():
    assert set(METHODS) >= {"blockvi", "gibbs", "laplace", "map", "mfvi", "nuts"}


def test_shapes_names_and_dtype(runs, method):
    post = runs(method)
    assert post.rho.shape == (*size_of(method), 12, DIM)
    assert post.alpha.shape == (*size_of(method), 9, DIM)
    assert post.words == tuple(f"w{i}" for i in range(12))
    assert post.contexts == tuple(f"c{i}" for i in range(9))
    for side in (post.rho[:], post.alpha[:]):
        assert side.dtype == np.float32
        assert np.isfinite(side).all()
    settings = post.draws.manifest["settings"]
    assert (settings["method"], settings["seed"], settings["prior_precision"]) == (method, 1, 0.5)
    assert post.draws.finished


def test_what_a_draw_tells_is_stored(runs, method):
    post = runs(method)
    fields = methods.find(method).info._fields
    assert fields[0] == "log_posterior"
    for name in (*fields, "seconds"):
        values = post.draws.stats(name)
        assert values.shape == size_of(method)
        assert np.isfinite(values).all()
    assert post.draws.stats("cosine").shape == (*size_of(method), len(post.draws.monitored))
    assert {"lp", *fields[1:]} <= set(post.to_datatree()["sample_stats"].data_vars)


def test_log_posterior_is_that_of_the_draw(runs, method):
    from bayesvec.model.density import Model

    post = runs(method, identify="none")
    model = Model(small_counts(), spherical(0.5))
    told = post.draws.stats("log_posterior")[0]
    expected = [
        model.log_posterior(rho, alpha) for rho, alpha in zip(post.rho[0], post.alpha[0], strict=True)
    ]
    np.testing.assert_allclose(told, expected, rtol=1e-5)


def test_questions_are_answered(runs, method):
    post = bv.open(runs(method).path)
    cosine = post.similarity("w0", "w1")
    assert cosine.draws.shape == size_of(method)
    assert -1.0 <= cosine.mean <= 1.0
    assert 0.0 < post.cooccurrence("w0", "c1").mean < 1.0
    assert len(post.neighbors("w0", 3)) == 3
    assert post.check().verdict
    assert post.score(small_counts(seed=1)).observations > 0
    if is_point(method):
        assert "%" not in str(cosine)  # a point has no interval
        assert cosine.to_dict()["low"] is None
    else:
        low, high = cosine.interval()
        assert low < high
        assert "90% interval" in str(cosine)


def test_raw_and_turned_draws_are_the_same_but_for_a_rotation(runs, method):
    raw, turned = runs(method, identify="none"), runs(method)
    for side in ("rho", "alpha"):
        one, other = (getattr(post, side)[:].astype(np.float64) for post in (raw, turned))
        np.testing.assert_allclose(one @ one.swapaxes(2, 3), other @ other.swapaxes(2, 3), atol=1e-4)


def test_anchors_stay_where_they_are(runs, method):
    post = runs(method, identify="fixed")
    anchors = read_arrays(post.draws.path / "state" / "begin.arrays")
    rows = anchors["anchor_rows"]
    assert len(rows) == DIM
    alpha = post.alpha[:]
    kept = np.broadcast_to(anchors["anchor_values"], alpha[:, :, rows].shape)
    np.testing.assert_allclose(alpha[:, :, rows], kept, rtol=1e-5, atol=1e-6)
    if not is_point(method):
        assert np.all(np.delete(alpha, rows, axis=2).std((0, 1)) > 0.0)
        assert np.all(post.rho[:].std((0, 1)) > 0.0)


@pytest.mark.parametrize("identify", ["procrustes", "fixed"])
def test_the_seed_and_nothing_else_decides(runs, method, tmp_path, identify):
    """Same draws on one thread and on two; other ones (but for a mode) with another seed."""
    first = runs(method, identify=identify) if identify == "fixed" else runs(method)
    fit(tmp_path / "one", method, identify=identify, threads=1)
    fit(tmp_path / "two", method, identify=identify, threads=2)
    assert draw_bytes(first.draws.path) == draw_bytes(tmp_path / "one") == draw_bytes(tmp_path / "two")
    if not is_point(method):
        another = fit(tmp_path / "another", method, identify=identify, seed=2)
        assert not np.array_equal(another.rho[:], first.rho[:])


def test_chains_differ(runs, method):
    if is_point(method):
        pytest.skip("a point has no chains")
    rho = runs(method).rho[:]
    assert not np.array_equal(rho[0], rho[1])
    assert len(np.unique(rho[:, :, 0, 0])) == rho.shape[0] * rho.shape[1]


def test_interrupted_at_its_long_work(runs, method, tmp_path, monkeypatch):
    """Stopped before the first draw: going on is as if nothing had been."""
    path = tmp_path / "run"

    def pressed(*_):
        raise KeyboardInterrupt

    class Progress:
        def __init__(self, *_, **__): ...

        def __enter__(self):
            return pressed

        def __exit__(self, *_): ...

    with monkeypatch.context() as patched:
        patched.setattr(start_module, "progress", Progress)
        patched.setattr(driver_module, "show_progress", Progress)
        patched.setattr(ChainProgress, "report", pressed)
        with pytest.raises(run.Interrupted, match="fit --resume"):
            fit(path, method)
    assert not open_draws(path).num_draws
    fit(path, method, resume=True)
    assert draw_bytes(path) == draw_bytes(runs(method).draws.path)


def test_interrupted_between_draws(runs, method, tmp_path, monkeypatch):
    if is_point(method):
        pytest.skip("a point has one draw")
    path = tmp_path / "run"
    taken = iter(range(10**6))

    class Stopped(driver_module.Driver):
        def _draw(self, *given):
            if next(taken) == 7:
                self.stop.set()  # what Ctrl-C does
            return super()._draw(*given)

    with monkeypatch.context() as patched:
        patched.setattr(running, "Driver", Stopped)
        with pytest.raises(run.Interrupted, match="fit --resume"):
            fit(path, method)
    assert not open_draws(path).finished
    run.resume_run(path, progress=False)
    assert draw_bytes(path) == draw_bytes(runs(method).draws.path)


def test_longer_by_extension_or_refused_in_one_line(runs, method, tmp_path):
    path = tmp_path / "run"
    fit(path, method, draws=7)
    before = draw_bytes(path)
    if methods.find(method).kind in (POINT, WHOLE_CHAINS):
        with pytest.raises(RunError, match=r"one point|start a new run with 12 draws") as refused:
            run.resume_run(path, wanted={"draws": 12}, progress=False)
        assert "\n" not in str(refused.value)
        assert open_draws(path).finished  # it is what it was
        assert draw_bytes(path) == before
        return
    run.resume_run(path, wanted={"draws": 12}, progress=False)
    for side in ("rho", "alpha"):
        np.testing.assert_array_equal(open_draws(path).read(side), runs(method).draws.read(side))


def test_what_the_method_says_of_itself_is_kept(runs, method):
    record, outcome = methods.find(method), runs(method).check().outcome
    assert outcome.kind == record.kind
    assert outcome.caveat == record.caveat
    assert bool(outcome.summary) == (record.kind != SWEEPS)
    assert all(isinstance(value, bool | int | float | str) for value in outcome.summary.values())
    if outcome.kind == APPROXIMATION:
        assert outcome.caveat
        check = runs(method).check()
        assert not check.ok
        assert outcome.caveat in check.verdict or not outcome.converged


@pytest.mark.parametrize("identify", ["procrustes", "none", "fixed"])
def test_draws_in_memory_are_those_of_a_run(runs, method, identify):
    settings = {name: SETTINGS[name] for name in ("chains", "draws", "warmup", "prior_precision")}
    rho, alpha = draw_in_memory(
        method,
        small_counts(),
        spherical(SETTINGS["prior_precision"]),
        DIM,
        options=QUICK.get(method),
        **(settings | {"identify": identify}),
    )
    post = runs(method) if identify == "procrustes" else runs(method, identify=identify)
    np.testing.assert_array_equal(rho, post.rho[:])
    np.testing.assert_array_equal(alpha, post.alpha[:])


def test_thinned_draws(method, tmp_path):
    post = fit(tmp_path / "run", method, draws=4, thin=2)
    assert post.rho.shape[:2] == ((1, 1) if is_point(method) else (2, 4))


def test_an_option_it_does_not_have_is_refused(method, tmp_path):
    with pytest.raises(BayesvecError, match=f"method {method} has no option colour; it has "):
        fit(tmp_path / "run", method, options={"colour": 1})
    assert not list(tmp_path.iterdir())
