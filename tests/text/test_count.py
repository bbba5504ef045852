"""`count` and `count_baskets`: groups, recipes, and options and input that are refused."""

import gzip
import hashlib
import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import bayesvec as bv
import naive_counts as naive
from bayesvec.counts import spill
from bayesvec.counts.store import open_counts
from bayesvec.errors import InputError, OptionError
from bayesvec.text import separator
from count_tools import check_sides, drawer, plain_count, texts, zipf_documents


def test_groups_make_rows_of_words_and_share_the_contexts():
    documents = zipf_documents(150, types=30, seed=7)
    groups = [["D", "R", "I"][number % 3 if number < 140 else 0] for number in range(150)]
    counts = plain_count(documents=texts(documents), groups=groups, vocab=20, negatives=2)
    check_sides(counts)
    occurring = {
        (word, group)
        for document, group in zip(documents, groups, strict=True)
        for word in document
        if word in counts.contexts
    }
    order = [(w, g) for w in counts.contexts for g in ("D", "I", "R") if (w, g) in occurring]
    assert counts.words == tuple(f"{w}@{g}" for w, g in order)
    assert counts.groups == tuple(g for _, g in order)
    expected = naive.count(documents, set(counts.contexts), drawer(counts), negatives=2, groups=groups)
    assert naive.as_counters(counts) == expected
    plain = naive.as_counters(plain_count(documents=texts(documents), vocab=20, negatives=2))
    for grouped, ungrouped in zip(naive.as_counters(counts), plain, strict=True):
        added = Counter()
        for (word, context), n in grouped.items():
            added[word.split("@")[0], context] += n
        assert added == ungrouped


@pytest.mark.parametrize("groups", [[2001.0, 2002], [np.float32(2001), np.int64(2002)], ["2001", 2002.0]])
def test_whole_numbers_name_groups_without_a_point(groups):
    assert set(plain_count(documents=["a b", "b a"], groups=groups).groups) == {"2001", "2002"}
    assert set(bv.count_baskets([["a", "b"], ["b", "a"]], groups=groups).groups) == {"2001", "2002"}


@pytest.mark.parametrize(
    "groups",
    [
        ["a"],
        ["a", "b", "c"],
        ["a", None],
        ["a", "b@c"],
        ["a", ""],
        ["a", " "],
        ["a", float("nan")],
        ["a", ["b"]],
        ["a", "b", None],
    ],
)
def test_bad_groups_are_refused(groups):
    with pytest.raises(InputError, match="group"):
        plain_count(documents=["x y", "y z"], groups=groups)
    with pytest.raises(InputError, match="group"):
        bv.count_baskets([["x", "y"], ["y", "z"]], groups=groups)


