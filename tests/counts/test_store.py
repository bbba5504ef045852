"""Counts on disk: saved, opened, replaced, damaged."""

import itertools
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesvec.counts.manifest import seal
from bayesvec.counts.pairs import from_pairs
from bayesvec.counts.store import open_counts, read_extra, save_counts
from bayesvec.errors import InputError
from bayesvec.simulation.documents import simulate_documents
from bayesvec.simulation.pairs import simulate
from bayesvec.text.count import count
from count_tools import assert_same, dense, small


def test_saved_counts_open_as_they_were(tmp_path: Path) -> None:
    counts = small(groups=["g", "h", "g"], recipe={"seed": 1, "inputs": ["a.txt"]})
    counts.save(tmp_path / "deep" / "x.counts")
    opened = open_counts(tmp_path / "deep" / "x.counts", verify=True)
    assert_same(counts, opened)
    assert opened.fingerprint == counts.fingerprint
    assert (opened.num_positives, opened.num_negatives) == (6, 6)
    assert type(opened.by_word.n_pos) is np.ndarray
    assert not opened.by_word.n_pos.flags.writeable
    assert isinstance(opened.by_word.n_pos.base, np.memmap)
    assert os.listdir(tmp_path / "deep") == ["x.counts"]
    # the permissions are those of any other folder
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "deep" / "x.counts").stat().st_mode == (tmp_path / "plain").stat().st_mode


NAMES = st.lists(
    st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=6),
    min_size=1,
    max_size=8,
    unique=True,
)


@settings(max_examples=15, deadline=None)
@given(words=NAMES, contexts=NAMES)
def test_any_name_can_be_saved(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], contexts: list[str]
) -> None:
    words += [
        w for w in ("a\nb\r\n\t", "\ud83d\ude00", "\U0001f600", "\udcff", " ", "a_b", "\0") if w not in words
    ]
    counts = from_pairs([0], [0], n_pos=[1], n_neg=[0], words=words, contexts=contexts, groups=words)
    path = tmp_path_factory.mktemp("names") / "c"
    counts.save(path)
    assert_same(counts, open_counts(path, verify=True))


def test_output_that_exists_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "c"
    small().save(path)
    other, _ = simulate(vocab=5, pairs=100)
    with pytest.raises(InputError, match="exists; replace it with --force"):
        other.save(path)
    assert open_counts(path).num_words == 3
    other.save(path, force=True)
    assert_same(open_counts(path), other)
    assert os.listdir(tmp_path) == ["c"]
    (tmp_path / "file").write_text("x")
    for force in (False, True):
        with pytest.raises(InputError, match="is a file, and a counts folder is not; choose another name"):
            other.save(tmp_path / "file", force=force)
    assert (tmp_path / "file").read_text() == "x"
    (tmp_path / "empty").mkdir()
    other.save(tmp_path / "empty")
    assert_same(open_counts(tmp_path / "empty"), other)
    assert sorted(os.listdir(tmp_path)) == ["c", "empty", "file"]


def test_force_never_removes_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="exists and is not a counts folder; it is not replaced"):
        small().save(tmp_path / "home", force=True)
    (tmp_path / "home" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="exists and is not a counts folder; it is not replaced"):
        small().save(tmp_path / "home", force=True)
    assert (tmp_path / "home" / "thesis.txt").read_text() == "years of work"
    # damaged counts are counts
    small().save(tmp_path / "c")
    (tmp_path / "c" / "permutation.npy").unlink()
    small().save(tmp_path / "c", force=True)
    open_counts(tmp_path / "c", verify=True)


def test_nothing_is_left_behind_by_a_failed_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write"):
        small().save(tmp_path / "file" / "c")
    with pytest.raises(InputError, match="cannot be saved as JSON"):
        small(recipe={"a": object()}).save(tmp_path / "c")
    small().save(tmp_path / "old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(InputError, match="No space left on device; make room"):
        small().save(tmp_path / "c")
    with pytest.raises(InputError, match="No space left"):
        small().save(tmp_path / "old", force=True)
    monkeypatch.undo()
    assert sorted(os.listdir(tmp_path)) == ["file", "old"]
    assert_same(open_counts(tmp_path / "old"), small())


def test_folders_made_for_a_failed_save_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(InputError, match="No space left"):
        small().save(tmp_path / "a" / "b" / "c")
    assert os.listdir(tmp_path) == []


def test_force_goes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    small().save(tmp_path / "there" / "c")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "c")
    other, _ = simulate(vocab=5, pairs=100)
    other.save(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert_same(open_counts(tmp_path / "there" / "c"), other)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.name.startswith(".")) == []
    assert os.listdir(tmp_path / "there") == ["c"]


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place in (".", "..", tmp_path / "here"):
        with pytest.raises(InputError, match="the folder you are in"):
            small().save(place, force=True)
    with pytest.raises(InputError, match="File name too long") as caught:
        small().save("x" * 300)
    assert len(str(caught.value)) < 200
    small().save("x" * 250)
    assert os.listdir() == ["x" * 250]


