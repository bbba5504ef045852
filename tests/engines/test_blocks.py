"""Draws in blocks of rows: workers write them, one process writes what is the same, and everything reads them."""

import errno
import json

import numpy as np
import pytest
import zarr

from bayesvec import _atomic as files
from bayesvec._checksums import read_json, write_json
from bayesvec.engines import cluster
from bayesvec.engines.held import Held, Team
from bayesvec.errors import RunError
from bayesvec.storage import blocks, layout, zarr3
from bayesvec.storage.blocks import Blocked, in_blocks
from bayesvec.storage.moments import with_draw
from bayesvec.storage.reader import open_draws
from engine_problems import drawn, fitted
from fake_ray import FakeRay
from run_tools import draw_bytes

WORKERS = {"engine": "ray", "workers": 2, "threads": 1}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Cut draws of small problems into blocks of rows."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 24)
    monkeypatch.setattr(zarr3, "SHARD_BYTES", 700)
    monkeypatch.setattr(zarr3, "CHUNK_BYTES", 130)


@pytest.fixture
def written(monkeypatch):
    """The blocks that workers write."""
    found, right = [], cluster.Worker.write

    def write(worker, name, block, chain, draw, *rest):
        found.append((name, block, chain, draw))
        right(worker, name, block, chain, draw, *rest)

    monkeypatch.setattr(cluster.Worker, "write", write)
    return found


