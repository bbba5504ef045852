"""`bayesvec count` from the shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import bayesvec as bv
from bayesvec.cli import main
from bayesvec.counts.store import open_counts
from bayesvec.text.corpus import tokenize

TEXT = "The cat sat on the mat.\nThe dog sat on the cat, too.\n\nA dog and a cat\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder to be in, with a text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path


def run(capsys, monkeypatch, *arguments):
    """Run the command in this process; return its status and what it printed."""
    monkeypatch.setattr("sys.argv", ["bayesvec", "count", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def test_the_whole_command(place):
    command = [sys.executable, "-c", "from bayesvec.cli import main; main()", "count", "-", "--out", "counts"]
    done = subprocess.run(command, input=TEXT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["documents"] == "3"
    assert lines["tokens"] == "18"
    assert lines["vocabulary"] == "9 words, 100.0% of the tokens"
    assert {"pairs", "positives", "negatives"} <= lines.keys()
    counts = bv.count("text.txt")
    opened = open_counts(place / "counts", verify=True)
    assert opened.fingerprint == counts.fingerprint
    assert sorted(path.name for path in place.iterdir()) == ["counts", "text.txt"]


# Every option with a value that is not the default: the recipe, and mostly the counts, differ without it.
OPTIONS = {
    "vocab": 5,
    "min_count": 2,
    "window": 3,
    "window_over": "vocabulary",
    "negatives": 2,
    "negative_power": 0.5,
    "subsample": 0.5,
    "seed": 4,
    "tokenizer": "[A-Za-z]+",
    "lowercase": False,
    "stem": "english",
    "stopwords": "stop.txt",
    "stopwords_action": "keep-unstemmed",
    "phrases": True,
    "phrase_threshold": 0.5,
    "phrase_min_count": 1,
    "text_column": "body",
    "group_column": "year",
    "format": "jsonl",
    "encoding": "utf-16",
    "errors": "replace",
}


SWITCHES = {"lowercase": ["--keep-case"], "phrases": ["--phrases"]}


def as_arguments(options):
    """The options as they are written in the shell."""
    words = {name: f"--{name.replace('_', '-')}" for name in options}
    return [word for name, value in options.items() for word in (SWITCHES.get(name) or [words[name], value])]


def test_every_option_reaches_the_counting(place, capsys, monkeypatch):
    (place / "stop.txt").write_text("the\nThe\n")
    rows = [{"body": line, "year": 2000 + i % 2} for i, line in enumerate((TEXT * 3).splitlines())]
    (place / "a.data").write_text("\n".join(map(json.dumps, rows)), encoding="utf-16")
    arguments = ["a.data", "--out", "counts", *as_arguments(OPTIONS), "--memory", "100MB", "--threads", 1]
    status, out, err = run(capsys, monkeypatch, *arguments, "--json")
    assert (status, err) == (0, "")
    expected = bv.count("a.data", **OPTIONS)
    summary = json.loads(out)
    opened = open_counts("counts", verify=True)
    assert summary["fingerprint"] == opened.fingerprint == expected.fingerprint
    assert opened.recipe == expected.recipe
    assert opened.groups == expected.groups
    assert (summary["documents"], summary["words"]) == (9, expected.num_words)
    assert summary["covered"] == expected.recipe["tokens_in_vocabulary"] / summary["tokens"]
    assert summary["tokens_per_second"] > 0
    given = expected.recipe["options"]
    defaults = bv.count(documents=["a b"]).recipe["options"]
    assert {name for name in OPTIONS if given[name] == defaults.get(name)} == set()
    monkeypatch.setattr("bayesvec.text.steps.tokenize", noting := Noting())
    for extra in (["--memory", "100MB", "--threads", 1], ["--quiet"]):
        run(capsys, monkeypatch, "text.txt", "--out", "more", *extra, "--force")
    assert (noting.seen[1]["memory"], noting.seen[1]["threads"]) == (10**8, 1)
    assert [noting.seen[1]["show"], noting.seen[3]["show"]] == [True, False]


class Noting:
    """Tokenises, and notes what it was asked for; every other time it is the warm-up."""

    def __init__(self):
        self.seen = []

    def __call__(self, blocks, tokenizer, **options):
        self.seen.append(options)
        return tokenize(blocks, tokenizer, **options)


def test_document_and_baskets_options(place, capsys, monkeypatch):
    assert run(capsys, monkeypatch, "text.txt", "--out", "c", "--document", "file")[0] == 0
    assert open_counts("c").recipe["documents"] == 1
    assert run(capsys, monkeypatch, "text.txt", "--out", "b", "--baskets")[0] == 0
    assert open_counts("b").fingerprint == bv.count_baskets("text.txt").fingerprint


def test_groups_separators_columns_and_phrases(place, capsys, monkeypatch):
    (place / "b.txt").write_text("one two <p> one two three <p> New York and New York")
    (place / "a.csv").write_text("user,film\nu,Alien\nu,Brazil\nv,Alien\n")
    cases = [
        (["text.txt", "b.txt", "--group-by", "file"], {"group_by": "file"}),
        (["x=text.txt", "y=b.txt"], {}),
        (["b.txt", "--document-separator", "<p>"], {"document_separator": "<p>"}),
        (["b.txt", "--stopwords", "english", "--stem", "german"], {"stopwords": "english", "stem": "german"}),
        (
            ["b.txt", "--phrases", "--phrase-threshold", 0.1, "--phrase-min-count", 1],
            {"phrases": True, "phrase_threshold": 0.1, "phrase_min_count": 1},
        ),
    ]
    for number, (arguments, options) in enumerate(cases):
        status, _, err = run(capsys, monkeypatch, *arguments, "--out", f"c{number}")
        assert (status, err) == (0, "")
        texts = [each for each in arguments if str(each).endswith(".txt")]
        opened, expected = open_counts(f"c{number}"), bv.count(texts, **options)
        assert opened.fingerprint == expected.fingerprint
        assert opened.recipe == expected.recipe
    assert "york" not in opened.words
    assert "new_york" in opened.words
    columns = ["--basket-column", "user", "--item-column", "film"]
    assert run(capsys, monkeypatch, "a.csv", *columns, "--out", "b")[0] == 0
    assert open_counts("b").words == ("Alien", "Brazil")
    status, _, err = run(capsys, monkeypatch, "a.csv", *columns, "--window", 3, "--out", "d")
    assert (status, err) == (2, "bayesvec: --window does not go with --basket-column; leave it out\n")
    status, _, err = run(capsys, monkeypatch, "b.txt", "--baskets", "--phrases", "--out", "d")
    assert (status, err) == (2, "bayesvec: --phrases does not go with --baskets; leave it out\n")


def test_stopwords_that_do_not_occur_are_told(place, capsys, monkeypatch):
    (place / "stop.txt").write_text("The\nzebra\nyak\n")
    status, out, _ = run(capsys, monkeypatch, "text.txt", "--out", "counts", "--stopwords", "stop.txt")
    assert status == 0
    assert "not found   2 stopwords do not occur\n" in out
    assert "the" not in open_counts("counts").words


def test_baskets_vocabulary_quiet_and_force(place, capsys, monkeypatch):
    (place / "baskets.txt").write_text("Alien,Brazil,Casablanca\nAlien,Brazil\n")
    (place / "words.txt").write_text("Brazil\nAlien\nZardoz\n")
    arguments = ("baskets.txt", "--baskets", "--tokenizer", "[^,]+", "--keep-case", "--out", "counts")
    status, out, err = run(capsys, monkeypatch, *arguments, "--vocabulary", "words.txt", "--quiet")
    assert (status, out, err) == (0, "", "")
    opened = open_counts("counts")
    assert opened.words == ("Brazil", "Alien", "Zardoz")
    assert opened.num_positives == 4
    status, out, err = run(capsys, monkeypatch, *arguments)
    assert status == 2
    assert err == "bayesvec: counts exists; replace it with --force (force=True), or choose another name\n"
    assert run(capsys, monkeypatch, *arguments, "--force")[0] == 0
    assert open_counts("counts").num_positives == 8


def test_a_file_is_never_replaced(bayesvec, tmp_path, monkeypatch):
    """Not even by force: it might be the text itself."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("a b a b\n")
    for more in ((), ("--force",)):
        status, _, err = bayesvec("count", "text.txt", "--out", "text.txt", *more)
        assert status == 2
        assert err == ("bayesvec: text.txt is a file, and a counts folder is not; choose another name\n")
    assert Path("text.txt").read_text() == "a b a b\n"


