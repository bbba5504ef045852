"""The run loop: the same draws on any number of threads, after any interruption, and by extension."""

import os
import shutil
import signal

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import _atomic as files
from bayesvec import fitting as run
from bayesvec._checksums import read_arrays, read_json, write_json
from bayesvec._machine import processor
from bayesvec.chains import driver as chain_module
from bayesvec.chains.display import ChainProgress
from bayesvec.errors import OptionError, RunError
from bayesvec.fitting import start
from bayesvec.fitting.running import thread_shares
from bayesvec.kernels import rng
from bayesvec.priors import Prior, RowPrior
from bayesvec.priors.arrays import load_prior
from bayesvec.storage import folder, room, writer, zarr3, zarr3_coordinates
from bayesvec.storage.layout import read_mark
from bayesvec.storage.reader import open_draws
from bayesvec.storage.settings import Settings
from fake_sampler import noise
from run_tools import draw_bytes, fake_fit, small_counts, stop_every


@pytest.fixture(autouse=True)
def _small_files(monkeypatch):
    monkeypatch.setattr(zarr3, "MOST_DRAWS", 4)
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: None
    )  # slow, and tested in test_draws and test_faults


def plain_chain(chain: int, sweeps: int, *, seed: int = 1, step: float = 0.1) -> np.ndarray:
    """rho of the fake sampler after each sweep, written out."""
    x = noise(12, 3, seed, chain, 0, rng.RHO).astype(np.float32)
    states = []
    for number in range(1, sweeps + 1):
        x = (0.9 * x + step * noise(12, 3, seed, chain, number, rng.RHO)).astype(np.float32)
        states.append(x)
    return np.array(states)


def test_stores_every_sweep_after_warmup(tmp_path):
    fake_fit(tmp_path / "run", identify="none")
    there = open_draws(tmp_path / "run")
    for chain in range(2):
        np.testing.assert_array_equal(there.read("rho")[chain], plain_chain(chain, 35)[10:])
    np.testing.assert_allclose(
        there.stats("log_posterior"), -(there.read("rho").astype(np.float64) ** 2).sum((2, 3)), rtol=1e-5
    )
    assert there.stats("seconds").min() > 0.0


def test_thins(tmp_path):
    fake_fit(tmp_path / "run", identify="none", thin=3)
    found = open_draws(tmp_path / "run").read("rho")
    np.testing.assert_array_equal(found[1], plain_chain(1, 10 + 75)[12::3])


def test_no_warmup(tmp_path):
    fake_fit(tmp_path / "run", warmup=0, draws=3)
    assert open_draws(tmp_path / "run").num_draws == 3


@pytest.mark.parametrize(("chains", "threads"), [(2, 1), (2, 3), (2, 8)])
def test_same_draws_on_any_number_of_threads(tmp_path, chains, threads):
    fake_fit(tmp_path / "one", chains=chains, threads=2)
    fake_fit(tmp_path / "other", chains=chains, threads=threads)
    assert draw_bytes(tmp_path / "one") == draw_bytes(tmp_path / "other")


def test_more_chains_than_threads(tmp_path):
    fake_fit(tmp_path / "run", chains=5, threads=2, draws=5)
    first_two = fake_fit(tmp_path / "two", chains=2, threads=2, draws=5)
    np.testing.assert_array_equal(open_draws(tmp_path / "run").read("rho")[:2], first_two.rho[:])


def test_chains_differ_and_seeds_differ(tmp_path):
    one = fake_fit(tmp_path / "one").rho[:]
    two = fake_fit(tmp_path / "two", seed=2).rho[:]
    assert not np.array_equal(one[0], one[1])
    assert not np.array_equal(one, two)


def test_procrustes_only_turns(tmp_path):
    free, turned = (fake_fit(tmp_path / how, identify=how).draws for how in ("none", "procrustes"))
    for name in ("rho", "alpha"):
        raw, stored = free.read(name), turned.read(name)
        np.testing.assert_allclose(stored @ stored.swapaxes(2, 3), raw @ raw.swapaxes(2, 3), atol=1e-5)
    # one rotation for both sides
    products = [d.read("rho") @ d.read("alpha").swapaxes(2, 3) for d in (free, turned)]
    np.testing.assert_allclose(*products, atol=1e-5)
    # and it brings every draw closer to the reference
    reference = read_arrays(tmp_path / "procrustes" / "state" / "reference.arrays")
    distance = [
        sum(((d.read(name) - reference[name]) ** 2).sum((2, 3)) for name in reference) for d in (turned, free)
    ]
    assert np.all(distance[0] < distance[1])


