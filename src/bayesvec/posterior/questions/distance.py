"""Give the Euclidean distance between a word's vector and others', with its interval."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bayesvec.estimates import per_draw
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.posterior.words import WORDS, pair_question, pair_rows

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

DISTANCE = Quantity("distance", "distance between vectors", (0.0, math.inf))


def distance(posterior: "Posterior", word: str, other: str, *, at: str | None = None) -> Estimate:
    """Return the Euclidean distance between the vectors of two words."""
    return distances(posterior, [(word, other)], at=at)[0]


def distances(
    posterior: "Posterior", pairs: Iterable[tuple[str, str]], *, at: str | None = None
) -> list[Estimate]:
    """Return the Euclidean distance between the vectors of each pair of words."""
    wanted, rows, at = pair_rows(posterior, pairs, "distance", at)
    return posterior.estimates(DISTANCE, wanted, per_draw.distances(posterior.draws, *rows.T), at)


QUESTION = pair_question(distances, "distance(word, word)", WORDS)
