"""Real Ray: several nodes on this machine draw what one process draws, also when workers and drivers are killed."""

import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from pydoc_data import topics as pydoc_topics

import pytest

import bayesvec as bv
from bayesvec.engines import cluster, held
from bayesvec.errors import RunError
from bayesvec.storage.reader import open_draws
from engine_problems import PROBLEMS, SETTINGS, drawn, fitted
from run_tools import draw_bytes

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra 'ray')"),
]
KILLS = 50
STORE = 80 << 20
# a Ray of our own, on loopback; its processes are not nice, or they would wait for all others on a busy machine
CONFIG = {"worker_niceness": 0}


def test_ray_is_started_and_stopped(bayesvec, tmp_path, monkeypatch):
    """Without an address Ray runs on this machine, and nothing of it is left; before the tests that use `nodes`."""
    import ray

    temporary = tempfile.mkdtemp(dir="/tmp")  # a short name, for sockets
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    counts, _ = PROBLEMS["spherical"]()
    counts.save(tmp_path / "counts")
    given = ["--dim", 4, "--draws", 3, "--warmup", 5, "--chains", 1, "--seed", 5, "--prior-precision", 4]
    status, _, _ = bayesvec(
        *("fit", "--counts", tmp_path / "counts", "--out", tmp_path / "run", *given, "--quiet"),
        *("--engine", "ray", "--workers", 2, "--threads", 1),
    )
    assert status == 0
    assert not ray.is_initialized()
    assert not os.listdir(temporary)
    os.rmdir(temporary)
    fitted("spherical", out=tmp_path / "local")
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "local")


