"""What a figure was measured with: the processor and the versions of what ran on it."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bayesvec._parallel import default_threads

PACKAGES = ("bayesvec", "numpy", "scipy", "numba", "polyagamma", "nutpie", "zarr")


def processor() -> str:
    """Return the name of the processor, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def machine() -> dict[str, Any]:
    """Return the processor, how many of its cores are ours, and how busy they are at this moment."""
    found = {"processor": processor(), "cores": default_threads(), "system": platform.system()}
    return found | ({"load": round(os.getloadavg()[0], 2)} if hasattr(os, "getloadavg") else {})


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that matter, those that are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
