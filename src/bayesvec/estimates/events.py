"""Events: what is true in some draws and not in others, with its probability."""

import math
from dataclasses import dataclass

import numpy as np

from bayesvec._printable import printable
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.texts import probability_text


@dataclass(frozen=True, eq=False)
class Event(Estimate):
    """Whether a statement holds in each draw, such as ``cosine(a, b) > cosine(a, c)``: draws of 0 and 1.

    It comes from comparing an `Estimate` with a number or with another of the same run. Events combine with ``&``,
    ``|`` and ``~``. An event is neither true nor false, so ``if a > b:`` is refused; ask for its probability.
    """

    @property
    def probability(self) -> float:
        """Fraction of draws in which it holds; NaN for a single draw."""
        return self.mean if self.draws.size > 1 else math.nan

    def __and__(self, other: "Event") -> "Event":
        """Both hold."""
        return self._joined(other, "and")

    def __or__(self, other: "Event") -> "Event":
        """At least one holds."""
        return self._joined(other, "or")

    def __invert__(self) -> "Event":
        """It does not hold."""
        return Event(1.0 - self.draws, f"not ({self.label})", self.run)

    def __bool__(self) -> bool:
        raise OptionError(
            f"{self.label} holds with probability {probability_text(self.probability, self.draws.size)}, so it is "
            "neither true nor false; compare .probability with a threshold, such as 0.95 "
            "(to sort estimates: key=float)"
        )

    def sentence(self, level: float = LEVEL) -> str:
        """Return the event as one line of text, with its probability; it has no interval, whatever the ``level``."""
        if self.draws.size == 1:
            return f"{printable(self.label)}: {bool(self.mean)} at one point, which has no probability"
        text = probability_text(self.probability, self.draws.size, decimals=3)
        sign = "" if text[0] in "<>" else "= "
        return f"P({printable(self.label)}) {sign}{text}"

    def _joined(self, other: "Event", how: str) -> "Event":
        operand = self._operand(other) if isinstance(other, Event) else None
        if operand is None:
            return NotImplemented  # type: ignore[no-any-return]
        theirs, label = operand
        draws = np.minimum(self.draws, theirs) if how == "and" else np.maximum(self.draws, theirs)
        return Event(draws, f"({self.label}) {how} ({label})", self.run)
