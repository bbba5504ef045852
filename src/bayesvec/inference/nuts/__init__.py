"""The No-U-Turn sampler, by nutpie."""

import importlib.util
from dataclasses import dataclass
from typing import NamedTuple

from bayesvec.errors import OptionError
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import WHOLE_CHAINS


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
            raise missing()


class Info(NamedTuple):
    """The statistics of a draw."""

    log_posterior: float
    diverging: (
        float  # 1 where the energy error of the trajectory diverged: the region around it was not explored
    )
    tree_depth: float
    step_size: float
    acceptance_rate: float
    gradients: float  # evaluations of the gradient


def missing() -> OptionError:
    """Return the error for a missing package."""
    return OptionError(
        "method 'nuts' needs the package nutpie, which is not installed; "
        "install it with: pip install 'bayesvec[nuts]'"
    )


METHOD = Method(
    name="nuts",
    kind=WHOLE_CHAINS,
    sentence="Draws from the posterior by the no-U-turn sampler (Hamiltonian Monte Carlo). It is exact "
    "as the number of draws grows.",
    use="To check the Gibbs sampler on a small model by one that shares none of its code.",
    code="bayesvec.inference.nuts.sampler:Nuts",
    options=Options,
    info=Info,
)
