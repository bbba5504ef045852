"""Where a figure was measured: the processor, and the versions of the software."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bayesvec._machine import processor
from bayesvec._parallel import default_threads

PACKAGES = ("bayesvec", "numpy", "scipy", "numba", "polyagamma", "nutpie")


def machine() -> dict[str, Any]:
    """Return the processor, how many of its cores are ours, and how busy they are at this moment."""
    found = {"processor": processor() or "unknown", "cores": default_threads(), "system": platform.system()}
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
