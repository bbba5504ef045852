"""Files of test sets: human judgements of similarity (WordSim, SimLex, MEN) and analogies (Google)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesvec.errors import InputError, OptionError
from bayesvec.posterior.words import read_lines

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior


_SHOWN = 60  # characters of a line in a message


class Judgement(NamedTuple):
    """Two words and how similar people find them."""

    first: str
    second: str
    score: float


class Analogy(NamedTuple):
    """A question of a test set, with its section."""

    section: str
    words: tuple[str, str, str, str]


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Read lines of word, word, score, separated by tabs, commas or spaces.

    The score is the first number after the words (SimLex-999 has the part of speech between). Lines that begin with
    ``#`` and a first line of titles are skipped.
    """
    titles = True  # may still come
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in _cut(line)]
        score = next((value for part in parts[2:] if (value := _number(part)) is not None), None)
        if score is None and not (titles and len(parts) >= 3):
            shown = line.strip() if len(line) <= _SHOWN else f"{line.strip()[:_SHOWN]}..."
            raise InputError(f"{path}, line {number}: got {shown!r}; a judgement is word, word, score")
        titles = False
        if score is None:
            continue
        if not np.isfinite(score):
            raise InputError(f"{path}, line {number}: the score is {score}; it must be a finite number")
        yield Judgement(parts[0], parts[1], score)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cut(line: str) -> list[str]:
    for mark in ("\t", ",", ";"):
        if mark in line:
            return line.split(mark)
    return line.split()


def read_analogies(path: Path) -> Iterator[Analogy]:
    """Read a test set in the format of the Google analogies: ``: section`` lines, then four words per line."""
    section = ""
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith(":"):
            section = line[1:].strip()
        elif line.strip():
            words = line.split()
            if len(words) != 4:
                raise InputError(
                    f"{path}, line {number}: got {len(words)} words; an analogy has four: a b c answer"
                )
            yield Analogy(section, (words[0], words[1], words[2], words[3]))


def word_finder(posterior: "Posterior", at: str | None = None) -> Callable[[str], int | None]:
    """Return a function that finds the row of a word of a test set, normalised as the words of the text were."""
    if at is None and posterior.slices:
        raise OptionError(
            f"{posterior.path} has slices ({', '.join(posterior.slices[:5])}), each with its own words; "
            "choose one with --at SLICE (at=)"
        )
    options = posterior.draws.manifest["counts"]["recipe"].get("options", {})
    rows: dict[str, int] = {posterior.bare_name(row, at): row for row in posterior.slice_rows(at).tolist()}
    stem: Callable[[str], str] = str
    if options.get("stem"):
        import snowballstemmer

        stem = snowballstemmer.stemmer(options["stem"]).stemWord

    def find(word: str) -> int | None:
        for spelling in (word, word.lower(), stem(word.lower())):
            if spelling in rows:
                return rows[spelling]
        return None

    return find
