"""Counts from tables: data frames, and CSV, TSV and Parquet files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesvec.counts.store import open_counts
from bayesvec.counts.table import from_table
from bayesvec.errors import InputError, OptionError
from count_tools import dense

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


def test_unusual_names_in_a_table(tmp_path: Path) -> None:
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
