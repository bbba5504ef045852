"""Give the rank of words among the neighbours of a word: 1 is the nearest."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec.errors import OptionError
from bayesvec.estimates import per_draw
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.texts import plain, with_probability
from bayesvec.posterior.table import Argument, Asked, Option, Question, Term
from bayesvec.posterior.terms import split_words
from bayesvec.posterior.words import checked_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

RANK = Quantity(
    "rank", "rank (1: the nearest)"
)  # whole numbers: a density reflected at 1 would pile up there


def ranks(
    posterior: "Posterior", word: str, others: Iterable[str], *, at: str | None = None
) -> list[Estimate]:
    """Return the rank of each of ``others`` among the neighbours of a word: 1 is the nearest.

    ``1 - estimate.probability_above(n)`` is the probability of being among the n nearest.
    """
    pairs = [(word, other) for other in checked_words(others)]
    if (word, word) in pairs:
        raise OptionError(f"a rank needs two different words; got {word!r} twice")
    at = posterior.slice_meant([word, *(other for _, other in pairs)], at)
    row, *rows = posterior.rows([word, *(other for _, other in pairs)], at=at).tolist()
    values = per_draw.ranks(posterior.draws, row, np.array(rows), among=posterior.slice_rows(at))
    return posterior.estimates(RANK, pairs, values, at)


def _ask(
    posterior: "Posterior", word: str, others: list[str], *, n: int = 10, at: str | None = None
) -> list[Estimate]:
    if n < 1:
        raise OptionError(f"-n is {n}; it must be 1 or more")
    return ranks(posterior, word, others, at=at)


def _lines(estimates: list[Estimate], asked: Asked) -> Iterator[str]:
    n = asked["n"]
    for each in estimates:
        in_top = 1.0 - each.probability_above(n)
        sentence, name = each.sentence(asked["level"]), f"P(in the top {n})"
        yield with_probability(sentence, name, in_top, each.draws.size, decimals=2)


def _to_json(estimates: list[Estimate], asked: Asked) -> list[dict[str, Any]]:
    n = asked["n"]
    return [
        {**each.to_dict(asked["level"]), "n": n, **plain({"probability": 1.0 - each.probability_above(n)})}
        for each in estimates
    ]


def _term(posterior: "Posterior", parts: list[str], at: str | None) -> Estimate:
    word, other = split_words(parts[0])
    return ranks(posterior, word, [other], at=at)[0]


QUESTION = Question(
    _ask,
    parameters={
        "others": Argument("OTHER...", "Words to rank by nearness.", "Other words"),
        "n": Option(
            "Report the probability of being among the n nearest.", ("-n",), label="Among the nearest"
        ),
    },
    lines=_lines,
    to_json=_to_json,
    terms={"rank": Term("rank(word, word)", (2,), _term)},
)
