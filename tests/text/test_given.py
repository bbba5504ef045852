"""Text in every form: files, lists, columns and data frames give the same counts; so does `fit`."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bayesvec as bv
from bayesvec.errors import InputError, OptionError, RunError

TEXTS = ["The cat sat on the mat.", "The dog sat on the cat, too.", "", "A dog and a cat"]
PARTIES = ["dem", "repub", "dem", "repub"]
SMALL = {"dim": 2, "draws": 10, "warmup": 5, "chains": 1, "progress": False}


def columns():
    """A column of texts in each library; the third is missing where the library has a word for it."""
    missing = [text or None for text in TEXTS]
    yield np.array(TEXTS)
    yield np.array(TEXTS, dtype=object)
    yield pd.Series(missing)
    yield pd.Series(missing, dtype="string", index=[7, 7, 8, 1])
    yield pd.Series(TEXTS, dtype="category")
    yield pa.array(missing)
    yield pa.chunked_array([missing[:1], missing[1:]])
    yield pa.array(TEXTS).dictionary_encode()


def frames():
    table = pa.table({"text": [text or None for text in TEXTS], "party": PARTIES, "n": [1, 2, 3, 4]})
    yield table
    yield table.to_batches()[0]
    yield table.to_reader()
    yield table.to_pandas()
    yield table.to_pandas().assign(mixed=[1, "a", None, {}])  # a column for which Arrow has no type
    yield {"text": TEXTS, "party": PARTIES}
    yield {"text": np.array(TEXTS), "party": pd.Series(PARTIES)}


@pytest.fixture(scope="module")
def expected():
    return bv.count(documents=TEXTS).fingerprint


def test_columns_and_lists_of_texts(expected):
    for column in columns():
        assert bv.count(column).fingerprint == expected
        assert bv.count(documents=column).fingerprint == expected
    assert bv.count(TEXTS).fingerprint == expected
    assert bv.count(iter(TEXTS)).fingerprint == expected
    many = ["one two"] * 2500  # more than are looked at to recognise them
    assert bv.count(many).recipe["documents"] == 2500
    assert bv.count(iter(many)).recipe["documents"] == 2500


def test_lists_of_words():
    words = [text.lower().split() for text in TEXTS]
    expected = bv.count(documents=words).fingerprint
    assert bv.count(words).fingerprint == expected
    assert bv.count(map(tuple, words)).fingerprint == expected


def test_data_frames(expected):
    with_groups = bv.count(documents=TEXTS, groups=PARTIES).fingerprint
    for frame in frames():
        assert bv.count(frame, text_column="text", group_column="party").fingerprint == with_groups
    for frame in frames():
        assert bv.count(frame, text_column="text").fingerprint == expected
    assert bv.count(pd.Series(TEXTS), groups=pa.array(PARTIES)).fingerprint == with_groups


def test_polars(expected):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"text": [text or None for text in TEXTS], "year": [2001, 2002, 2001, 2002]})
    assert bv.count(frame, text_column="text").fingerprint == expected
    assert bv.count(frame["text"]).fingerprint == expected
    assert bv.count(frame.lazy(), text_column="text").fingerprint == expected
    grouped = bv.count(documents=TEXTS, groups=[2001, 2002, 2001, 2002]).fingerprint
    assert bv.count(frame, text_column="text", group_column="year").fingerprint == grouped
    assert bv.count(frame["text"], groups=frame["year"]).fingerprint == grouped


def test_fit_of_text(tmp_path, expected, monkeypatch):
    (tmp_path / "text.txt").write_text("\n".join(TEXTS))
    counts = bv.count(documents=TEXTS, vocab=5, seed=3)
    post = bv.fit(counts, **SMALL)
    frame = pd.DataFrame({"t": TEXTS})
    monkeypatch.chdir(tmp_path)
    for data in ("text.txt", tmp_path / "text.txt", ["text.txt"], TEXTS, pd.Series(TEXTS)):
        again = bv.fit(data, vocab=5, count_seed=3, **SMALL)
        np.testing.assert_array_equal(again.rho[:], post.rho[:])
    again = bv.fit(frame, text_column="t", vocab=5, count_seed=3, **SMALL)
    np.testing.assert_array_equal(again.rho[:], post.rho[:])
    frame.to_csv("a.csv")
    again = bv.fit("a.csv", text_column="t", vocab=5, count_seed=3, **SMALL)
    np.testing.assert_array_equal(again.rho[:], post.rho[:])
    baskets = bv.fit([["a", "b"], ["b", "c", "a"]], baskets=True, **SMALL)
    assert baskets.words == ("a", "b", "c")


def test_fit_still_opens_counts(tmp_path):
    counts, _ = bv.simulate(vocab=5, dim=2, pairs=100, seed=1)
    counts.save(tmp_path / "counts")
    assert bv.fit(str(tmp_path / "counts"), **SMALL).words == counts.words
    (tmp_path / "a.csv").write_text("word,context,n_pos,n_neg\na,b,3,4\nb,a,1,2\n")
    assert set(bv.fit(tmp_path / "a.csv", **SMALL).words) == {"a", "b"}
    with pytest.raises(OptionError, match="vocab is an option for text, and counts are given"):
        bv.fit(counts, vocab=5, **SMALL)
    with pytest.raises(TypeError, match="unexpected keyword argument 'windw'"):
        bv.fit(counts, windw=5, **SMALL)


def test_a_place_that_is_taken_is_refused_before_the_text_is_counted(tmp_path, monkeypatch):
    bv.fit(TEXTS, out=tmp_path / "run", **SMALL)
    monkeypatch.setattr("bayesvec.text.count.count", None)
    with pytest.raises(RunError, match="holds a finished run"):
        bv.fit(TEXTS, out=tmp_path / "run", **SMALL)
    with pytest.raises(OptionError, match="method"):
        bv.fit(TEXTS, method="magic")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (["speeches of 1999.txt", "speeches of 2000.txt"], {}, "speeches of 1999.txt does not exist"),
        (["speeches", "letters"], {}, "speeches does not exist"),
        (3, {}, "got int; give files by their names, a list of texts, or a data frame"),
        ([b"bytes " * 1000], {}, r"^b'[bytes ]{38}\.\.\. is not a path"),
        (pd.DataFrame({"t": TEXTS}), {}, "name the column that holds the text by text_column"),
        (pd.DataFrame({"t": TEXTS}), {"text_column": "x"}, "the data frame has no column 'x'; it has t"),
        (pa.table({"t": TEXTS}), {"text_column": "x"}, "the data frame has no column 'x'; it has t"),
        (pa.table({"t": [1, 2]}), {"text_column": "t"}, "column 't' holds int64"),
        (pd.DataFrame({"t": ["a b", 3]}), {"text_column": "t"}, "line 2: column 't' holds int"),
        (pd.Series(["a b", 3]), {}, "document 2 is int"),
        (pd.Series(TEXTS), {"text_column": "t"}, "the documents are no table"),
        ({"t": ["a"], "g": [1, 2]}, {"text_column": "t", "group_column": "g"}, "different lengths"),
        (
            pd.DataFrame({"t": ["a"], "g": [None]}),
            {"text_column": "t", "group_column": "g"},
            "row 1 has nothing",
        ),
        (pd.DataFrame({"t": ["a"]}), {"text_column": "t", "groups": ["x"]}, "by group_column, not groups"),
    ],
)
def test_what_cannot_be_text_is_refused(given, options, message):
    with pytest.raises((InputError, OptionError), match=message):
        bv.count(given, **options)
