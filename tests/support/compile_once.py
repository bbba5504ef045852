"""Compile the kernels that many tests need before the tests start, each worker its share of them.

Compiled code is cached on disk. Without this, parallel workers that start together on an empty cache would each
compile the same kernels, which takes longer than many of the tests.
"""

import atexit
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import bayesvec as bv
from bayesvec.kernels import rng
from bayesvec.kernels.orbit import draw_change
from bayesvec.kernels.products import multiplied

PATIENCE = 300  # seconds to wait for another worker


def world():
    return bv.simulate(12, 3, pairs=600, seed=1)[0]


def fit(counts, dim, method="gibbs", **options):
    with tempfile.TemporaryDirectory() as folder:
        options = {"draws": 2, "warmup": 6, "threads": 1, "progress": False} | options
        bv.fit(counts, dim, method=method, out=Path(folder) / "run", **options)


def rows():
    fit(world(), 3, options={"orbit": False, "hamiltonian": "never"})


def paths_and_other_methods():
    fit(world(), 3, options={"orbit": False, "hamiltonian": "always"})
    for method in ("blockvi", "mfvi", "laplace"):
        fit(world(), 3, method)


def orbit_and_counting():
    change, _ = draw_change(np.eye(3), np.eye(3), 0.0, rng.make_key(0, rng.ORBIT))
    multiplied(np.ones((5, 3), dtype=np.float32), change)
    documents, _ = bv.simulate_documents(20, 8, vocab=8, seed=1)
    counts = bv.count(documents=documents, groups=[1, 2] * 10, subsample=0.1, threads=1, progress=False)
    counts.split("document")
    counts.split("pair")


def trees():
    counts = bv.from_pairs(
        [0, 1, 2, 3],
        [0, 1, 0, 1],
        n_pos=[1, 2, 3, 4],
        n_neg=[4, 3, 2, 1],
        words=["a@1", "a@2", "b@1", "b@2"],
        contexts=["c", "d"],
        groups=["1", "2", "1", "2"],
    )
    fit(counts, 2, prior=bv.priors.dynamic(counts, precision="learn", drift_precision="learn"))


# the tasks of a round need nothing that another task of it compiles, and take about equally long
ROUNDS = ((rows, orbit_and_counting), (paths_and_other_methods, trees))


def compile_share(worker: int, workers: int, meeting: Path) -> None:
    """Compile this worker's share; wait for the others after each round."""
    meeting.mkdir(exist_ok=True)
    atexit.register(shutil.rmtree, meeting, ignore_errors=True)
    for number, tasks in enumerate(ROUNDS):
        for task in tasks[worker::workers]:
            task()
        (meeting / f"{number}-{worker}").touch()
        deadline = time.monotonic() + PATIENCE
        while len(list(meeting.glob(f"{number}-*"))) < workers and time.monotonic() < deadline:
            time.sleep(0.05)