def test_reference_is_of_late_warmup_of_chain_0_and_shared(tmp_path):
    fake_fit(tmp_path / "two", chains=2)
    fake_fit(tmp_path / "one", chains=1)
    files = [(tmp_path / name / "state" / "reference.arrays").read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    assert not list((tmp_path / "two" / "state").glob("late-*"))


def test_ctrl_c_commits_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(chain_module, "COMMIT_SECONDS", 1000.0)  # nothing but the end commits
    fake_fit(tmp_path / "whole", draws=60)
    at = ChainProgress.at

    def press(self, sweep, log_posterior):
        at(self, sweep, log_posterior)
        if (self.chain, sweep) == (0, 40):
            os.kill(os.getpid(), signal.SIGINT)

    settings = {"draws": 60, "options": {"delay": 0.01}}
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(ChainProgress, "at", press)
    with pytest.raises(run.Interrupted, match=r"fit --resume --out .*/run"):
        fake_fit(tmp_path / "run", **settings)
    monkeypatch.setattr(ChainProgress, "at", at)
    assert signal.getsignal(signal.SIGINT) is handler
    assert 30 <= read_mark(tmp_path / "run", 0).draws < 60
    with pytest.raises(RunError, match=r"unfinished run \(\d+ of 60 draws\); resume it with --resume"):
        fake_fit(tmp_path / "run", **settings)
    fake_fit(tmp_path / "run", **settings, resume=True)
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")


@pytest.mark.parametrize("identify", ["procrustes", "none"])
@pytest.mark.parametrize("thin", [1, 3])
def test_going_on_from_any_sweep(tmp_path, monkeypatch, identify, thin):
    """Stop after every few sweeps, commit, go on: byte for byte the run that was never stopped."""
    settings = {"draws": 10, "warmup": 9, "identify": identify, "thin": thin}
    fake_fit(tmp_path / "whole", **settings)
    sweeps = stop_every(monkeypatch, 5)
    for _ in range(1000):
        try:
            fake_fit(tmp_path / "run", **settings, resume=True)
            break
        except run.Interrupted:
            pass
    assert next(sweeps) > 15
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")
    whole, resumed = open_draws(tmp_path / "whole"), open_draws(tmp_path / "run")
    np.testing.assert_array_equal(whole.variance("alpha"), resumed.variance("alpha"))


def test_extension_is_the_longer_run(tmp_path):
    fake_fit(tmp_path / "long", draws=23)
    fake_fit(tmp_path / "run", draws=10)
    fake_fit(tmp_path / "run", draws=14, resume=True)
    run.resume_run(tmp_path / "run", wanted={"draws": 23}, progress=False)
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "long")
    assert open_draws(tmp_path / "run").finished


def test_refused_extension_changes_nothing(tmp_path, monkeypatch):
    fake_fit(tmp_path / "run")
    manifest = (tmp_path / "run" / "manifest.json").read_bytes()
    monkeypatch.setattr(
        zarr3_coordinates, "write_range", lambda *_: None
    )  # so many numbers would fill the disk
    for wrong in (2**33, 30.5):
        with pytest.raises(OptionError, match=r"draws|sweeps"):
            run.resume_run(tmp_path / "run", wanted={"draws": wrong}, progress=False)
        assert (tmp_path / "run" / "manifest.json").read_bytes() == manifest
    run.resume_run(tmp_path / "run", progress=False)


def test_going_on_with_a_finished_run_changes_nothing(tmp_path):
    fake_fit(tmp_path / "run")
    before = draw_bytes(tmp_path / "run")
    marks = [read_mark(tmp_path / "run", chain) for chain in range(2)]
    posterior = run.resume_run(tmp_path / "run", progress=False)
    assert posterior.draws.num_draws == 25
    assert draw_bytes(tmp_path / "run") == before
    assert marks == [read_mark(tmp_path / "run", chain) for chain in range(2)]


