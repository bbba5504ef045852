"""Files, tables and encodings: the same documents however they are stored, and errors that name the file."""

import bz2
import gzip
import io
import json
import lzma
from itertools import chain

import numpy as np
import pytest
import zstandard

import bayesvec as bv
from bayesvec.errors import InputError, OptionError
from bayesvec.text.corpus import tokenize
from bayesvec.text.reading import Tally, read_blocks
from bayesvec.text.sources import ReadOptions, find_sources
from bayesvec.text.tokens import make_tokenizer


def words_of(path, tokenizer="words", **options):
    """The documents of files as lists of words."""
    reading = ReadOptions(**options)
    cutter = make_tokenizer(tokenizer)
    blocks = list(read_blocks(find_sources(path), reading, Tally()))
    stream = tokenize(blocks, cutter, total_bytes=0, memory=10**9, threads=1, show=False)
    ends = np.cumsum(stream.lengths)
    tokens = [stream.words[token] for token in stream.tokens]
    return [tokens[end - length : end] for end, length in zip(ends, stream.lengths, strict=True)]


DOCUMENTS = ["The café\u2019s first line", "", "a second — and longer — line of text", "naïve", "last one"]


EXPECTED = [make_tokenizer("words").cut(text) for text in DOCUMENTS]


@pytest.mark.parametrize("block_bytes", [*range(1, 30), 1000])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_lines_are_documents_whatever_the_block(tmp_path, block_bytes, end):
    file = tmp_path / "text.txt"
    file.write_bytes(((end or "\n").join(DOCUMENTS) + end).encode())
    assert words_of(file, block_bytes=block_bytes) == EXPECTED
    lines = [[line] if line else [] for line in DOCUMENTS]  # the end of a line is no part of it
    upper = [[line.lower() for line in document] for document in lines]
    assert words_of(file, r"(?s).+", block_bytes=block_bytes, divisible=False) == upper


@pytest.mark.parametrize("block_bytes", [*range(1, 30), 1000])
def test_a_file_can_be_a_document_whatever_the_block(tmp_path, block_bytes):
    (tmp_path / "a.txt").write_text("\n".join(DOCUMENTS))
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    expected = [list(chain(*EXPECTED)), ["one", "two"]]
    assert words_of(tmp_path, document="file", block_bytes=block_bytes) == expected
    whole = words_of(tmp_path, "[^ ]+", document="file", block_bytes=block_bytes, divisible=False)
    assert whole[1] == ["one\ntwo\n"]


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        ("", lambda data: data),
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", lambda data: zstandard.compress(data[:20]) + zstandard.compress(data[20:])),
    ],
)
def test_formats_and_compressions_give_the_same_documents(tmp_path, ending, compress):
    rows = [{"id": i, "text": text, "party": "DR"[i % 2]} for i, text in enumerate(DOCUMENTS)]
    as_csv = "id,text,party\n" + "".join(f'{r["id"]},"{r["text"]}",{r["party"]}\n' for r in rows)
    files = {
        "a.txt": "\n".join(DOCUMENTS),
        "a.jsonl": "\n\n".join(json.dumps(row) for row in rows),
        "a.csv": as_csv,
        "a.tsv": as_csv.replace(",", "\t").replace('"', ""),
    }
    for name, text in files.items():
        file = tmp_path / f"{name}{ending}"
        file.write_bytes(compress(text.encode()))
        column = {} if name == "a.txt" else {"text_column": "text", "group_column": "party"}
        for block_bytes in (3, 1000):
            reading = ReadOptions(block_bytes=block_bytes, **column)
            blocks = list(read_blocks(find_sources(file), reading, Tally()))
            if column:
                assert list(chain(*(block.groups for block in blocks))) == ["D", "R", "D", "R", "D"]
            assert words_of(file, block_bytes=block_bytes, **column) == EXPECTED
        if ending:
            file.write_bytes(compress(text.encode())[:-12])
            with pytest.raises(InputError, match="cannot be read"):
                words_of(file, **column)


def test_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = tmp_path / "a.parquet"
    texts = [text or None for text in DOCUMENTS]
    pq.write_table(pa.table({"text": texts, "year": [2001, 2002, 2001, 2002, 2001]}), file)
    assert words_of(file, text_column="text") == EXPECTED
    counts = bv.count(file, text_column="text", group_column="year", vocab=3)
    assert set(counts.groups) <= {"2001", "2002"}
    pq.write_table(pa.table({"text": pa.array(DOCUMENTS).dictionary_encode(), "n": range(5)}), file)
    assert words_of(file, text_column="text") == EXPECTED
    with pytest.raises(InputError, match="column 'n' holds int64"):
        words_of(file, text_column="n")
    with pytest.raises(InputError, match="no column 'txt'; it has text, n"):
        words_of(file, text_column="txt")
    file.write_bytes(b"not a table")
    with pytest.raises(InputError, match="as Parquet"):
        words_of(file, text_column="text")


