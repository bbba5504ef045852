r"""NUTS, the paper's Hamiltonian Monte Carlo: nutpie on the compiled log posterior, free or anchored.

The No-U-Turn sampler (Hoffman & Gelman 2014) with nutpie's adaptation of step size and diagonal mass matrix
(Seyboldt, Carlson & Carpenter 2026). It moves all vectors together along gradients, so it needs no
augmentation and is a check of the Gibbs sampler that shares none of its code.

All chains run to their end in one go (`approximate`); their draws are kept as float32 and handed out one by
one (`sweep`). So a run that is killed before that starts over, and one that is finished cannot be extended.
Memory: 4 (R + C) K bytes for each draw of each chain, and once more while they are written; during the run
each chain also holds a residual of 8 bytes for every distinct pair.
"""

import importlib.util
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import Threads
from bayesvec._types import Array, Float64
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.nuts.target import Target
from bayesvec.inference.state import State
from bayesvec.kernels import rng
from bayesvec.model.identification import Anchors, to_gauge
from bayesvec.model.map import find_map
from bayesvec.priors import Prior

WAIT_SECONDS = 0.2  # between two reports
START_ITERATIONS = 100  # of the MAP, enough for a start

# Names of a draw's statistics, ours and nutpie's.
STATISTICS = {
    "log_posterior": "logp",
    "diverging": "diverging",
    "tree_depth": "depth",
    "step_size": "step_size",
    "acceptance_rate": "mean_tree_accept",
    "gradients": "n_steps",
}


@dataclass(frozen=True)
class Options:
    """How to sample.

    Attributes
    ----------
    target_accept : float
        Mean acceptance rate that the step size is tuned to; larger takes smaller steps.
    max_depth : int
        Depth of the largest tree: a draw takes at most 2 ** max_depth gradients.
    """

    target_accept: float = 0.8
    max_depth: int = 10

    def __post_init__(self) -> None:
        if not 0.0 < self.target_accept < 1.0:
            raise OptionError(f"target_accept is {self.target_accept}; it must be between 0 and 1")
        if not 1 <= self.max_depth <= 20:
            raise OptionError(f"max_depth is {self.max_depth}; it must be from 1 to 20")
        if importlib.util.find_spec("nutpie") is None:  # before any work is done
            raise _missing()


class Info(NamedTuple):
    """What a draw tells of itself."""

    log_posterior: float
    diverging: float  # 1 where the trajectory's energy ran away: the region around it was not explored
    tree_depth: float
    step_size: float
    acceptance_rate: float
    gradients: float  # evaluations of the gradient


class _Chain:
    """One chain: a sampler of its own, so that it is a function of the seed and the chain's number alone."""

    def __init__(self, target: Target, kept: Mapping[str, Array], chain: int, warmup: int) -> None:
        self.target = target
        self.rho, self.alpha = kept["rho"][chain], kept["alpha"][chain]
        self.chain = chain
        self.warmup = warmup
        self.seen = 0
        self.sampler: Any = None

    def begin(self, nutpie: Any, first: Float64, *, options: Options, seed: int) -> None:
        """Start sampling at ``first`` on a thread of nutpie's."""
        model = nutpie.compiled_pyfunc.from_pyfunc(
            self.target.num_parameters,
            make_logp_fn=self.target.function,
            make_expand_fn=lambda *_: self._keep,
            expanded_dtypes=[np.dtype("float64")],
            expanded_shapes=[()],
            expanded_names=["number"],
            make_initial_point_fn=lambda _: first,
        )
        word, _ = rng.bits(rng.make_key(seed, rng.APPROXIMATION, chain=self.chain), 0, 0)
        self.sampler = nutpie.sample(
            model,
            draws=len(self.rho),
            tune=self.warmup,
            chains=1,
            cores=1,
            seed=int(word),
            target_accept=options.target_accept,
            maxdepth=options.max_depth,
            progress_bar=False,
            return_raw_trace=True,
            blocking=False,
        )

    def _keep(self, theta: Float64) -> dict[str, Float64]:
        """Take over one draw: nutpie hands out warm-up draws first, and is to keep nothing but the number."""
        number = self.seen
        if number >= self.warmup:
            self.target.unpack(theta, self.rho[number - self.warmup], self.alpha[number - self.warmup])
        self.seen += 1
        return {"number": np.array(float(number))}

    def statistics(self, timeout: float) -> dict[str, Float64] | None:
        """Return the statistics of the draws after warm-up, or None if it is not done in ``timeout`` seconds."""
        try:
            trace = self.sampler.wait(timeout=timeout)
        except TimeoutError:
            return None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of the Rust side is no Exception
            self.sampler = None  # it cannot even be cancelled
            raise NumericalError(
                f"NUTS broke down in chain {self.chain} ({str(error).splitlines()[0]}); "
                "check the prior precision and the counts, or take method 'gibbs'"
            ) from error
        draws, stats = (batches[0] for batches in trace.get_arrow_trace())
        numbers = np.asarray(draws.column("number").to_numpy())
        size = self.warmup + len(self.rho)
        if not np.array_equal(numbers, np.arange(size)):
            raise NumericalError(f"NUTS ended after {len(numbers)} of {size} draws of chain {self.chain}")
        return {
            ours: np.asarray(stats.column(theirs).to_numpy(), dtype=np.float64)[self.warmup :]
            for ours, theirs in STATISTICS.items()
        }