def test_resume_says_which_settings_differ(tmp_path):
    fake_fit(tmp_path / "run")
    for wrong, message in (
        ({"seed": 7}, "seed is 1 there and 7 here"),
        ({"draws": 20}, "draws is 25 there and 20 here"),
        ({"chains": 3, "thin": 2}, "chains is 2 there and 3 here; thin is 1 there and 2 here"),
        ({"options": {"step": 0.5}}, "step is 0.1 there and 0.5 here"),
        ({"prior_precision": 2.0}, "prior_precision is 1.0 there and 2.0 here"),
        ({"identify": "none"}, "identify is procrustes there and none here"),
    ):
        with pytest.raises(RunError, match=message):
            fake_fit(tmp_path / "run", **wrong, resume=True)
    fake_fit(tmp_path / "run", resume=True)


def test_an_option_called_auto_is_an_option_like_others(tmp_path):
    given = {"draws": 4, "warmup": 2, "progress": False, "prior_precision": 1.0, "out": tmp_path / "run"}
    run.fit(small_counts(), 2, options={"joint": "never"}, **given)
    with pytest.raises(RunError, match="joint is never there and auto here"):
        run.fit(small_counts(), 2, **given, resume=True)


def test_resume_refuses_other_counts(tmp_path):
    fake_fit(tmp_path / "run")
    with pytest.raises(RunError, match=r"the counts have changed since .*run was started"):
        fake_fit(tmp_path / "run", small_counts(seed=1), resume=True)


def test_resume_notices_changed_copy_of_counts(tmp_path):
    fake_fit(tmp_path / "run")
    small_counts(seed=1).save(tmp_path / "run" / "counts", force=True)
    with pytest.raises(RunError, match="the counts have changed"):
        run.resume_run(tmp_path / "run", progress=False)


def test_counts_from_a_folder(tmp_path):
    small_counts().save(tmp_path / "counts")
    fake_fit(tmp_path / "one", str(tmp_path / "counts"))
    fake_fit(tmp_path / "two")
    assert draw_bytes(tmp_path / "one") == draw_bytes(tmp_path / "two")


def test_existing_folders(tmp_path):
    fake_fit(tmp_path / "run", draws=5)
    with pytest.raises(RunError, match=r"finished run of 5 draws; extend it .* --force, or name another"):
        fake_fit(tmp_path / "run", draws=5)
    fake_fit(tmp_path / "run", draws=4, force=True)
    assert open_draws(tmp_path / "run").num_draws == 4
    other = tmp_path / "other"
    other.mkdir()
    fake_fit(other, draws=4)  # an empty folder is free
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for force in (False, True):
        with pytest.raises(RunError, match="exists and is not a run; it is not replaced"):
            fake_fit(mine, force=force)
    assert (mine / "thesis.txt").read_text() == "years of work"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine", "other", "run"]