def bad(place, name, data):
    (place / name).write_bytes(data)
    return name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt"], "none.txt does not exist"),
        (["*.md"], "*.md matches no file"),
        (["empty.txt"], "empty.txt is empty"),
        (["binary.txt"], "binary.txt is a binary file"),
        (["table.csv", "--text-column", "txt"], "table.csv has no column 'txt'; it has text, party"),
        (["table.csv", "--text-column", "text", "--group-column", "p"], "no column 'p'; it has text, party"),
        (["table.csv"], "--text-column"),
        (["text.txt", "--text-column", "x"], "--format"),
        (["lists.parquet", "--text-column", "x"], "column 'x' holds list<"),
        (["deep.jsonl", "--text-column", "x"], "deep.jsonl, line 1 is not JSON"),
        (["text.txt", "--encoding", "hex"], "encoding 'hex' is not a text encoding"),
        (["text.txt", "--window", "9" * 20], "window is 9"),
        (["text.txt", "--stopwords-action", "drop"], "--stopwords"),
        (["text.txt", "text.txt"], "text.txt is named twice"),
        (["x" * 300], "File name too long"),
        (["text.txt", "--out", "x" * 300], "File name too long"),
        (["text.txt", "--out", "."], "the folder you are in"),
        (["bad.jsonl", "--text-column", "text"], "bad.jsonl, line 2 is not JSON"),
        (["text.txt", "--vocab", "0"], "vocab is 0; it must be 1 or more"),
        (["text.txt", "--tokenizer", "(["], "is not a regular expression"),
        (["latin.txt"], "latin.txt is not valid utf-8 at byte 3 (0xe9); give the right --encoding"),
        (["latin.txt"], "--errors replace"),
        (["text.txt", "--window", "0"], "window is 0"),
        (["text.txt", "--negatives", "-1"], "negatives is -1"),
        (["text.txt", "--memory", "lots"], "memory is 'lots'"),
        (["text.txt", "--threads", "0"], "threads is 0"),
        (["text.txt", "--seed", "-3"], "seed is -3"),
        (["text.txt", "--vocabulary", "none.txt"], "vocabulary file none.txt cannot be read"),
        (["text.txt", "--stopwords", "empty.txt"], "stopwords file empty.txt holds no words"),
        (["text.txt", "--baskets", "--window", "3"], "--window does not go with --baskets"),
        (["text.txt", "--baskets", "--stem", "english"], "--stem does not go with --baskets"),
        (["cut.txt.gz"], "cut.txt.gz cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(place, capsys, monkeypatch, arguments, message):
    bad(place, "empty.txt", b"")
    bad(place, "binary.txt", b"\x89PNG\r\n\x00\x00")
    bad(place, "table.csv", b"text,party\na b,D\n")
    bad(place, "bad.jsonl", b'{"text": "a b"}\n{"text": \n')
    bad(place, "latin.txt", "café".encode("latin-1"))
    bad(place, "deep.jsonl", b'{"x": ' + b"[" * 100_000)
    parquet.write_table(pyarrow.table({"x": [["a", "b"]]}), place / "lists.parquet")
    bad(place, "cut.txt.gz", bytes.fromhex("1f8b0800000000000003"))
    before = sorted(place.rglob("*"))
    status, out, err = run(capsys, monkeypatch, "--out", "counts", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("bayesvec: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(place.rglob("*")) == before


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
def test_output_that_cannot_be_written(place, capsys, monkeypatch):
    for out in ("text.txt/counts", "/proc/none/counts"):
        status, _, err = run(capsys, monkeypatch, "text.txt", "--out", out)
        assert status == 2
        assert err.startswith("bayesvec: ")
        assert err.count("\n") == 1
    assert [path.name for path in place.iterdir()] == ["text.txt"]


def test_the_same_text_needs_no_memory_limit(place, capsys, monkeypatch):
    prints = []
    for extra in ([], ["--memory", "32MB", "--threads", 1]):
        status, out, _ = run(capsys, monkeypatch, "text.txt", "--out", "counts", "--force", "--json", *extra)
        assert status == 0
        prints.append(json.loads(out)["fingerprint"])
    assert prints[0] == prints[1]
