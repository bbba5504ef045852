"""What all benchmarks share: options, clocks, processes, and one JSON file each with the machine it ran on."""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

from bayesvec.storage.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
BAYESVEC = [sys.executable, "-c", "from bayesvec.cli import main; main()"]


def options(doc, **defaults):
    """Return the options of a benchmark; a default gives the type, and False makes a flag."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        given = {"default": default, "type": type(default)}
        if isinstance(default, bool):
            given = {"action": "store_true"}
        elif isinstance(default, list):
            given = {"default": default, "type": type(default[0]), "nargs": "+"}
        elif default is None:
            given = {}
        parser.add_argument(f"--{name}", **given)
    return parser.parse_args()


def write(name, results):
    """Write ``results`` with machine and versions to results/NAME.json and print where."""
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": name, "machine": machine(), "versions": versions(), "results": results}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    sys.stdout.write(f"written to {shown}\n")


def read(name):
    """Return the results that results/NAME.json holds."""
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def seconds(work, repeat=1):
    """Return the mean time of ``work``."""
    began = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - began) / repeat


def run(command, source=None, allowed=(0,)):
    """Run a command to its end; return its wall and processor time, its peak memory and its output.

    ``source`` is the folder of another version of the package, to be run instead of this one; ``allowed`` are the
    statuses that it may end with.
    """
    environment = os.environ | ({"PYTHONPATH": str(source)} if source else {})
    began = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
    figures = {
        "seconds": elapsed,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }
    return figures, printed


def in_another_process(work, *arguments):
    """Do some work in a process of its own, so that its memory is not inherited by later ones."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"{work.__name__} failed")