def test_crash_while_a_run_is_replaced_leaves_its_name_free(tmp_path, monkeypatch):
    fake_fit(tmp_path / "run", draws=2)

    real = shutil.rmtree

    def broken(path, **options):
        if path.name != "run" and not path.name.endswith(".old"):
            return real(path, **options)
        (path / "manifest.json").unlink(missing_ok=True)  # deleting has begun
        raise SystemExit("the end")

    monkeypatch.setattr(shutil, "rmtree", broken)
    with pytest.raises(SystemExit, match="the end"):
        fake_fit(tmp_path / "run", draws=3, force=True)
    monkeypatch.undo()
    fake_fit(tmp_path / "run", draws=3, resume=True)
    fake_fit(tmp_path / "run", draws=4, force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_run_that_cannot_be_replaced_comes_back(tmp_path, monkeypatch):
    fake_fit(tmp_path / "run", draws=2)
    real = os.replace
    monkeypatch.setattr(files, "_exchanged", lambda one, other: False)  # as on a system that cannot
    monkeypatch.setattr(os, "replace", lambda new, name: 1 / 0 if name.name == "run" else real(new, name))
    with pytest.raises(ZeroDivisionError):
        fake_fit(tmp_path / "run", draws=3, force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    assert open_draws(tmp_path / "run").num_draws == 2


def test_resume_begins_where_there_is_nothing(tmp_path):
    fake_fit(tmp_path / "run", resume=True)
    assert open_draws(tmp_path / "run").finished
    with pytest.raises(RunError, match="not a run folder"):
        run.resume_run(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_abandoned_beginnings_are_removed(tmp_path):
    left = tmp_path / ".run.0123abcd.partial"
    left.mkdir()
    (left / "lock").touch()
    fake_fit(tmp_path / "run", draws=2)
    assert not left.exists()


def test_second_writer_is_refused(tmp_path):
    fake_fit(tmp_path / "run")
    held = folder.resume(tmp_path / "run")
    for attempt in ({"resume": True}, {"force": True}):
        with pytest.raises(RunError, match="in use by another process"):
            fake_fit(tmp_path / "run", **attempt)
    held.lock.close()
    fake_fit(tmp_path / "run", resume=True)


def test_failure_of_one_chain_keeps_the_draws_of_the_others(tmp_path):
    with pytest.raises(RuntimeError, match="planted failure"):
        fake_fit(tmp_path / "run", options={"fail_at": 20, "delay": 0.002}, draws=500)
    assert read_mark(tmp_path / "run", 0).draws > 5
    assert 0 <= read_mark(tmp_path / "run", 1).draws <= 9


def test_store_modes(tmp_path):
    both = fake_fit(tmp_path / "both").draws
    rho = fake_fit(tmp_path / "rho", store="rho").draws
    summary = fake_fit(tmp_path / "summary", store="summary").draws
    np.testing.assert_array_equal(both.read("rho"), rho.read("rho"))
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(both.variance(name), summary.variance(name))
        flat = both.read(name).reshape(-1, *both.read(name).shape[2:]).astype(np.float64)
        np.testing.assert_allclose(summary.mean(name), flat.mean(0), atol=1e-12)
    np.testing.assert_array_equal(both.stats("cosine"), summary.stats("cosine"))
    assert not list((tmp_path / "summary").rglob("draws.zarr/posterior/rho"))


def test_watched_cosines_are_those_of_the_draws(tmp_path):
    there = fake_fit(tmp_path / "run").draws
    first, second = np.array(there.monitored).T
    assert len(there.monitored) == 50
    assert len({*there.monitored}) == 50
    assert all(a < b for a, b in there.monitored)
    rho = there.read("rho").astype(np.float64)
    rho /= np.linalg.norm(rho, axis=3, keepdims=True)
    np.testing.assert_allclose(
        there.stats("cosine"), (rho[:, :, first] * rho[:, :, second]).sum(3), atol=1e-6
    )


def test_cosines_of_very_small_vectors():
    directions = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0]])
    for size in (1e-40, 1e-25, 1e25):
        rho = (size * directions).astype(np.float32)
        found = folder.cosines(rho, np.array([0, 0, 1]), np.array([1, 0, 2]))
        np.testing.assert_allclose(found, [0.96, 1.0, np.nan], rtol=1e-4)
        assert found.dtype == np.float32


def test_one_word_has_no_pairs(tmp_path):
    fake_fit(tmp_path / "run", small_counts(words=1))
    assert open_draws(tmp_path / "run").monitored == []
    found = bv.open(tmp_path / "run").check()
    assert [each.kind for each in found.diagnoses] == ["co-occurrence probabilities", "log posterior"]
    with pytest.raises(OptionError, match="has one word, and so no cosines"):
        bv.compare([tmp_path / "run", tmp_path / "run"])


def test_another_prior_is_kept(tmp_path):
    prior = Prior(RowPrior(np.full((12, 1), 2.0)), RowPrior(3.0, mean=np.ones((1, 3))))
    fake_fit(tmp_path / "run", prior=prior, draws=5)
    fake_fit(tmp_path / "run", prior=prior, draws=9, resume=True)
    other = Prior(RowPrior(np.full((12, 1), 2.0)), RowPrior(3.0))
    with pytest.raises(RunError, match=r"prior is .* there and .* here"):
        fake_fit(tmp_path / "run", prior=other, draws=9, resume=True)
    held = folder.resume(tmp_path / "run")
    kept = load_prior(held)
    held.lock.close()
    np.testing.assert_array_equal(kept.rho.precision, prior.rho.precision)
    np.testing.assert_array_equal(kept.alpha.mean, prior.alpha.mean)


