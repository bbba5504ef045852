"""Mean-field variational inference: an independent normal for every coordinate."""

from dataclasses import dataclass

from bayesvec._validate import one_of, positive_number, whole
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import APPROXIMATION


@dataclass(frozen=True)
class Options:
    """How to climb.

    Attributes
    ----------
    schedule : {"adam", "advi"}
        Climb to the optimum from near the MAP; or as Stan does by default, from a random start and with its
        rule for stopping, which is the paper's MFVI.
    max_iterations : int
        Maximum number of iterations.
    pairs : int
        Pairs of draws for each gradient, with "adam".
    tolerance : float
        With "adam", rise of the smoothed ELBO per coordinate below which it has converged. It is not relative
        to the ELBO: that grows with the data and says nothing about the approximation.
    """

    schedule: str = "adam"
    max_iterations: int = 5000
    pairs: int = 2
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        one_of("schedule", self.schedule, ("adam", "advi"))
        whole("max_iterations", self.max_iterations, 1)
        whole("pairs", self.pairs, 1)
        positive_number("tolerance", self.tolerance)


METHOD = Method(
    name="mfvi",
    kind=APPROXIMATION,
    sentence="An approximation: an independent normal for each coordinate, fitted to the posterior.",
    use="To compare with what the paper and others report of mean-field inference.",
    code="bayesvec.inference.mfvi.method:MeanField",
    options=Options,
    caveat="it has no correlations, so its intervals are too narrow where there are many data",
)
