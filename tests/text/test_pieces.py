"""Text that workers read in pieces gives the counts, and the errors, of one process."""

import gzip
import io
import os
import sys
import threading
from types import SimpleNamespace

import pytest

import bayesvec as bv
from bayesvec import _cluster
from bayesvec.errors import InputError
from bayesvec.text import pieces
from bayesvec.text.reading import Tally
from bayesvec.text.sources import ReadOptions, find_sources
from fake_ray import FakeRay

LINES = [
    "The cat sat on the mat",
    "a naïve dog's café",
    "",
    "Ökonomie, und\u00a0so weiter\r",
    "the end\0of it",
    "word " * 90,
] * 20
TEXT = "\n".join(LINES)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """A stand-in for Ray, and pieces of a few hundred bytes."""
    ray = FakeRay()
    monkeypatch.setattr(_cluster, "import_ray", lambda: ray)
    monkeypatch.setattr(pieces, "LEAST_BYTES", 300)
    monkeypatch.setattr(pieces, "MOST_BYTES", 700)
    return ray


@pytest.fixture
def files(tmp_path):
    """A folder of files: one with a byte-order mark and a last line without end, one compressed, one empty."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    (folder / "b.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "c.txt").write_bytes(b"")
    (folder / "d.txt").write_bytes(b"one two three\n" * 3)
    return folder


def saved(path, **given):
    """The files of the counts, and what was counted."""
    counts = bv.count(progress=False, **given)
    counts.save(path)
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"group_by": "file"},
        {"document": "file"},
        {"document_separator": "\n\n"},
        {"tokenizer": "[a-z]+"},
        {"tokenizer": "whitespace", "encoding": "latin-1", "errors": "replace"},
        {"phrases": True, "phrase_min_count": 2},
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_folders_are_the_same(more, workers, files, tmp_path, small_pieces):
    local = saved(tmp_path / "local", texts=files, **more)
    assert saved(tmp_path / "ray", texts=files, engine="ray", workers=workers, **more) == local
    assert small_pieces.calls > 6


def test_large_files_that_cannot_be_cut_and_standard_input_are_read_here(files, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "WHOLE_BYTES", 50)
    given = {"texts": [files, "-"]}
    found = []
    for name, more in (("local", {}), ("ray", {"engine": "ray", "workers": 2})):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT.encode())))
        found.append(saved(tmp_path / name, **given, **more))
    assert found[0] == found[1]


def test_a_pipe_is_read_here(tmp_path):
    """As in `bayesvec count <(zcat speeches.gz)`."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    for more in ({}, {"engine": "ray", "workers": 2}):
        writer = threading.Thread(target=pipe.write_text, args=(TEXT,), daemon=True)
        writer.start()
        found.append(bv.count(pipe, progress=False, **more).fingerprint)
        writer.join()
    assert found[0] == found[1]


def test_a_line_longer_than_a_block_is_one_document(tmp_path):
    """Blocks are of 64 KB at least: a document of several is put together again."""
    (tmp_path / "long.txt").write_text("some words that are repeated " * 20_000 + "\nshort one\n")
    local = saved(tmp_path / "local", texts=tmp_path / "long.txt", memory="32MB")
    found = saved(tmp_path / "ray", texts=tmp_path / "long.txt", memory="32MB", engine="ray", workers=2)
    assert found == local


def test_ranges_are_whole_lines_that_cover_a_file(files):
    found = list(pieces.cut_sources(find_sources(files / "a.txt"), ReadOptions(), Tally(), workers=2))
    content = (files / "a.txt").read_bytes()
    ranges = [(part.first, part.last) for piece in found for part in piece]
    assert len(ranges) > 5
    assert b"".join(content[a:b] for a, b in ranges) == content
    assert all(content[b - 1 : b] == b"\n" for _, b in ranges[:-1])


@pytest.mark.parametrize("bad", [b"fine\n" * 300 + b"caf\xe9\n" + b"fine\n" * 300, b"\0\1\2\3" * 900])
def test_errors_are_those_of_one_process(bad, tmp_path):
    (tmp_path / "bad.txt").write_bytes(bad)
    messages = []
    for more in ({}, {"engine": "ray", "workers": 2}):
        with pytest.raises(InputError) as caught:
            bv.count(tmp_path / "bad.txt", progress=False, **more)
        messages.append((str(caught.value), caught.value.file))
    assert messages[0] == messages[1]


def test_text_that_nodes_do_not_share_is_one_line(files):
    """A file that the driver has found and a worker does not see."""
    (source,) = find_sources(files / "d.txt")
    elsewhere = source._replace(path=source.path.with_name("nowhere.txt"))
    with pytest.raises(
        InputError, match=r"d\.txt is not on .*; put the text on a file system that all nodes"
    ):
        pieces.number(None, ReadOptions(), 1 << 20, [elsewhere])
