"""Workers draw what one process draws, whatever their number and whatever is lost; Ray itself is in test_ray.py."""

import re
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import _cluster
from bayesvec.chains import start
from bayesvec.diagnostics.calibration import calibrate
from bayesvec.engines import cluster
from bayesvec.engines.cut import cut
from bayesvec.engines.held import Held, Team
from bayesvec.errors import NumericalError, OptionError, RunError
from bayesvec.inference.contract import Problem
from bayesvec.inference.gibbs.engine import Local
from bayesvec.inference.gibbs.sampler import prepare
from bayesvec.inference.sides import make_half
from bayesvec.kernels import rng
from bayesvec.priors import spherical
from bayesvec.storage import room
from bayesvec.storage.settings import Settings
from engine_problems import PROBLEMS, drawn, fitted
from fake_ray import Crashed, DiskFull, FakeRay, Lost, NoMemory, ObjectLost, StoreFull


@pytest.mark.parametrize("name", PROBLEMS)
def test_draws_do_not_depend_on_the_number_of_workers(name, use):
    use(FakeRay())
    local = drawn(fitted(name, threads=2))
    for workers in (1, 2, 3):
        assert drawn(fitted(name, engine="ray", workers=workers, threads=1)) == local


def test_a_planted_bug_is_seen(use, monkeypatch):
    """Workers that take each other's addresses for their own draw something else."""
    use(FakeRay())
    local = drawn(fitted("spherical"))
    right = cluster.Worker.redraw

    def wrong(worker, asked, own, options, key, *rest):
        return right(worker, asked, own, options, key._replace(sweep=key.sweep + 1), *rest)

    monkeypatch.setattr(cluster.Worker, "redraw", wrong)
    assert drawn(fitted("spherical", engine="ray", workers=2, threads=1)) != local


@pytest.mark.parametrize("name", ["learned", "graph", "dynamic", "moved_graph"])
def test_lost_objects_are_made_again(name, use):
    ray = use(FakeRay(lose_every=3))
    assert drawn(fitted(name, engine="ray", workers=2, threads=1)) == drawn(fitted(name))
    assert ray.lost > 10


