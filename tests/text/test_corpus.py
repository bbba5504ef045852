import bz2
import gzip
import io
import json
import lzma
import re
import sys
import unicodedata
from itertools import chain

import numpy as np
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bayesvec as bv
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.errors import InputError, OptionError
from bayesvec.text import vocabulary as vocabulary_module
from bayesvec.text.corpus import tokenize
from bayesvec.text.reading import read_blocks, row_blocks
from bayesvec.text.sources import ReadOptions, find_sources
from bayesvec.text.tokens import make_tokenizer
from bayesvec.text.vocabulary import VocabularyOptions, choose_vocabulary

# Letters of several scripts, marks, both apostrophes, and what must not join a word.
TRICKY = "aBzZ09'\u2019 _-.\t\u00a0éÉßİ\u0131Σ\u03c3ςǅ\u0301\u0308ाहिﬁ\u200d\u2019“—…٣Ⅷ²\ufe0f❤日本𝔘\u2028"


def cut(texts, tokenizer, threads=1):
    """The words of each text by way of the compiled scanner."""
    blocks = row_blocks(((text, None, 1) for text in texts), "texts", ReadOptions(block_bytes=20))
    stream = tokenize(blocks, tokenizer, total_bytes=0, memory=10**9, threads=threads, show=False)
    ends = np.cumsum(stream.lengths)
    tokens = [stream.words[token] for token in stream.tokens]
    np.testing.assert_array_equal(np.bincount(stream.tokens, minlength=len(stream.words)), stream.frequency)
    return [tokens[end - length : end] for end, length in zip(ends, stream.lengths, strict=True)]


# Tokenizers


@pytest.mark.parametrize("name", ["words", "whitespace"])
@pytest.mark.parametrize("lowercase", [True, False])
@settings(max_examples=300, deadline=None)
@example(
    texts=[
        "\u0391Σ.\u0391 ΣΑΣ ας\u2019Σ ΌΣΟΣ",
        "'tis dogs' rock'n'roll ''x'' a'\u2019b é'a a'é",
        "'\u0301x a'\u0301x İstanbul",
    ]
)
@given(texts=st.lists(st.text(st.sampled_from(TRICKY)) | st.text(), max_size=5))
def test_the_compiled_scanner_gives_the_words_of_the_definition(name, lowercase, texts):
    texts = [text.replace("\0", "") for text in texts]
    tokenizer = make_tokenizer(name, lowercase)
    assert cut(texts, tokenizer) == [tokenizer.cut(text) for text in texts]


