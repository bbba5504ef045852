"""Words as questions take them: pairs, from Python, from the command line, or from a file."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bayesvec._types import Int64
from bayesvec.errors import InputError, OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.texts import many
from bayesvec.posterior.table import Argument, Option, Question, Term
from bayesvec.posterior.terms import split_words

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior

WORDS = Argument("WORD...", "A word and one or more to compare it with.", "Words")
FILE = Option(
    "Read pairs of words from a file, one per line, separated by a tab or a space.", ("--file",), "FILE"
)


def pair_question(
    ask: "Callable[..., list[Estimate]]", form: str, words: Argument, *, partners: str = "words"
) -> Question:
    """Return the question that asks ``ask(posterior, pairs, at=...)`` about one word with others, or a file of pairs.

    ``form`` is how users write the quantity, such as ``cosine(word, word)``.
    """

    def asked(
        posterior: "Posterior",
        words: list[str] | None = None,
        *,
        file: Path | None = None,
        at: str | None = None,
    ) -> list[Estimate]:
        return ask(posterior, pairs_given(words, file, partners), at=at)

    parameters: dict[str, Argument | Option] = {"words": words, "file": FILE}
    return Question(asked, parameters=parameters, terms={form.partition("(")[0]: pair_term(ask, form)})


def pair_term(ask: "Callable[..., list[Estimate]]", form: str) -> Term:
    """Return the quantity of a pair of words that ``ask(posterior, pairs, at=...)`` answers."""

    def evaluate(posterior: "Posterior", parts: list[str], at: str | None) -> Estimate:
        return ask(posterior, [tuple(split_words(parts[0]))], at=at)[0]

    return Term(form, (2,), evaluate)


def pair_rows(
    posterior: "Posterior", pairs: Iterable[tuple[str, str]], what: str, at: str | None
) -> tuple[list[tuple[str, str]], Int64, str | None]:
    """Return pairs of different words, their rows, (pair, 2), and the slice that is meant."""
    wanted = checked_pairs(pairs)
    for one, other in wanted:
        if one == other:
            raise OptionError(f"a {what} needs two different words; got {one!r} twice")
    words = [word for pair in wanted for word in pair]
    at = posterior.slice_meant(words, at)
    return wanted, posterior.rows(words, at=at).reshape(-1, 2), at


def checked_words(words: Iterable[str]) -> list[str]:
    """Return words as a list; raise an `OptionError` if there are none or a text is given in place of a list."""
    if isinstance(words, str):
        raise OptionError(f"{words!r} is one text; give a list of words")
    wanted = list(words)
    if not wanted:
        raise OptionError("the list of words is empty; give at least one word")
    return wanted


def checked_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs as a list; raise an `OptionError` if there are none or one is not a pair."""
    wanted = list(pairs)
    if not wanted:
        raise OptionError("the list of words is empty; give at least one pair of words")
    for pair in wanted:
        if isinstance(pair, str) or len(pair) != 2:
            raise OptionError(f"{pair!r} is not a pair; give two words each")
    return wanted


def check_number(n: int, most: int, reason: str) -> None:
    """Raise an `OptionError` unless ``n`` is from 1 to ``most``."""
    if not 1 <= n <= most:
        raise OptionError(f"n is {n}; {reason}, so it must be from 1 to {most}")


def pairs_given(words: list[str] | None, file: Path | None, what: str) -> list[tuple[str, str]]:
    """Return the pairs that a command was given: one word with each of the others, or those of a file."""
    given = words or []
    if file is not None:
        if given:
            raise OptionError("got words and --file; give the words or a file of pairs, not both")
        return read_pairs(file)
    if len(given) < 2:
        raise OptionError(
            f"got {many(len(given), 'word')}; give a word and one or more {what}, or --file with pairs"
        )
    return [(given[0], other) for other in given[1:]]


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read two words per line, separated by a tab or, if there is none, by a space."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if not words:
            continue
        if len(words) != 2:
            message = f"{path}, line {number}: got {len(words)} words; a line has two, separated by a tab"
            raise InputError(message, file=str(path), line=number)
        pairs.append((words[0].strip(), words[1].strip()))
    if not pairs:
        raise InputError(
            f"{path} has no pairs of words; write two per line, separated by a tab", file=str(path)
        )
    return pairs


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of UTF-8 text."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {reason}", file=str(path)) from error
