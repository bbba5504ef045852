"""What every method hands to the run: a state, and what a draw tells of itself."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]


class State(NamedTuple):
    """Where a chain is: all that the next sweep needs."""

    rho: Float32  # (R, K)
    alpha: Float32  # (C, K)


class Info(NamedTuple):
    """What a draw tells of itself."""

    log_posterior: float
