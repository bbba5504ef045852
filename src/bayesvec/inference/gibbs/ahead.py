"""Compile the sampler in a second process while this one counts text and looks for a start.

Only a first start after an installation or update compiles. The second process sweeps over a handful of pairs,
which puts the compiled code into Numba's cache on disk; the sampler then takes it from there.
"""

import atexit
import subprocess
import sys

from bayesvec._parallel import Threads, default_threads
from bayesvec.kernels.compiled import is_cached

PATIENCE = 120.0  # seconds to wait for the second process; after that this one compiles too

_started: list[subprocess.Popen[bytes]] = []


def start() -> bool:
    """Start to compile, if that is not done yet and there is a second processor; return whether it was started."""
    from bayesvec.kernels.rows import redraw_rows

    if _started or default_threads() < 2 or not sys.executable or is_cached(redraw_rows):
        return False
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", __name__]
    _started.append(subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere))
    atexit.register(_started[0].kill)
    return True


def wait() -> None:
    """Wait until what was started is compiled; if the second process fails, the sampler compiles as usual."""
    for process in _started:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        atexit.unregister(process.kill)
    _started.clear()


def compile_sampler() -> None:
    """Sweep over a few pairs, with the default prior, as a run with all defaults does."""
    import numpy as np

    from bayesvec.counts.pairs import from_pairs
    from bayesvec.inference.contract import Near, Problem, Start
    from bayesvec.inference.gibbs import AUGMENT_EVERY, Options
    from bayesvec.inference.gibbs.sampler import prepare
    from bayesvec.priors import covariance

    names = ("a", "b")
    counts = from_pairs([0, 0, 1], [0, 1, 1], n_pos=[1, 2, 0], n_neg=[1, 0, 3], words=names, contexts=names)
    ones = np.ones((2, 2), dtype=np.float32)
    near = Near(ones, ones, ones, ones, scales=np.ones(2))
    options = Options(hamiltonian="always")
    sampler = prepare(Problem(counts, covariance(2), 2, options=options, near=near))
    state = sampler.init(Start(seed=1, chain=0))
    for number in (1, AUGMENT_EVERY):  # by Hamiltonian dynamics, and by Polya-Gamma variables
        sampler.step(state, seed=1, chain=0, number=number, threads=Threads(1))


if __name__ == "__main__":
    compile_sampler()
