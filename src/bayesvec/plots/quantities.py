"""The scale of an axis of estimates: its name, and the bounds of its values."""

from collections.abc import Iterable

from bayesvec.estimates.estimate import Estimate, Quantity

VALUE = Quantity("value")


def scale_of(estimates: Iterable[Estimate]) -> Quantity:
    """Return the quantity that all of the estimates are of, or one without name and bounds.

    A difference such as ``cosine(a, b) - cosine(a, c)`` is of none.
    """
    kinds = {estimate.quantity or VALUE for estimate in estimates}
    return kinds.pop() if len(kinds) == 1 else VALUE