def test_texts_of_a_table_may_hold_line_ends_and_be_long(tmp_path):
    long = "word " * 60_000
    file = tmp_path / "a.csv"
    file.write_text(f'text,x\n"one\ntwo",1\n"{long}",2\n"say ""hi""",3\n')
    assert words_of(file, text_column="text") == [["one", "two"], ["word"] * 60_000, ["say", "hi"]]
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": "one\ntwo"}) + "\n" + json.dumps({"text": None}) + "\n")
    assert words_of(file, text_column="text") == [["one", "two"], []]


def test_paths_globs_folders_and_standard_input(tmp_path, monkeypatch):
    for name, text in {"b.txt": "two", "a.txt": "one", "sub/c.txt": "three", ".hidden": "four"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert words_of(tmp_path) == [["one"], ["two"], ["three"]]
    assert words_of(str(tmp_path / "*.txt")) == [["one"], ["two"]]
    assert words_of([tmp_path / "b.txt", str(tmp_path / "**/c.txt")]) == [["two"], ["three"]]
    (tmp_path / "[x].txt").write_text("bracket")
    assert words_of(str(tmp_path / "[x].txt")) == [["bracket"]]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb c")))
    assert words_of("-") == [["a"], ["b", "c"]]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"t": "a b"}')))
    assert words_of("-", text_column="t") == [["a", "b"]]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"t,u\na b,c")))
    assert words_of("-", text_column="t", format="csv") == [["a", "b"]]
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (tmp_path / "none.txt", tmp_path / "*.none", empty, []):
        with pytest.raises(InputError):
            find_sources(str(path) if path else path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
@pytest.mark.parametrize("block_bytes", [1, 2, 7, 1000])
def test_encodings(tmp_path, encoding, block_bytes):
    file = tmp_path / "a.txt"
    file.write_bytes("Über café\nnaïve".encode(encoding))
    expected = [["über", "café"], ["naïve"]]
    assert words_of(file, encoding=encoding, block_bytes=block_bytes) == expected


@pytest.mark.parametrize("block_bytes", [1, 2, 5, 1000])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3(", b"\xe2\x82"])
def test_invalid_bytes_are_found_and_can_be_replaced(tmp_path, block_bytes, bad):
    file = tmp_path / "a.txt"
    file.write_bytes("é is fine, ".encode() + bad)
    with pytest.raises(InputError, match=r"byte 12 .*--encoding.*--errors replace"):
        words_of(file, block_bytes=block_bytes)
    assert words_of(file, block_bytes=block_bytes, errors="replace") == [["é", "is", "fine"]]
    assert words_of(file, block_bytes=block_bytes, errors="ignore") == [["é", "is", "fine"]]


@pytest.mark.parametrize("block_bytes", [1, 4, 1000])
@pytest.mark.parametrize("tokenizer", ["words", "whitespace", r"(?s)\S+"])
def test_zero_bytes_in_text_are_white_space(tmp_path, tokenizer, block_bytes):
    rows = ["one\0two", "three\0\0 four", "\0five"]
    expected = [["one", "two"], ["three", "four"], ["five"]]
    files = {
        "a.txt": "\n".join(rows),
        "a.jsonl": "\n".join(f'{{"t": "{row}"}}' for row in rows),  # raw, and as JSON writes them
        "b.jsonl": "\n".join(json.dumps({"t": row}) for row in rows),
        "a.csv": "t,u\n" + "".join(f'"{row}",1\n' for row in rows),
        "a.tsv": "t\tu\n" + "".join(f"{row}\t1\n" for row in rows),
    }
    reading = {"block_bytes": block_bytes, "divisible": tokenizer in ("words", "whitespace")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        column = {} if name == "a.txt" else {"text_column": "t"}
        assert words_of(tmp_path / name, tokenizer, **reading, **column) == expected
        assert bv.count(tmp_path / name, **column, progress=False).recipe["zero_bytes"] == 4


def test_zero_bytes_are_noted(tmp_path, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"t": ["one\0two"]}), tmp_path / "a.parquet")
    counts = bv.count(tmp_path / "a.parquet", text_column="t")
    assert (counts.words, counts.recipe["zero_bytes"]) == (("one", "two"), 1)
    assert capsys.readouterr().err == "bayesvec: 1 zero byte (NUL) in the text was read as white space\n"
    assert bv.count(documents=["one\0two\0\0"], tokenizer="whitespace").words == ("one", "two")
    assert "3 zero bytes (NUL) in the text were read" in capsys.readouterr().err
    bv.count(documents=["one\0two"], progress=False)
    assert capsys.readouterr().err == ""
    with_latin = tmp_path / "a.txt"
    with_latin.write_bytes(b"caf\xe9 one\0two")
    with pytest.raises(InputError, match="not valid utf-8 at byte 3"):
        bv.count(with_latin)
    assert bv.count(with_latin, errors="replace", progress=False).words == ("caf", "one", "two")


@pytest.mark.parametrize("errors", ["strict", "replace", "ignore"])
def test_binary_files_are_refused(tmp_path, errors):
    import zlib

    noise = zlib.compress(np.random.default_rng(1).bytes(3000))
    binary = {
        "a.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + noise,
        "a.exe": b"\x7fELF" + bytes(60) + noise,
        "utf-16.txt": "a text in another encoding, without its mark".encode("utf-16-le"),
    }
    for name, content in binary.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} is a binary file"):
            bv.count(tmp_path / name, errors=errors)


