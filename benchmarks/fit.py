"""`bayesvec fit` as a command: its peak memory on a large world, and its start-up time on a small one.

Each command runs in a process of its own. Memory is the peak resident set of a few draws of two chains from a
random start. Start-up is the whole command with one sweep of warm-up and one draw, after one that compiles.

Usage: python benchmarks/fit.py [--vocab 5000] [--dim 100] [--pairs 10000000] [--draws 5] [--repeat 3]
"""

import tempfile
from pathlib import Path

import report

from bayesvec import simulate

REQUIRED = {"peak_mb": 1500.0, "start_seconds": 5.0}


def write_counts(path, vocab, dim, pairs):
    simulate(vocab, dim, pairs=pairs, zipf=True, seed=0)[0].save(path, force=True)


def fit(folder, world, *, draws, warmup, init):
    """Run `bayesvec fit` on a world; return its times and its peak memory."""
    given = {"counts": folder / "counts", "out": folder / "run", "dim": world["dim"]}
    given |= {"draws": draws, "warmup": warmup, "init": init}
    options = [part for name, value in given.items() for part in (f"--{name}", value)]
    return report.run([*report.BAYESVEC, "fit", *options, "--force", "--quiet"])[0]


def memory(folder, world, draws):
    """Return the peak memory of a few draws on a large world."""
    report.in_another_process(write_counts, folder / "counts", *world.values())
    found = fit(folder, world, draws=draws, warmup=1, init="random")
    name = "V = {vocab}, K = {dim}, N = {pairs:,}".format(**world)
    print(f"{name}: peak memory {found['peak_mb']:.0f} MB, {found['seconds']:.0f} s")
    return {**world, "draws": draws, **found}


def start(folder, repeat):
    """Return the time of the command with one sweep of warm-up and one draw, once everything is compiled."""
    world = {"vocab": 200, "dim": 10, "pairs": 20_000}
    report.in_another_process(write_counts, folder / "counts", *world.values())
    runs = [fit(folder, world, draws=1, warmup=1, init="map") for _ in range(1 + repeat)]
    first, soonest = runs[0], min(runs[1:], key=lambda run: run["seconds"])
    print(
        f"start-up: {soonest['seconds']:.2f} s, {soonest['cpu']:.2f} s of processor time; "
        f"the first time {first['seconds']:.1f} s (including compilation, if that was not done before)"
    )
    return {**world, "first": first, "soonest": soonest}


def main():
    options = report.options(__doc__, vocab=5000, dim=100, pairs=10_000_000, draws=5, repeat=3)
    world = {name: getattr(options, name) for name in ("vocab", "dim", "pairs")}
    with tempfile.TemporaryDirectory() as name:
        soon = start(Path(name), options.repeat)
        large = memory(Path(name), world, options.draws)
    kept = {"peak_mb": large["peak_mb"], "start_seconds": soon["soonest"]["seconds"]}
    for what, most in REQUIRED.items():
        print(f"{what}: {kept[what]:.1f}, required at most {most:g}: {'yes' if kept[what] <= most else 'NO'}")
    report.write("fit", {"required": REQUIRED, **kept, "memory": large, "start": soon})


if __name__ == "__main__":
    main()
