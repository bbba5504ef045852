"""Short Gibbs runs, which are not kept: where chains start, precisions of a prior, weights of documents."""

from collections.abc import Callable, Iterator
from typing import Any

from bayesvec._parallel import Threads
from bayesvec.counts.pairs import PairCounts
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.methods import find
from bayesvec.priors import Prior

METHOD = "gibbs"
CHAIN = 2**24 - 1  # no chain of a run has this number, so they share no random numbers
SETTLING = 60  # sweeps: the log posterior stays where it is after 20, weak axes of text settle later


def short_run(
    counts: PairCounts,
    prior: Prior,
    sweeps: int,
    *,
    dim: int,
    seed: int,
    threads: int,
    state: Any = None,
    done: int = 0,
    make_threads: Callable[[int], Threads] = Threads,
) -> Iterator[tuple[Any, Any]]:
    """Yield the state and the statistics after each sweep of a short run.

    Its updates are not overrelaxed: what is even around the means, such as the lengths of vectors, settles sooner.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        The prior of both sides.
    sweeps : int
        Their number.
    dim : int
        Length of a vector.
    seed : int
        Decides the run.
    threads : int
        Threads to use; the result does not depend on it.
    state : State, optional
        State to continue from; by default a random start.
    done : int
        Sweeps that led to it.
    make_threads : callable, optional
        Given ``threads``, returns where the loops run; by default on threads of this process.
    """
    method = find(METHOD)
    options = method.options(overrelax=0.0, hamiltonian="never")
    elsewhere = make_threads is not Threads
    sampler = method.load()(Problem(counts, prior, dim, options=options, elsewhere=elsewhere))
    if state is None:
        state = sampler.init(Start(seed, CHAIN))
    with make_threads(threads) as workers:
        for number in range(done + 1, done + sweeps + 1):
            state, info = sampler.step(state, seed=seed, chain=CHAIN, number=number, threads=workers)
            yield state, info