def reseal(path: Path, **changed: object) -> None:
    """Change entries of the manifest (None removes one) and its checksum with them."""
    manifest = json.loads((path / "manifest.json").read_text()) | changed
    for name in ("checksum", *(name for name, value in changed.items() if value is None)):
        del manifest[name]
    (path / "manifest.json").write_text(seal(manifest))


def damage(path: Path, how: str) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    match how:
        case "missing array":
            (path / "by_word.n_pos.npy").unlink()
        case "cut array":
            content = (path / "by_word.n_pos.npy").read_bytes()
            (path / "by_word.n_pos.npy").write_bytes(content[:-4])
        case "other array":
            np.save(path / "by_word.n_pos.npy", np.zeros(3))
        case "not an array":
            (path / "by_word.n_pos.npy").write_text("hello")
        case "wrong ends":
            np.save(path / "by_word.indptr.npy", np.array([0, 2, 1, 3]))
        case "cut manifest":
            (path / "manifest.json").write_text((path / "manifest.json").read_text()[:-30])
        case "changed manifest":
            (path / "manifest.json").write_text(json.dumps(manifest | {"num_positives": 7}))
        case "no manifest":
            (path / "manifest.json").unlink()
        case "foreign manifest":
            (path / "manifest.json").write_text('{"name": "npm"}')
        case "list manifest":
            (path / "manifest.json").write_text("[1]")
        case "later version":
            (path / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}))
        case "flipped count":
            array = np.load(path / "by_word.n_neg.npy")
            array[0] ^= 1
            np.save(path / "by_word.n_neg.npy", array)
        case "flipped count by context":
            array = np.load(path / "by_context.n_neg.npy")
            array[0] ^= 1
            np.save(path / "by_context.n_neg.npy", array)
        case "flipped permutation":
            array = np.load(path / "permutation.npy")
            array[:] = array[::-1].copy()
            np.save(path / "permutation.npy", array)
        case "moved ends by context":
            array = np.load(path / "by_context.indptr.npy")
            array[1] ^= 1
            np.save(path / "by_context.indptr.npy", array)
        case "permutation out of range" | "by_word.other out of range" | "by_context.other out of range":
            name = how.split(" ")[0]
            array = np.load(path / f"{name}.npy")
            array[0] = 10**9 if "word" in how else -1
            np.save(path / f"{name}.npy", array)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("missing array", "damaged: by_word.n_pos.npy is missing"),
        ("cut array", "damaged: by_word.n_pos.npy cannot be read or is cut off"),
        ("other array", "damaged: by_word.n_pos.npy has float64"),
        ("not an array", "damaged: by_word.n_pos.npy cannot be read"),
        ("wrong ends", "damaged: the arrays of by_word do not fit"),
        ("cut manifest", "damaged: manifest.json is not JSON"),
        ("changed manifest", "damaged: manifest.json was changed"),
        ("no manifest", "not a counts folder: it has no manifest.json"),
        ("foreign manifest", "not a counts folder but something else"),
        ("list manifest", "not a counts folder but something else"),
        ("later version", "format version 99 and this bayesvec reads 1"),
        ("flipped count", "damaged: the counts do not match their fingerprint"),
        ("flipped count by context", "damaged: by_context does not match"),
        ("flipped permutation", "damaged: by_context does not match"),
        ("moved ends by context", "damaged: by_context does not match"),
        ("permutation out of range", "damaged: permutation.npy holds numbers that are not from 0 to 2"),
        ("by_word.other out of range", "damaged: by_word.other.npy holds numbers that are not from 0 to 1"),
        ("by_context.other out of range", "damaged: by_context.other.npy holds numbers"),
    ],
)
def test_damage_is_reported_in_folders_without_crcs(tmp_path: Path, how: str, message: str) -> None:
    small().save(tmp_path / "c")
    reseal(tmp_path / "c", crc32c=None)
    damage(tmp_path / "c", how)
    with pytest.raises(InputError, match=message) as caught:
        open_counts(tmp_path / "c")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "c") in str(caught.value)


def saved_with_documents(path: Path) -> Path:
    documents, _ = simulate_documents(20, 12, vocab=6, seed=1)
    counted = count(documents=documents, groups=["D", "R"] * 10, vocab=6, progress=False)
    save_counts(counted, path, extra={"truth": np.arange(3.0)})
    return path


