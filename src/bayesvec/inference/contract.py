"""The two contracts of inference: a sampler is (init, step), an approximation is (fit, draw).

Both are given a `Problem` and address their random numbers by (seed, chain, number): a state or a draw is a function
of its address, whatever the number of threads and however often the run was interrupted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bayesvec.inference.state import Info, State

if TYPE_CHECKING:
    from bayesvec._parallel import Threads
    from bayesvec._types import Array
    from bayesvec.counts.pairs import PairCounts
    from bayesvec.model.identification import Anchors
    from bayesvec.priors import Prior

Arrays = dict[str, "Array"]
Report = Callable[[str], None]  # given a few words on the progress; may raise to stop
Count = Callable[[int], None]  # given the number of steps done, warm-up included; may raise to stop


class Near(NamedTuple):
    """A state near which all chains start, and about the conditional standard deviation of each coordinate."""

    rho: "Array"  # (R, K)
    alpha: "Array"  # (C, K)
    rho_sizes: "Array"  # (R, K)
    alpha_sizes: "Array"  # (C, K)
    scales: "Array | tuple[()]" = ()  # (S,) learned scales of the prior

    @classmethod
    def start(cls, arrays: Mapping[str, "Array"]) -> "Near | None":
        """Return the start that a run keeps; None if its chains do not start near one state."""
        return cls(*(arrays[name] for name in cls._fields)) if set(cls._fields) <= set(arrays) else None


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given.

    Attributes
    ----------
    counts : PairCounts
        The data.
    prior : Prior
        Gaussian over the rows of either side.
    dim : int
        Number of axes, K.
    options : Options or None
        Options of the method; None for its defaults.
    anchors : Anchors or None
        Context rows that stay fixed.
    warmup, draws : int
        Steps of each chain in warm-up and after it, for samplers that adapt.
    near : Near or None
        Where the chains start, for samplers that take the curvature there.
    elsewhere : bool
        Whether loops over pairs run in other processes, so that the sampler need not lay out the pairs.
    """

    counts: "PairCounts"
    prior: "Prior"
    dim: int
    options: Any = None
    anchors: "Anchors | None" = None
    warmup: int = 0
    draws: int = 1
    near: "Near | None" = None
    elsewhere: bool = False


def silent(progress: Any) -> None:
    """Report nothing."""


class Start(NamedTuple):
    """How a chain starts."""

    seed: int
    chain: int
    rho: Any = None  # (R, K), where to start; at random if not given
    alpha: Any = None  # (C, K)
    scales: Any = None  # (S,) of the prior; its own if not given
    threads: int = 1  # that may be used
    report: Count = silent  # for samplers that run a chain as a whole


class Sampler(ABC):
    """A Markov chain on the posterior; made from a `Problem`, shared by all chains.

    ``State`` is a NamedTuple of arrays and numbers with ``rho`` and ``alpha``: all that the next step needs.
    """

    State: ClassVar[Any] = State

    @abstractmethod
    def init(self, start: Start) -> Any:
        """Return the first state of a chain."""

    @abstractmethod
    def step(self, state: Any, *, seed: int, chain: int, number: int, threads: "Threads") -> tuple[Any, Any]:
        """Return the state after step ``number`` (counted from 1) and its statistics."""

    def summary(self, states: Sequence[Any]) -> dict[str, Any]:
        """Return what the last ``states`` of all chains report of the run as a whole."""
        return {}


class Approximation(ABC):
    """A distribution in the posterior's place: fitted once, then drawn from.

    Parameters
    ----------
    problem : Problem
        The problem.
    arrays : dict
        What `fit` returned; a run folder keeps it.
    """

    def __init__(self, problem: Problem, arrays: Arrays) -> None:
        self.problem = problem
        self.arrays = arrays

    @staticmethod
    @abstractmethod
    def fit(problem: Problem, *, seed: int = 1, threads: int = 1, report: Report = silent) -> Arrays:
        """Fit the approximation; the result does not depend on ``threads``."""

    @abstractmethod
    def centre(self, *, seed: int, chain: int) -> State:
        """Return the vectors that draws are aligned to."""

    @abstractmethod
    def draw(self, *, seed: int, chain: int, number: int, threads: "Threads") -> tuple[State, Info]:
        """Return draw ``number`` (counted from 1) of a chain, and its statistics."""

    @staticmethod
    def summary(arrays: Arrays) -> dict[str, Any]:
        """Return what to report of the fit, such as whether it converged."""
        return {}

    def scored(self, state: State, threads: "Threads") -> tuple[State, Info]:
        """Return a draw with its log posterior."""
        from bayesvec.model.density import Model

        model = Model(self.problem.counts, self.problem.prior, threads=threads)
        return state, Info(model.log_posterior(state.rho, state.alpha))


class Independent(Sampler):
    """An approximation as a sampler whose steps do not depend on each other.

    Parameters
    ----------
    approximation : Approximation
        What to draw from.
    """

    def __init__(self, approximation: Approximation) -> None:
        self.approximation = approximation

    def init(self, start: Start) -> State:
        """Return the centre of the approximation."""
        return self.approximation.centre(seed=start.seed, chain=start.chain)

    def step(
        self, state: State, *, seed: int, chain: int, number: int, threads: "Threads"
    ) -> tuple[State, Info]:
        """Return a draw."""
        return self.approximation.draw(seed=seed, chain=chain, number=number, threads=threads)
