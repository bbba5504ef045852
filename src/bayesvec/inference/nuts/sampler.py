r"""NUTS, the paper's Hamiltonian Monte Carlo: nutpie on the compiled log posterior, free or anchored.

The No-U-Turn sampler (Hoffman & Gelman 2014) with nutpie's adaptation of step size and diagonal mass matrix
(Seyboldt, Carlson & Carpenter 2026). It moves all vectors together along gradients, so it needs no
augmentation and is a check of the Gibbs sampler that shares none of its code.

nutpie gives out the statistics of a chain when the chain has ended, so `init` runs a chain to its end and `step`
returns its draws one by one. A chain that is killed before its end starts over, and a finished one cannot be
extended. Memory: 4 (R + C) K bytes per draw for each chain until its draws are stored; while it runs it also holds a
residual of 8 bytes for every distinct pair.
"""

import threading
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesvec._parallel import Threads
from bayesvec._types import Float32, Float64
from bayesvec.errors import NumericalError, OptionError
from bayesvec.inference.contract import Problem, Sampler, Start
from bayesvec.inference.nuts import Info, Options, missing
from bayesvec.inference.nuts.target import Target
from bayesvec.inference.start import near_mode
from bayesvec.kernels import rng

WAIT_SECONDS = 0.2  # between two reports

# Names of a draw's statistics, ours and nutpie's.
STATISTICS = {
    "log_posterior": "logp",
    "diverging": "diverging",
    "tree_depth": "depth",
    "step_size": "step_size",
    "acceptance_rate": "mean_tree_accept",
    "gradients": "n_steps",
}


class State(NamedTuple):
    """A draw, and totals over the draws so far."""

    rho: Float32  # (R, K)
    alpha: Float32  # (C, K)
    draws: int = 0
    divergences: int = 0
    largest_tree_depth: int = 0
    step_size: float = 0.0  # the sum, as are those that follow
    acceptance_rate: float = 0.0
    gradients: float = 0.0


class Chain(NamedTuple):
    """The draws of a chain after warm-up."""

    rho: Float32  # (draw, R, K)
    alpha: Float32  # (draw, C, K)
    statistics: dict[str, Float64]  # (draw,) each


