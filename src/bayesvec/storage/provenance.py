"""Where a figure was measured: the processor, and the versions of the software."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
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


def commit() -> str | None:
    """Return the commit of the source, with ``-dirty`` if files differ from it; None outside a checkout."""
    folder = Path(__file__).resolve().parents[1]
    if not (folder.parents[1] / ".git").exists():  # installed, or inside another project
        return None
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
