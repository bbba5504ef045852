"""`bayesvec count` on the House speeches: speed, growth, memory, and the same counts every time.

The speeches are written to a text file, one a line. The yardstick is one core that finds the words of that file,
lower-cased, with `re.findall` and counts them with `collections.Counter`. Whole commands are timed, each in a
process of its own, after one that compiles.

Usage: python benchmarks/count.py [--data FOLDER] [--repeat 3]      (FOLDER: as in BAYESVEC_DATA)
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import report

MEMORY = "500MB"
PARTS = (8, 4, 2, 1)  # the file holds every so manieth speech
REQUIRED = {"ratio": 1.5, "slope": 1.05, "peak_mb": 900.0}
YARDSTICK = """
import collections, re, sys
text = open(sys.argv[1], encoding="utf-8").read().lower()
print(len(collections.Counter(re.findall(r"[a-z]+", text))))
"""


def speeches(data: Path, folder: Path) -> dict[int, Path]:
    """Write the speeches in another process, whose memory would else be counted as that of later ones."""
    process = multiprocessing.get_context("spawn").Process(target=write_speeches, args=(data, folder))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit(f"the speeches in {data} cannot be read")
    return {part: folder / f"house_{part}.txt" for part in PARTS}


def write_speeches(data: Path, folder: Path) -> None:
    """Write every speech, every second, fourth and eighth one, a line each."""
    import pyarrow.parquet

    source = data / "congress" / "house_2001_2020_speeches.parquet"
    texts = pyarrow.parquet.read_table(source, columns=["text"])["text"].to_pylist()
    lines = [" ".join(text.split()) + "\n" for text in texts]
    for part in PARTS:
        (folder / f"house_{part}.txt").write_text("".join(lines[::part]), encoding="utf-8")


def run(command: list[str]) -> dict[str, Any]:
    """Run a command; return its time, its peak memory and what it printed."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if status:
        sys.exit(f"{' '.join(command)} failed")
    per_unit = 1 if sys.platform == "darwin" else 1024
    cpu = usage.ru_utime + usage.ru_stime
    return {
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": usage.ru_maxrss * per_unit / 1e6,
        "printed": printed.decode(),
    }


def count(file: Path, folder: Path, *options: str) -> dict[str, Any]:
    """Run `bayesvec count` with the options of the comparison."""
    program = [sys.executable, "-c", "from bayesvec.cli import main; main()", "count", str(file)]
    fixed = ["--vocab", "5000", "--window", "2", "--negatives", "1", "--out", str(folder / "counts")]
    done = run([*program, *fixed, "--force", "--json", *options])
    return {**done, "summary": json.loads(done.pop("printed"))}


def fastest(times: list[dict[str, Any]]) -> dict[str, Any]:
    return min(times, key=lambda done: done["seconds"])


def measure(files: dict[int, Path], folder: Path, repeat: int) -> dict[str, Any]:
    """Take all figures; the command and the yardstick by turns, the fastest of each."""
    count(files[8], folder)
    whole, yardstick = [], []
    for _ in range(repeat):
        yardstick.append(run([sys.executable, "-c", YARDSTICK, str(files[1])]))
        whole.append(count(files[1], folder))
    best, words = fastest(whole), fastest(yardstick)
    growth = [fastest([count(files[part], folder) for _ in range(repeat)]) for part in (8, 4, 2)] + [best]
    tokens = np.log([done["summary"]["tokens"] for done in growth])
    slopes = {
        name: float(np.polyfit(tokens, np.log(seconds), 1)[0])
        for name, seconds in {
            "command": [done["seconds"] for done in growth],
            "processor time": [done["cpu"] for done in growth],
            "counting alone": [done["summary"]["seconds"] for done in growth],
        }.items()
    }
    bounded = count(files[1], folder, "--memory", MEMORY)
    prints = {
        done["summary"]["fingerprint"]
        for done in (*whole, bounded, count(files[1], folder, "--threads", "1"))
    }
    return {
        "bytes": files[1].stat().st_size,
        "summary": best["summary"],
        "seconds": best["seconds"],
        "yardstick_seconds": words["seconds"],
        "ratio": best["seconds"] / words["seconds"],
        "growth": [
            {name: done["summary"][name] for name in ("tokens", "pairs")} | {"seconds": done["seconds"]}
            for done in growth
        ],
        "slope": slopes,
        "peak_mb": {"unbounded": best["peak_mb"], MEMORY: bounded["peak_mb"]},
        "same_counts": len(prints) == 1,
        "required": REQUIRED,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("BAYESVEC_DATA"))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.data is None:
        sys.exit("give --data FOLDER, or set BAYESVEC_DATA")
    with tempfile.TemporaryDirectory() as folder:
        files = speeches(options.data, Path(folder))
        figures = measure(files, Path(folder), options.repeat)
    figures["summary"].pop("out")
    print(f"command {figures['seconds']:.2f} s, yardstick {figures['yardstick_seconds']:.2f} s")
    print(f"ratio {figures['ratio']:.2f} (at most {REQUIRED['ratio']})")
    print(f"slope {figures['slope']} (at most {REQUIRED['slope']})")
    print(f"peak memory {figures['peak_mb']} MB (at most {REQUIRED['peak_mb']} with {MEMORY})")
    print(f"the same counts every time: {figures['same_counts']}")
    report.write("count", figures)


if __name__ == "__main__":
    main()
