"""What may be written, and what may be replaced."""

import os
from pathlib import Path

import pytest

from bayesvec._targets import begins_with, check_free
from bayesvec.errors import InputError, OptionError

FILE = {"what": "a report", "force": True}
FOLDER = {"what": "a run", "force": True, "folder": True, "ours": lambda path: (path / "mark").exists()}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("new", FILE, None),
        ("file", FILE, None),
        (
            "file",
            {**FILE, "force": False},
            "exists; replace it with --force (force=True), or choose another name",
        ),
        ("file", {**FILE, "force": None}, "file exists; choose another name"),
        ("file", {**FILE, "ours": begins_with(b"mi")}, None),
        ("file", {**FILE, "ours": begins_with(b"<html")}, "exists and is not a report; it is not replaced"),
        ("broken", FILE, "exists and is not a report"),
        ("full", FILE, "full is a folder, and a report is not"),
        ("none/new", FILE, "none; make it, or choose another place"),
        ("none/new", {**FILE, "parents": True}, None),
        ("file/new", FILE, "file is a file; choose another place"),
        ("file/more/new", {**FILE, "parents": True}, "file is a file; choose another place"),
        ("x" * 300, FILE, "File name too long; choose another name"),
        ("new", FOLDER, None),
        ("empty", {**FOLDER, "force": False}, None),
        ("full", FOLDER, None),
        ("full", {**FOLDER, "force": False}, "exists; replace it with --force"),
        ("mine", FOLDER, "mine exists and is not a run; it is not replaced"),
        ("file", FOLDER, "file is a file, and a run is not"),
        (".", FOLDER, "it is the folder you are in, or one above"),
        ("..", FOLDER, "it is the folder you are in, or one above"),
    ],
)
def test_what_is_free(tmp_path, monkeypatch, name, options, message):
    monkeypatch.chdir(tmp_path)
    for folder, file in (("full", "mark"), ("mine", "thesis")):
        Path(folder).mkdir()
        Path(folder, file).write_text("x")
    Path("empty").mkdir()
    Path("file").write_text("mine")
    Path("broken").symlink_to("nowhere")
    if message is None:
        check_free(Path(name), **options)
    else:
        with pytest.raises(InputError) as raised:
            check_free(Path(name), error=InputError, **options)
        assert message in str(raised.value)


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OptionError, match="may not be written to; choose another place"):
        check_free(tmp_path / "new", **FILE)
