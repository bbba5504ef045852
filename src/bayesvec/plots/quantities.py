"""What the values of estimates are, told from their labels: the name of the axis, and where they must lie."""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from bayesvec.estimates.estimate import Estimate


class Scale(NamedTuple):
    """How an axis of values is named, and what bounds them."""

    name: str
    bounds: tuple[float, float] | None


VALUE = Scale("value", None)
SCALES = {
    "cosine": Scale("cosine similarity", (-1.0, 1.0)),
    "cooccurrence": Scale("probability of a positive sample", (0.0, 1.0)),
    "distance": Scale("distance between vectors", (0.0, math.inf)),
    "norm": Scale("length of the vector", (0.0, math.inf)),
    "projection": Scale("position on the axis (cosine)", (-1.0, 1.0)),
    "rank": Scale("rank (1: the nearest)", None),  # whole numbers: reflecting them would pile up at 1
}


def scale_of(estimates: Iterable[Estimate]) -> Scale:
    """Return the scale that all of the estimates share, or one without name and bounds.

    A difference such as ``cosine(a, b) - cosine(a, c)`` shares the scale of neither.
    """
    kinds = set()
    for estimate in estimates:
        kind = re.match(r"(\w+)\(", estimate.label)
        kinds.add(kind[1] if kind and " - " not in estimate.label else "")
    return SCALES.get(kinds.pop(), VALUE) if len(kinds) == 1 else VALUE
