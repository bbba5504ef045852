"""Pair counts: making, saving, opening, splitting."""

import json
import os
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayesvec.counts.pairs import PairCounts, from_pairs
from bayesvec.counts.store import open_counts, read_extra, save_counts
from bayesvec.counts.table import from_table
from bayesvec.errors import InputError, OptionError
from bayesvec.kernels import rng
from bayesvec.kernels.binomial import binomial
from bayesvec.kernels.compiled import compiled
from bayesvec.simulation.documents import simulate_documents
from bayesvec.simulation.pairs import simulate
from bayesvec.text.count import count

LEVEL = 1e-4


def small(**options: Any) -> PairCounts:
    return from_pairs(
        [1, 0, 1, 2, 1],
        [0, 1, 0, 1, 1],
        n_pos=[3, 0, 2, 1, 0],
        n_neg=[0, 4, 1, 1, 0],
        words=["cat", "dog", "eel"],
        contexts=["runs", "swims"],
        **options,
    )


def dense(counts: PairCounts) -> npt.NDArray[np.int64]:
    """Positives and negatives, (2, words, contexts), read from both sides and compared."""
    out = np.zeros((2, counts.num_words, counts.num_contexts), dtype=np.int64)
    turned = np.zeros((2, counts.num_contexts, counts.num_words), dtype=np.int64)
    for side, target in ((counts.by_word, out), (counts.by_context, turned)):
        row = np.repeat(np.arange(target.shape[1]), np.diff(side.indptr))
        target[0, row, side.other] = side.n_pos
        target[1, row, side.other] = side.n_neg
    np.testing.assert_array_equal(out, turned.transpose(0, 2, 1))
    return out


# --- making


def test_pairs_are_added_up_and_empty_ones_dropped() -> None:
    counts = small()
    np.testing.assert_array_equal(dense(counts), [[[0, 0], [5, 0], [0, 1]], [[0, 4], [1, 0], [0, 1]]])
    assert (counts.num_pairs, counts.num_words, counts.num_contexts) == (3, 3, 2)
    assert (counts.num_positives, counts.num_negatives, counts.num_observations) == (6, 6, 12)
    assert counts.by_word.other.dtype == counts.by_word.n_pos.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        counts.by_word.n_pos[0] = 1


@pytest.mark.parametrize("contexts", [50, 70_000])
def test_both_sides_agree(contexts: int) -> None:
    """The order by context is found in one pass up to 65,536 contexts and in two above."""
    random = np.random.default_rng(1)
    size = 20_000
    columns = random.integers(contexts, size=size)
    counts = from_pairs(
        random.integers(30, size=size),
        columns,
        n_pos=random.integers(3, size=size),
        n_neg=random.integers(1, 3, size=size),
        words=[f"w{i}" for i in range(30)],
        contexts=[f"c{i}" for i in range(contexts)],
    )
    word = np.repeat(np.arange(30, dtype=np.int32), np.diff(counts.by_word.indptr))
    np.testing.assert_array_equal(counts.permutation, np.argsort(counts.by_word.other, kind="stable"))
    np.testing.assert_array_equal(counts.by_context.other, word[counts.permutation])
    np.testing.assert_array_equal(counts.by_context.n_pos, counts.by_word.n_pos[counts.permutation])
    np.testing.assert_array_equal(counts.by_context.n_neg, counts.by_word.n_neg[counts.permutation])
    np.testing.assert_array_equal(np.diff(counts.by_context.indptr).sum(), counts.num_pairs)
    np.testing.assert_array_equal(
        counts.by_word.other[counts.permutation],
        np.repeat(np.arange(contexts), np.diff(counts.by_context.indptr)),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word": [0, 3]}, "word holds 3; it must be from 0 to 2"),
        ({"context": [0, -1]}, "context holds -1"),
        ({"n_pos": [1, -2]}, "n_pos is -2 at entry 1"),
        ({"n_neg": [0.5, 1]}, "n_neg is 0.5 at entry 0"),
        ({"n_neg": [float("nan"), 1]}, "n_neg is nan"),
        ({"n_pos": [1e300, 1]}, "n_pos is 1e\\+300"),
        ({"n_pos": [2**31, 1]}, "at most 2147483647"),
        ({"n_pos": np.array([2**63, 1], dtype=np.uint64)}, "below 2\\*\\*63"),
        ({"n_pos": [2**31 - 1, 1], "word": [0, 0], "context": [0, 0]}, "at most 2147483647"),
        ({"n_pos": ["a", "b"]}, "must hold whole numbers"),
        ({"n_pos": [[1, 2]]}, "n_pos has 2 dimensions"),
        ({"n_pos": [1]}, "2, 2, 1 and 2 entries"),
        ({"n_pos": [0, 0], "n_neg": [0, 0]}, "there are no pairs"),
        ({"words": ["a", "b", "a"]}, "words has 'a' more than once"),
        ({"words": []}, "words is empty"),
        ({"words": ["a", "", "b"]}, "words has an empty name at entry 1"),
        ({"words": ["a", 1, "b"]}, "words holds 1; it must be a sequence of strings"),
        ({"contexts": "xy"}, "contexts holds 'xy'"),
        ({"groups": ["g"]}, "groups has 1 entries for 3 words"),
    ],
)
def test_bad_pairs(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"word": [0, 1], "context": [0, 1], "n_pos": [1, 0], "n_neg": [0, 1]}
    good |= {"words": ["a", "b", "c"], "contexts": ["x", "y"]}
    from_pairs(**good)
    with pytest.raises(InputError, match=message):
        from_pairs(**(good | change))


