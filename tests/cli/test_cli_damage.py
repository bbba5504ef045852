"""Damaged counts, names and checkpoints: every command that opens them prints one line and exits with status 2."""

import json
import os
import shutil

import numpy as np
import pytest

import bayesvec as bv
from bayesvec import _atomic as files
from bayesvec._checksums import array_parts, read_arrays, write_json
from bayesvec.errors import RunError
from bayesvec.storage.reader import open_draws

TEXT = ["tax tax war war peace", "tax war peace law", "law peace tax"] * 5


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Counts, and a run of them."""
    root = tmp_path_factory.mktemp("damage") / "sound"
    counts = bv.count(TEXT, progress=False)
    counts.save(root / "counts")
    bv.fit(counts, dim=2, draws=20, warmup=5, chains=2, out=root / "run", progress=False)
    return root


@pytest.fixture
def place(sound, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(sound, tmp_path / "place"))
    return tmp_path / "place"


def flip(path, at=-1):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


OF_COUNTS = (
    ("fit", "--counts", "counts", "--out", "new"),
    ("fit", "--resume", "--out", "run", "--counts", "counts", "--draws", "30"),
    ("split", "counts", "--out", "new"),
    ("score", "run", "--holdout", "counts"),
)
OF_THE_RUN = (
    ("fit", "--resume", "--out", "run", "--draws", "30"),
    ("uncertain", "run"),
    ("laplace", "run", "--words", "tax,war"),
    ("report", "run", "--out", "new"),
    ("export", "run", "--format", "parquet", "--out", "new"),
)


@pytest.mark.parametrize("arguments", OF_COUNTS + OF_THE_RUN, ids=" ".join)
def test_damaged_counts(bayesvec, place, arguments):
    folder = place / ("counts" if arguments in OF_COUNTS else "run/counts")
    flip(folder / "by_word.n_pos.npy")
    status, out, err = bayesvec(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("bayesvec: ")
    assert "by_word.n_pos.npy does not match its checksum" in err
    assert err.count("\n") == 1
    assert not (place / "new").exists()


@pytest.mark.parametrize("what", ["words", "contexts"])
@pytest.mark.parametrize(
    "change", [lambda names: names[:-1], lambda names: [*names, "more"], lambda names: 3]
)
def test_names_must_fit_the_rows(bayesvec, place, what, change):
    names = json.loads((place / "run/names.json").read_text())
    del names["checksum"]
    write_json(place / "run/names.json", {**names, what: change(names[what])})
    status, _, err = bayesvec("neighbors", "run", "tax")
    assert status == 2
    assert "names.json does not fit the run: it has" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["state_rho", "state_alpha", "mean_rho", "squares_alpha"])
@pytest.mark.parametrize(
    "change", [lambda array: array[:-1], lambda array: array.T.copy(), lambda array: array.astype(np.int64)]
)
def test_shapes_in_a_forged_checkpoint(place, name, change):
    (checkpoint,) = (place / "run/state").glob("chain-0.*.arrays")
    arrays = read_arrays(checkpoint)
    files.write(checkpoint, array_parts({**arrays, name: change(arrays[name])}))
    message = rf"{checkpoint.name} does not fit the run: {name} is .*, not of shape \(\d, 2\)"
    with pytest.raises(RunError, match=message):
        bv.fit(place / "counts", 2, draws=30, warmup=5, out=place / "run", resume=True, progress=False)
    with pytest.raises(RunError, match=message):
        open_draws(place / "run").mean("rho")


DAMAGE = {
    "flipped": lambda content: content[:70] + bytes([content[70] ^ 1]) + content[71:],
    "cut": lambda content: content[:40],
    "empty": lambda content: b"",
    "not UTF-8": lambda content: content + b"\xda",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["posterior", "posterior/word", "sample_stats/chain", "."])
def test_damaged_metadata_is_not_resumed(bayesvec, place, name, damage):
    path = place / "run/draws.zarr" / name / "zarr.json"
    before = path.with_name("copy")
    shutil.copy(path, before)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    status, out, err = bayesvec("fit", "--resume", "--out", "run", "--draws", "30")
    assert (status, out) == (2, "")
    assert "zarr.json is damaged: it does not match its copy" in err
    assert err.count("\n") == 1
    shutil.move(before, path)
    assert open_draws(place / "run").num_draws == 20  # nothing was changed


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(path.name)], ids=["pipe", "loop"])
@pytest.mark.parametrize(
    "name",
    [
        *("run/manifest.json", "run/names.json", "run/state/chain-0.json", "run/state/seconds.json"),
        *("run/draws.zarr/posterior/rho/c.0.0.0.0", "run/counts/by_word.n_pos.npy", "counts/manifest.json"),
    ],
)
def test_what_is_not_a_plain_file_is_not_read(bayesvec, place, name, make):
    path = place / name
    assert path.exists()
    path.unlink()
    make(path)
    command = (
        ("split", "counts", "--out", "new") if name.startswith("counts") else ("uncertain", "run", "-n", "2")
    )
    status, out, err = bayesvec(*command)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"{name} is {'not a plain file' if make is os.mkfifo else 'a link to nowhere'}; remove it" in err


def test_metadata_that_is_missing_or_too_much_is_not_resumed(bayesvec, place):
    path = place / "run/draws.zarr/posterior/word/zarr.json"
    content = path.read_bytes()
    path.unlink()
    status, _, err = bayesvec("fit", "--resume", "--out", "run", "--draws", "30")
    assert (status, err.count("\n")) == (2, 1)
    path.write_bytes(content)
    stray = place / "run/draws.zarr/posterior/more/zarr.json"
    stray.parent.mkdir()
    stray.write_text("{")
    status, _, err = bayesvec("fit", "--resume", "--out", "run", "--draws", "30")
    assert status == 2
    assert "posterior/more/zarr.json is not JSON" in err
