"""Compile the sampler in a second process while this one counts text.

Only a first start after an installation or update compiles. The second process sweeps over a handful of pairs, which
puts the compiled code into Numba's cache on disk; the sampler then takes it from there. Short texts are counted
before that is done: then this process compiles Hamiltonian dynamics, with which the other one would end.
"""

import atexit
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from bayesvec._parallel import Threads, default_threads
from bayesvec.kernels.compiled import is_cached

if TYPE_CHECKING:
    from bayesvec.counts.pairs import PairCounts

PATIENCE = 120.0  # seconds to wait for the second process; after that this one compiles too

MOVES = "moves"  # argument of the second process

_started: list[subprocess.Popen[bytes]] = []


def start(*, moves: bool = True) -> bool:
    """Start to compile, if that is not done yet and there is a second processor; return whether it was started.

    Parameters
    ----------
    moves : bool
        Whether rows will be moved by Hamiltonian dynamics.
    """
    from bayesvec.kernels.rows import redraw_rows

    if _started or default_threads() < 2 or not sys.executable or is_cached(redraw_rows):
        return False
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", __name__, *[MOVES] * moves]
    _started.append(subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere))
    atexit.register(_started[0].kill)
    return True


def wait() -> None:
    """Wait for what was started, and compile a part here; if that fails, the sampler compiles as usual."""
    started = _started.copy()
    _started.clear()  # first: what compiles here comes by this place again
    for process in started:
        if isinstance(process.args, list) and MOVES in process.args and process.poll() is None:
            with suppress(Exception):
                compile_moves()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        atexit.unregister(process.kill)


def _few_pairs() -> "PairCounts":
    from bayesvec.counts.pairs import from_pairs

    names = ("a", "b")
    return from_pairs([0, 0, 1], [0, 1, 1], n_pos=[1, 2, 0], n_neg=[1, 0, 3], words=names, contexts=names)


def compile_sampler() -> None:
    """Sweep over a few pairs by Polya-Gamma variables: with the default prior, and with a learned precision."""
    from bayesvec.inference.contract import Problem, Start
    from bayesvec.inference.gibbs.precisions import INTERWEAVE_EVERY
    from bayesvec.inference.gibbs.sampler import prepare
    from bayesvec.priors import covariance, spherical

    for prior in (covariance(2), spherical("learn")):
        sampler = prepare(Problem(_few_pairs(), prior, 2))
        state = sampler.init(Start(seed=1, chain=0))
        sampler.step(state, seed=1, chain=0, number=INTERWEAVE_EVERY, threads=Threads(1))


def compile_moves() -> None:
    """Move a few rows by Hamiltonian dynamics, near a start whose spread is found as that of a run is."""
    import numpy as np

    from bayesvec.inference.contract import Near, Problem
    from bayesvec.inference.gibbs import Options
    from bayesvec.inference.gibbs.engine import Local
    from bayesvec.inference.gibbs.sampler import prepare
    from bayesvec.kernels import rng
    from bayesvec.model.density import Model
    from bayesvec.model.map import conditional_sizes
    from bayesvec.priors import covariance

    counts, prior, threads = _few_pairs(), covariance(2), Threads(1)
    ones, scales = np.ones((2, 2), dtype=np.float32), np.ones(2)
    sizes = conditional_sizes(Model(counts, prior.at(scales), threads=threads), np.ones((4, 2)))
    near = Near(ones, ones, sizes[:2], sizes[2:], scales=scales)
    options = Options(hamiltonian="always")
    sampler = prepare(Problem(counts, prior, 2, options=options, near=near))
    half, key = sampler.by_word, rng.make_key(1, rng.RHO, sweep=1)
    Local(threads, 2, sampler.tables).redraw(half, ones, ones, options, key)


if __name__ == "__main__":
    compile_sampler()
    if MOVES in sys.argv:
        compile_moves()