@pytest.mark.parametrize("name", ["covariance", "learned", "dynamic"])
def test_rows_that_are_lost_are_drawn_again_from_what_is_committed(name, use, monkeypatch):
    """Wherever rows are lost with a node: in a sweep, when a draw is stored, when it is committed."""
    monkeypatch.setattr("bayesvec.chains.driver.COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("bayesvec.chains.driver.COMMIT_SHARE", 0.0)
    local = drawn(fitted(name, init="random", draws=12))
    for period in (97, 101, 103):
        ray = use(FakeRay(lose_objects_at=range(period, 5000, period)))
        assert drawn(fitted(name, init="random", draws=12, engine="ray", workers=2, threads=1)) == local
        assert ray.lost_objects > 2


def test_a_short_run_whose_rows_are_lost_starts_again(use):
    ray = use(FakeRay(lose_objects_at=(50, 150)))
    assert drawn(fitted("covariance", engine="ray", workers=2, threads=1)) == drawn(fitted("covariance"))
    assert ray.lost_objects == 2


def test_rows_that_are_always_lost_end_the_run_in_one_line(use):
    use(FakeRay(lose_objects_at=range(8, 100_000, 8)))
    with pytest.raises(RunError, match=r"repeatedly lost with a node \(the objects are gone\).*--resume"):
        fitted("covariance", init="random", engine="ray", workers=2, threads=1)


def test_workers_that_stay_lost_end_the_run_in_one_line(use, tmp_path):
    use(FakeRay(lose_every=1))
    with pytest.raises(RunError, match=r"the workers are lost \(the node is gone\).*--resume"):
        fitted("spherical", engine="ray", workers=2, threads=1, out=tmp_path / "run")


def test_workers_that_cannot_be_started_again_are_waited_for_with_a_line(use, capsys, tmp_path):
    use(FakeRay(lose_every=20, missing=True))
    with pytest.raises(RunError, match=r"have not started within 3600 s; .*`ray status`.* is safe"):
        fitted("spherical", engine="ray", workers=2, threads=3, out=tmp_path / "run")
    (line,) = capsys.readouterr().err.splitlines()
    assert "waiting for 3 processors of the cluster" in line


def test_ray_itself_repeats_nothing_without_end(use, monkeypatch):
    """It would repeat calls of a worker that always dies; workers are asked to describe themselves until they do."""
    monkeypatch.setattr("bayesvec.storage.blocks.BLOCK_ROWS", 24)
    monkeypatch.setattr("bayesvec.storage.zarr3.SHARD_BYTES", 700)
    ray = use(FakeRay())
    fitted("covariance", engine="ray", workers=2, threads=1)
    _count(None)
    repeats = dict(ray.asked)
    assert len(repeats) == len(ray.asked)
    assert repeats.pop("_call") == _cluster.RETRIES
    assert repeats.pop("describe") is repeats.pop("Worker") is None
    assert repeats.keys() > {"redraw", "tell", "make", "write", "log_prior"}
    assert set(repeats.values()) == {0}


OTHER = {"versions": _cluster.versions() | {"numba": "0.1"}}


def test_workers_that_are_started_again_are_checked(use, capsys):
    use(FakeRay(lose_every=20, changed_later=OTHER))
    with pytest.raises(OptionError, match=r"has numba 0\.1 and this process .*; install the same versions"):
        fitted("spherical", engine="ray", workers=2, threads=1)
    assert not capsys.readouterr().err
    use(FakeRay(lose_every=20, changed_later={"processor": "Abacus 2"}))
    assert drawn(fitted("spherical", init="random", engine="ray", workers=2, threads=1)) == drawn(
        fitted("spherical", init="random")
    )
    assert capsys.readouterr().err.count("Abacus 2") == 1


def test_workers_are_checked_even_if_nothing_was_asked_of_them_when_they_died(use, monkeypatch):
    ray, right, rounds = use(FakeRay(changed_later=OTHER)), cluster.RayEngine._round, []

    def restarted(engine, *given):
        rounds.append(1)
        if len(rounds) == 9:
            ray.actors[-1].restart()
        return right(engine, *given)

    monkeypatch.setattr(cluster.RayEngine, "_round", restarted)
    with pytest.raises(OptionError, match=r"has numba 0\.1 and this process"):
        fitted("spherical", engine="ray", workers=2, threads=1)


def test_chains_have_workers_of_their_own(use):
    ray = use(FakeRay())
    assert drawn(fitted("spherical", chains=2, engine="ray", workers=3, threads=1)) == drawn(
        fitted("spherical", chains=2)
    )
    of_chains, of_the_start = [(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 3), (2, 3)]
    assert sorted(actor._worker._place for actor in ray.actors) == sorted(of_chains + of_the_start)
    assert ray.killed == 6


@pytest.mark.parametrize("name", ["covariance", "moved_colours"])
def test_the_short_run_before_the_start_is_on_the_workers_too(name, use, monkeypatch):
    use(FakeRay())
    local = drawn(fitted(name))

    def redraw(*_):
        raise AssertionError("the driver redraws rows")

    monkeypatch.setattr(Local, "redraw", redraw)
    assert drawn(fitted(name, engine="ray", workers=2, threads=1)) == local


def test_chains_that_wait_take_the_workers_of_those_that_have_ended(use):
    ray = use(FakeRay())
    found = fitted("spherical", chains=3, engine="ray", workers=1, threads=1)
    assert drawn(found) == drawn(fitted("spherical", chains=3))
    assert len(ray.actors) == ray.killed == 1


def test_a_run_that_chooses_its_length_keeps_its_workers(use):
    ray = use(FakeRay())
    lengths = {"warmup": "auto", "draws": "auto", "max_draws": 120, "chains": 2, "dim": 2}
    found = fitted("spherical", engine="ray", workers=2, threads=1, **lengths)
    assert drawn(found) == drawn(fitted("spherical", **lengths))
    assert (
        len(ray.actors) == ray.killed == 4
    )  # two that looked for the start together, and one for each chain


def test_a_chain_that_has_ended_needs_no_workers(use, tmp_path):
    ray = use(FakeRay())
    fitted("spherical", out=tmp_path / "run", chains=2)
    fitted("spherical", out=tmp_path / "run", chains=2, resume=True, engine="ray", workers=2, threads=1)
    assert not ray.actors


def test_a_run_moves_between_engines(use, tmp_path):
    use(FakeRay())
    fitted("learned", out=tmp_path / "run", draws=2)
    moved = fitted("learned", out=tmp_path / "run", resume=True, draws=4, engine="ray", workers=2, threads=1)
    again = fitted("learned", out=tmp_path / "run", resume=True, draws=6)
    whole = fitted("learned", draws=6)
    assert moved.draws.num_draws == 4
    assert drawn(again) == drawn(whole)


def moved_rows(name, ray, monkeypatch, sweeps=20):
    """How often so many more sweeps of warm-up send objects to the store, and gather rows from it."""
    gathered, gather = [], Held.__array__

    def watched(held, *given, **named):
        gathered.append(held)
        return gather(held, *given, **named)

    moved = []
    with monkeypatch.context() as watching:
        watching.setattr(Held, "__array__", watched)
        for warmup in (5, 5 + sweeps):
            ray.puts = 0
            gathered.clear()
            options = {"warmup": warmup, "init": "random", "identify": "none"}
            fitted(name, engine="ray", workers=2, threads=1, **options)
            moved.append(np.array([ray.puts, len(gathered)]))
    return (moved[1] - moved[0]).tolist()


@pytest.mark.parametrize("name", ["covariance", "weighted", "moved", "spherical", "learned"])
def test_rows_stay_with_the_workers(name, use, monkeypatch):
    """A sweep neither sends rows to the workers nor gathers them."""
    assert moved_rows(name, use(FakeRay()), monkeypatch) == [0, 0]


def test_coupled_rows_are_gathered(use, monkeypatch):
    """The test above could fail: moves along the orbit need the gathered rows of priors that couple them."""
    puts, gathered = moved_rows("grouped", use(FakeRay()), monkeypatch)
    assert puts >= 20
    assert gathered >= 20


def test_a_broken_row_is_named(use, monkeypatch):
    use(FakeRay())
    monkeypatch.setattr(
        cluster.Worker,
        "redraw",
        lambda worker, asked, own, *_: (own, (np.zeros(len(own)), [7])),
    )
    with pytest.raises(NumericalError, match="'w7'"):
        fitted("spherical", engine="ray", workers=1, threads=1)


@pytest.mark.parametrize(
    ("changed", "cpus", "given", "message"),
    [
        (
            {"versions": {"bayesvec": "0.0.1"}},
            (8,),
            {},
            "has bayesvec 0.0.1 and this process .* install the same",
        ),
        (
            {},
            (2, 3),
            {"workers": 3, "threads": 2},
            "5 processors on 2 nodes, enough for 2; use fewer --workers",
        ),
        ({}, (), {}, "no node with a free processor"),
        ({}, (), {"workers": None, "threads": None}, "no node with a free processor"),
    ],
)
def test_clusters_that_do_not_fit_are_refused(changed, cpus, given, message, use):
    use(FakeRay(cpus, changed=changed))
    with pytest.raises(OptionError, match=message):
        fitted("spherical", engine="ray", **{"workers": 2, "threads": 1} | given)


def test_by_default_there_is_a_worker_for_each_node_however_unequal(use):
    use(FakeRay((1, 4, 4)))
    post = fitted("spherical", engine="ray")
    np.testing.assert_array_equal(post.rho[:], fitted("spherical").rho[:])


def test_a_chain_waits_until_others_have_left_enough_workers(use, monkeypatch, tmp_path):
    use(FakeRay())
    crew = cluster.Crew(tmp_path, Settings(dim=2), 1, 2)
    monkeypatch.setattr(crew, "_start", lambda count: SimpleNamespace(actors=[object()] * count))
    monkeypatch.setattr(crew, "_end", lambda actors: None)
    first, second, got = crew.take(1), crew.take(1), []
    waiting = threading.Thread(target=lambda: got.append(crew.take(2)), daemon=True)
    waiting.start()
    crew.give_back(first)
    waiting.join(0.2)
    assert not got  # one of two is not enough
    crew.give_back(second)
    waiting.join(10.0)
    assert len(got[0].actors) == 2


def test_threads_are_those_of_workers_not_of_the_driver(use, monkeypatch):
    """The curvature at the start is computed on the driver's own processors."""
    use(FakeRay())
    asked = []
    monkeypatch.setattr("bayesvec._pipeline.default_threads", lambda: 7)
    sizes = start._noise_sizes
    monkeypatch.setattr(
        start, "_noise_sizes", lambda *given, threads: (asked.append(threads), sizes(*given, threads=1))[1]
    )
    for how in ({"engine": "ray", "workers": 2}, {}):
        fitted("spherical", threads=1, **how)
    assert asked == [7, 1]
    with pytest.raises(OptionError, match="threads is 0"):
        fitted("spherical", threads=0, engine="ray")


@pytest.mark.parametrize("shell", [True, False])
def test_text_of_a_run_is_counted_on_its_cluster(shell, use, bayesvec, monkeypatch, tmp_path):
    ray, path = use(FakeRay()), tmp_path / "text.txt"
    path.write_text("\n".join(TEXTS["lines"]["documents"]))
    asked, right = [], _cluster._in_order
    monkeypatch.setattr(
        _cluster, "_in_order", lambda ray, *given: (asked.append(given[-1]), right(ray, *given))[1]
    )
    given = {"dim": 2, "draws": 2, "warmup": 2, "chains": 1, "engine": "ray", "address": "auto", "threads": 2}
    given |= {"workers": 3, "prior_precision": 1.0, "out": tmp_path / "run"}
    if shell:
        options = [text for name, value in given.items() for text in (f"--{name.replace('_', '-')}", value)]
        assert bayesvec("fit", path, *options, "--quiet")[0] == 0
    else:
        bv.fit(path, **given, progress=False)
    assert ray.calls > 1
    assert max(asked) == 6  # as many processors as the workers have


def test_text_is_counted_by_threads_if_ray_is_started_here(use, monkeypatch):
    ray, asked = use(FakeRay()), []
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(
        "bayesvec.text.count.count", lambda *_, **given: asked.append(given) or PROBLEMS["spherical"]()[0]
    )
    monkeypatch.setattr("bayesvec.fitting.start._start", lambda *_, **__: None)
    bv.fit(["a text"], 4, engine="ray", threads=1)
    (given,) = asked
    assert (given["engine"], given["threads"]) == ("local", None)


def test_the_memory_of_a_cluster_is_not_that_of_this_machine(use, monkeypatch):
    """The driver is refused only if it has no room for what it holds itself."""
    ray = use(FakeRay())
    monkeypatch.setattr(room, "memory_bytes", lambda: 30_000)
    fitted("spherical", engine="ray", workers=2, threads=1)
    with pytest.raises(OptionError, match="this machine has"):
        fitted("spherical", threads=1)
    with pytest.raises(OptionError, match="this machine has"):
        fitted("spherical", engine="ray", workers=2, threads=1, chains=4)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # Ray and the chains would be here
    with pytest.raises(OptionError, match="this machine has"):
        fitted("spherical", engine="ray", workers=2, threads=1)


def test_idle_workers_are_kept_while_enough_are_free(use, monkeypatch, tmp_path):
    use(FakeRay())
    crew, ended = cluster.Crew(tmp_path, Settings(dim=2), 1, 4), []
    monkeypatch.setattr(crew, "_start", lambda count: SimpleNamespace(actors=[object()] * count))
    monkeypatch.setattr(crew, "_end", lambda actors: ended.append(len(actors)))
    first = crew.take(1)
    crew.give_back(first)
    second = crew.take(3)  # three of four are free
    assert not ended
    assert crew.take(1) is first
    crew.give_back(first)
    crew.give_back(second)
    assert len(crew.take(2).actors) == 2
    assert ended == [3]


@pytest.mark.parametrize(
    ("address", "same"),
    [
        (None, True),
        ("auto", True),
        ("10.0.0.1:6379", True),
        ("127.0.0.1:6379", True),
        ("10.0.0.1:6380", False),
        ("10.0.0.2:6379", False),
    ],
)
def test_another_cluster_than_the_one_connected_to_is_refused(address, same, use, monkeypatch):
    use(FakeRay())
    monkeypatch.setattr(_cluster, "_is_here", {"10.0.0.1", "127.0.0.1"}.__contains__)
    if same:
        with _cluster.connect(_cluster.Where("ray", address)):
            return
    message = rf"address is '{address}', and .* connected to Ray at '10\.0\.0\.1:6379' already; leave out"
    with pytest.raises(OptionError, match=message), _cluster.connect(_cluster.Where("ray", address)):
        pass


def test_addresses_of_this_machine_are_known():
    assert _cluster._is_here("127.0.0.1")
    assert not _cluster._is_here("192.0.2.1")  # of no machine: kept for documentation (RFC 5737)


def test_other_processors_are_noted(use, capsys):
    use(FakeRay(changed={"processor": "Abacus 2"}))
    fitted("spherical", engine="ray", workers=1, threads=1)
    assert re.search(r"different kinds \(.*Abacus 2.*\): last digits may differ", capsys.readouterr().err)


def test_a_run_folder_that_nodes_do_not_share(use, tmp_path, monkeypatch):
    use(FakeRay())
    elsewhere = cluster.Worker.__init__
    monkeypatch.setattr(
        cluster.Worker, "__init__", lambda worker, run, *rest: elsewhere(worker, "/nowhere/run", *rest)
    )
    with pytest.raises(RunError, match="put the run on a file system that all nodes share"):
        fitted("spherical", engine="ray", workers=1, threads=1, out=tmp_path / "run")


def _fit(tmp_path):
    fitted("spherical", engine="ray", workers=1, threads=1, out=tmp_path / "run")


def _count(_):
    bv.count(**TEXTS["lines"], progress=False, engine="ray", workers=2)


NOT_INSTALLED = (
    "The actor with name Worker failed to import on the worker. This may be because needed library dependencies are "
    "not installed in the worker environment:\n\nTraceback (most recent call last):\n  ...\n"
    "ModuleNotFoundError: No module named 'bayesvec.engines'"
)


@pytest.mark.parametrize("command", [_fit, _count])
@pytest.mark.parametrize(
    ("ray", "error", "message"),
    [
        (
            {"full_after": 0},
            RunError,
            "object store of a node is full; start Ray yourself .*--object-store-memory.* --address auto",
        ),
        ({"broken": StoreFull("no room")}, RunError, "object store of a node is full"),
        (
            {"broken": DiskFull("no room")},
            RunError,
            "the disk to which Ray spills objects is full; make room",
        ),
        ({"broken": NoMemory("killed")}, RunError, "out of memory; start fewer --workers on a node"),
        ({"broken": MemoryError("8 GiB")}, RunError, "out of memory; start fewer --workers on a node"),
        (
            {"broken": Crashed("The worker died.\nSee its logs.")},
            RunError,
            r"Ray failed \(The worker died\); look at `ray status`",
        ),
        (
            {"broken": RuntimeError(NOT_INSTALLED)},
            OptionError,
            "no package bayesvec; install the same version",
        ),
        ({"broken": Lost(NOT_INSTALLED)}, OptionError, "no package bayesvec; install the same version"),
    ],
)
def test_what_is_wrong_with_a_cluster_is_one_line(command, ray, error, message, use, tmp_path):
    use(FakeRay(**ray))
    with pytest.raises(error, match=message) as caught:
        command(tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_lost_pieces_of_text_are_one_line(use):
    use(FakeRay(broken=ObjectLost("the objects are gone\nwith their node")))
    with pytest.raises(RunError, match=r"Ray failed \(the objects are gone\); look at `ray status`"):
        _count(None)


def test_an_object_store_that_is_full_at_a_call_is_one_line():
    """Large arguments of a call go there."""

    def remote(*_):
        raise StoreFull("no room")

    worker = SimpleNamespace(tell=SimpleNamespace(options=lambda **_: SimpleNamespace(remote=remote)))
    team = Team(FakeRay(), [worker], 1)
    with pytest.raises(RunError, match="the object store of a node is full"):
        team.tell("tell", len, np.zeros(3))


def test_a_ray_that_cannot_be_started_is_one_line(use, monkeypatch, tmp_path):
    ray, ended = use(FakeRay()), []

    def init(*_, **__):
        raise Exception("The current node timed out during startup.\nThis could happen because ...")

    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init, raising=False)
    monkeypatch.setattr(ray, "shutdown", lambda: ended.append(1), raising=False)
    with pytest.raises(
        RunError, match=r"on this machine \(The current node timed out.*startup\).*--address auto"
    ):
        fitted("spherical", engine="ray")
    assert ended


def test_a_ray_that_is_started_here_has_room_for_the_rows(use, monkeypatch, tmp_path):
    ray, asked = use(FakeRay()), []
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda *_, **given: asked.append(given), raising=False)
    monkeypatch.setattr(ray, "shutdown", lambda: None, raising=False)
    monkeypatch.setattr(_cluster.shutil, "disk_usage", lambda _: SimpleNamespace(free=40 << 30))
    monkeypatch.setattr(_cluster, "memory_bytes", lambda: 100 << 30)
    with _cluster.connect(_cluster.Where("ray"), store=5 << 30):
        pass
    monkeypatch.setattr(_cluster, "STORE_BYTES", 1000)
    fitted(
        "spherical", engine="ray", workers=2, threads=1, chains=3
    )  # two chains at once, 120 rows of four axes
    monkeypatch.setattr(_cluster, "memory_bytes", lambda: 10_000)
    fitted("spherical", engine="ray", workers=2, threads=1, chains=3)
    assert [each["object_store_memory"] for each in asked] == [5 << 30, 2 * 120 * 4 * 80, 5000]