def test_the_recipe_records_how_the_counts_were_made(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("The cat sat.\n\nThe dog sat too.\n")
    counts = plain_count(file, vocab=3, seed=9, stopwords=["too"])
    recipe = json.loads(json.dumps(dict(counts.recipe)))
    assert recipe["made_by"] == "count"
    assert recipe["version"] == bv.__version__
    assert recipe["inputs"] == [{"name": str(file), "bytes": file.stat().st_size}]
    numbers = [recipe[name] for name in ("documents", "tokens", "tokens_in_vocabulary", "word_types")]
    assert numbers == [2, 7, 5, 5]
    options = recipe["options"]
    assert (options["vocab"], options["seed"], options["window"]) == (3, 9, 2)
    assert options["tokenizer"] == "words"
    assert (options["format"], options["encoding"], options["errors"]) == ("auto", "utf-8", "strict")
    digest = hashlib.sha256(b"too\n").hexdigest()
    assert options["stopwords"] == {"file": None, "sha256": digest, "words": 1}
    assert options["vocabulary"] is None
    (tmp_path / "stop.txt").write_text("too\n")
    from_file = plain_count(file, vocab=3, seed=9, stopwords=tmp_path / "stop.txt").recipe["options"]
    assert from_file["stopwords"] == {"file": str(tmp_path / "stop.txt"), "sha256": digest, "words": 1}
    of_baskets = bv.count_baskets([["a", "b"]], vocabulary=["b", "a"], errors="ignore").recipe["options"]
    assert (of_baskets["format"], of_baskets["errors"], of_baskets["vocabulary"]["words"]) == (
        "auto",
        "ignore",
        2,
    )
    with pytest.raises(TypeError):
        counts.recipe["documents"] = 5


def test_numbers_of_any_type_are_accepted(tmp_path):
    options = {"vocab": np.int64(3), "window": np.int32(1), "seed": np.uint64(5), "min_count": np.int8(1)}
    counts = plain_count(documents=["a b c a"], negative_power=1, threads=np.int64(1), **options)
    assert counts.fingerprint == plain_count(documents=["a b c a"], vocab=3, window=1, seed=5).fingerprint
    counts.save(tmp_path / "counts")
    assert open_counts(tmp_path / "counts").recipe == counts.recipe


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window is 0"),
        ({"window": 1.5}, "window is 1.5; it must be a whole number"),
        ({"window": 10**20}, r"window is 1\d+; it must be from 1 to 2\*\*31 - 1"),
        ({"negatives": 2**31}, "negatives is"),
        ({"negative_power": "x"}, "negative_power is 'x'; it must be a number"),
        ({"subsample": "1e-3"}, "subsample is '1e-3'; it must be a number"),
        ({"stopwords_action": "drop"}, "--stopwords"),
        ({"stopwords": ["a"], "stopwords_action": "keep-unstemmed"}, "--stem"),
        ({"encoding": "hex"}, "encoding 'hex'"),
        ({"negatives": -1}, "negatives is -1"),
        ({"negative_power": -0.5}, "negative_power is -0.5"),
        ({"negative_power": float("nan")}, "negative_power is nan"),
        ({"subsample": 0.0}, "subsample is 0.0"),
        ({"window_over": "words"}, "positions or vocabulary"),
        ({"vocab": 0}, "vocab is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"min_count": 9}, "most common has 2"),
        ({"vocab": 2, "vocabulary": ["a"]}, "do not go with it"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": ["z"]}, "none of the 1 words"),
        ({"vocabulary": ["a", "b", "a"]}, "'a' more than once"),
        ({"stem": "klingon"}, "klingon"),
        ({"stopwords": ["a"], "stopwords_action": "eat"}, "drop or keep-unstemmed"),
        ({"tokenizer": "(["}, "not a regular expression"),
        ({"tokenizer": "word"}, "words, whitespace or a regular"),
        ({"memory": "much"}, "500MB"),
        ({"memory": "1kB"}, "at least 32MB"),
        ({"threads": 0}, "threads is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"document": "page"}, "line or file"),
        ({"format": "pdf"}, "format is 'pdf'"),
        ({"errors": "surrogateescape"}, "strict, replace or ignore"),
        ({"encoding": "klingon"}, "encoding 'klingon'"),
        ({"group_column": "party"}, "text_column"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises((OptionError, InputError), match=message):
        plain_count(documents=["a b c", "a b"], **options)


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(OptionError, match="one of the two"):
        plain_count()
    with pytest.raises(OptionError, match="one of the two"):
        plain_count("a.txt", documents=["a b"])
    with pytest.raises(OptionError, match="group_column"):
        plain_count(tmp_path, groups=["a"])
    with pytest.raises(InputError, match="one string"):
        plain_count(documents="a b c")
    with pytest.raises(InputError, match="document 2 is int"):
        plain_count(documents=["a b", 3])
    with pytest.raises(InputError, match="not a path"):
        plain_count([["a", "b"], 3])
    with pytest.raises(InputError, match="holds no words"):
        plain_count(documents=["...", ""])
    with pytest.raises(InputError, match="no pairs"):
        plain_count(documents=["a", "b"])
    with pytest.raises(InputError, match="basket 1 is 1; it must be a list"):
        bv.count_baskets([1, 2])
    with pytest.raises(InputError, match="basket 2 is 'ab'"):
        bv.count_baskets([["a", "b"], "ab"])
    with pytest.raises(InputError, match="no baskets"):
        bv.count_baskets([])


def test_files_are_groups(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dem.txt").write_text("tax the rich\ntax the few\n")
    (tmp_path / "repub.txt.gz").write_bytes(gzip.compress(b"cut the tax\n"))
    lines = ["tax the rich", "tax the few", "cut the tax"]
    expected = bv.count(documents=lines, groups=["dem", "dem", "repub"]).fingerprint
    by_file = bv.count(["dem.txt", "repub.txt.gz"], group_by="file")
    assert by_file.fingerprint == expected
    assert [each["group"] for each in by_file.recipe["inputs"]] == ["dem", "repub"]
    renamed = bv.count(documents=lines, groups=["left", "left", "right"]).fingerprint
    assert bv.count({"left": "dem.txt", "right": ["repub.txt.gz"]}).fingerprint == renamed
    assert bv.count(["left=dem.txt", "right=repub.txt.gz"]).fingerprint == renamed
    whole = bv.count(["left=dem.txt", "right=repub.txt.gz"], document="file", tokenizer=r"(?s)\w+")
    assert whole.recipe["documents"] == 2
    (tmp_path / "a=b.txt").write_text("one two")
    assert bv.count("a=b.txt").groups is None  # it is a file
    (tmp_path / "a.csv").write_text("user,film\nu,Alien\nu,Brazil\n")
    (tmp_path / "b.csv").write_text("user,film\nu,Alien\nu,Zardoz\n")
    columns = {"basket_column": "user", "item_column": "film"}
    films = bv.count_baskets(["a.csv", "b.csv"], **columns, group_by="file")
    assert set(films.words) == {"Alien@a", "Alien@b", "Brazil@a", "Zardoz@b"}
    with pytest.raises(InputError, match=r"dem\.txt has no group, and other files have one"):
        bv.count(["dem.txt", "right=repub.txt.gz"])
    with pytest.raises(OptionError, match="give --group-by or --group-column"):
        bv.count("a.csv", text_column="film", group_column="user", group_by="file")
    with pytest.raises(OptionError, match="is 'folder'; it must be file"):
        bv.count("dem.txt", group_by="folder")


def test_baskets_of_a_table_do_not_depend_on_the_memory(tmp_path, monkeypatch):
    """With little memory the rows are sorted some baskets at a time, and in files."""
    generator = np.random.default_rng(2)
    rows = zip(generator.integers(0, 90, 2000), generator.integers(0, 40, 2000), strict=True)
    table = tmp_path / "seen.csv"
    table.write_text("user,film\n" + "".join(f"u{user},f{film}\n" for user, film in rows))
    columns = {"basket_column": "user", "item_column": "film"}
    expected = bv.count_baskets(table, **columns)
    monkeypatch.setattr(spill, "SMALLEST", 1)
    bounded = bv.count_baskets(table, **columns, memory=2000)
    assert isinstance(bounded.by_word.other.base, np.memmap)
    assert bounded.fingerprint == expected.fingerprint


@pytest.mark.parametrize("memory", [32_000_000, None])
def test_documents_between_separators(tmp_path, memory, monkeypatch):
    speeches = ["first speech here", "second one\nwith two lines", "the third"]
    text = "== 1 ==" + "".join(f" {speech} == {n} == " for n, speech in enumerate(speeches)) + "=="
    (tmp_path / "a.txt").write_text(text)
    expected = bv.count(documents=speeches).fingerprint
    counts = bv.count(tmp_path / "a.txt", document_separator=r"==(?: \d+ ==)?", memory=memory)
    assert (counts.recipe["documents"], counts.fingerprint) == (3, expected)
    (tmp_path / "b.txt").write_text("one two\n\nthree four\nfive\n\n\nsix")
    paragraphs = bv.count(tmp_path / "b.txt", document_separator=r"\n\s*\n")
    assert paragraphs.fingerprint == bv.count(documents=["one two", "three four\nfive", "six"]).fingerprint
    before = bv.count(tmp_path / "b.txt", document_separator="(?=t)")  # nothing is lost
    assert before.fingerprint == bv.count(documents=["one", "two", "three four five six"]).fingerprint


@pytest.mark.parametrize("size", [1, 3, 100])
def test_separators_do_not_depend_on_the_chunks(monkeypatch, size):
    monkeypatch.setattr(separator, "REACH", 12)
    text = "é<1>é b<23>\nc\n^d<4><5>  \n<6>e"
    chunks = [text.encode()[at : at + size] for at in range(0, len(text.encode()), size)]
    found = list(separator.separated(chunks, separator.make_separator(r"<\d+>|^\^"), lambda size: None))
    assert found == ["é", "é b", "\nc\n", "d", "e"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"document_separator": "("}, "is not a regular expression"),
        ({"document_separator": "x*"}, "matches empty text"),
        ({"document_separator": "x", "document": "file"}, "leave out one of the two"),
        ({"document_separator": "x", "text_column": "t"}, "leave out --document-separator"),
    ],
)
def test_wrong_separators_are_refused(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("t\na b\n")
    with pytest.raises(OptionError, match=message):
        bv.count(tmp_path / "a.csv", **options)


def test_tables_of_baskets_and_items(tmp_path):
    rows = [("u1", "Alien", 1), ("u2", "Brazil", 1), ("u1", "Brazil", 2), (3, "Alien", 1), ("u1", 1984, 1)]
    rows += [("u2", "Alien", 1), (3, 1984, 2)]
    baskets = [["Alien", "Brazil", "1984"], ["Brazil", "Alien"], ["Alien", "1984"]]
    expected = bv.count_baskets(baskets).fingerprint
    columns = {"basket_column": "user", "item_column": "film"}
    frame = pd.DataFrame(rows, columns=["user", "film", "year"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.astype(str).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        counts = bv.count_baskets(tmp_path / name, **columns)
        assert (counts.fingerprint, counts.recipe["documents"]) == (expected, 3)
    assert bv.count_baskets(frame, **columns).fingerprint == expected
    in_years = bv.count_baskets(frame, **columns, group_column="year")
    split = [["Alien", "1984"], ["Brazil", "Alien"], ["Brazil"], ["Alien"], ["1984"]]
    assert in_years.fingerprint == bv.count_baskets(split, groups=[1, 1, 2, 1, 2]).fingerprint
    for options, message in [
        ({"basket_column": "user"}, "give both or neither"),
        (columns | {"text_column": "film"}, "give one of the two"),
        (
            columns | {"item_column": "movie"},
            "no column 'movie'; it has user, film, year; name one of these by --b",
        ),
    ]:
        with pytest.raises((OptionError, InputError), match=message):
            bv.count_baskets(tmp_path / "a.csv", **options)
    with pytest.raises(InputError, match="row 2 has nothing in column 'film'; every row needs an item"):
        bv.count_baskets({"user": [1, 1], "film": ["a", None]}, **columns)
    (tmp_path / "a.txt").write_text("a b")
    message = "plain text, which has no column 'user'; leave out --basket-column"
    with pytest.raises(OptionError, match=message):
        bv.count_baskets(tmp_path / "a.txt", **columns)
