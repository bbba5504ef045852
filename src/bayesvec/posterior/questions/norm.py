"""Give the length of the vectors of words, with its interval."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bayesvec.estimates import per_draw
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.posterior.table import Argument, Question, Term
from bayesvec.posterior.terms import split_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

NORM = Quantity("norm", "length of the vector", (0.0, math.inf))


def norms(posterior: "Posterior", words: Iterable[str], *, at: str | None = None) -> list[Estimate]:
    """Return the length of the vector of each word."""
    wanted = words if isinstance(words, str) else list(words)
    at = posterior.slice_meant(wanted, at)
    values = per_draw.norms(posterior.draws, posterior.rows(wanted, at=at))
    return posterior.estimates(NORM, [(word,) for word in wanted], values, at)


def _ask(posterior: "Posterior", words: list[str], *, at: str | None = None) -> list[Estimate]:
    return norms(posterior, words, at=at)


def _term(posterior: "Posterior", parts: list[str], at: str | None) -> Estimate:
    return norms(posterior, split_words(parts[0]), at=at)[0]


QUESTION = Question(
    _ask,
    parameters={"words": Argument("WORD...", "One or more words.", "Words")},
    terms={"norm": Term("norm(word)", (1,), _term)},
)
