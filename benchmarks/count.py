"""`bayesvec count` on the House speeches: speed, growth, memory, and the same counts every time.

The speeches are written to a text file, one per line. The yardstick is one core that finds the words of that file,
lower-cased, with `re.findall` and counts them with `collections.Counter`. Whole commands are timed, each in a
process of its own, after one that compiles.

Usage: python benchmarks/count.py [--data FOLDER] [--repeat 3]      (FOLDER: as in BAYESVEC_DATA)
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import report

MEMORY = "500MB"
PARTS = (8, 4, 2, 1)  # a file holds every n-th speech
REQUIRED = {"ratio": 1.5, "slope": 1.05, "peak_mb": 900.0}
YARDSTICK = """
import collections, re, sys
text = open(sys.argv[1], encoding="utf-8").read().lower()
print(len(collections.Counter(re.findall(r"[a-z]+", text))))
"""


def write_speeches(data: Path, folder: Path) -> None:
    """Write every speech, and every second, fourth and eighth one, one per line."""
    import pyarrow.parquet

    source = data / "congress" / "house_2001_2020_speeches.parquet"
    texts = pyarrow.parquet.read_table(source, columns=["text"])["text"].to_pylist()
    lines = [" ".join(text.split()) + "\n" for text in texts]
    for part in PARTS:
        (folder / f"house_{part}.txt").write_text("".join(lines[::part]), encoding="utf-8")


def count(file: Path, folder: Path, *options: str) -> dict[str, Any]:
    """Run `bayesvec count` with the options of the comparison."""
    fixed = ["--vocab", "5000", "--window", "2", "--negatives", "1", "--out", str(folder / "counts")]
    figures, printed = report.run([*report.BAYESVEC, "count", file, *fixed, "--force", "--json", *options])
    return {**figures, "summary": json.loads(printed)}


def fastest(times: list[dict[str, Any]]) -> dict[str, Any]:
    return min(times, key=lambda done: done["seconds"])


def measure(files: dict[int, Path], folder: Path, repeat: int) -> dict[str, Any]:
    """Measure everything; the command and the yardstick alternate, and the fastest of each counts."""
    count(files[8], folder)
    whole, yardstick = [], []
    for _ in range(repeat):
        yardstick.append(report.run([sys.executable, "-c", YARDSTICK, files[1]])[0])
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
    options = report.options(__doc__, data=os.environ.get("BAYESVEC_DATA", ""), repeat=3)
    if not options.data:
        sys.exit("give --data FOLDER, or set BAYESVEC_DATA")
    with tempfile.TemporaryDirectory() as folder:
        files = {part: Path(folder, f"house_{part}.txt") for part in PARTS}
        report.in_another_process(write_speeches, Path(options.data), Path(folder))
        figures = measure(files, Path(folder), options.repeat)
    figures["summary"].pop("out")
    print(f"command {figures['seconds']:.2f} s, yardstick {figures['yardstick_seconds']:.2f} s")
    print(f"ratio {figures['ratio']:.2f} (at most {REQUIRED['ratio']})")
    print(f"slope {figures['slope']} (at most {REQUIRED['slope']})")
    print(f"peak memory {figures['peak_mb']} MB (at most {REQUIRED['peak_mb']} with {MEMORY})")
    print(f"identical counts: {figures['same_counts']}")
    report.write("count", figures)


if __name__ == "__main__":
    main()
