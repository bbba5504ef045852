"""Faults: killed, interrupted, out of room, damaged, used twice. Committed draws stay, going on ends the same."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from kill_driver import SETTINGS, SHARD_DRAWS

from bayesvec import fitting as run
from bayesvec._atomic import PARTIAL
from bayesvec.chains import driver
from bayesvec.errors import RunError
from bayesvec.storage import zarr3
from bayesvec.storage.layout import read_mark
from bayesvec.storage.reader import open_draws
from run_tools import draw_bytes, fake_fit, small_counts

COMMAND = [sys.executable, "-c", "from bayesvec.cli import main; main()"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run that nothing happened to."""
    path = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zarr3, "MOST_DRAWS", SHARD_DRAWS)
        run.fit(small_counts(), out=path, **SETTINGS)
    return path


@pytest.mark.parametrize("kills", [10, pytest.param(25, marks=pytest.mark.long)])
def test_killed_at_random_moments(tmp_path, whole, kills):
    """SIGKILL at random moments, from before the folder is there to the last draws; go on each time."""
    driver = [sys.executable, str(Path(__file__).parents[1] / "support" / "kill_driver.py"), str(tmp_path)]
    ran = subprocess.run([*driver, str(kills), "20"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    first_chain = [marks[0] for marks in told["sweeps"] if marks]
    assert len(told["sweeps"]) == kills
    assert len({sweep for sweep in first_chain if sweep}) > kills // 3, "the kills did not fall into the run"
    assert any(0 < sweep <= SETTINGS["warmup"] for sweep in first_chain)
    assert any(sweep > SETTINGS["warmup"] for sweep in first_chain)
    ended = [tmp_path / "run", *(tmp_path / f"done{i}" for i in range(told["ended"]))]
    for path in ended:
        assert draw_bytes(path) == draw_bytes(whole)
        np.testing.assert_array_equal(open_draws(path).variance("alpha"), open_draws(whole).variance("alpha"))
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(PARTIAL)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in ended)


FULL_DISK = """
import resource, sys
from run_tools import fake_fit
from bayesvec.chains import driver
from bayesvec.chains.display import ChainProgress
from bayesvec.errors import RunError
driver.COMMIT_SECONDS = driver.COMMIT_SHARE = 0.0
at = ChainProgress.at
there = set()
def limited(self, sweep, log_posterior):
    at(self, sweep, log_posterior)
    if sweep == 30:
        there.add(self.chain)
    if len(there) == 2:  # both have some draws
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
ChainProgress.at = limited
try:
    fake_fit(sys.argv[1], draws=60)
except RunError as error:
    print(error)
    sys.exit(2)
"""


def test_file_size_limit_ends_in_a_clear_error(tmp_path):
    fake_fit(tmp_path / "whole", draws=60)
    places = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": places},
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "the disk is full (File too large)" in ran.stdout
    assert "all committed draws are safe; make room and resume with: bayesvec fit --resume" in ran.stdout
    there, whole = open_draws(tmp_path / "run"), open_draws(tmp_path / "whole")
    there.verify()
    assert 10 < there.num_draws < 60
    np.testing.assert_array_equal(there.read("rho"), whole.read("rho")[:, : there.num_draws])
    fake_fit(tmp_path / "run", draws=60, resume=True)
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(PARTIAL)]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB, where the system lets us have one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small tmpfs cannot be mounted here (that needs root)")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)  # this process may still map files there


@pytest.mark.long
def test_full_disk_and_room_again(bayesvec, tmp_path, small_disk, monkeypatch):
    small_counts().save(tmp_path / "counts")
    settings = ("--counts", tmp_path / "counts", "--dim", 3, "--draws", 900, "--warmup", 50, "--quiet")
    out = small_disk / "run"
    with monkeypatch.context() as often:
        often.setattr(driver, "COMMIT_SECONDS", 0.0)
        status, _, told = bayesvec("fit", *settings, "--out", out)
    assert status == 2
    assert told.startswith("bayesvec: the disk is full (No space left on device)")
    assert told.count("\n") == 1
    there = open_draws(out)
    there.verify()
    assert 0 < there.num_draws < 900
    status, _, told = bayesvec("fit", "--resume", "--out", out, "--quiet")  # still no room
    assert status == 2
    assert "the disk is full" in told
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    assert bayesvec("fit", "--resume", "--out", out, "--quiet") == (0, "", "")
    assert bayesvec("fit", *settings, "--out", tmp_path / "whole") == (0, "", "")
    assert draw_bytes(out) == draw_bytes(tmp_path / "whole")


@pytest.mark.long
def test_used_twice_and_interrupted(bayesvec, tmp_path):
    """A second writer is refused, a reader is not; Ctrl-C commits and says how to go on, and that is so."""
    small_counts().save(tmp_path / "counts")
    out = tmp_path / "run"
    settings = ("--counts", tmp_path / "counts", "--dim", 3, "--draws", 1000, "--warmup", 1, "--quiet")
    writer = subprocess.Popen(
        [*COMMAND, "fit", *map(str, settings), "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BAYESVEC_COMMIT_SECONDS": "0.02"},
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all(read_mark(out, number).draws for number in (0, 1)):
        assert writer.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.01)
    writer.send_signal(signal.SIGSTOP)  # hold it where it is: what follows must not race with its end
    try:
        second = bayesvec("fit", "--resume", "--out", out, "--quiet")
        forced = bayesvec("fit", *settings, "--out", out, "--force")
        there = open_draws(out)
        there.verify()
    finally:
        writer.send_signal(signal.SIGCONT)
        writer.send_signal(signal.SIGINT)
        _, told = writer.communicate()
    assert 0 < there.num_draws < 1000
    for status, _, refused in (second, forced):
        assert status == 2
        assert refused.endswith("wait for it to end, or stop it\n")
        assert refused.count("\n") == 1
    assert writer.returncode == 130
    assert told == (
        f"bayesvec: stopped; all committed draws are safe. Resume with: bayesvec fit --resume --out {out}\n"
    )
    stopped = open_draws(out)
    assert there.num_draws <= stopped.num_draws < 1000
    assert bayesvec("fit", "--resume", "--out", out, "--quiet") == (0, "", "")
    assert bayesvec("fit", *settings, "--out", tmp_path / "whole") == (0, "", "")
    assert draw_bytes(out) == draw_bytes(tmp_path / "whole")


def test_flipped_byte_is_named_by_the_commands(bayesvec, tmp_path, whole):
    shutil.copytree(whole, tmp_path / "run")
    shard = tmp_path / "run/draws.zarr/posterior/rho/c.1.3.0.0"
    content = bytearray(shard.read_bytes())
    content[50] ^= 1
    shard.write_bytes(content)
    status, _, told = bayesvec("similarity", tmp_path / "run", "w1", "w2")
    assert status == 2
    assert told.startswith(f"bayesvec: {shard} is damaged: the checksum of chunk 0 ")


def test_damaged_checkpoint_stops_a_resume(tmp_path, whole):
    shutil.copytree(whole, tmp_path / "run")
    (checkpoint,) = (tmp_path / "run/state").glob("chain-1.*.arrays")
    content = bytearray(checkpoint.read_bytes())
    content[-100] ^= 1
    checkpoint.write_bytes(content)
    with pytest.raises(RunError, match=f"{checkpoint.name} is damaged"):
        run.resume_run(tmp_path / "run", wanted={"draws": 200}, progress=False)
    there = open_draws(tmp_path / "run")
    np.testing.assert_array_equal(there.read("rho"), open_draws(whole).read("rho"))