@pytest.mark.parametrize("name", ["learned", "fixed", "graph", "dynamic", "informative"])
def test_workers_write_what_one_process_writes(name, use, written, tmp_path):
    ray = use(FakeRay())
    local = drawn(fitted(name, threads=2))
    for workers in (1, 3):
        found = fitted(name, **WORKERS | {"workers": workers}, out=tmp_path / str(workers))
        assert drawn(found) == local
        sides = {side: getattr(found, side).shape[2] for side in ("alpha", "rho")}
        expected = [
            (side, block) for side, rows in sides.items() if rows > 24 for block in range(-(-rows // 24))
        ]
        assert sorted(written) == [(*block, 0, draw) for block in expected for draw in range(3)]
        written.clear()
    assert not ray.lost


def test_a_planted_bug_is_seen(use, monkeypatch):
    """Workers that take the rows of a block from its first row on, whoever has them, write something else."""
    use(FakeRay())
    local = drawn(fitted("spherical"))
    monkeypatch.setattr(zarr3.Array, "first_row", 0)
    assert drawn(fitted("spherical", **WORKERS)) != local


def test_lost_blocks_are_written_again(use):
    ray = use(FakeRay(lose_every=3))
    assert drawn(fitted("learned", **WORKERS, draws=6)) == drawn(fitted("learned", draws=6))
    assert ray.lost > 10


@pytest.mark.parametrize("store", ["both", "summary"])
def test_draws_are_neither_sent_nor_gathered(store, use, monkeypatch):
    """Workers align and write their own rows, and keep their moments; a checkpoint passes by in blocks."""
    ray, gathered, gather = use(FakeRay()), [], Held.__array__

    def watched(held, *given, **named):
        gathered.append(held)
        return gather(held, *given, **named)

    monkeypatch.setattr(Held, "__array__", watched)
    moved = []
    for draws in (3, 13):
        before = ray.puts, len(gathered)
        found = fitted("covariance", **WORKERS, draws=draws, store=store)
        moved.append((ray.puts - before[0], len(gathered) - before[1]))
    assert moved[0] == moved[1]
    local = fitted("covariance", draws=13, store=store)
    for side in ("rho", "alpha"):
        np.testing.assert_array_equal(found.draws.mean(side), local.draws.mean(side))
        np.testing.assert_array_equal(found.draws.variance(side), local.draws.variance(side))


def test_workers_make_the_zeros_of_their_moments(use, monkeypatch):
    """No array of all rows goes to the workers with the first draw."""
    use(FakeRay())
    sent, start = [], Team.start

    def watched(team, method, *given, **options):
        if given[0] is with_draw:
            sent.append([type(each) for each in given[1:3]])
        return start(team, method, *given, **options)

    monkeypatch.setattr(Team, "start", watched)
    found, local = fitted("spherical", **WORKERS), fitted("spherical")
    assert sent[:2] == [[type(None)] * 2] * 2
    assert sent[2:] == [[Held] * 2] * 4
    np.testing.assert_array_equal(found.draws.variance("rho"), local.draws.variance("rho"))


@pytest.mark.parametrize("first", ["local", "ray"])
def test_a_run_moves_between_engines(first, use, tmp_path):
    """A run keeps the layout that it was started with, whoever continues it."""
    use(FakeRay())
    engines = [{}, WORKERS] if first == "local" else [WORKERS, {}]
    for draws, engine in zip((2, 4, 6), engines * 2, strict=False):
        found = fitted("learned", out=tmp_path / "run", resume=True, draws=draws, **engine)
    assert drawn(found) == drawn(fitted("learned", draws=6))
    found.draws.verify()
    fitted("learned", out=tmp_path / "whole", draws=6, **engines[0])
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_bytes())
    assert ("block_rows" in manifest["arrays"]["rho"]) == (first == "ray")
    assert manifest["format_version"] == (1 if first == "local" else 2)


@pytest.fixture
def run(use, tmp_path):
    """A run in blocks."""
    use(FakeRay())
    return fitted("spherical", **WORKERS, chains=2, out=tmp_path / "run")


def test_everything_reads_blocks(run, tmp_path):
    local = fitted("spherical", chains=2)
    assert drawn(run) == drawn(local)
    for rows in ([59], [0, 23, 24, 47, 48, 59], [50, 3, 50, 30]):
        np.testing.assert_array_equal(run.rho[:, 1:, rows], local.rho[:, 1:, rows])
    np.testing.assert_array_equal(run.draws.mean("rho"), local.draws.mean("rho"))
    theirs = zarr.open_group(tmp_path / "run" / "draws.zarr", mode="r")["posterior"]
    for side in ("rho", "alpha"):
        np.testing.assert_array_equal(theirs[side][:], getattr(local, side)[:])
    tree = run.to_datatree()
    np.testing.assert_array_equal(tree["posterior"]["rho"].sel(word="w59"), local.rho[:, :, 59])
    run.draws.verify()


@pytest.mark.parametrize("block", [0, 2])
def test_damage_is_found_in_any_block(block, run, tmp_path):
    path = tmp_path / "run" / "draws.zarr" / "posterior" / "rho" / f"c.1.1.{block}.0"
    content = bytearray(path.read_bytes())
    content[5] ^= 1
    path.write_bytes(content)
    first = 24 * block
    with pytest.raises(RunError, match=rf"chunk 0 \(rows {first} to {first + 7}\) is wrong"):
        open_draws(tmp_path / "run").verify()
    path.unlink()
    with pytest.raises(RunError, match="is missing"):
        open_draws(tmp_path / "run").verify()
    last = path.with_name(f"c.1.2.{block}.0")
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(RunError, match="is damaged: it has"):
        open_draws(tmp_path / "run")


@pytest.mark.parametrize(
    ("entry", "value"),
    [("block_rows", 0), ("block_rows", 25), ("block_rows", 24 << 20), ("chunk_rows", 0), ("shard_draws", 2)],
)
def test_forged_sizes_of_blocks_are_refused(entry, value, run, tmp_path):
    path = tmp_path / "run" / "manifest.json"
    manifest = read_json(path)
    manifest["arrays"]["rho"][entry] = value
    write_json(path, manifest)
    with pytest.raises(RunError, match=r"the 'arrays' in .* cannot be right"):
        open_draws(tmp_path / "run")


def test_workers_are_given_back_after_they_have_written(use, tmp_path, monkeypatch):
    use(FakeRay())
    events, write, close = [], cluster.RayEngine.write, cluster.Workers.close

    def watched_write(engine, *given):
        wait = write(engine, *given)
        return lambda: (events.append("written"), wait())

    def watched_close(workers):
        events.append("given back")
        close(workers)

    monkeypatch.setattr(cluster.RayEngine, "write", watched_write)
    monkeypatch.setattr(cluster.Workers, "close", watched_close)
    fitted("learned", **WORKERS, out=tmp_path / "run")
    assert events.count("given back") == 2  # after the short run, and after the chain
    assert "written" in events
    assert events[-1] == "given back"


def test_a_crash_between_blocks_loses_nothing_committed(use, tmp_path, monkeypatch):
    """A draw of which some blocks are written does not count; what killed workers left is removed."""
    use(FakeRay())
    monkeypatch.setattr("bayesvec.chains.driver.COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("bayesvec.chains.driver.COMMIT_SHARE", 0.0)
    right, calls = cluster.Worker.write, []

    def write(worker, *given):
        calls.append(given)
        if len(calls) == 15:  # in the third draw, of six blocks
            raise RunError("the disk is full")
        right(worker, *given)

    with monkeypatch.context() as crash:
        crash.setattr(cluster.Worker, "write", write)
        with pytest.raises(RunError, match="the disk is full"):
            fitted("learned", **WORKERS, draws=6, out=tmp_path / "run")
    assert layout.read_mark(tmp_path / "run", 0).draws == 2
    assert open_draws(tmp_path / "run").num_draws == 2
    left = tmp_path / "run" / "draws.zarr" / "posterior" / "rho" / ".c.0.2.1.0.0123abcd.partial"
    left.write_bytes(b"half a block")
    fitted("learned", **WORKERS, draws=6, out=tmp_path / "run", resume=True)
    fitted("learned", **WORKERS, draws=6, out=tmp_path / "whole")
    assert draw_bytes(tmp_path / "run") == draw_bytes(tmp_path / "whole")
    assert not left.exists()


def test_a_block_that_cannot_be_written_is_one_line(use, tmp_path, monkeypatch):
    use(FakeRay())

    def full(path, parts):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_apart", full)
    with pytest.raises(
        RunError, match=r"cannot write .*c\.0\.0\..* \(No space left on device\).*--resume"
    ) as caught:
        fitted("spherical", **WORKERS, out=tmp_path / "run")
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_cut(monkeypatch):
    """Draws larger than a file are cut; others are not, nor is what has few rows."""
    monkeypatch.undo()
    for rows, dim, number in ((20_000, 100, 1), (30_000, 20, 1), (30_000, 100, 2), (1_000_000, 100, 41)):
        array = in_blocks(zarr3.planned(zarr3.Path("x"), ("word", "dim"), (rows, dim), "float32"))
        assert len(array.blocks) == number
        assert isinstance(array, Blocked) == (number > 1)
        assert sum(block.rows for block in array.blocks) == rows
        assert array.chunk_rows * 4 * dim <= zarr3.CHUNK_BYTES or number == 1
