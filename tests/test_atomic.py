"""Files and folders that appear whole or not at all."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from bayesvec._atomic import _exchange, beside, placed, recover, remove_folder
from bayesvec.errors import OptionError


def content(folder):
    """Return everything below a folder: names, and the text of files."""
    return {path.relative_to(folder): path.is_dir() or path.read_text() for path in folder.rglob("*")}


def write_file(target):
    with placed(target) as partial:
        partial.write_text("new")


def write_folder(target):
    with placed(target, folder=True, force=True) as partial:
        (partial / "below").mkdir()
        (partial / "below" / "file").write_text("new")


@pytest.mark.parametrize("write", [write_file, write_folder])
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_every_step_may_fail(tmp_path, monkeypatch, write, there, failure):
    """Break off before each flush and each rename in turn: the old content or the new, and nothing beside it."""
    real = {name: getattr(os, name) for name in ("fsync", "rename", "replace", "mkdir")}
    outcomes = []
    for step in range(1, 100):
        place = tmp_path / str(step)
        place.mkdir()
        target = place / "a" / "b"
        if there:
            write(target)
            old = target if target.is_file() else target / "below" / "file"
            old.write_text("old")
        before, left = content(place), [step]

        def broken(name, *args, left=left, **options):
            left[0] -= 1
            if left[0] == 0:
                raise failure
            return real[name](*args, **options)

        with monkeypatch.context() as patch:
            for name in real:
                patch.setattr(os, name, partial(broken, name))
            with contextlib.suppress(OptionError, KeyboardInterrupt):
                write(target)
                break
        after = content(place)
        new = {name: "new" if text == "old" else text for name, text in before.items()}
        assert after in (before, new) if there else after == before or "new" in after.values()
        outcomes.append(after == before)
        assert not [path for path in place.rglob("*") if path.name.startswith(".")]
    assert len(outcomes) > 2
    assert outcomes[0]
    assert "new" in content(place).values()


def test_a_folder_is_replaced_only_by_force(tmp_path):
    write_folder(tmp_path / "a")
    with (
        pytest.raises(OptionError, match=r"cannot write .*: Directory not empty"),
        placed(tmp_path / "a", folder=True) as new,
    ):
        (new / "other").write_text("x")
    assert content(tmp_path / "a") == {Path("below"): True, Path("below/file"): "new"}
    (tmp_path / "empty").mkdir()
    with placed(tmp_path / "empty", folder=True) as new:
        (new / "other").write_text("x")
    assert content(tmp_path / "empty") == {Path("other"): "x"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "empty"]


def test_a_removed_folder_frees_its_name_first(tmp_path, monkeypatch):
    write_folder(tmp_path / "a")
    monkeypatch.setattr(shutil, "rmtree", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        remove_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    monkeypatch.undo()
    write_folder(tmp_path / "a")
    remove_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()


PROGRAM = """
import os, sys
from pathlib import Path
from bayesvec import _atomic

left, exchange = int(sys.argv[2]), sys.argv[3] == "exchange"
if not exchange:
    _atomic._exchange = lambda: None

def dying(call):
    def step(*args, **options):
        global left
        left -= 1
        if left == 0:
            os._exit(9)  # like a kill or a power cut: nothing is cleaned up
        return call(*args, **options)
    return step

for name in ("fsync", "rename", "replace", "mkdir"):
    setattr(os, name, dying(getattr(os, name)))
_atomic._exchanged = dying(_atomic._exchanged)
with _atomic.placed(Path(sys.argv[1]), folder=True, force=True) as new:
    (new / "file").write_text("new")
"""


@pytest.mark.parametrize("how", ["exchange", "two renames"])
def test_a_crash_leaves_the_old_folder_or_the_new_and_the_next_write_cleans_up(tmp_path, how):
    target = tmp_path / "counts"
    seen = set()
    for step in range(1, 20):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        (target / "file").write_text("old")
        command = [sys.executable, "-c", PROGRAM, str(target), str(step), how]
        ended = subprocess.run(command, check=False).returncode
        if how == "exchange" and _exchange() is not None:
            assert target.is_dir()  # at every moment
        recover(target)
        seen.add(text := (target / "file").read_text())
        if ended == 0:
            assert text == "new"
            break
    else:
        pytest.fail("it never ended")
    assert seen == {"old", "new"}
    assert step > 5
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


def test_a_folder_with_a_long_name_is_put_back_in_its_own_place(tmp_path):
    one, other = (tmp_path / f"{'a' * 60}{last}" for last in "12")
    one.mkdir()
    os.rename(one, beside(one, ".old"))  # where a crash between two renames leaves it
    recover(other)
    assert not other.exists()
    recover(one)
    assert one.is_dir()
    beside(one, ".partial").mkdir()
    with placed(other, folder=True):
        pass
    assert len(list(tmp_path.iterdir())) == 3
    with placed(one, folder=True, force=True):
        pass
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_a_folder_that_is_being_written_is_not_cleaned_up(tmp_path):
    with placed(tmp_path / "a", folder=True) as first:
        (first / "file").write_text("first")
        with placed(tmp_path / "a", folder=True) as second:
            (second / "file").write_text("second")
        assert (first / "file").read_text() == "first"
        shutil.rmtree(tmp_path / "a")
    assert content(tmp_path / "a") == {Path("file"): "first"}


def test_a_partial_file_is_cleaned_up_when_it_is_old(tmp_path):
    for name, age in (
        (".a.12345678.partial", 7200),
        (".a.abcdefab.partial", 10),
        (".ab.12345678.partial", 7200),
    ):
        (tmp_path / name).write_text("part")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write_file(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".a.abcdefab.partial",
        ".ab.12345678.partial",
        "a",
    ]
