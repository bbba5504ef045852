"""What all benchmarks share: one JSON file for each, with the machine it ran on."""

import json
import sys
from pathlib import Path

from bayesvec.machine import machine, versions

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