def test_a_cluster_that_is_not_there_is_one_line(bayesvec, tmp_path):
    counts, _ = PROBLEMS["spherical"]()
    counts.save(tmp_path / "counts")
    where = ("--engine", "ray", "--address", "127.0.0.1:1")
    status, _, err = bayesvec(
        "fit", "--counts", tmp_path / "counts", "--out", tmp_path / "run", "--quiet", *where
    )
    assert status == 2
    assert "there is no Ray cluster at address '127.0.0.1:1'" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def nodes():
    """Three nodes of two processors each, to which this process is connected."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("RAY_TMPDIR", folder)
        yield from started()


def started():
    import ray
    from ray.cluster_utils import Cluster

    given = {"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False}
    there = Cluster(initialize_head=True, head_node_args=given | {"_system_config": CONFIG})
    try:
        for _ in range(2):
            there.add_node(num_cpus=2, object_store_memory=STORE)
        ray.init(there.address, logging_level=logging.ERROR, log_to_driver=False)
        yield there
    finally:
        ray.shutdown()
        there.shutdown()


@pytest.fixture
def kills(monkeypatch):
    """Kill a random worker in the middle of half a sweep, again and again; count the kills."""
    import ray

    done, chosen, right = [], random.Random(1), cluster.RayEngine._round

    def round_and_kill(engine, *given):
        if len(done) < kills.wanted and chosen.random() < kills.share:
            pid = ray.get(chosen.choice(engine.actors).describe.remote())["pid"]
            timer = threading.Timer(chosen.uniform(0.0, 0.02), os.kill, (pid, signal.SIGKILL))
            timer.start()
            try:
                return right(engine, *given)
            finally:
                timer.join()
                done.append(pid)
        return right(engine, *given)

    monkeypatch.setattr(cluster.RayEngine, "_round", round_and_kill)
    kills.wanted, kills.share, kills.done = 1, 0.3, done
    return kills


def ray_draws(name, workers, **more):
    """Draws of a problem on workers of one thread each."""
    return drawn(fitted(name, engine="ray", workers=workers, threads=1, **more))


@pytest.mark.usefixtures("nodes")
def test_two_nodes_draw_what_one_process_draws():
    assert ray_draws("dynamic", 2) == drawn(fitted("dynamic"))


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_any_number_of_workers(name, workers):
    assert ray_draws(name, workers) == drawn(fitted(name))


@pytest.mark.usefixtures("nodes")
def test_a_killed_worker_changes_nothing(kills):
    assert ray_draws("learned", 2) == drawn(fitted("learned"))
    assert len(kills.done) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
def test_many_killed_workers_change_nothing(kills):
    kills.wanted, kills.share = KILLS, 0.5
    assert ray_draws("learned", 3, draws=100) == drawn(fitted("learned", draws=100))
    assert len(kills.done) == KILLS


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
def test_killed_workers_write_the_same_blocks(kills, tmp_path, monkeypatch):
    """Workers are killed while they write blocks of draws."""
    monkeypatch.setattr("bayesvec.storage.blocks.BLOCK_ROWS", 24)
    monkeypatch.setattr("bayesvec.storage.zarr3.SHARD_BYTES", 700)
    monkeypatch.setattr("bayesvec.storage.zarr3.CHUNK_BYTES", 130)
    kills.wanted, kills.share = KILLS // 2, 0.5
    assert ray_draws("learned", 3, draws=60, out=tmp_path / "run") == drawn(fitted("learned", draws=60))
    assert len(kills.done) == KILLS // 2
    open_draws(tmp_path / "run").verify()
    assert not list((tmp_path / "run").rglob("*.partial"))


@pytest.mark.slow
def test_a_node_that_goes_changes_nothing(nodes):
    gone = nodes.add_node(num_cpus=2, object_store_memory=STORE)
    timer = threading.Timer(8.0, nodes.remove_node, (gone, False))
    timer.start()
    try:
        assert ray_draws("spherical", 4, draws=400) == drawn(fitted("spherical", draws=400))
    finally:
        timer.join()


def test_a_node_that_goes_and_leaves_no_room_ends_the_run_in_one_line(nodes, monkeypatch, capsys):
    """Four workers of two threads need four nodes of two processors."""
    monkeypatch.setattr(held, "NOTE_SECONDS", 1.0)
    monkeypatch.setattr(held, "WAIT_SECONDS", 5.0)
    gone, rounds, right = nodes.add_node(num_cpus=2, object_store_memory=STORE), [], cluster.RayEngine._round

    def round_without_it(engine, *given):
        rounds.append(1)
        if len(rounds) == 10:
            nodes.remove_node(gone, False)
        return right(engine, *given)

    monkeypatch.setattr(cluster.RayEngine, "_round", round_without_it)
    with pytest.raises(RunError, match="the workers have not started within 5 s") as caught:
        fitted("spherical", engine="ray", workers=4, threads=2)
    assert len(str(caught.value).splitlines()) == 1
    assert "waiting for 2 processors of the cluster" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_drivers_resume_to_the_same_draws(nodes, tmp_path):
    """Drivers are killed at random; the last one ends the run."""
    settings = SETTINGS | {
        "draws": 300,
        "engine": "ray",
        "address": nodes.address,
        "workers": 2,
        "threads": 1,
    }
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from engine_problems import PROBLEMS; import bayesvec as bv\n"
        "counts, given = PROBLEMS['learned']()\n"
        f"bv.fit(counts, out=sys.argv[1], resume=True, **{settings!r} | given)"
    )
    support = Path(__file__).parents[1] / "support"
    chosen, out, kills = random.Random(1), tmp_path / "run", 0
    environment = os.environ | {"BAYESVEC_COMMIT_SECONDS": "0.1"}
    while True:
        driver = subprocess.Popen([sys.executable, "-c", code, out, support], env=environment)
        try:
            driver.wait(chosen.uniform(6.0, 12.0) if kills < 5 else None)
            break
        except subprocess.TimeoutExpired:
            driver.kill()
            driver.wait()
            kills += 1
    assert driver.returncode == 0
    assert kills > 1
    whole = tmp_path / "whole"
    fitted("learned", draws=300, out=whole)
    assert draw_bytes(out) == draw_bytes(whole)
    assert open_draws(out).finished


@pytest.mark.slow
@pytest.mark.usefixtures("nodes")
def test_nodes_count_what_one_process_counts(tmp_path, monkeypatch):
    """The folders are the same, byte for byte."""
    monkeypatch.setattr("bayesvec.text.pieces.LEAST_BYTES", 50_000)
    source = Path(pydoc_topics.__file__)
    for name, more in (("local", {}), ("ray", {"engine": "ray", "workers": 2})):
        counts = bv.count(source, vocab=500, memory="40MB", progress=False, **more)
        counts.save(tmp_path / name)
    files = {path.name for path in (tmp_path / "local").iterdir()}
    assert files == {path.name for path in (tmp_path / "ray").iterdir()}
    for file in files:
        assert (tmp_path / "local" / file).read_bytes() == (tmp_path / "ray" / file).read_bytes()
