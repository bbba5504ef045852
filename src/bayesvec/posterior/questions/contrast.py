"""Give the difference of each pair of quantities, P(above 0), and how many claims are expected to be false."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.table import Table
from bayesvec.posterior.claims import THRESHOLD, Claims, claims, sign_line
from bayesvec.posterior.slices import between, slice_ends
from bayesvec.posterior.table import Argument, Asked, Option, Question
from bayesvec.posterior.terms import evaluate, split_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


class Contrast(NamedTuple):
    """Differences, and what can be claimed about them."""

    differences: list[Estimate]
    claims: Claims


def contrast(
    posterior: "Posterior",
    terms: list[str],
    *,
    slices: str = "",
    threshold: float = THRESHOLD,
    level: float = LEVEL,
) -> Contrast:
    """Return the differences of pairs of quantities, or of each quantity between two slices."""
    if slices:
        names = split_words(slices)
        if len(names) != 2:
            raise OptionError(f"--between is {slices!r}; give two slices separated by a comma, such as D,R")
        differences = between(posterior, terms, *slice_ends(posterior, *names))
    elif len(terms) % 2:
        got = "one quantity" if len(terms) == 1 else f"{len(terms)} quantities"
        raise OptionError(
            f"got {got}; a contrast takes two each, so give an even number, or --between slices"
        )
    else:
        values = [evaluate(posterior, term) for term in terms]
        differences = [one - other for one, other in zip(values[::2], values[1::2], strict=True)]
    return Contrast(differences, claims(differences, threshold=threshold, level=level))


def _lines(answer: Contrast, asked: Asked) -> Iterator[str | Table[Any]]:
    if len(answer.differences) == 1:
        yield sign_line(answer.differences[0], asked["level"])
    else:
        yield answer.claims.table
        yield answer.claims.sentence()


QUESTION = Question(
    contrast,
    parameters={
        "terms": Argument(
            "QUANTITY QUANTITY...",
            "Pairs of quantities, such as 'cosine(tax, freedom)' 'cosine(tax, burden)'; '@ SLICE' may follow.",
            "Quantities",
        ),
        "slices": Option(
            "Contrast each quantity between two slices: second - first.",
            ("--between",),
            "SLICE,SLICE",
            "Two slices",
        ),
        "threshold": Option(
            "Probability from which the sign of a difference is claimed.", label="Claim from"
        ),
    },
    lines=_lines,
    to_json=lambda answer, asked: answer.claims.to_dict(),
)