def test_counting_refuses_workers_of_other_versions(use, monkeypatch):
    use(FakeRay())
    here, asked = _cluster.versions(), []

    def versions():
        asked.append(1)
        return here if len(asked) == 1 else here | {"numba": "0.1"}  # the driver asks first

    monkeypatch.setattr(_cluster, "versions", versions)
    with pytest.raises(OptionError, match=r"has numba 0\.1 and this process .*; install the same versions"):
        _count(None)


def test_a_cluster_of_another_version_of_ray_is_one_line(use, monkeypatch):
    ray = use(FakeRay())
    told = (
        "Version mismatch: The cluster was started with:\n    Ray: 2.1.0\n    Python: 3.9.1\nThis process ..."
    )

    def init(*_, **__):
        raise RuntimeError(told)

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init, raising=False)
    with pytest.raises(
        OptionError, match=r"other versions than this process \(.*Ray: 2\.1\.0 Python: 3\.9\.1"
    ):
        fitted("spherical", engine="ray", address="auto")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "spark"}, "engine is 'spark'; it must be local or ray"),
        ({"workers": 2}, "workers is for engine ray, and engine is local"),
        ({"address": "auto"}, "address is for engine ray"),
        ({"engine": "ray", "workers": 0}, "workers is 0"),
        ({"engine": "ray", "method": "map"}, "method map does not run on engine ray; gibbs does"),
    ],
)
def test_wrong_options_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        fitted("spherical", **given)