def test_one_flipped_byte_in_any_array_is_reported(tmp_path: Path) -> None:
    """In the header of the file as well as in the data, whether the folder has CRCs or is one of 0.1.0."""
    new, old = saved_with_documents(tmp_path / "new"), saved_with_documents(tmp_path / "old")
    reseal(old, crc32c=None)
    arrays = sorted(path.name for path in new.glob("*.npy") if not path.name.startswith("extra"))
    assert {"by_word.n_pos.npy", "source.tokens.npy", "groups.bytes.npy", "contexts.offsets.npy"} < {*arrays}
    for folder, name in itertools.product((new, old), arrays):
        content = (folder / name).read_bytes()
        for at in (5, 30, -1, -len(content) // 8) if folder == new else (-1,):
            changed = bytearray(content)
            changed[at] ^= 1
            (folder / name).write_bytes(changed)
            with pytest.raises(InputError, match=f"{re.escape(str(folder))} is damaged: ") as caught:
                open_counts(folder)
            assert "\n" not in str(caught.value)
        (folder / name).write_bytes(content)
        open_counts(folder)
    for folder in (new, old):
        content = (folder / "extra.truth.npy").read_bytes()
        (folder / "extra.truth.npy").write_bytes(content[:-1] + b"\x01")
        with pytest.raises(InputError, match=r"extra\.truth\.npy does not match its checksum"):
            read_extra(folder)


@pytest.mark.parametrize(
    "forged",
    [
        {"num_words": -1},
        {"num_pairs": "3"},
        {"num_pairs": 10**15},
        {"num_positives": 1.5},
        {"fingerprint": 3},
        {"grouped": "no"},
        {"recipe": []},
        {"source": [1]},
        {"source": {}},
        {"hashes": [1]},
        {"arrays": {}},
        {"arrays": {"permutation": ["|O", [3]]}},
        {"arrays": {"permutation": ["<i8", [10**15]]}},
        {"arrays": {"permutation": "<i8"}},
        {"arrays": {"extra.../../outside": ["<i8", [3]]}},
        {"crc32c": {}},
        {"crc32c": 7},
        {"arrays": None},
        {"recipe": None},
    ],
)
def test_forged_manifests_are_refused(tmp_path: Path, forged: dict[str, object]) -> None:
    small().save(tmp_path / "c")
    reseal(tmp_path / "c", **forged)
    with pytest.raises(InputError, match="is damaged: "):
        open_counts(tmp_path / "c")
    with pytest.raises(InputError, match="is damaged: "):
        read_extra(tmp_path / "c")


def test_what_is_not_counts(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"does not exist; give a counts folder or a .tsv, .csv or .parquet file"
    ):
        open_counts(tmp_path / "nowhere")
    (tmp_path / "text").write_text("x")
    with pytest.raises(InputError, match="is not counts"):
        open_counts(tmp_path / "text")
    with pytest.raises(InputError, match=r"cannot read .*No such file"):
        open_counts(tmp_path / "nowhere.tsv")


@pytest.mark.parametrize("groups", [None, ["D", "R"] * 50])
def test_the_counted_documents_are_kept(tmp_path: Path, groups: list[str] | None) -> None:
    documents, _ = simulate_documents(100, 12, vocab=10, seed=1)
    counts = count(documents=documents, groups=groups, vocab=8, progress=False)
    counts.save(tmp_path / "c")
    opened = open_counts(tmp_path / "c", verify=True)
    assert_same(counts, opened)
    assert opened.source.options == counts.source.options
    for name, array in counts.source.arrays().items():
        np.testing.assert_array_equal(getattr(opened.source, name), array)
    before = counts.split(by="document", fractions=(0.5, 0.5), seed=4)
    after = opened.split(by="document", fractions=(0.5, 0.5), seed=4)
    assert [part.fingerprint for part in before] == [part.fingerprint for part in after]
    np.testing.assert_array_equal(sum(dense(part) for part in after), dense(counts))
    tokens = np.load(tmp_path / "c" / "source.tokens.npy")
    tokens[5] += 1
    np.save(tmp_path / "c" / "source.tokens.npy", tokens)
    with pytest.raises(InputError, match=r"damaged: source\.tokens\.npy does not match its checksum"):
        open_counts(tmp_path / "c", verify=True)


def test_further_arrays(tmp_path: Path) -> None:
    save_counts(small(), tmp_path / "c", extra={"truth.x": np.arange(6.0).reshape(2, 3), "none": np.zeros(0)})
    extra = read_extra(tmp_path / "c")
    np.testing.assert_array_equal(extra["truth.x"], np.arange(6.0).reshape(2, 3))
    assert extra["none"].shape == (0,)
    small().save(tmp_path / "d")
    assert read_extra(tmp_path / "d") == {}


def test_a_copied_folder_opens(tmp_path: Path) -> None:
    small().save(tmp_path / "c")
    shutil.copytree(tmp_path / "c", tmp_path / "d")
    assert_same(open_counts(tmp_path / "d", verify=True), small())
