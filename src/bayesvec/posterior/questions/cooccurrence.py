"""Give the probability that a word with a context, seen or not, is a positive sample."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, overload

from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.per_draw import probabilities
from bayesvec.posterior.table import Argument
from bayesvec.posterior.words import checked_pairs, pair_question

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

COOCCURRENCE = Quantity("cooccurrence", "probability of a positive sample", (0.0, 1.0))


@overload
def cooccurrence(posterior: "Posterior", word: str, context: str, *, at: str | None = None) -> Estimate: ...
@overload
def cooccurrence(
    posterior: "Posterior", word: str, context: list[str] | tuple[str, ...], *, at: str | None = None
) -> list[Estimate]: ...


def cooccurrence(
    posterior: "Posterior", word: str, context: str | list[str] | tuple[str, ...], *, at: str | None = None
) -> Estimate | list[Estimate]:
    r"""Return the probability :math:`s(\rho_w^\top \alpha_v)` that a pair is a positive sample.

    The mean of the estimate is the predictive probability, also for pairs that were never seen.

    Parameters
    ----------
    word : str
        A word.
    context : str or list of str
        A context, or a list of them; it may be the word itself.
    at : str, optional
        The slice whose word is meant; contexts are shared by all slices.
    """
    if isinstance(context, str):
        return cooccurrences(posterior, [(word, context)], at=at)[0]
    return cooccurrences(posterior, [(word, each) for each in context], at=at)


def cooccurrences(
    posterior: "Posterior", pairs: Iterable[tuple[str, str]], *, at: str | None = None
) -> list[Estimate]:
    """Return the probability that each pair of a word and a context is a positive sample."""
    wanted = checked_pairs(pairs)
    at = posterior.slice_meant([word for word, _ in wanted], at)
    words = posterior.rows([word for word, _ in wanted], at=at)
    contexts = posterior.context_rows([context for _, context in wanted])
    return posterior.estimates(COOCCURRENCE, wanted, probabilities(posterior.draws, words, contexts), at)


QUESTION = pair_question(
    cooccurrences,
    "cooccurrence(word, context)",
    Argument("WORD CONTEXT...", "A word and its contexts.", "Word and contexts"),
    partners="contexts",
)
