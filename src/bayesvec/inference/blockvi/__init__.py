"""Variational inference with a full Gaussian for every row."""

from dataclasses import dataclass

from bayesvec._validate import positive_number, whole
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import APPROXIMATION


@dataclass(frozen=True)
class Options:
    """How to climb.

    Attributes
    ----------
    max_sweeps : int
        Maximum number of updates of all rows.
    tolerance : float
        Rise of the bound in a sweep, per coordinate, below which the ascent has converged.
    """

    max_sweeps: int = 1000
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        whole("max_sweeps", self.max_sweeps, 1)
        positive_number("tolerance", self.tolerance)


METHOD = Method(
    name="blockvi",
    kind=APPROXIMATION,
    sentence="An approximation: an independent normal for each vector, fitted to the posterior.",
    use="For a first look at a large model, faster than sampling.",
    code="bayesvec.inference.blockvi.method:BlockVI",
    options=Options,
    caveat="its rows are independent of each other, so its intervals are too narrow",
)
