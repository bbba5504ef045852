"""A lock on a folder, so that one process at a time writes to it."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Self

from bayesvec.errors import RunError


def _open_no_link(path: str, flags: int) -> int:
    """Open a file, but not what a link there points at, and never wait for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


class Lock:
    """Keep other processes from writing to a folder; the system releases it when this process ends.

    Parameters
    ----------
    folder : Path
        The folder, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._file = open(folder / "lock", "ab", opener=_open_no_link)  # noqa: SIM115  (held until close)
        except OSError as refused:
            if refused.errno not in (errno.ELOOP, errno.ENXIO):
                raise
            message = f"{folder / 'lock'} is not a plain file, so the folder cannot be locked; remove it"
            raise RunError(message, path=str(folder)) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise RunError(
                f"{folder} is in use by another process that writes to it; wait for it to end, or stop it",
                path=str(folder),
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        self._file.close()