def test_kill_before_the_first_state_keeps_the_prior(tmp_path, monkeypatch):
    prior = Prior(RowPrior(np.full((12, 1), 2.0)), RowPrior(3.0))
    monkeypatch.setattr(start, "finish", lambda *_, **__: 1 / 0)
    real_write = files.write

    def killed(path, parts):
        if path.parent.parent == tmp_path / "run":
            raise ZeroDivisionError
        real_write(path, parts)

    monkeypatch.setattr(files, "write", killed)  # as if the process ended when the folder has its name
    with pytest.raises(ZeroDivisionError):
        fake_fit(tmp_path / "run", prior=prior, draws=5)
    monkeypatch.undo()
    assert run.resume_run(tmp_path / "run", progress=False).draws.num_draws == 5


@pytest.mark.parametrize(
    ("rho", "alpha", "message"),
    [
        (
            RowPrior(np.full((9, 1), 2.0)),
            RowPrior(1.0),
            r"precision has shape \(9, 1\) for 12 rows of 3 axes",
        ),
        (RowPrior(1.0), RowPrior(1.0, mean=np.ones((1, 4))), r"mean has shape \(1, 4\) for 9 rows of 3 axes"),
    ],
)
def test_prior_of_another_shape(tmp_path, rho, alpha, message):
    with pytest.raises(OptionError, match=message):
        fake_fit(tmp_path / "run", prior=Prior(rho, alpha))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("chains", "threads", "shares"),
    [(2, 2, [1, 1]), (3, 2, [1, 1, 2]), (2, 5, [3, 2]), (5, 3, [1, 1, 1, 2, 1]), (4, 1, [1] * 4), (0, 2, [])],
)
def test_freed_threads_are_used(chains, threads, shares):
    assert thread_shares(chains, threads) == shares


def test_chains_that_have_ended_need_no_threads(tmp_path, monkeypatch):
    fake_fit(tmp_path / "run", draws=5)
    folder_there = tmp_path / "run" / "state"
    mark = read_json(folder_there / "chain-1.json")
    write_json(folder_there / "chain-1.json", {**mark, "sweep": 12, "draws": 2})
    given = {}
    monkeypatch.setattr(
        chain_module.Driver,
        "run_chain",
        lambda self, chain, threads, progress: given.update({chain: threads}) or True,
    )
    run.resume_run(tmp_path / "run", threads=4, progress=False)
    assert given == {0: 1, 1: 4}


def test_another_processor_is_reported(tmp_path, capsys):
    fake_fit(tmp_path / "run", draws=5)
    manifest = read_json(tmp_path / "run" / "manifest.json")
    assert manifest["processor"] == processor()
    run.resume_run(tmp_path / "run", progress=False)
    assert capsys.readouterr().err == ""
    write_json(tmp_path / "run" / "manifest.json", {**manifest, "processor": "Abacus 3"})
    run.resume_run(tmp_path / "run", progress=False)
    told = capsys.readouterr().err
    assert told.endswith("run was started on another processor (Abacus 3): last digits may differ\n")
    assert told.count("\n") == 1


def test_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    with pytest.raises(
        OptionError, match=r"dim is 1000000: .* 12 words, .* needs about \d+\.\d GB of memory"
    ):
        run.fit(small_counts(), 10**6, out=tmp_path / "run", prior_precision=1.0, progress=False)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(room, "memory_bytes", lambda: 10_000)
    with pytest.raises(OptionError, match="use a smaller dim or fewer words"):
        fake_fit(tmp_path / "run")
    monkeypatch.setattr(room, "memory_bytes", lambda: None)  # not reported by the system
    fake_fit(tmp_path / "run", draws=2)


def test_room_of_a_large_run():
    settings = Settings(dim=100, chains=2)
    # 2 chains of a million coordinates in 24 bytes and two files, 2 threads' matrices;
    # of 10,000 rows the triangle of 13 x 13 blocks of 8 axes
    curvature = 10_000 * 91 * 64 * 4
    assert 70e6 < room.needed_bytes(settings, 5000, 5000, 2) - curvature < 300e6


