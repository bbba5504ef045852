"""What every method hands to the driver: a state, and the statistics of a draw."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bayesvec._types import Float32


class State(NamedTuple):
    """The vectors of both sides."""

    rho: "Float32"  # (R, K)
    alpha: "Float32"  # (C, K)


class Info(NamedTuple):
    """The statistics of a draw."""

    log_posterior: float


def standardised(log_density: Any, log_scales: Any, rows: int) -> Any:
    """Return the log density of rows in units of the standard deviations of their learned covariance.

    It is that of the rows themselves less half the log determinant of each row's precision. Axes of which the data
    say little wander slowly, rows and precision together; the determinant wanders with them, and this does not.

    Parameters
    ----------
    log_density : float or ndarray
        Log density of rows and matrix.
    log_scales : float or ndarray
        Log determinant of the precision matrix.
    rows : int
        Number of rows of both sides.
    """
    return log_density - 0.5 * rows * log_scales
