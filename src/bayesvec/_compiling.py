"""A note on standard error when code has to be compiled: the first command after an installation is slow."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Listener(event.Listener):
    """Writes the note once in a process; Numba calls it when it finds nothing in its cache."""

    told = False

    def on_start(self, _: Any) -> None:
        """Write it, the first time."""
        if not _Listener.told:
            _Listener.told = True
            sys.stderr.write("compiling, once after an installation or update\n")
            sys.stderr.flush()

    def on_end(self, _: Any) -> None:
        """Do nothing."""


@contextmanager
def announce_compiling(*, enabled: bool) -> Iterator[None]:
    """Announce on standard error if the block has to compile."""
    if not enabled:
        yield
        return
    with event.install_listener("numba:compile", _Listener()):
        yield