def test_room_counts_the_blocks_of_a_search_that_converges():
    fixed = Settings(dim=100, identify="fixed")
    blocks = 2000 * 100 * 100 * 8
    assert room.needed_bytes(fixed, 1000, 1000, 2) > 3 * blocks
    assert room.needed_bytes(Settings(dim=100, method="map", chains=1), 1000, 1000, 2) > 3 * blocks
    assert room.needed_bytes(Settings(dim=100), 1000, 1000, 2) < blocks
    # blocks that are too large are not used, and not counted
    assert room.needed_bytes(fixed, 10**5, 10**5, 2) < 3 * 200 * blocks


def test_without_a_folder(tmp_path):
    posterior = fake_fit(None)
    assert posterior.draws.num_draws == 25
    assert open_draws(posterior.path).finished


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"draws": 0}, "draws is 0; it must be 1 or more"),
        ({"draws": 2.5}, "draws is 2.5; it must be a whole number"),
        ({"chains": 0}, "chains is 0"),
        ({"warmup": -1}, "warmup is -1; it must be 0 or more"),
        ({"thin": 0}, "thin is 0"),
        ({"prior_precision": -1.0}, "prior_precision is -1.0; it must be a positive number"),
        ({"prior_precision": float("nan")}, "prior_precision is nan"),
        ({"prior_precision": "much"}, "prior_precision is much"),
        ({"identify": "turn"}, "identify is 'turn'; it must be one of procrustes, fixed, none"),
        ({"init": "zero"}, "init is 'zero'"),
        ({"store": "none"}, "store is 'none'"),
        ({"anchors": "middle"}, "anchors is 'middle'"),
        (
            {"method": "magic"},
            "method is 'magic'; it must be one of gibbs, nuts, blockvi, laplace, mfvi, map",
        ),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**64}, r"seed is \d+; it must be from 0 to"),
        ({"threads": 0}, "threads is 0; it must be 1 or more"),
        ({"options": {"speed": 1}}, "method fake has no option speed; it has delay, fail_at, step"),
        ({"restart": True}, "method fake has no option restart"),
    ],
)
def test_bad_settings(tmp_path, wrong, message):
    with pytest.raises(OptionError, match=message):
        fake_fit(tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_dim_that_fixed_cannot_have(tmp_path):
    with pytest.raises(OptionError, match="dim is 10 but there are 9 contexts"):
        run.fit(small_counts(), 10, identify="fixed", out=tmp_path / "run")
    with pytest.raises(OptionError, match="dim is 0; it must be 1 or more"):
        run.fit(small_counts(), 0, out=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_commits_as_it_goes(tmp_path, monkeypatch):
    """With time between sweeps, marks move during warm-up and during drawing, before the end."""
    monkeypatch.setattr(chain_module, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(chain_module, "COMMIT_SHARE", 0.0)
    seen = []
    commit = writer.ChainRecorder.commit
    monkeypatch.setattr(
        writer.ChainRecorder,
        "commit",
        lambda self, sweep, state: seen.append((self.chain, sweep)) or commit(self, sweep, state),
    )
    fake_fit(tmp_path / "run", chains=1)
    assert [sweep for _, sweep in seen] == list(range(36))


@pytest.mark.parametrize("value", ["3", 1.5, True, None])
def test_options_of_a_method_have_their_type(tmp_path, value):
    with pytest.raises(OptionError, match=r"option fail_at is .*; it must be a whole number"):
        fake_fit(tmp_path / "run", options={"fail_at": value})
    assert not list(tmp_path.iterdir())


def test_options_may_be_numpy_numbers(tmp_path):
    there = fake_fit(tmp_path / "run", draws=2, options={"fail_at": np.int64(0), "step": 1}).draws
    assert there.manifest["settings"]["options"] == {"delay": 0.0, "fail_at": 0, "step": 1.0}


def test_a_prior_by_its_name_is_refused():
    with pytest.raises(OptionError, match=r"prior is 'grouped'; it must be a Prior"):
        run.fit(small_counts(), 3, prior="grouped", progress=False)
