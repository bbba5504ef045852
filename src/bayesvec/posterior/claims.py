"""Differences and what can be claimed about them: P(above 0), and how many claims are expected to be false."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL, tails
from bayesvec.estimates.table import Table
from bayesvec.estimates.texts import few_text, plain, with_probability

THRESHOLD = 0.95


class Claim(NamedTuple):
    """One difference."""

    difference: str
    mean: float
    low: float
    high: float
    probability: float  # that the difference is above zero
    claimed: str  # "above", "below" or "" if the sign is not certain enough


@dataclass(frozen=True)
class Claims:
    """Several differences with the same threshold.

    Attributes
    ----------
    table : Table of Claim
        One row for each difference.
    threshold : float
        A sign is claimed if its posterior probability is at least this.
    claimed : int
        How many signs are claimed.
    expected_false : float
        How many of these are expected to be wrong: the sum of the probabilities that the sign is another or none.
    """

    table: Table[Claim]
    threshold: float
    claimed: int
    expected_false: float

    def __str__(self) -> str:
        return f"{self.table.title}\n{self.table}\n{self.sentence()}"

    def sentence(self) -> str:
        """Return one sentence: how many signs are claimed, and how many of them are expected to be false."""
        of = f"{self.claimed} of {len(self.table)} signs have a probability of at least {self.threshold:g}"
        if not self.claimed:
            return f"{of}: nothing is claimed"
        false = few_text(self.expected_false, self.claimed, self.table.draws)
        return f"{of}; {false} of these claims are expected to be false"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "threshold": self.threshold,
            "claimed": self.claimed,
            "expected_false": self.expected_false,
            "differences": self.table.to_dict(),
        }


def claims(differences: Sequence[Estimate], *, threshold: float = THRESHOLD, level: float = LEVEL) -> Claims:
    """Claim the signs that are certain enough, and count how many of them are expected to be wrong.

    With many differences some look certain by chance. The posterior gives their number: the expected number of false
    claims is the sum over claims of the probability that they do not hold (Müller, Parmigiani & Rice 2007).

    Parameters
    ----------
    differences : sequence of Estimate
        Such as ``a - b`` of two estimates of one run.
    threshold : float, optional
        Probability of a sign from which it is claimed; from 0.5 to 1.
    level : float, optional
        Probability of the intervals.
    """
    if not differences:
        raise OptionError("there are no differences; give at least one")
    if not 0.5 <= threshold <= 1.0:
        raise OptionError(f"threshold is {threshold:g}; it must be a probability from 0.5 to 1")
    tails(level)
    rows, false = [], []
    for difference in differences:
        above, below = difference.probability_above(0.0), float((difference.draws < 0.0).mean())
        sure, sign = max((above, "above"), (below, "below"), key=itemgetter(0))
        claimed = sign if sure >= threshold and difference.draws.size > 1 else ""
        if claimed:
            false.append(1.0 - sure)  # ranks can be equal: then neither sign holds
        rows.append(Claim(difference.label, difference.mean, *difference.interval(level), above, claimed))
    title = f"differences: mean, {100 * level:g}% interval, P(above 0)"
    draws = differences[0].draws.size
    return Claims(Table(rows, title=title, draws=draws), threshold, len(false), float(sum(false)))


def sign_line(estimate: Estimate, level: float) -> str:
    """Return an estimate as one line of text, with P(above 0)."""
    above = estimate.probability_above(0.0)
    return with_probability(estimate.sentence(level), "P(above 0)", above, estimate.draws.size)


def sign_values(estimate: Estimate, level: float) -> dict[str, Any]:
    """Return an estimate as plain values, with P(above 0)."""
    return {**estimate.to_dict(level), **plain({"probability_above_zero": estimate.probability_above(0.0)})}