def approximate(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    seed: int,
    chains: int,
    draws: int,
    warmup: int,
    threads: int,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, Array]:
    """Run all chains to their end and return their draws.

    Parameters
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        Gaussian over the rows of either side.
    dim : int
        Number of axes, K.
    options : Options, optional
        How to sample.
    anchors : Anchors, optional
        Context rows that stay fixed.
    seed : int
        Decides every random number; a chain depends on it and on its own number alone.
    chains, draws, warmup : int
        Chains, draws of each, and draws before them that tune step size and mass matrix and are not kept.
    threads : int
        Chains that run at the same time.
    report : callable, optional
        Is told how far it is; may raise to stop.

    Returns
    -------
    dict
        ``rho`` (chain, draw, R, K) and ``alpha`` (chain, draw, C, K), float32; each of the statistics of
        `Info` (chain, draw), float64.
    """
    options = options or Options()
    if warmup < 1:
        raise OptionError(
            f"warmup is {warmup}; NUTS tunes its steps in warm-up and needs 1 at least (500 is usual)"
        )
    nutpie = _nutpie()
    target = Target(counts, prior, dim, anchors=anchors)
    around = _near_mode(counts, prior, dim, anchors=anchors, seed=seed, threads=threads, report=report)
    target.function()(target.start(seed, 0, around))  # compiles before there are threads
    kept: dict[str, Array] = {
        name: np.empty((chains, draws, *shape), dtype=np.float32)
        for name, shape in zip(("rho", "alpha"), target.shapes, strict=True)
    }
    if anchors is not None:
        kept["alpha"][:, :, anchors.rows] = anchors.values
    kept |= {name: np.empty((chains, draws)) for name in STATISTICS}

    def begin(chain: _Chain) -> None:
        chain.begin(nutpie, target.start(seed, chain.chain, around), options=options, seed=seed)

    _run([_Chain(target, kept, chain, warmup) for chain in range(chains)], kept, begin, threads, report)
    return kept


def _near_mode(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    anchors: Anchors | None,
    seed: int,
    threads: int,
    report: Callable[[str], None],
) -> tuple[Float64, Float64] | None:
    """Return a place near the MAP, in the gauge of the anchors; None where the data give no direction.

    With anchors the posterior has minor modes, in which an anchor is on the wrong side of the other contexts;
    chains from anywhere would be caught in them.
    """
    found = find_map(
        counts,
        prior,
        dim,
        seed=seed,
        max_iterations=START_ITERATIONS,
        threads=threads,
        callback=lambda number, value, _: report(f"looking for a start: log posterior {value:.1f}"),
    )
    if found.is_zero:
        return None
    if anchors is None:
        return found.rho, found.alpha
    try:
        rho, alpha = to_gauge(found.rho, found.alpha, anchors)
    except OptionError:  # the MAP spans fewer directions than the anchors
        return None
    return np.asarray(rho, dtype=np.float64), np.asarray(alpha, dtype=np.float64)


def _run(
    chains: list[_Chain],
    kept: dict[str, Array],
    begin: Callable[[_Chain], None],
    threads: int,
    report: Callable[[str], None],
) -> None:
    """Run the chains, ``threads`` at a time, and keep their statistics."""
    waiting, running = list(chains), list[_Chain]()
    total = sum(chain.warmup + len(chain.rho) for chain in chains)
    try:
        report(f"NUTS: {len(chains)} chains")
        while waiting or running:
            while waiting and len(running) < threads:
                running.append(waiting.pop(0))
                begin(running[-1])
            for chain in list(running):
                statistics = chain.statistics(WAIT_SECONDS / len(running))
                if statistics is not None:
                    running.remove(chain)
                    for name, values in statistics.items():
                        kept[name][chain.chain] = values
            report(f"NUTS: {sum(chain.seen for chain in chains):,} of {total:,} draws, warm-up included")
    finally:
        for chain in running:  # there are some only if something was raised
            if chain.sampler is not None:
                chain.sampler.cancel()


def _nutpie() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages it imports
            import nutpie
            import nutpie.compiled_pyfunc
    except ImportError as error:
        raise _missing() from error
    return nutpie


def _missing() -> OptionError:
    return OptionError(
        "method 'nuts' needs the package nutpie, which is not installed; "
        "install it with: pip install 'bayesvec[nuts]'"
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """The draws, ready to be handed out."""

    approximation: Mapping[str, Array]


def prepare(
    counts: PairCounts,
    prior: Prior,
    dim: int,
    *,
    options: Options | None = None,
    anchors: Anchors | None = None,
    approximation: Mapping[str, Array],
) -> Problem:
    """Take what `approximate` returned; all else is in it."""
    return Problem(approximation)


def start(
    problem: Problem,
    *,
    seed: int,
    chain: int,
    rho: npt.ArrayLike | None = None,
    alpha: npt.ArrayLike | None = None,
) -> State:
    """Return the first draw of a chain; a start that is given is not needed."""
    return State(problem.approximation["rho"][chain, 0], problem.approximation["alpha"][chain, 0])


def sweep(
    problem: Problem, state: State, *, seed: int, chain: int, number: int, threads: Threads
) -> tuple[State, Info]:
    """Return draw ``number`` of a chain, counted from 1."""
    kept = problem.approximation
    size = kept["rho"].shape[1]
    if number > size:
        raise OptionError(
            f"draw {number} was asked of a NUTS run that has {size} draws a chain; such a run cannot be "
            "extended: start a new one with more draws"
        )
    at = chain, number - 1
    return State(kept["rho"][at], kept["alpha"][at]), Info(*(float(kept[name][at]) for name in Info._fields))


def summary(approximation: Mapping[str, Array]) -> dict[str, Any]:
    """Return what a user should know of the chains as a whole."""
    return {
        "divergences": int(approximation["diverging"].sum()),
        "largest_tree_depth": int(approximation["tree_depth"].max()),
        "step_size": float(approximation["step_size"].mean()),
        "acceptance_rate": float(approximation["acceptance_rate"].mean()),
        "gradients_per_draw": float(approximation["gradients"].mean()),
    }
