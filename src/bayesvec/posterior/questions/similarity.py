"""Give the cosine between a word and others, or of the pairs in a file, with its interval."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, overload

from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.per_draw import cosines
from bayesvec.posterior.words import WORDS, pair_question, pair_rows

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

COSINE = Quantity("cosine", "cosine similarity", (-1.0, 1.0))


@overload
def similarity(posterior: "Posterior", word: str, other: str, *, at: str | None = None) -> Estimate: ...
@overload
def similarity(
    posterior: "Posterior", word: str, other: list[str] | tuple[str, ...], *, at: str | None = None
) -> list[Estimate]: ...


def similarity(
    posterior: "Posterior", word: str, other: str | list[str] | tuple[str, ...], *, at: str | None = None
) -> Estimate | list[Estimate]:
    """Return the cosine between two words, or between one word and each of several.

    Parameters
    ----------
    word : str
        A word.
    other : str or list of str
        Another word, or a list of them.
    at : str, optional
        The slice whose words are meant, in a run over groups or time.

    Returns
    -------
    Estimate or list of Estimate
    """
    if isinstance(other, str):
        return similarities(posterior, [(word, other)], at=at)[0]
    return similarities(posterior, [(word, each) for each in other], at=at)


def similarities(
    posterior: "Posterior", pairs: Iterable[tuple[str, str]], *, at: str | None = None
) -> list[Estimate]:
    """Return the cosine of each pair of words.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Pairs of different words.
    at : str, optional
        The slice whose words are meant.
    """
    wanted, rows = pair_rows(posterior, pairs, "similarity", at)
    return posterior.estimates(COSINE, wanted, cosines(posterior.draws, *rows.T), at)


QUESTION = pair_question(similarities, "cosine(word, word)", WORDS)
