"""Run a fit in a child process, kill it, look at what is left, again and again; print what was seen as JSON.

A script of its own: the children are forked from a process in which everything is compiled already and no other
thread runs, so that the kills fall into the run and not into the loading of libraries.
"""

import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from bayesvec import fitting as run
from bayesvec.chains import driver as chain
from bayesvec.chains.display import ChainProgress
from bayesvec.posterior.posterior import open_posterior  # noqa: F401  (loaded before the forks)
from bayesvec.storage import zarr3
from bayesvec.storage.layout import read_mark
from bayesvec.storage.reader import open_draws
from run_tools import small_counts

SETTINGS = {
    "dim": 3,
    "draws": 150,
    "warmup": 60,
    "chains": 2,
    "prior_precision": 3.0,
    "threads": 2,
    "progress": False,
}
SHARD_DRAWS = 16
MOST_SWEEPS = 40  # from one kill at a sweep to the next: the first falls into the warm-up


def kill_after(sweeps: int) -> None:
    """Have this process killed when its first chain has made so many sweeps; the other is anywhere then."""
    done = itertools.count(1)

    def at(progress: ChainProgress, sweep: int, log_posterior: float) -> None:
        if progress.chain == 0 and next(done) == sweeps:
            os.kill(os.getpid(), signal.SIGKILL)

    ChainProgress.at = at


def killed_fit(out: Path, *, sweeps: int = 0, seconds: float = 0.0) -> bool:
    """Resume the run for so many sweeps or so long, then kill it; whether it was killed before its end."""
    child = os.fork()
    if child == 0:
        if sweeps:
            kill_after(sweeps)
        run.fit(small_counts(), out=out, resume=True, **SETTINGS)
        os._exit(0)
    if not sweeps:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"the child failed with status {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


def main(folder: str, kills: int, seed: int) -> None:
    chain.COMMIT_SECONDS = chain.COMMIT_SHARE = 0.0  # commit after every sweep
    zarr3.MOST_DRAWS = SHARD_DRAWS
    # What a killed process has written is safe without a flush; that takes most of the time here. What must be
    # flushed when is tested in test_draws.
    os.fsync = lambda descriptor: None
    with tempfile.TemporaryDirectory() as scratch:
        for name, settings in (("load", {**SETTINGS, "warmup": 1, "draws": 2}), ("time", SETTINGS)):
            began = time.perf_counter()
            run.fit(small_counts(), out=Path(scratch, name), **settings)
    longest = 0.4 * (time.perf_counter() - began)  # on this machine, as busy as it is now
    moments = random.Random(seed)
    out = Path(folder, "run")
    sweeps: list[list[int]] = []
    ended = 0
    while len(sweeps) < kills:
        # In turn at a sweep, which finds every phase on any machine, and at a time, which finds what is between.
        if len(sweeps) % 2 == 0:
            killed = killed_fit(out, sweeps=moments.randint(2, MOST_SWEEPS))
        else:
            killed = killed_fit(out, seconds=moments.uniform(0.0, longest))
        if not killed:
            out.rename(Path(folder, f"done{ended}"))
            ended += 1
            continue
        if not out.exists():
            sweeps.append([])
            continue
        open_draws(out).verify()
        sweeps.append([read_mark(out, number).sweep for number in range(SETTINGS["chains"])])
    run.fit(small_counts(), out=out, resume=True, **SETTINGS)
    print(json.dumps({"sweeps": sweeps, "ended": ended, "longest": longest}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