def test_the_definition_of_a_word_is_the_documented_one():
    everything = map(chr, range(sys.maxunicode + 1))
    marks = "".join(c for c in everything if unicodedata.category(c) in ("Mn", "Mc", "Me"))
    run = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}\u200c\u200d\u00ad\u2060])*"
    pattern = re.compile(run + "(?:['\u2019]" + run + ")*")
    tokenizer = make_tokenizer("words")
    text = " ".join(TRICKY[i:] + TRICKY[:i] for i in range(len(TRICKY))) + "".join(map(chr, range(1, 0x3000)))
    found = [re.sub("[\u00ad\u2060]", "", word).replace("\u2019", "'") for word in pattern.findall(text)]
    expected = [unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).lower()) for word in found]
    assert tokenizer.cut(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't, don\u2019t; 'tis the dogs' well-known", "don't don't tis the dogs well known"),
        ("Cafe\u0301 CAFÉ café", "café café café"),
        ("H2O in 1989, new_york e.g. R&D", "h2o in 1989 new york e g r d"),
        ("हिन्दी में ΟΔΟΣ İ", "हिन्दी में οδος i̇"),
        ("a❤\ufe0fb \u200b \u0301", "a b"),
        ("hy\u00adphen\u00ad word\u2060joiner \u00ad \u200d", "hyphen wordjoiner"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_what_a_word_is(text, words):
    assert make_tokenizer("words").cut(text) == words.split(" ")
    assert cut([text], make_tokenizer("words")) == [words.split(" ")]


def test_a_regular_expression_matches_lower_cased_text():
    assert make_tokenizer("[a-z]+").cut("The U.S. été") == ["the", "u", "s", "t"]
    assert make_tokenizer("[a-z]+", lowercase=False).cut("The") == ["he"]
    assert make_tokenizer("(a)|(b)x?|y*").cut("abxc") == ["a", "bx"]
    assert cut(["x, y z,w", "", "x"], make_tokenizer("[^,]+")) == [["x", " y z", "w"], [], ["x"]]


def test_many_types_and_threads_give_the_same_words():
    texts = [" ".join(f"W{i * j}" for i in range(200)) for j in range(300)]
    tokenizer = make_tokenizer("words")
    expected = [text.lower().split() for text in texts]
    assert cut(texts, tokenizer) == expected
    blocks = row_blocks(((text, None, 1) for text in texts), "texts", ReadOptions(block_bytes=10**7))
    stream = tokenize(blocks, tokenizer, total_bytes=0, memory=10**9, threads=2, show=False)
    assert [stream.words[token] for token in stream.tokens] == list(chain(*expected))
    assert cut(texts, tokenizer, threads=3) == expected


# Files


def words_of(path, tokenizer="words", **options):
    """The documents of files as lists of words."""
    reading = ReadOptions(**options)
    cutter = make_tokenizer(tokenizer)
    blocks = list(read_blocks(find_sources(path), reading))
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
            blocks = list(read_blocks(find_sources(file), ReadOptions(block_bytes=block_bytes, **column)))
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
        ("a.txt", "a\0b", {}, "binary"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, text, options, message):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises((InputError, OptionError), match=message) as raised:
        words_of(file, **options)
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)


# The vocabulary


def test_the_vocabulary_is_the_most_common_words_with_ties_in_code_point_order():
    words = ["b", "é", "a", "Z", "c"]
    kept, counts, row = choose_vocabulary(words, np.array([2, 3, 2, 2, 3]), VocabularyOptions(vocab=4))
    assert kept == ("c", "é", "Z", "a")
    assert counts.tolist() == [3, 3, 2, 2]
    assert row.tolist() == [-1, 1, 3, 2, 0]
    kept, _, _ = choose_vocabulary(words, np.array([2, 3, 2, 2, 3]), VocabularyOptions(min_count=3))
    assert kept == ("c", "é")


def test_the_default_size_is_a_limit_and_a_given_one_is_not(monkeypatch):
    monkeypatch.setattr(vocabulary_module, "DEFAULT_VOCAB", 2)
    kept, _, _ = choose_vocabulary(["a", "b", "c"], np.array([3, 2, 1]), VocabularyOptions())
    assert kept == ("a", "b")
    kept, _, _ = choose_vocabulary(["a"], np.array([3]), VocabularyOptions())
    assert kept == ("a",)
    with pytest.raises(OptionError, match="the corpus has 1 different words"):
        choose_vocabulary(["a"], np.array([3]), VocabularyOptions(vocab=2))


def test_stems_are_added_up_and_stopwords_dropped_or_left():
    words, frequency = ["speak", "speaks", "speaking", "was", "having"], np.array([1, 2, 3, 9, 4])
    options = {"stem": "english", "stopwords": frozenset(["was", "having"])}
    kept, counts, row = choose_vocabulary(words, frequency, VocabularyOptions(**options))
    assert (kept, counts.tolist(), row.tolist()) == (("speak",), [6], [0, 0, 0, -1, -1])
    kept, counts, row = choose_vocabulary(
        words, frequency, VocabularyOptions(**options, stopwords_action="keep-unstemmed")
    )
    assert (kept, counts.tolist(), row.tolist()) == (("was", "speak", "having"), [9, 6, 4], [1, 1, 1, 0, 2])
    kept, counts, _ = choose_vocabulary(words, frequency, VocabularyOptions(stem="english"))
    assert dict(zip(kept, counts.tolist(), strict=True)) == {"was": 9, "speak": 6, "have": 4}


def test_words_from_a_file(tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes("\ufeffbeta\r\n\nalpha \n".encode())
    counts = bv.count(documents=["alpha beta gamma alpha"], vocabulary=file)
    assert counts.words == ("beta", "alpha")
    for name, data in {"none.txt": None, "empty.txt": b"\n", "bad.txt": b"\xff"}.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=rf"stopwords file .*{name}"):
            bv.count(documents=["a b"], stopwords=tmp_path / name)


def test_listed_words_are_written_as_the_tokenizer_writes_them():
    documents = ["The cat don\u2019t cafe\u0301 mat", "cat mat"]
    counts = bv.count(documents=documents, stopwords=["The", "don\u2019t", "Zoo"])
    assert counts.words == ("cat", "mat", "café")
    assert counts.recipe["stopwords_not_found"] == 1
    assert bv.count(documents=documents, vocabulary=["Cat", "CAFE\u0301"]).words == ("cat", "café")
    kept = bv.count(documents=documents, vocabulary=["The", "cat"], lowercase=False)
    assert kept.words == ("The", "cat")
    with pytest.raises(InputError, match="'the' more than once"):
        bv.count(documents=documents, vocabulary=["The", "the"])
    baskets = bv.count_baskets([["Alien", "Brazil"]], vocabulary=["Brazil", "Alien"], lowercase=True)
    assert baskets.words == ("Brazil", "Alien")  # given as they are
    with pytest.raises(OptionError, match="stopwords holds 3"):
        bv.count(documents=documents, stopwords=["a", 3])


@pytest.mark.parametrize("tokenizer", ["words", "whitespace", "[^ ]+"])
def test_the_same_letters_are_the_same_word(tokenizer):
    counts = bv.count(documents=["Cafe\u0301 CAFÉ café"], tokenizer=tokenizer, lowercase=True)
    assert counts.words == ("café",)
    counts = bv.count(documents=["cafe\u0301 café"], tokenizer=tokenizer, lowercase=False)
    assert counts.words == ("café",)


@pytest.mark.parametrize("block_bytes", [1, 3, 1000])
def test_what_the_decoder_holds_back_is_not_lost(tmp_path, block_bytes):
    file = tmp_path / "a.txt"
    file.write_bytes(b"hello caf\xc3")
    options = {"tokenizer": "whitespace", "block_bytes": block_bytes}
    assert words_of(file, **options, errors="replace") == [["hello", "caf\ufffd"]]
    assert words_of(file, **options, errors="ignore") == [["hello", "caf"]]
    file.write_bytes("hello \u0416".encode("utf-7").removesuffix(b"-"))
    assert words_of(file, **options, encoding="utf-7") == [["hello", "\u0416"]]


def test_text_that_is_no_path_is_told(tmp_path):
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


def test_quotes_are_letters_in_a_tsv_file(tmp_path):
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


def test_selected_documents_keep_their_numbers():
    whole = bv.count(documents=["a b", "c d e", "", "f a"], groups=["x", "y", "x", "z"]).source
    part = whole.select(np.array([3, 1]))
    assert part.numbers.tolist() == [3, 1]
    assert part.bounds.tolist() == [0, 2, 5]
    assert part.tokens.tolist() == [*whole.tokens[5:7], *whole.tokens[2:5]]
    assert part.group_of.tolist() == [2, 1]
    again = EncodedCorpus(**part.arrays(), options=part.options)
    assert again.arrays().keys() == part.arrays().keys()
    in_file = whole.select(np.array([3, 1]), memory=1)
    assert in_file.tokens.tolist() == part.tokens.tolist()
