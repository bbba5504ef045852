"""The store: what is committed stays, what is damaged is named, a few words are a few chunks."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import zarr

from bayesvec import _atomic as files
from bayesvec._checksums import array_parts, read_arrays, read_json, write_json
from bayesvec._lock import Lock
from bayesvec.errors import OptionError, RunError
from bayesvec.storage import layout, zarr3, zarr3_coordinates
from bayesvec.storage import writer as recorder
from bayesvec.storage.reader import open_draws

WORDS, CONTEXTS, DIM, PAIRS = 23, 11, 3, 4
MANIFEST = {"format": layout.FORMAT, "format_version": 1, "versions": {"bayesvec": "0"}, "monitored": []}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch):
    """Several shards and several chunks even in small runs."""
    monkeypatch.setattr(zarr3, "MOST_DRAWS", 4)
    monkeypatch.setattr(zarr3, "CHUNK_BYTES", 256)
    monkeypatch.setattr(layout, "STAT_DRAWS", 6)


def new_run(path: Path, *, chains: int = 2, draws: int = 10, sides=("rho", "alpha")) -> dict:
    path.mkdir()
    sizes = {"rho": WORDS, "alpha": CONTEXTS}
    arrays = layout.plan_arrays(
        path,
        sides={name: sizes[name] for name in sides},
        dim=DIM,
        stats=("log_posterior", "seconds"),
        pairs=PAIRS,
    )
    settings = {"chains": chains, "draws": draws, "dim": DIM, "store": "both" if sides else "summary"}
    manifest = {**MANIFEST, "settings": settings, "arrays": layout.described(arrays)}
    names = {
        "words": [f"wört_{i}" for i in range(WORDS)],
        "contexts": [f"c{i}" for i in range(CONTEXTS)],
        "groups": None,
    }
    recorder.create(path, manifest, names)
    return manifest


def values(chain: int, draw: int) -> dict:
    generator = np.random.default_rng([chain, draw])
    return {
        "rho": generator.standard_normal((WORDS, DIM)).astype(np.float32),
        "alpha": generator.standard_normal((CONTEXTS, DIM)).astype(np.float32),
        "lp": generator.standard_normal(),
        "seconds": 1.0,
        "cosine": generator.uniform(-1, 1, PAIRS),
    }


def state(chain: int, draw: int) -> dict:
    return {"rho": values(chain, draw)["rho"], "count": np.asarray(draw)}


def write_chain(path: Path, manifest: dict, chain: int, until: int, commit_every: int = 3) -> None:
    """Go on with a chain from what is committed."""
    record = recorder.ChainRecorder(path, chain, manifest)
    saved = record.restore()
    if saved:
        np.testing.assert_array_equal(saved["rho"], state(chain, record.draws)["rho"])
        assert saved["count"] == record.draws
    for draw in range(record.draws, until):
        record.append(values(chain, draw))
        if (draw + 1) % commit_every == 0:
            record.commit(draw + 1, state(chain, draw + 1))
    record.commit(until, state(chain, until))


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "run"
    manifest = new_run(path)
    for chain in range(2):
        write_chain(path, manifest, chain, 10)
    return path


def expected(name: str, draws: int = 10) -> np.ndarray:
    return np.array([[values(chain, draw)[name] for draw in range(draws)] for chain in range(2)])


def test_reads_back_what_was_written(written):
    there = open_draws(written)
    assert (there.num_chains, there.num_draws, there.dim, there.finished) == (2, 10, DIM, True)
    assert there.words[1] == "wört_1"
    assert there.contexts == tuple(f"c{i}" for i in range(CONTEXTS))
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(there.read(name), expected(name))
        assert there.read(name).dtype == np.float32
    np.testing.assert_array_equal(there.stats("log_posterior"), expected("lp"))
    np.testing.assert_array_equal(there.stats("cosine"), expected("cosine").astype(np.float32))


@pytest.mark.parametrize("rows", [[0], [22, 3, 3, 7], np.array([5, 21]), []])
@pytest.mark.parametrize("part", [slice(None), slice(3, 9), slice(9, None, -2), slice(4, 4)])
def test_reads_rows_and_draws_in_any_order(written, rows, part):
    found = open_draws(written).read("rho", rows, part)
    np.testing.assert_array_equal(found, expected("rho")[:, part][:, :, np.asarray(rows, dtype=int)])


def test_blocks_are_all_draws_in_order(written):
    there = open_draws(written)
    rebuilt = np.full((2, 10, 2, DIM), np.nan)
    for chain, first, block in there.blocks("rho", [4, 2]):
        rebuilt[chain, first : first + len(block)] = block
    np.testing.assert_array_equal(rebuilt, expected("rho")[:, :, [4, 2]])


def test_zarr_reads_the_same(written):
    root = zarr.open_group(written / "draws.zarr", mode="r")
    np.testing.assert_array_equal(root["posterior/rho"][:], expected("rho"))
    np.testing.assert_array_equal(root["posterior/alpha"][:, 3:7, 2], expected("alpha")[:, 3:7, 2])
    np.testing.assert_array_equal(root["sample_stats/lp"][:], expected("lp"))
    np.testing.assert_array_equal(root["sample_stats/cosine"][:], expected("cosine").astype(np.float32))
    assert list(root["posterior/word"][:]) == [f"wört_{i}" for i in range(WORDS)]


def test_xarray_sees_arviz_layout(written):
    import xarray

    tree = xarray.open_datatree(written / "draws.zarr", engine="zarr")
    assert tree.posterior.rho.dims == ("chain", "draw", "word", "dim")
    assert tree.posterior.alpha.dims == ("chain", "draw", "context", "dim")
    assert tree.sample_stats.lp.dims == ("chain", "draw")
    found = tree.posterior.rho.sel(word="wört_7", draw=[2, 9])
    np.testing.assert_array_equal(found, expected("rho")[:, [2, 9], 7])
    assert tree.posterior.draw.values.tolist() == list(range(10))


CHOICES = [
    {"chain": 0, "draw": [2, 0], "word": 3},
    {"chain": [1, 0], "word": [4, 1, 4], "dim": 0},
    {"draw": slice(None, None, -2), "dim": [1, 0]},
    {"draw": -1, "word": -1},
    {"draw": [], "word": slice(1, 3)},
]


def test_datatree_is_that_of_the_zarr_engine(written):
    import xarray

    ours = open_draws(written).to_datatree()
    theirs = xarray.open_datatree(written / "draws.zarr", engine="zarr")
    for group in ("posterior", "sample_stats"):
        xarray.testing.assert_identical(ours[group].to_dataset(), theirs[group].to_dataset())
        for name, variable in theirs[group].variables.items():
            assert ours[group][name].dtype == variable.dtype
    for choice in CHOICES:
        np.testing.assert_array_equal(ours.posterior.rho.isel(choice), theirs.posterior.rho.isel(choice))
    points = {"chain": xarray.DataArray([0, 1], dims="at"), "word": xarray.DataArray([2, 3], dims="at")}
    np.testing.assert_array_equal(ours.posterior.rho.isel(points), theirs.posterior.rho.isel(points))


def test_datatree_reads_what_is_used(written, monkeypatch):
    tree = open_draws(written).to_datatree()
    rows = []
    read = zarr3.Array.read
    monkeypatch.setattr(
        zarr3.Array, "read", lambda self, *where: rows.append(where[2].tolist()) or read(self, *where)
    )
    np.testing.assert_array_equal(tree.posterior.rho.sel(word="wört_7"), expected("rho")[:, :, 7])
    assert rows
    assert all(read_rows == [7] for read_rows in rows)


def test_datatree_has_committed_draws_only(tmp_path):
    path = tmp_path / "run"
    manifest = new_run(path)
    write_chain(path, manifest, 0, 7)
    write_chain(path, manifest, 1, 5)
    there = open_draws(path)
    assert (there.num_draws, there.finished) == (5, False)
    np.testing.assert_array_equal(there.to_datatree().posterior.rho, expected("rho", 5))
    np.testing.assert_array_equal(there.read("rho"), expected("rho", 5))
    assert there.chain_stats("log_posterior", 0).shape == (7,)


def test_a_draw_of_its_own_shard_is_read_into_place(tmp_path):
    array = zarr3.Array(tmp_path, ("row", "dim"), (23, 5), "float32", shard_draws=1, chunk_rows=4)
    values = np.random.default_rng(1).normal(size=(1, 23, 5)).astype(np.float32)
    content = b"".join(array.parts(values))
    array.shard(0, 0).write_bytes(content)
    np.testing.assert_array_equal(array.read(0, 0), values)
    for chunk in range(array.num_chunks):
        for byte in (0, array.chunk_bytes):  # of the rows, and of their checksum
            damaged = bytearray(content)
            damaged[chunk * (array.chunk_bytes + 4) + byte] ^= 1
            array.shard(0, 0).write_bytes(damaged)
            with pytest.raises(RunError, match=f"the checksum of chunk {chunk} "):
                array.read(0, 0)


def test_chunks_are_read_together_where_they_follow_each_other(written, monkeypatch):
    there = open_draws(written)
    array = there._arrays["rho"]
    rows = [row for row in range(array.rows) if row // array.chunk_rows != 1][::-1]
    monkeypatch.setattr(zarr3, "_TOGETHER_BYTES", 2 * array.chunk_bytes)
    np.testing.assert_array_equal(there.read("rho"), expected("rho"))
    sizes = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *args: sizes.append(len(part := pread(*args))) or part)
    np.testing.assert_array_equal(there.read("rho", rows), expected("rho")[:, :, rows])
    chunks = [size // (array.chunk_bytes + 4) for size in sizes if size > array.chunk_bytes]
    assert set(chunks) == {1, 2}
    assert sum(chunks) == 2 * 3 * (array.num_chunks - 1)


def test_few_rows_read_few_bytes(written, monkeypatch):
    there = open_draws(written)
    total = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *args: total.append(len(part := pread(*args))) or part)
    there.read("rho", [3])
    array = there._arrays["rho"]
    assert array.num_chunks > 4
    assert sum(total) == 2 * 3 * (array.chunk_bytes + 4 + len(array.index))


@pytest.mark.parametrize("sides", [("rho", "alpha"), ("rho",), ()])
def test_mean_and_variance_whatever_is_stored(tmp_path, sides):
    path = tmp_path / "run"
    manifest = new_run(path, sides=sides)
    for chain in range(2):
        write_chain(path, manifest, chain, 10, commit_every=4)
    there = open_draws(path)
    for name in ("rho", "alpha"):
        flat = expected(name).astype(np.float64).reshape(20, -1, DIM)
        np.testing.assert_allclose(there.mean(name), flat.mean(0), atol=1e-13)
        np.testing.assert_allclose(there.variance(name), flat.var(0, ddof=1), atol=1e-13)
    if "alpha" not in sides:
        with pytest.raises(RunError, match="keeps no draws of alpha"):
            there.read("alpha")


def test_extension_keeps_what_is_there(tmp_path):
    long, short = tmp_path / "long", tmp_path / "short"
    manifest = new_run(long, draws=10)
    write_chain(long, manifest, 0, 10)
    write_chain(long, manifest, 1, 10)
    manifest = new_run(short, draws=6)  # not a multiple of 4 draws a shard
    for chain in range(2):
        write_chain(short, manifest, chain, 6)
    assert open_draws(short).finished
    manifest = recorder.change(short, manifest, manifest["settings"] | {"draws": 10})
    assert not open_draws(short).finished
    for chain in range(2):
        write_chain(short, manifest, chain, 10)
    for file in sorted((long / "draws.zarr").rglob("*")):
        if file.is_file():
            assert file.read_bytes() == (short / file.relative_to(long)).read_bytes(), file
    np.testing.assert_array_equal(zarr.open_group(short / "draws.zarr")["posterior/rho"][:], expected("rho"))


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


def test_flipped_byte_in_a_chunk_is_named(written):
    there = open_draws(written)
    array = there._arrays["rho"]
    shard = array.shard(1, 1)
    rows = array.chunk_rows
    size = array.chunk_bytes + 4
    for chunk in range(array.num_chunks):
        for place in (
            chunk * size,
            chunk * size + 100,
            (chunk + 1) * size - 1,
        ):  # the last is in the checksum
            flip(shard, place)
            with pytest.raises(
                RunError, match=rf"c\.1\.1\.0\.0 is damaged.*chunk {chunk} \(rows {rows * chunk} "
            ):
                there.read("rho", [rows * chunk])
            with pytest.raises(RunError, match=rf"c\.1\.1\.0\.0 is damaged.*chunk {chunk} "):
                there.read("rho")
            with pytest.raises(RunError, match=f"chunk {chunk} "):
                there.verify()
            other = (chunk + 1) % array.num_chunks * rows
            np.testing.assert_array_equal(there.read("rho", [other]), expected("rho")[:, :, [other]])
            flip(shard, place)
    there.verify()


def test_damaged_index_and_cut_shard_are_named(written):
    there = open_draws(written)
    shard = there._arrays["alpha"].shard(0, 2)
    whole = shard.read_bytes()
    flip(shard, -1)
    with pytest.raises(RunError, match=r"c\.0\.2\.0\.0 is damaged"):
        there.read("alpha", [0])
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        shard.write_bytes(whole[:length])
        with pytest.raises(RunError, match=r"c\.0\.2\.0\.0 is damaged"):
            there.read("alpha", [0])
    shard.write_bytes(whole + b"x")
    with pytest.raises(RunError, match=r"c\.0\.2\.0\.0 is damaged"):
        there.read("alpha")
    shard.unlink()
    with pytest.raises(RunError, match=r"c\.0\.2\.0\.0 is missing"):
        there.read("alpha")


@pytest.mark.parametrize("name", ["manifest.json", "names.json", "state/chain-1.json"])
def test_flipped_byte_in_json_is_named(written, name):
    content = (written / name).read_bytes()
    for place in range(0, len(content), max(1, len(content) // 50)):
        if content[place : place + 1].isspace():
            continue  # space between values carries nothing
        flip(written / name, place)
        with pytest.raises(RunError, match=name.rsplit("/", 1)[-1]):
            open_draws(written).verify()
        flip(written / name, place)
    open_draws(written).verify()


def test_flipped_byte_in_zarr_json_is_named(written):
    paths = sorted((written / "draws.zarr").rglob("zarr.json"))
    assert len(paths) > 8
    for path in paths:
        content = path.read_bytes()
        for place in range(1, len(content), max(1, len(content) // 12)):
            if content[place : place + 1].isspace():
                continue
            flip(path, place)
            with pytest.raises(RunError, match=r"zarr\.json is damaged"):
                open_draws(written)
            flip(path, place)
    open_draws(written)


FORGED = [
    ("settings.chains", 10**9),
    ("settings.chains", "2"),
    ("settings.chains", 3),
    ("settings.chains", None),
    ("settings.draws", -1),
    ("settings.dim", 10**15),
    ("settings.dim", 4.5),
    ("settings.method", 7),
    ("settings.options", [1]),
    ("settings.unknown", 1),
    ("settings", []),
    ("settings", None),
    ("arrays.rho.group", "../../outside"),
    ("arrays.rho.group", "/outside"),
    ("arrays.rho.shape", [10**15, 3]),
    ("arrays.rho.shape", [23, 10**15]),
    ("arrays.rho.shape", [10**6, 3]),
    ("arrays.rho.shape", 7),
    ("arrays.rho.dims", ["../word", "dim"]),
    ("arrays.rho.dtype", "object"),
    ("arrays.rho.shard_draws", 0),
    ("arrays.rho.chunk_rows", 10**15),
    ("arrays.rho", None),
    ("arrays.../../outside", {}),
    ("arrays.cosine.shape", [10**15]),
    ("arrays", 1),
    ("monitored", [[0, 10**9]]),
    ("monitored", [[0]]),
    ("monitored", 3),
    ("frequent", [10**9]),
    ("scales", None),
    ("scales", {"rho": None, "alpha": []}),
    ("scales", {"rho": ["rho"]}),
    ("scales", {"rho": ["../outside"], "alpha": []}),
    ("versions", 1.5),
    ("versions", {"bayesvec": 2}),
    ("format_version", "1"),
    ("created", 7),
    ("processor", ["x"]),
    ("counts", [1]),
    ("counts", {"fingerprint": 3}),
    ("counts", {"num_words": "many"}),
    ("counts", {"recipe": 7}),
    ("counts", {"recipe": {"options": []}}),
    ("counts", {"recipe": {"inputs": 1}}),
]


@pytest.mark.parametrize(("entry", "value"), FORGED)
def test_forged_manifests_are_refused_at_once(written, entry, value):
    manifest = read_json(written / "manifest.json")
    *above, last = entry.split(".", 2) if "outside" not in entry else ["arrays", "../../outside"]
    place = manifest
    for name in above:
        place = place[name]
    place[last] = value
    write_json(written / "manifest.json", manifest)
    with pytest.raises(RunError, match=r"manifest\.json cannot be right"):
        open_draws(written)


@pytest.mark.parametrize("versions", [{"bayesvec": "9.0"}, 1.5, None])
def test_a_newer_format_is_named(written, versions):
    manifest = read_json(written / "manifest.json")
    write_json(written / "manifest.json", {**manifest, "format_version": 10**9, "versions": versions})
    with pytest.raises(RunError, match="in a newer format; update bayesvec"):
        open_draws(written)


def test_forged_sizes_that_do_not_fit_the_draws_are_refused(written):
    manifest = read_json(written / "manifest.json")
    manifest["arrays"]["rho"]["shard_draws"] = 10**6
    write_json(written / "manifest.json", manifest)
    with pytest.raises(RunError, match=r"is damaged: it has [\d,]+ bytes, not"):
        open_draws(written)


def test_forged_marks_are_refused(written):
    for mark in (
        {"sweep": 1},
        {"sweep": 1, "draws": -1, "generation": 1},
        {"sweep": 1, "draws": 1, "generation": "x"},
    ):
        write_json(written / "state" / "chain-0.json", mark)
        with pytest.raises(RunError, match=r"chain-0\.json is damaged"):
            open_draws(written)


@pytest.mark.parametrize("seconds", ["long", [], {"a": 1}, None, -1.0, float("nan"), float("inf"), "1e3"])
def test_a_forged_time_is_refused(written, seconds):
    write_json(written / "state" / "seconds.json", {"seconds": seconds})
    with pytest.raises(RunError, match=r"seconds\.json is damaged"):
        _ = open_draws(written).seconds


@pytest.mark.parametrize(
    ("name", "value"),
    [("kind", 7), ("kind", None), ("summary", [1]), ("summary", "x"), ("caveat", 3), ("more", 1)],
)
def test_a_forged_outcome_is_refused(written, name, value):
    write_json(written / "state" / "outcome.json", {name: value})
    with pytest.raises(RunError, match=r"outcome\.json is damaged"):
        _ = open_draws(written).outcome


def test_resuming_writes_nothing_outside(written, tmp_path):
    from bayesvec.storage import folder

    outside = tmp_path / "outside"
    outside.write_text("mine")
    (written / "lock").unlink(missing_ok=True)
    (written / "lock").symlink_to(outside)
    with pytest.raises(RunError, match="lock is not a plain file"):
        folder.resume(written)
    (written / "lock").unlink()
    (written / "state").rename(tmp_path / "moved")
    (written / "state").symlink_to(tmp_path / "moved")
    with pytest.raises(RunError, match="leads out of the run folder"):
        folder.resume(written)
    assert not (written / "lock").exists()
    (written / "manifest.json.partial").symlink_to(outside)
    write_json(written / "manifest.json", read_json(written / "manifest.json"))
    assert outside.read_text() == "mine"
    assert not (written / "manifest.json.partial").is_symlink()


def test_damaged_checkpoint_is_named(written):
    (checkpoint,) = (written / "state").glob("chain-0.*.arrays")
    for place in (0, 40, -40, -1):
        flip(checkpoint, place)
        with pytest.raises(RunError, match=checkpoint.name):
            open_draws(written).mean("rho")
        with pytest.raises(RunError, match=checkpoint.name):
            recorder.ChainRecorder(written, 0, open_draws(written).manifest).restore()
        flip(checkpoint, place)
    checkpoint.unlink()
    with pytest.raises(RunError, match=f"{checkpoint.name} is missing"):
        open_draws(written).mean("rho")


def test_wrong_folders_are_named(tmp_path):
    with pytest.raises(RunError, match="nothing of that name"):
        open_draws(tmp_path / "none")
    with pytest.raises(RunError, match=r"no manifest\.json"):
        open_draws(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(RunError, match="is a file"):
        open_draws(tmp_path / "file")
    write_json(tmp_path / "manifest.json", {"format": "bayesvec counts"})
    with pytest.raises(RunError, match="another kind"):
        open_draws(tmp_path)
    newer = {**MANIFEST, "format_version": 99}
    write_json(tmp_path / "manifest.json", newer)
    with pytest.raises(RunError, match="newer format"):
        open_draws(tmp_path)


def test_wrong_questions(written):
    there = open_draws(written)
    with pytest.raises(OptionError, match="rows are from 0 to 22"):
        there.read("rho", [23])
    with pytest.raises(OptionError, match="row -1"):
        there.read("rho", [-1])
    with pytest.raises(OptionError, match="no draws of 'gamma'"):
        there.read("gamma")
    with pytest.raises(OptionError, match="cosine, log_posterior, seconds"):
        there.stats("energy")


def test_no_draws_yet(tmp_path):
    new_run(tmp_path / "run")
    there = open_draws(tmp_path / "run")
    assert (there.num_draws, there.finished) == (0, False)
    assert there.read("rho", [1]).shape == (2, 0, 1, DIM)
    assert there.stats("cosine").shape == (2, 0, PAIRS)
    with pytest.raises(RunError, match="no draws yet"):
        there.mean("rho")


def test_every_step_of_a_commit_may_be_the_last(tmp_path, monkeypatch):
    """Break off before each rename and each flush in turn: what is committed is whole, and it can go on."""
    new, whole = tmp_path / "new", tmp_path / "whole"
    manifest = new_run(new, chains=1)
    shutil.copytree(new, whole)
    write_chain(whole, manifest, 0, 7)
    real = {name: getattr(os, name) for name in ("replace", "fsync")}
    steps = 0
    for step in range(1, 1000):
        path = tmp_path / f"run{step}"
        shutil.copytree(new, path)
        left = [step]

        def broken(name, *args, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise InterruptedError("the end")
            return real[name](*args)

        for name in real:
            monkeypatch.setattr(os, name, lambda *args, name=name: broken(name, *args))
        try:
            write_chain(path, manifest, 0, 7)
            ended = True
        except InterruptedError:
            ended = False
        for name, function in real.items():
            monkeypatch.setattr(os, name, function)
        there = open_draws(path)
        there.verify()
        np.testing.assert_array_equal(there.read("rho"), expected("rho")[:1, : there.num_draws])
        if ended:
            break
        steps += 1
        write_chain(path, manifest, 0, 7)
        for file in sorted((whole / "draws.zarr").rglob("c.*")):
            assert file.read_bytes() == (path / file.relative_to(whole)).read_bytes()
    assert steps > 50


def test_mark_moves_after_everything_is_on_the_disk(tmp_path, monkeypatch):
    """No file takes its name before its bytes are flushed; the mark moves after the folders are flushed."""
    path = tmp_path / "run"
    manifest = new_run(path, chains=1)
    flushed: set[Path] = set()
    renamed: set[Path] = set()  # folders with names that are not flushed
    marks = 0
    names = {}
    real_open, real_fsync, real_replace = os.open, os.fsync, os.replace

    def note_open(name, *args, **kwargs):
        descriptor = real_open(name, *args, **kwargs)
        names[descriptor] = Path(name)
        return descriptor

    def note_fsync(descriptor):
        real_fsync(descriptor)
        flushed.add(names[descriptor])
        renamed.discard(names[descriptor])

    def note_replace(source, target):
        nonlocal marks
        assert Path(source) in flushed, f"{source} is renamed before it is flushed"
        if Path(target).name == "chain-0.json":
            marks += 1
            assert not renamed, f"the mark moves while {renamed} is not flushed"
        flushed.discard(Path(source))
        renamed.add(Path(target).parent)
        real_replace(source, target)

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_chain(path, manifest, 0, 10)
    assert marks == 4
    assert not renamed
    monkeypatch.setattr(files, "sync", lambda path: None)  # the planted bug is seen
    with pytest.raises(AssertionError, match="before it is flushed"):
        write_chain(path, recorder.change(path, manifest, manifest["settings"] | {"draws": 12}), 0, 12)


def test_reader_while_a_writer_goes_on(tmp_path):
    path = tmp_path / "run"
    manifest = new_run(path, chains=1)
    write_chain(path, manifest, 0, 5)
    there = open_draws(path)
    write_chain(path, manifest, 0, 10)
    assert there.num_draws == 5
    np.testing.assert_array_equal(there.read("rho"), expected("rho", 5)[:1])
    flat = expected("rho").astype(np.float64)[0]
    np.testing.assert_allclose(there.mean("rho"), flat.mean(0), atol=1e-13)  # the writer's newest


def test_files_stay_few(written):
    left = [file.name for file in written.rglob("*") if file.name.endswith(files.PARTIAL)]
    assert not left
    assert len(list((written / "state").iterdir())) == 4  # a mark and a checkpoint a chain


def test_plan_of_a_large_run():
    array = zarr3.planned(Path("x"), ("word", "dim"), (5000, 100), "float32")
    assert array.shard_draws * 5000 * 100 * 4 <= 16e6
    big = zarr3.planned(Path("x"), ("word", "dim"), (200_000, 300), "float32")
    assert big.shard_draws == 1
    point = zarr3.planned(Path("x"), ("word", "dim"), (5000, 100), "float32", 1)
    assert point.shard_draws == 1


def test_extended_run_is_cut_as_a_long_one(tmp_path):
    short, long = new_run(tmp_path / "short", draws=1), new_run(tmp_path / "long", draws=10)
    assert short["arrays"] == long["arrays"]


def test_draw_numbers_grow_file_by_file(tmp_path, monkeypatch):
    monkeypatch.setattr(zarr3_coordinates, "RANGE_CHUNK", 4)
    monkeypatch.setattr(zarr3_coordinates, "RANGE_SHARD", 16)
    before = 0
    for draws in (1, 4, 5, 16, 17, 50, 200):
        staged = files.Staged()
        zarr3_coordinates.write_draw_numbers(staged, tmp_path / "draw", draws, before)
        written = {path.name for path in staged._final}
        staged.commit()
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "draw", mode="r")[:], np.arange(draws))
        assert written == {"zarr.json", *(f"c.{i}" for i in range(before // 16, -(-draws // 16)))}
        before = draws
    zarr3_coordinates.write_draw_numbers(staged, tmp_path / "at once", 200)
    staged.commit()
    for file in (tmp_path / "at once").iterdir():
        assert file.read_bytes() == (tmp_path / "draw" / file.name).read_bytes()


def test_many_draw_numbers_are_few_files(tmp_path):
    staged = files.Staged()
    zarr3_coordinates.write_draw_numbers(staged, tmp_path / "draw", 3_000_000)
    staged.commit()
    assert len(list((tmp_path / "draw").iterdir())) == 4
    there = zarr.open_array(tmp_path / "draw", mode="r")
    assert there[2_999_990:].tolist() == list(range(2_999_990, 3_000_000))


def test_arrays_of_any_kind_survive(tmp_path):
    arrays = {
        "a": np.arange(6, dtype=np.int32).reshape(2, 3),
        "scalar": np.asarray(2.5),
        "empty": np.empty((0, 4), np.float32),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "flag": np.array([True, False]),
    }
    files.write(tmp_path / "x", array_parts(arrays))
    back = read_arrays(tmp_path / "x")
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_json_with_checksum(tmp_path):
    content = {"a": [1, 2.5, None, "ü\udc80"], "b": {"c": True}}
    write_json(tmp_path / "x.json", content)
    assert read_json(tmp_path / "x.json") == content
    text = json.loads((tmp_path / "x.json").read_text())
    (tmp_path / "x.json").write_text(json.dumps({**text, "a": [1]}))
    with pytest.raises(RunError, match="changed by hand"):
        read_json(tmp_path / "x.json")


def test_failed_write_leaves_nothing(tmp_path):
    files.write(tmp_path / "x", [b"old"])

    def parts():
        yield b"new"
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        files.write(tmp_path / "x", parts())
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_lock_is_for_one(tmp_path):
    lock = Lock(tmp_path)
    with pytest.raises(RunError, match="in use by another process"):
        Lock(tmp_path)
    lock.close()
    Lock(tmp_path).close()
