"""What all benchmarks share: one JSON file for each, with the machine it ran on."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bayesvec.storage.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"


def write(name, results):
    """Write ``results`` with machine and versions to results/NAME.json and print where."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "machine": machine(),
        "versions": versions(),
        "results": results,
    }
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    sys.stdout.write(
        f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}\n"
    )


def read(name):
    """Return the results that results/NAME.json holds."""
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def measured(command):
    """Run a command to its end; return its time by the clock and on the processors, and its peak memory."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
    per_unit = 1 if sys.platform == "darwin" else 1024
    return {
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * per_unit / 1e6,
    }
