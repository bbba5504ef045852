"""The sampler is compiled in a second process on a first start, and only then."""

import os
import subprocess
import sys

import pytest

from bayesvec.inference.gibbs import ahead

# compiles as a first start does, then counts what a run with all defaults still has to compile
AFTER = """
import bayesvec as bv
from bayesvec.inference.gibbs.ahead import compile_moves, compile_sampler
from bayesvec.kernels import axes, density, hamiltonian, rows, rng
compile_sampler()
compile_moves()
kernels = (
    rows.redraw_rows, axes.draw_axis_change, rng.gamma,
    hamiltonian.find_shapes, hamiltonian.move_rows, density.curvature_rows,
)
before = [len(kernel.signatures) for kernel in kernels]
counts, _ = bv.simulate(12, 3, pairs=600, seed=1)
bv.fit(counts, 3, draws=4, warmup=4, threads=1, progress=False, options={"hamiltonian": "always"})
after = [len(kernel.signatures) for kernel in kernels]
print(before, after)
"""


@pytest.fixture
def second_processor(monkeypatch):
    monkeypatch.setattr(ahead, "default_threads", lambda: 2)
    yield
    ahead.wait()


@pytest.mark.usefixtures("second_processor")
def test_nothing_is_started_when_the_code_is_there(monkeypatch):
    monkeypatch.setattr(ahead, "is_cached", lambda kernel: True)
    assert not ahead.start()
    assert not ahead._started


@pytest.mark.usefixtures("second_processor")
def test_the_second_process_ends_well_and_is_waited_for(monkeypatch):
    monkeypatch.setattr(ahead, "is_cached", lambda kernel: False)
    assert ahead.start()
    assert not ahead.start()  # one is enough
    (process,) = ahead._started
    ahead.wait()
    assert process.returncode == 0
    assert not ahead._started


@pytest.mark.usefixtures("second_processor")
def test_a_process_that_hangs_is_ended(monkeypatch):
    monkeypatch.setattr(ahead, "PATIENCE", 0.1)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(ahead, "_started", [process])
    ahead.wait()
    assert process.returncode != 0


def test_a_run_with_defaults_needs_no_other_version_of_the_kernels():
    result = subprocess.run(
        [sys.executable, "-c", AFTER], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    before, after = result.stdout.strip().split("] [")
    assert before.strip("[]") == after.strip("[]") == "1, 1, 1, 1, 1, 1"
