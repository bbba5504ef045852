"""The Laplace approximation: a Gaussian at the mode."""

from dataclasses import dataclass

from bayesvec._validate import whole
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import APPROXIMATION


@dataclass(frozen=True)
class Options:
    """How to find the mode.

    Attributes
    ----------
    starts : int
        Number of starts; the highest mode is kept.
    """

    starts: int = 1

    def __post_init__(self) -> None:
        whole("starts", self.starts, 1)


METHOD = Method(
    name="laplace",
    kind=APPROXIMATION,
    sentence="An approximation: one normal at the mode of the posterior.",
    use="For a small model with much data, or for a few words of a large one.",
    code="bayesvec.inference.laplace.method:Laplace",
    options=Options,
    caveat="it is a Gaussian at the mode, which the posterior is not like where there are few data",
)