def test_without_ray_there_is_one_line(bayesvec, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    counts = tmp_path / "counts"
    bv.simulate(vocab=5, dim=2, pairs=50, seed=1)[0].save(counts)
    status, _, err = bayesvec("fit", "--counts", counts, "--engine", "ray", "--out", tmp_path / "run")
    assert status == 2
    assert "pip install 'bayesvec[ray]'" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_rows_are_cut_by_cost():
    counts, _ = bv.simulate(vocab=200, dim=4, pairs=40_000, zipf=True, seed=1)
    half = prepare(Problem(counts, spherical(1.0), 4, elsewhere=True)).by_word
    sizes = np.diff(counts.by_word.indptr)
    for workers in (1, 2, 3, 7, 300):
        blocks = cut(half, sizes, workers)
        assert len(blocks) == workers
        np.testing.assert_array_equal(np.concatenate(blocks), np.arange(200))
        cost = [sizes[rows].sum() + 2 * len(rows) for rows in blocks]
        assert max(cost) <= sum(cost) / workers + sizes.max() + 2


def test_a_tree_has_one_worker():
    counts, given = PROBLEMS["dynamic"]()
    problem = prepare(Problem(counts, given["prior"], 4, elsewhere=True))
    words = np.array([name.partition("@")[0] for name in counts.words])
    blocks = cut(problem.by_word, np.diff(counts.by_word.indptr), 3)
    assert sorted(np.concatenate(blocks)) == list(range(counts.num_words))
    owners = [set(words[rows]) for rows in blocks]
    assert not owners[0] & owners[1]
    assert not owners[1] & owners[2]
    assert not owners[0] & owners[2]


@pytest.mark.parametrize("name", ["spherical", "dynamic"])
def test_a_worker_has_the_pairs_of_its_rows_only(name):
    counts, given = PROBLEMS[name]()
    prior, free = given.get("prior", spherical(1.0)).rho, np.zeros(counts.num_words, dtype=bool)
    bare, whole = (
        make_half(rng.RHO, counts.words, counts.by_word, prior, 4, free, bare=bare) for bare in (True, False)
    )
    assert len(bare.side.other) == 0
    found = 0
    for own in cut(bare, np.diff(counts.by_word.indptr), 3):
        part = bare.only(counts.by_word, own)
        found += len(part.side.other)
        for row in range(counts.num_words):
            for array in ("other", "n", "kappa"):
                mine, all_ = (
                    getattr(side, array)[slice(*side.indptr[[row, row + 1]])]
                    for side in (part.side, whole.side)
                )
                np.testing.assert_array_equal(mine, all_ if row in own else all_[:0])
    assert found == counts.num_pairs


def test_sums_of_samples_do_not_depend_on_what_is_in_memory(monkeypatch):
    counts, _ = bv.simulate(vocab=50, dim=4, pairs=5000, zipf=True, seed=1)
    side = counts.by_word
    expected = np.bincount(side.rows(), side.n_pos + side.n_neg, minlength=50)
    for at_once in (1 << 24, 7):
        monkeypatch.setattr("bayesvec.counts.pairs.SAMPLES_AT_ONCE", at_once)
        np.testing.assert_array_equal(side.samples(), expected)


def test_nothing_of_ray_is_imported_unless_asked_for():
    code = "import sys, bayesvec as bv; c, _ = bv.simulate(vocab=5, dim=2, pairs=50)\n"
    code += "bv.fit(c, dim=2, draws=2, warmup=2, progress=False)\n"
    code += (
        "assert not [name for name in sys.modules if name == 'ray' or name.startswith('bayesvec.engines.')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TEXTS = {
    "lines": {"documents": ["the cat sat on the mat", "a dog and a cat", "dogs sat on mats"] * 50},
    "groups": {
        "documents": ["the cat sat", "a dog sat", "cats and dogs"] * 40,
        "groups": ["a", "b", "b"] * 40,
    },
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("more", [{}, {"tokenizer": "whitespace"}, {"tokenizer": "[a-z]+", "window": 1}])
def test_counts_do_not_depend_on_the_engine(name, more, use):
    ray = use(FakeRay())
    local = bv.count(**TEXTS[name], **more, progress=False)
    for workers in (1, 3):
        found = bv.count(**TEXTS[name], **more, progress=False, engine="ray", workers=workers)
        assert found.fingerprint == local.fingerprint
        assert found.recipe == local.recipe
        np.testing.assert_array_equal(found.by_context.n_neg, local.by_context.n_neg)
    assert ray.calls > 4


def test_counting_has_so_many_processes_and_no_more():
    """Where processors are free Ray would start all that it is given."""
    computing, most = set(), []

    class Slow(FakeRay):
        def _call(self, function, given):
            computing.add(given[-1])
            most.append(len(computing))
            return given[-1]

        def wait(self, refs, num_returns, fetch_local=True):
            done = refs[:num_returns]
            computing.difference_update(done)
            return done, refs[num_returns:]

        def get(self, refs, timeout=None):
            computing.difference_update(refs)
            return refs

    for count in (1, 2, 3):
        most.clear()
        assert list(_cluster._in_order(Slow(), abs, range(20), count)) == list(range(20))
        assert max(most) == count


@pytest.mark.parametrize("precision", [1.0, pytest.param("learn", marks=pytest.mark.long)])
def test_calibration_does_not_depend_on_the_engine(precision, use):
    ray = use(FakeRay())
    given = {"vocab": 6, "dim": 2, "pairs": 200, "worlds": 6, "warmup": 20, "draws": 19}
    local = calibrate("gibbs", **given, prior_precision=precision, threads=2)
    found = calibrate("gibbs", **given, prior_precision=precision, engine="ray", workers=2)
    assert found.to_dict() == local.to_dict()
    np.testing.assert_array_equal(found.ranks.values, local.ranks.values)
    assert ray.calls == 6
