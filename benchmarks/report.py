"""What all benchmarks share: the machine they ran on, and one JSON file for each."""

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("bayesvec", "numpy", "scipy", "numba", "polyagamma", "nutpie", "zarr")


def processor():
    """Name of the processor, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def versions():
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write(name, results):
    """Write ``results`` with machine and versions to results/NAME.json and print where."""
    from bayesvec.parallel import default_threads

    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "machine": {"processor": processor(), "cores": default_threads(), "system": platform.system()},
        "versions": versions(),
        "results": results,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    sys.stdout.write(
        f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}\n"
    )