def test_fingerprint_tells_data_apart() -> None:
    def named(words: list[str], **options: Any) -> str:
        return from_pairs([0], [0], n_pos=[1], n_neg=[2], words=words, contexts=["c"], **options).fingerprint

    assert small().fingerprint == small(recipe={"other": 1}).fingerprint
    all_apart = [
        named(["a", "b"]),
        named(["a\0b"]),
        named(["ab"]),
        named(["a", "b"], groups=["1", "2"]),
        small().fingerprint,
        from_pairs([0], [0], n_pos=[2], n_neg=[1], words=["a", "b"], contexts=["c"]).fingerprint,
    ]
    assert len(set(all_apart)) == len(all_apart)


# --- saving and opening


def assert_same(one: PairCounts, two: PairCounts) -> None:
    assert (one.words, one.contexts, one.groups) == (two.words, two.contexts, two.groups)
    assert one.recipe == two.recipe
    for a, b in zip(
        (*one.by_word, *one.by_context, one.permutation),
        (*two.by_word, *two.by_context, two.permutation),
        strict=True,
    ):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


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
def test_any_name_survives(
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

    monkeypatch.setattr(np, "save", full)
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

    monkeypatch.setattr(np, "save", full)
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


def test_arrays_that_do_not_fit_are_refused() -> None:
    counts = small()
    shorter = counts.by_word._replace(n_pos=counts.by_word.n_pos[:-1])
    for change in (
        {"by_word": shorter},
        {"words": ("a", "b")},
        {"groups": ("g",)},
        {"permutation": counts.permutation[:1]},
    ):
        with pytest.raises(InputError, match="do not fit together"):
            replace(counts, **change)


def test_counts_can_be_copied_and_their_recipe_not_changed() -> None:
    counts = small(recipe={"a": 1})
    assert_same(pickle.loads(pickle.dumps(counts)), counts)
    with pytest.raises(TypeError):
        counts.recipe["a"] = 2  # type: ignore[index]


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
        ("permutation out of range", "damaged: permutation.npy holds numbers that are not from 0 to 2"),
        ("by_word.other out of range", "damaged: by_word.other.npy holds numbers that are not from 0 to 1"),
        ("by_context.other out of range", "damaged: by_context.other.npy holds numbers"),
    ],
)
def test_damage_is_named(tmp_path: Path, how: str, message: str) -> None:
    small().save(tmp_path / "c")
    damage(tmp_path / "c", how)
    with pytest.raises(InputError, match=message) as caught:
        open_counts(tmp_path / "c", verify="flipped" in how)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "c") in str(caught.value)


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


# --- tables