class Nuts(Sampler):
    """nutpie's sampler.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    State: ClassVar[Any] = State

    def __init__(self, problem: Problem) -> None:
        if problem.warmup < 1:
            raise OptionError(
                f"warmup is {problem.warmup}; NUTS tunes its steps in warm-up and needs 1 at least (500 is usual)"
            )
        self._problem = problem
        self._options: Options = problem.options or Options()
        self._nutpie = _nutpie()
        self._target = Target(problem.counts, problem.prior, problem.dim, anchors=problem.anchors)
        self._lock = threading.Lock()
        self._mode: dict[int, tuple[Float64, Float64] | None] = {}  # by seed
        self._chains: dict[int, Chain] = {}

    def init(self, start: Start) -> State:
        """Run a chain to its end, from near the mode, and return its first draw; no other start is used."""
        with self._lock:
            if start.seed not in self._mode:
                self._mode[start.seed] = near_mode(self._problem, seed=start.seed, threads=start.threads)
            first = self._target.start(start.seed, start.chain, self._mode[start.seed])
            self._target.function()(first)  # compiles before there are threads
        self._chains[start.chain] = kept = self._run(first, start)
        return State(kept.rho[0], kept.alpha[0])

    def step(
        self, state: State, *, seed: int, chain: int, number: int, threads: Threads
    ) -> tuple[State, Info]:
        """Return draw ``number`` of a chain that `init` has run."""
        kept, size = self._chains[chain], self._problem.draws
        if number > size:
            raise OptionError(
                f"draw {number} was asked of a NUTS run that has {size} draws a chain; such a run cannot be "
                "extended: start a new one with more draws"
            )
        info = Info(*(float(kept.statistics[name][number - 1]) for name in Info._fields))
        after = State(
            kept.rho[number - 1],
            kept.alpha[number - 1],
            state.draws + 1,
            state.divergences + int(info.diverging),
            max(state.largest_tree_depth, int(info.tree_depth)),
            state.step_size + info.step_size,
            state.acceptance_rate + info.acceptance_rate,
            state.gradients + info.gradients,
        )
        return after, info

    def summary(self, states: Sequence[State]) -> dict[str, Any]:
        """Return what a user should know of the chains as a whole."""
        draws = max(1, sum(state.draws for state in states))
        return {
            "divergences": sum(state.divergences for state in states),
            "largest_tree_depth": max(state.largest_tree_depth for state in states),
            "step_size": sum(state.step_size for state in states) / draws,
            "acceptance_rate": sum(state.acceptance_rate for state in states) / draws,
            "gradients_per_draw": sum(state.gradients for state in states) / draws,
        }

    def _run(self, first: Float64, start: Start) -> Chain:
        """Run a separate sampler for one chain, so that the chain depends only on the seed and its number."""
        warmup, draws, target = self._problem.warmup, self._problem.draws, self._target
        rho, alpha = (np.empty((draws, *shape), dtype=np.float32) for shape in target.shapes)
        if self._problem.anchors is not None:
            alpha[:, self._problem.anchors.rows] = self._problem.anchors.values
        seen = 0

        def keep(theta: Float64) -> dict[str, Float64]:
            """Take over one draw, those of warm-up first; nutpie is to keep nothing but the number."""
            nonlocal seen
            number = seen
            if number >= warmup:
                target.unpack(theta, rho[number - warmup], alpha[number - warmup])
            seen += 1
            return {"number": np.array(float(number))}

        model = self._nutpie.compiled_pyfunc.from_pyfunc(
            target.num_parameters,
            make_logp_fn=target.function,
            make_expand_fn=lambda *_: keep,
            expanded_dtypes=[np.dtype("float64")],
            expanded_shapes=[()],
            expanded_names=["number"],
            make_initial_point_fn=lambda _: first,
        )
        word, _ = rng.bits(rng.make_key(start.seed, rng.APPROXIMATION, chain=start.chain), 0, 0)
        sampler = self._nutpie.sample(
            model,
            draws=draws,
            tune=warmup,
            chains=1,
            cores=1,
            seed=int(word),
            target_accept=self._options.target_accept,
            maxdepth=self._options.max_depth,
            progress_bar=False,
            return_raw_trace=True,
            blocking=False,
        )
        try:
            trace = None
            while trace is None:
                start.report(seen)
                trace = _wait(sampler, start.chain)
        except NumericalError:
            raise  # a sampler that has broken down cannot even be cancelled
        except BaseException:
            sampler.cancel()
            raise
        numbers, statistics = (batches[0] for batches in trace.get_arrow_trace())
        if not np.array_equal(numbers.column("number").to_numpy(), np.arange(warmup + draws)):
            raise NumericalError(f"NUTS ended after {seen} of {warmup + draws} draws of chain {start.chain}")
        start.report(seen)
        kept = {
            ours: np.asarray(statistics.column(theirs).to_numpy(), dtype=np.float64)[warmup:]
            for ours, theirs in STATISTICS.items()
        }
        return Chain(rho, alpha, kept)


def _wait(sampler: Any, chain: int) -> Any:
    """Wait a little for a chain; return its trace, or None if it is still running."""
    try:
        return sampler.wait(timeout=WAIT_SECONDS)
    except TimeoutError:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of the Rust side is no Exception
        raise NumericalError(
            f"NUTS broke down in chain {chain} ({str(error).splitlines()[0]}); "
            "check the prior precision and the counts, or take method 'gibbs'"
        ) from error


def _nutpie() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the packages it imports
            import nutpie
            import nutpie.compiled_pyfunc
    except ImportError as error:
        raise missing() from error
    return nutpie
