"""What every method hands to the run: a state, and what a draw tells of itself."""

from typing import NamedTuple

import numpy as np

from bayesvec._types import Float32, Float64

NO_SCALES: Float64 = np.zeros(0)
NO_SCALES.flags.writeable = False


class State(NamedTuple):
    """Where a chain is: all that the next sweep needs."""

    rho: Float32  # (R, K)
    alpha: Float32  # (C, K)


class ScaledState(NamedTuple):
    """The same, with the scales of a prior whose precisions are learned."""

    rho: Float32  # (R, K)
    alpha: Float32  # (C, K)
    scales: Float64 = NO_SCALES


class Info(NamedTuple):
    """What a draw tells of itself."""

    log_posterior: float
