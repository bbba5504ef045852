"""`bayesvec fit` as a command: its peak memory on a large world, and how soon it has swept a small one.

Each command runs in a process of its own. Memory is the peak resident set of a few draws of two chains from a
random start. The start is the whole command with one sweep of warm-up and one draw, after one that compiles.

Usage: python benchmarks/fit.py [--vocab 5000] [--dim 100] [--pairs 10000000] [--draws 5] [--repeat 3]
"""

import argparse
import multiprocessing
import sys
import tempfile
from pathlib import Path
from typing import Any

import report

REQUIRED = {"peak_mb": 1500.0, "start_seconds": 5.0}
COMMAND = [sys.executable, "-c", "from bayesvec.cli import main; main()", "fit"]


def write_counts(path: Path, vocab: int, dim: int, pairs: int) -> None:
    """Save a Zipf world, in another process, whose memory would else be counted as that of later ones."""
    process = multiprocessing.get_context("spawn").Process(target=_write, args=(path, vocab, dim, pairs))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit("the world could not be made")


def _write(path: Path, vocab: int, dim: int, pairs: int) -> None:
    from bayesvec import simulate

    simulate(vocab, dim, pairs=pairs, zipf=True, seed=0)[0].save(path)


def fit(counts: Path, out: Path, dim: int, *, draws: int, warmup: int, init: str) -> dict[str, float]:
    """Run `bayesvec fit`; return its time by the clock and on the processors, and its peak memory."""
    given = {"counts": counts, "out": out, "dim": dim, "draws": draws, "warmup": warmup, "init": init}
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    return report.measured([*COMMAND, *options, "--force", "--quiet"])


def memory(folder: Path, vocab: int, dim: int, pairs: int, draws: int) -> dict[str, Any]:
    """Peak memory of a few draws of a large world."""
    write_counts(folder / "large", vocab, dim, pairs)
    found = fit(folder / "large", folder / "large.run", dim, draws=draws, warmup=1, init="random")
    print(
        f"V = {vocab}, K = {dim}, N = {pairs:,}: {found['peak_mb']:.0f} MB at the most, {found['seconds']:.0f} s"
    )
    return {"vocab": vocab, "dim": dim, "pairs": pairs, "draws": draws, **found}


def start(folder: Path, repeat: int) -> dict[str, Any]:
    """Seconds of the command with one sweep of warm-up and one draw, when everything is compiled."""
    write_counts(folder / "small", 200, 10, 20_000)
    runs = [
        fit(folder / "small", folder / "small.run", 10, draws=1, warmup=1, init="map")
        for _ in range(1 + repeat)
    ]
    first, soonest = runs[0], min(runs[1:], key=lambda run: run["seconds"])
    print(
        f"start: {soonest['seconds']:.2f} s, {soonest['cpu']:.2f} s on the processors; "
        f"the first time {first['seconds']:.1f} s (it compiles if that was not done)"
    )
    return {"vocab": 200, "dim": 10, "pairs": 20_000, "first": first, "soonest": soonest}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vocab", type=int, default=5000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        soon = start(folder, options.repeat)
        large = memory(folder, options.vocab, options.dim, options.pairs, options.draws)
    kept = {"peak_mb": large["peak_mb"], "start_seconds": soon["soonest"]["seconds"]}
    for what, most in REQUIRED.items():
        print(f"{what}: {kept[what]:.1f}, required at most {most:g}: {'yes' if kept[what] <= most else 'NO'}")
    report.write("fit", {"required": REQUIRED, **kept, "memory": large, "start": soon})


if __name__ == "__main__":
    main()