ROWS = [("b", "x", 1, 0), ("a", "x", 2, 3), ("c", "y", 5, 0), ("b", "x", 0, 4), ("a", "b", 0, 0)]
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(("word", "context", "n_pos", "n_neg"))}


def as_kind(kind: str, tmp_path: Path) -> Any:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    match kind:
        case "dict of lists":
            return COLUMNS
        case "dict of arrays":
            return {name: np.array(values) for name, values in COLUMNS.items()}
        case "pandas":
            return pd.DataFrame(COLUMNS)
        case "pandas, floats":
            return pd.DataFrame(COLUMNS).astype({"n_pos": float, "n_neg": "Int64", "word": "category"})
        case "arrow":
            return pa.table(COLUMNS)
        case "arrow, dictionaries and chunks":
            table = pa.table(COLUMNS | {"word": pa.array(COLUMNS["word"]).dictionary_encode()})
            return pa.concat_tables([table[:2], table[2:]])
        case "parquet":
            parquet.write_table(pa.table(COLUMNS), tmp_path / "t.parquet")
            return tmp_path / "t.parquet"
        case "csv":
            pd.DataFrame(COLUMNS).to_csv(tmp_path / "t.csv", index=False)
            return str(tmp_path / "t.csv")
        case "tsv with another column, a mark, blank and Windows lines":
            lines = [f"{n}\t{w}\tnote\t{p}\t{c}" for w, c, p, n in ROWS]
            text = "\r\n".join(["n_neg\tword\tnote\tn_pos\tcontext", *lines[:2], "", *lines[2:]])
            (tmp_path / "t.tsv").write_bytes(b"\xef\xbb\xbf" + text.encode())
            return tmp_path / "t.tsv"
        case "tsv with quotes":
            lines = [f'"{w}"\t"{c}"\t{p}\t{n}' for w, c, p, n in ROWS]
            (tmp_path / "t.tsv").write_text("\n".join(['"word"\t"context"\t"n_pos"\t"n_neg"', *lines]))
            return tmp_path / "t.tsv"
        case "tsv with 3.0":
            lines = [f"{w}\t{c}\t{p}.0\t{n}" for w, c, p, n in ROWS]
            (tmp_path / "t.tsv").write_text("\n".join(["word\tcontext\tn_pos\tn_neg", *lines]))
            return tmp_path / "t.tsv"
    raise AssertionError(kind)


KINDS = [
    "dict of lists",
    "dict of arrays",
    "pandas",
    "pandas, floats",
    "arrow",
    "arrow, dictionaries and chunks",
    "parquet",
    "csv",
    "tsv with another column, a mark, blank and Windows lines",
    "tsv with quotes",
    "tsv with 3.0",
]


@pytest.mark.parametrize("kind", KINDS)
def test_from_table(kind: str, tmp_path: Path) -> None:
    if "pandas" in kind or kind == "csv":
        pytest.importorskip("pandas")
    counts = from_table(as_kind(kind, tmp_path))
    # a, b, c have 5 samples each: by name; x has 10, y 5, b none
    assert counts.words == ("a", "b", "c")
    assert counts.contexts == ("x", "y", "b")
    expected = [[[2, 0, 0], [1, 0, 0], [0, 5, 0]], [[3, 0, 0], [4, 0, 0], [0, 0, 0]]]
    np.testing.assert_array_equal(dense(counts), expected)
    assert from_table(as_kind(kind, tmp_path), order="appearance").words == ("b", "a", "c")
    if isinstance(as_kind(kind, tmp_path), str | Path):
        assert open_counts(as_kind(kind, tmp_path)).fingerprint == counts.fingerprint


def test_groups_of_a_table() -> None:
    table = {
        "w": ["a", "a", "b", "a"],
        "v": ["x", "x", "x", "y"],
        "plus": [1, 2, 9, 3],
        "minus": [0, 0, 0, 1],
        "party": ["D", "R", "D", "D"],
    }
    counts = from_table(table, word="w", context="v", n_pos="plus", n_neg="minus", group="party")
    assert counts.words == ("b@D", "a@D", "a@R")
    assert counts.groups == ("D", "D", "R")
    np.testing.assert_array_equal(dense(counts)[0], [[9, 0], [1, 3], [2, 0]])
    first = from_table(
        table, word="w", context="v", n_pos="plus", n_neg="minus", group="party", order="appearance"
    )
    assert first.words == ("a@D", "a@R", "b@D")
    assert first.groups == ("D", "R", "D")