def test_half_of_a_surrogate_pair_is_refused_or_replaced():
    with pytest.raises(InputError, match=r"row 2: .*surrogate"):
        bv.count(documents=["a b", "a \ud800"])
    assert bv.count(documents=["a b", "a \ud800"], errors="replace").words == ("a", "b")


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.jsonl", '{"t": "a"}\n{"t": \n', {"text_column": "t"}, "line 2 is not JSON"),
        ("a.jsonl", '{"t": "a"}\n[1]\n', {"text_column": "t"}, "line 2 is a JSON list"),
        ("a.jsonl", '{"t": 3}', {"text_column": "t"}, "line 1: column 't' holds int"),
        ("a.jsonl", '{"t": "a", "u": 1}', {"text_column": "x"}, "line 1 has no column 'x'; it has t, u"),
        ("a.jsonl", '{"t": "a", "g": null}', {"text_column": "t", "group_column": "g"}, "row 1 has nothing"),
        ("a.csv", "t,u\na,b\n", {"text_column": "x"}, "no column 'x'; it has t, u"),
        ("a.csv", "t,u\na,b\n", {"text_column": "t", "group_column": "g"}, "no column 'g'"),
        ("a.csv", "t,u\na,b\na\n", {"text_column": "t"}, "line 3 has 1 fields"),
        ("a.csv", 't,u\na,"b', {"text_column": "t"}, r"line 2 cannot be read as CSV \(unexpected end"),
        ("a.csv", "t,t\na,b\n", {"text_column": "t"}, "two columns 't'"),
        ("a.jsonl", '{"t": "a"}\n{"t": \n', {"text_column": "t"}, r"\(Expecting value at column 1?\d\)"),
        ("a.jsonl", '{"t": "a", "u": ' + "[" * 100_000, {"text_column": "t"}, "line 1 is not JSON"),
        (
            "a.jsonl",
            '{"t": "a", "g": ["b"]}',
            {"text_column": "t", "group_column": "g"},
            r"row 1 has \['b'\]",
        ),
        ("a.jsonl", '{"t": "a", "g": NaN}', {"text_column": "t", "group_column": "g"}, "row 1 has nan"),
        ("a.txt", "a b", {"text_column": "t"}, "plain text"),
        ("a.csv", "t\na b", {}, "--text-column"),
        ("a.csv", "t\na b", {"text_column": "t", "document": "file"}, "leave out --document"),
        ("a.txt", "a\0b\0c\0", {}, "binary"),
        ("a.txt", "\0\x01\x02\x03abc", {"errors": "replace"}, "binary"),
    ],
)
def test_files_that_cannot_be_read_are_reported(tmp_path, name, text, options, message):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises((InputError, OptionError), match=message) as raised:
        words_of(file, **options)
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("block_bytes", [1, 3, 1000])
def test_bytes_buffered_by_the_decoder_are_not_lost(tmp_path, block_bytes):
    file = tmp_path / "a.txt"
    file.write_bytes(b"hello caf\xc3")
    options = {"tokenizer": "whitespace", "block_bytes": block_bytes}
    assert words_of(file, **options, errors="replace") == [["hello", "caf\ufffd"]]
    assert words_of(file, **options, errors="ignore") == [["hello", "caf"]]
    file.write_bytes("hello \u0416".encode("utf-7").removesuffix(b"-"))
    assert words_of(file, **options, encoding="utf-7") == [["hello", "\u0416"]]


def test_text_given_as_a_path_is_reported(tmp_path):
    with pytest.raises(InputError, match=r"documents=\[...\]") as raised:
        bv.count("the cat sat " * 100)
    assert len(str(raised.value)) < 300


def test_a_file_named_twice_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a b")
    for texts in (["a.txt", "./a.txt"], ["*.txt", tmp_path], ["-", "-"]):
        with pytest.raises(InputError, match="named twice"):
            find_sources(texts)


@pytest.mark.parametrize("encoding", ["hex", "rot13", "base64", "undefined", "a\0b", "klingon"])
def test_an_encoding_must_be_one_of_text(encoding):
    with pytest.raises(OptionError, match="is not a text encoding"):
        ReadOptions(encoding=encoding)


def test_quotes_are_ordinary_characters_in_a_tsv_file(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text('t\tu\na "b\tc\n"d e\tf\n')
    assert words_of(file, text_column="t", tokenizer="whitespace") == [["a", '"b'], ['"d', "e"]]
    file.write_text('"t"\t"u"\n"a b"\tc\n')
    assert words_of(file, text_column="t", tokenizer="whitespace") == [["a", "b"]]


def test_a_parquet_column_of_lists_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"t": [["a", "b"]]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="column 't' holds list<"):
        bv.count(tmp_path / "a.parquet", text_column="t")
