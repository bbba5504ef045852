"""Give the cosine between a word and others, or of the pairs in a file, with its interval."""

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate, Quantity
from bayesvec.estimates.matrix import Matrix
from bayesvec.estimates.per_draw import cosines
from bayesvec.estimates.table import Table
from bayesvec.posterior.table import Asked, Option, Question, sentences
from bayesvec.posterior.words import FILE, WORDS, pair_rows, pair_term, pairs_given

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


@overload
def similarities(
    posterior: "Posterior", words: list[str] | tuple[str, ...], *, at: str | None = None
) -> Matrix: ...
@overload
def similarities(
    posterior: "Posterior", words: Iterable[tuple[str, str]], *, at: str | None = None
) -> list[Estimate]: ...


def similarities(
    posterior: "Posterior", words: Iterable[str | tuple[str, str]], *, at: str | None = None
) -> Matrix | list[Estimate]:
    """Return the cosines among some words as a matrix, or the cosine of each of some pairs.

    Parameters
    ----------
    words : list of str, or iterable of (str, str)
        Different words, two or more; or pairs of different words.
    at : str, optional
        The slice whose words are meant.

    Returns
    -------
    Matrix or list of Estimate
        ``matrix["tax", "law"]`` is the estimate of a pair, and `bayesvec.plots.plot_heatmap` draws them all.
    """
    given = list(words)
    if not given or not all(isinstance(each, str) for each in given):
        return _of_pairs(posterior, cast("list[tuple[str, str]]", given), at)
    among = cast("list[str]", given)
    if len(among) < 2:
        raise OptionError(
            f"got one word, {among[0]!r}, which is not a pair; a matrix of cosines needs two or more"
        )
    if isinstance(words, str):
        raise OptionError(f"{words!r} is one text; give a list of words")
    return Matrix(tuple(among), tuple(_of_pairs(posterior, list(combinations(among, 2)), at)))


def _of_pairs(posterior: "Posterior", pairs: Iterable[tuple[str, str]], at: str | None) -> list[Estimate]:
    wanted, rows, at = pair_rows(posterior, pairs, "similarity", at)
    return posterior.estimates(COSINE, wanted, cosines(posterior.draws, *rows.T), at)


def _ask(
    posterior: "Posterior",
    words: list[str] | None = None,
    *,
    file: Path | None = None,
    matrix: bool = False,
    at: str | None = None,
) -> Matrix | list[Estimate]:
    if matrix and file is not None:
        raise OptionError("got --matrix and --file; --matrix takes words")
    return similarities(posterior, words or [] if matrix else pairs_given(words, file, "words"), at=at)


def _lines(answer: Matrix | list[Estimate], asked: Asked) -> "Iterable[str | Table[Any]]":
    return [answer.text(asked["level"])] if isinstance(answer, Matrix) else sentences(answer, asked)


QUESTION = Question(
    _ask,
    parameters={
        "words": WORDS,
        "file": FILE,
        "matrix": Option("Give the cosines among all of the words.", ("--matrix",), label="All pairs"),
    },
    lines=_lines,
    terms={"cosine": pair_term(similarities, "cosine(word, word)")},
)