def test_odd_names_of_a_table(tmp_path: Path) -> None:
    lone = from_table({"word": ["\udc00", "a b"], "context": [7, 8], "n_pos": [1, 2], "n_neg": [0, 0]})
    assert lone.words == ("a b", "\udc00")
    assert lone.contexts == ("8", "7")
    (tmp_path / "t.tsv").write_text('word\tcontext\tn_pos\tn_neg\n"\tnull\t1\t0\nNA\t""\t2\t0\n')
    quoted = open_counts(tmp_path / "t.tsv")
    assert quoted.words == ("NA", '"')
    assert quoted.contexts == ('""', "null")
    (tmp_path / "t.csv").write_text('word,context,n_pos,n_neg\n"a,""b""\nc",nan,1,0\n')
    assert open_counts(tmp_path / "t.csv").words == ('a,"b"\nc',)


@pytest.mark.parametrize(
    ("name", "content", "message", "line"),
    [
        ("t.tsv", b"", "is empty; it needs columns word, context, n_pos, n_neg", None),
        ("t.csv", b"word,context,n_pos,n_neg\n", "has no rows", None),
        ("t.csv", b"word,word,context,n_pos,n_neg\na,b,c,1,1\n", "has two columns 'word'", None),
        ("t.csv", b"word,context,n_pos,n_neg\na,c,1,1\nb,,1,1\n", "row 2: context is empty", 2),
        ("t.tsv", b"word\tcontext\tn_pos\n", "has no column 'n_neg'; it has word, context, n_pos", None),
        ("t.tsv", b"\n\n", "has no column 'word'; it has none", None),
        ("t.tsv", b"word\tcontext\tn_pos\tn_neg\na\tb\t1\t2\n\na\tb\t1\t-2\n", "line 4: n_neg is '-2'", 4),
        (
            "t.tsv",
            b"word\tcontext\tn_pos\tn_neg\na\tb\t1.5\t2\n",
            "line 2: n_pos is '1.5'; it must be a whole",
            2,
        ),
        ("t.tsv", b"word\tcontext\tn_pos\tn_neg\na\tb\tmany\t2\n", "line 2: n_pos is 'many'", 2),
        ("t.tsv", b"word\tcontext\tn_pos\tn_neg\na\tb\t\t2\n", "line 2: n_pos is ''", 2),
        ("t.tsv", b"word\tcontext\tn_pos\tn_neg\na\tb\tnan\t2\n", "line 2: n_pos is 'nan'", 2),
        ("t.tsv", b"word\tcontext\tn_pos\tn_neg\na\tb\t1e99\t2\n", "line 2: n_pos is '1e99'", 2),
        (
            "t.tsv",
            b"word\tcontext\tn_pos\tn_neg\na\tb\t1\t2\na\tb\t1\n",
            "line 3 has 3 fields; the header has 4",
            3,
        ),
        ("t.csv", b'word,context,n_pos,n_neg\n"a\nb",c,1,2\na,c,-1,2\n', "line 4: n_pos is '-1'", 4),
        ("t.csv", b"word,context,n_pos,n_neg\na,caf\xe9,1,2\n", "is not UTF-8 \\(at byte 30\\)", None),
        ("t.parquet", b"hello", "cannot be read as parquet", None),
        ("t.txt", b"hello", "does not end in .tsv, .csv or .parquet", None),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str, line: int | None) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        from_table(tmp_path / name)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_pos": [1, 0, -1]}, "the table, row 3: n_pos is -1"),
        ({"n_pos": [1, 0.5, 1]}, "row 2: n_pos is 0.5"),
        ({"n_pos": [1, None, 1]}, "row 2: n_pos is None"),
        ({"n_pos": [1, 2]}, "different lengths"),
        ({"word": ["a", None, "b"]}, "row 2: word is None; it must be text"),
        ({"word": ["a", "", "b"]}, "row 2: word is empty; every row needs a name"),
        ({"word": ["a", float("nan"), "b"]}, "row 2: word is nan; it must be text"),
        ({"n_pos": [1, True, "2"]}, "row 2: n_pos is True"),
        ({"n_pos": [1, 2, "2"]}, "row 3: n_pos is '2'"),
        ({"word": [], "context": [], "n_pos": [], "n_neg": []}, "has no rows"),
        ({"word": [["a"], ["b"], ["c"]]}, "has 2 dimensions"),
    ],
)
def test_bad_tables(change: dict[str, Any], message: str) -> None:
    import pyarrow as pa

    table = {"word": ["a", "b", "c"], "context": ["x", "x", "y"], "n_pos": [1, 2, 3], "n_neg": [0, 0, 0]}
    bad = {
        name: np.array(values, dtype=object) if None in values else values
        for name, values in (table | change).items()
    }
    with pytest.raises(InputError, match=message):
        from_table(bad)
    if None in change.get("word", []):
        with pytest.raises(InputError, match=message):
            from_table(pa.table(table | change))


