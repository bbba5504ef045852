"""Runs without a place of their own leave nothing behind, even if their process is killed."""

import os
import subprocess
import sys
import tempfile

import pytest

from bayesvec.storage import temporary

PROGRAM = """
import sys
from bayesvec.storage.temporary import temporary_folder
for _ in range(2):
    temporary_folder().mkdir()
print("made", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_own", {})
    return tmp_path


def started(place):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"made\n"
    return process


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(place):
    with started(place) as killed:
        (left,) = place.iterdir()
        assert len(list(left.glob("*/run"))) == 2
        killed.kill()
    assert left.is_dir()
    with started(place) as running:
        (used,) = place.iterdir()
        assert used != left
        own = temporary.temporary_folder().parent.parent
        assert set(place.iterdir()) == {used, own}
        running.communicate()
    assert list(place.iterdir()) == [own]


def test_a_folder_that_was_removed_is_made_again(place):
    first = temporary.temporary_folder()
    assert temporary.temporary_folder().parent.parent == first.parent.parent
    temporary.shutil.rmtree(first.parent.parent)
    assert temporary.temporary_folder().parent.is_dir()
