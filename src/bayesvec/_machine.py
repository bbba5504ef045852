"""The machine this process runs on: its processor and its memory."""

import contextlib
import os
import platform
from functools import cache
from pathlib import Path


@cache
def processor() -> str:
    """Return the name of the processor; empty if the system does not report it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def memory_bytes() -> int | None:
    """Return the size of the memory; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