def test_bad_table_options() -> None:
    with pytest.raises(OptionError, match="order is 'size'"):
        from_table(COLUMNS, order="size")
    with pytest.raises(OptionError, match="each must be named once"):
        from_table(COLUMNS, word="context")
    with pytest.raises(InputError, match="no column 'speaker'; it has word, context, n_pos, n_neg"):
        from_table(COLUMNS, group="speaker")


# --- splitting


@pytest.fixture(scope="module")
def world() -> PairCounts:
    return simulate(vocab=40, dim=3, pairs=400_000, zipf=True, seed=9)[0]


def test_parts_add_up_to_the_whole(world: PairCounts) -> None:
    parts = world.split(by="pair", fractions=(0.7, 0.15, 0.15), seed=3)
    np.testing.assert_array_equal(sum(dense(part) for part in parts), dense(world))
    for part in parts:
        assert (part.words, part.contexts) == (world.words, world.contexts)
        assert part.by_word.n_pos.dtype == np.int32
    assert [part.recipe["split"]["part"] for part in parts] == [0, 1, 2]
    (whole,) = world.split(by="pair", fractions=[1.0])
    assert whole.fingerprint == world.fingerprint


def split_p_value(world: PairCounts, parts: tuple[PairCounts, ...], fractions: tuple[float, ...]) -> float:
    """Chi-square of the parts' counts against shares of each cell with enough samples."""
    whole = dense(world)
    large = whole >= 100
    found = np.array([dense(part)[large] for part in parts])
    expected = np.outer(fractions, whole[large])
    statistic = ((found - expected) ** 2 / expected).sum()
    freedom = large.sum() * (len(parts) - 1)
    return float(2 * min(stats.chi2.sf(statistic, freedom), stats.chi2.cdf(statistic, freedom)))


def test_each_sample_goes_to_a_part_at_random(world: PairCounts) -> None:
    fractions = (0.6, 0.3, 0.1)
    parts = world.split(by="pair", fractions=fractions, seed=1)
    assert split_p_value(world, parts, fractions) > LEVEL
    assert split_p_value(world, parts, (0.62, 0.28, 0.1)) < LEVEL
    # small cells too: together they are many
    whole = dense(world)
    few = (whole > 0) & (whole <= 5)
    found = [int(dense(part)[few].sum()) for part in parts]
    assert stats.chisquare(found, whole[few].sum() * np.array(fractions)).pvalue > LEVEL
    # the twin with a bug: a part takes its fraction of what is left, not of the whole
    wrong = (0.6, 0.3 * 0.4, 1 - 0.6 - 0.3 * 0.4)
    assert split_p_value(world, parts, wrong) < LEVEL


