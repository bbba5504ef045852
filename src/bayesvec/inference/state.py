"""What every method hands to the driver: a state, and the statistics of a draw."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bayesvec._types import Float32


class State(NamedTuple):
    """The vectors of both sides."""

    rho: "Float32"  # (R, K)
    alpha: "Float32"  # (C, K)


class Info(NamedTuple):
    """The statistics of a draw."""

    log_posterior: float
