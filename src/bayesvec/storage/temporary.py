"""Folders for runs that live as long as this process."""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from bayesvec._lock import Lock
from bayesvec.errors import RunError

_PREFIX = "bayesvec-run-"
_own: dict[int, Path] = {}  # the folder of each process, which may be a copy of another


def temporary_folder() -> Path:
    """Return a name for a run that lives as long as this process."""
    own = _own.get(os.getpid())
    if own is None or not own.is_dir():
        _remove_left_over()
        own = _own[os.getpid()] = _make()
    return Path(tempfile.mkdtemp(prefix="", dir=own)) / "run"


def _make() -> Path:
    """Make a folder that is removed when this process ends, and locked until then."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(RunError, FileNotFoundError):
            lock = Lock(folder)
            if folder.is_dir():
                atexit.register(_remove, folder, lock, os.getpid())
                return folder
            lock.close()  # another process took it for one that was left over


def _remove(folder: Path, lock: Lock, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def _remove_left_over() -> None:
    """Remove the folders of processes that were killed: no one holds their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, RunError):
            if folder.lstat().st_uid == os.getuid() and (folder / "lock").is_file():
                with Lock(folder):
                    shutil.rmtree(folder)