@pytest.mark.parametrize("n", [20, 200])
def test_signs_parts_and_cells_are_split_independently(n: int) -> None:
    word, context = np.divmod(np.arange(6400), 80)
    names = [f"w{i}" for i in range(80)]
    both = np.full(6400, n)
    counts = from_pairs(word, context, n_pos=both, n_neg=both, words=names, contexts=names)
    first, second, _ = (
        dense(part).astype(float) for part in counts.split(by="pair", fractions=(0.3, 0.3, 0.4))
    )
    second_given_first = second - (n - first) * 0.3 / 0.7

    def correlation_is_seen(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> bool:
        r = np.corrcoef(x.ravel(), y.ravel())[0, 1]
        return bool(abs(r) * np.sqrt(x.size) > stats.norm.isf(LEVEL / 2))

    assert not correlation_is_seen(first[0], first[1])
    assert not correlation_is_seen(first, second_given_first)
    assert not correlation_is_seen(first[0, :-1], first[0, 1:])
    assert not correlation_is_seen(first[0, :, :-1], first[0, :, 1:])
    upper = np.triu_indices(80, 1)
    assert not correlation_is_seen(first[0][upper], first[0].T[upper])
    # the twins: what shared random numbers, and the dependence left in, would look like
    assert correlation_is_seen(first[0], first[0] + 2 * first[1])
    assert correlation_is_seen(first, second)


def test_a_split_is_addressed(world: PairCounts) -> None:
    """A cell's parts depend on the seed and the cell, not on what else there is."""
    parts = world.split(by="pair", seed=5)
    again = world.split(by="pair", seed=5)
    assert [part.fingerprint for part in parts] == [part.fingerprint for part in again]
    assert world.split(by="pair", seed=6)[0].fingerprint != parts[0].fingerprint
    word = np.repeat(np.arange(world.num_words), np.diff(world.by_word.indptr))
    kept = np.arange(world.num_pairs) % 3 == 1
    fewer = from_pairs(
        word[kept],
        world.by_word.other[kept],
        n_pos=world.by_word.n_pos[kept],
        n_neg=world.by_word.n_neg[kept],
        words=world.words,
        contexts=world.contexts,
    )
    seen = dense(fewer).sum(axis=0) > 0
    for part, smaller in zip(parts, fewer.split(by="pair", seed=5), strict=True):
        np.testing.assert_array_equal(dense(smaller)[:, seen], dense(part)[:, seen])


@compiled
def many_binomials(n: int, p: float, key: rng.Key, out: npt.NDArray[np.int64]) -> None:
    for row in range(len(out)):
        out[row] = binomial(n, p, key, row, 0)


@pytest.mark.parametrize("n", [1, 7, 32, 33, 65, 1000, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.7])
def test_binomial_variates(n: int, p: float) -> None:
    out = np.empty(20_000, dtype=np.int64)
    many_binomials(n, p, rng.make_key(17, rng.SPLIT), out)
    # randomised probability integral transform: exactly uniform for a discrete distribution
    u = np.random.default_rng(3).random(len(out))

    def p_value(size: int, share: float) -> float:
        below = stats.binom.cdf(out - 1, size, share)
        return float(stats.kstest(below + u * stats.binom.pmf(out, size, share), "uniform").pvalue)

    assert p_value(n, p) > LEVEL / 24
    assert p_value(n, p * (0.93 if n >= 32 else 0.5)) < LEVEL / 24
    assert 0 <= out.min() <= out.max() <= n


@pytest.mark.parametrize("fractions", [(0.5, 0.6), (1.5, -0.5), (), (0.5, 0.5, 0.0), (float("nan"), 0.5)])
def test_bad_fractions(fractions: tuple[float, ...]) -> None:
    with pytest.raises(OptionError, match="must be positive and add up to 1"):
        small().split(by="pair", fractions=fractions)


def test_bad_splits() -> None:
    with pytest.raises(OptionError, match="by is 'word'"):
        small().split(by="word")
    for by in ("document", "basket"):
        with pytest.raises(OptionError, match=f"do not hold the {by}s"):
            small().split(by=by)
    one = from_pairs([0], [0], n_pos=[1], n_neg=[0], words=["a"], contexts=["b"])
    with pytest.raises(InputError, match="got none of 1 samples"):
        one.split(by="pair", fractions=(0.5, 0.5))
    with pytest.raises(OptionError, match="seed is -1"):
        small().split(by="pair", seed=-1)


def test_a_copied_folder_opens(tmp_path: Path) -> None:
    small().save(tmp_path / "c")
    shutil.copytree(tmp_path / "c", tmp_path / "d")
    assert_same(open_counts(tmp_path / "d", verify=True), small())
