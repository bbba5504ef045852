"""The mode of the posterior."""

from dataclasses import dataclass

from bayesvec._validate import positive_number, whole
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import POINT


@dataclass(frozen=True)
class Options:
    """How to find the mode.

    Attributes
    ----------
    starts : int
        Number of starts; the highest mode is kept.
    tolerance : float
        How far, in posterior standard deviations given all other rows, a row may be from the mode.
    max_iterations : int
        Maximum number of iterations from each start.
    """

    starts: int = 1
    tolerance: float = 1e-2
    max_iterations: int = 5000

    def __post_init__(self) -> None:
        whole("starts", self.starts, 1)
        whole("max_iterations", self.max_iterations, 1)
        positive_number("tolerance", self.tolerance)


METHOD = Method(
    name="map",
    kind=POINT,
    sentence="The mode of the posterior: one point for each vector, without any measure of uncertainty.",
    use="For a quick look, or where only one vector per word is wanted.",
    code="bayesvec.inference.map.method:Mode",
    options=Options,
)
