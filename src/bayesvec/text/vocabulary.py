"""The vocabulary: which words are kept, and in which form."""

import heapq
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesvec._types import Int32, Int64
from bayesvec._validate import one_of, whole
from bayesvec.counts.pairs import first_repeated
from bayesvec.errors import InputError, OptionError
from bayesvec.text.stopwords import STOPWORDS

Words = str | os.PathLike[str] | Iterable[str]

DEFAULT_VOCAB = 5000


@dataclass(frozen=True)
class VocabularyOptions:
    """Which words are kept, and in which form.

    Attributes
    ----------
    vocab : int or None
        Maximum number of words to keep, the most frequent ones; None is 5,000.
    min_count : int
        Minimum count of a word.
    vocabulary : tuple of str or None
        The words to keep, instead of the most frequent ones.
    stem : str or None
        The language whose Snowball stemmer replaces each word by its stem.
    stopwords : frozenset of str
        Words that are removed or left unstemmed.
    stopwords_action : str
        ``drop`` or ``keep-unstemmed``.
    """

    vocab: int | None = None
    min_count: int = 1
    vocabulary: tuple[str, ...] | None = None
    stem: str | None = None
    stopwords: frozenset[str] = frozenset()
    stopwords_action: str = "drop"

    def __post_init__(self) -> None:
        if self.vocab is not None:
            object.__setattr__(self, "vocab", whole("vocab", self.vocab, 1))
        object.__setattr__(self, "min_count", whole("min_count", self.min_count, 1))
        if self.vocabulary is not None and (self.vocab is not None or self.min_count != 1):
            raise OptionError(
                "--vocabulary (vocabulary=) lists the words to keep; --vocab and --min-count do not go with it"
            )
        if self.stem is not None and self.stem not in (known := stemmers()):
            raise OptionError(f"stem is {self.stem!r}; it must be one of {', '.join(known)}, or left out")
        one_of("stopwords_action", self.stopwords_action, ("drop", "keep-unstemmed"))


def stemmers() -> list[str]:
    """Return the languages that have a Snowball stemmer."""
    import snowballstemmer

    return sorted(snowballstemmer.algorithms())


class WordList(NamedTuple):
    """A list of words given by the user, and where it came from."""

    words: tuple[str, ...]
    file: str | None
    sha256: str  # of the file, or of the words, one per line
    language: str | None = None  # of a list that comes with the package

    def described(self) -> dict[str, Any]:
        """Return the entry of the list in a recipe."""
        named = {} if self.language is None else {"language": self.language}
        return {"file": self.file, "sha256": self.sha256, "words": len(self.words), **named}


def read_words(source: Words, what: str) -> WordList:
    """Return words given as a list, or as a file with one word per line (blank lines are skipped)."""
    if not isinstance(source, str | os.PathLike):
        words = tuple(source)
        other = next((word for word in words if not isinstance(word, str)), None)
        if other is not None:
            raise OptionError(f"{what} holds {other!r}; it must be a list of words, or a file of them")
        content = "".join(f"{word}\n" for word in words).encode("utf-8", "surrogatepass")
        return WordList(words, None, sha256(content).hexdigest())
    try:
        content = Path(source).read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{what} file {source} cannot be read: {error.strerror}", file=str(source)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} file {source} is not UTF-8 at byte {error.start}; convert it to UTF-8", file=str(source)
        ) from None
    words = tuple(word for line in lines if (word := line.strip()))
    if not words:
        raise InputError(f"{what} file {source} holds no words; it needs one per line", file=str(source))
    return WordList(words, str(source), sha256(content).hexdigest())


def read_stopwords(source: Words) -> WordList:
    """Return the stopwords of a language, or those given as a list or a file; a file of that name comes first."""
    if isinstance(source, str) and source in STOPWORDS and not Path(source).exists():
        return read_words(STOPWORDS[source].split(), "stopwords")._replace(language=source)
    try:
        return read_words(source, "stopwords")
    except InputError as error:
        if isinstance(source, str) and source.isalpha() and not Path(source).exists():
            known = ", ".join(STOPWORDS)
            raise InputError(f"{error}; name a file, or a language: {known}", file=source) from None
        raise


def make_vocabulary_options(
    vocab: int | None,
    min_count: int,
    vocabulary: Words | None,
    stem: str | None,
    stopwords: Words | None,
    stopwords_action: str | None,
    *,
    form: Callable[[str], str],
) -> tuple[VocabularyOptions, dict[str, WordList]]:
    """Return the options, with listed words in the tokenizer's ``form``, and the lists as given."""
    if stopwords is None and stopwords_action is not None:
        raise OptionError(
            "--stopwords-action (stopwords_action=) needs --stopwords (stopwords=); give both or neither"
        )
    if stem is None and stopwords_action == "keep-unstemmed":
        raise OptionError("keep-unstemmed leaves stopwords out of the stemming; give --stem (stem=) too")
    options = VocabularyOptions(vocab, min_count, None, stem, frozenset(), stopwords_action or "drop")
    lists: dict[str, WordList] = {}
    if stopwords is not None:
        lists["stopwords"] = read_stopwords(stopwords)
        options = replace(options, stopwords=frozenset(map(form, lists["stopwords"].words)))
    if vocabulary is not None:
        lists["vocabulary"] = read_words(vocabulary, "vocabulary")
        options = replace(options, vocabulary=tuple(map(form, lists["vocabulary"].words)))
    return options, lists


def choose_vocabulary(
    forms: Sequence[str | None], frequency: Int64, options: VocabularyOptions
) -> tuple[tuple[str, ...], Int64, Int32]:
    """Choose the words to keep: the most frequent first, ties in the order of their code points.

    Parameters
    ----------
    forms : sequence of str or None
        The form of each word, see `word_forms`.
    frequency : ndarray of int64
        How often each word occurs.
    options : VocabularyOptions
        Which forms are kept.

    Returns
    -------
    vocabulary : tuple of str
        The words kept; a list given by the user keeps its order.
    counts : ndarray of int64
        The frequency of each.
    row : ndarray of int32
        The row in ``vocabulary`` of each word, -1 if it is not kept.
    """
    total: dict[str, int] = {}
    for form, count in zip(forms, frequency.tolist(), strict=True):
        if form is not None:
            total[form] = total.get(form, 0) + count
    vocabulary = options.vocabulary
    if vocabulary is not None:
        _check_list(vocabulary, total)
    else:
        vocabulary = _most_common(total, options)
    place = {word: row for row, word in enumerate(vocabulary)}
    row = np.array([-1 if form is None else place.get(form, -1) for form in forms], dtype=np.int32)
    counts = np.array([total.get(word, 0) for word in vocabulary], dtype=np.int64)
    return vocabulary, counts, row


def word_forms(words: Sequence[str], options: VocabularyOptions) -> list[str | None]:
    """Return the form under which each word is counted: itself, its stem, or None."""
    stopped = options.stopwords
    drop = options.stopwords_action == "drop"
    stems = list(words)
    if options.stem is not None:
        import snowballstemmer

        stems = snowballstemmer.stemmer(options.stem).stemWords(stems)
    return [
        stem if word not in stopped else (None if drop else word)
        for word, stem in zip(words, stems, strict=True)
    ]


def _most_common(total: dict[str, int], options: VocabularyOptions) -> tuple[str, ...]:
    frequent = sum(count >= options.min_count for count in total.values())
    size = DEFAULT_VOCAB if options.vocab is None else options.vocab
    if not frequent:
        most = max(total.values(), default=0)
        raise OptionError(
            f"no word reaches the minimum count {options.min_count} (min_count); the most common has {most}; lower it"
        )
    kept = heapq.nsmallest(min(size, frequent), ((-count, word) for word, count in total.items()))
    return tuple(word for _, word in kept)


def _check_list(vocabulary: tuple[str, ...], total: dict[str, int]) -> None:
    if (twice := first_repeated(vocabulary)) is not None:
        raise InputError(
            f"vocabulary has {twice!r} more than once (in the form of the tokenizer); words must be distinct"
        )
    if not vocabulary:
        raise OptionError("vocabulary is empty; it needs at least one word")
    if not any(word in total for word in vocabulary):
        raise InputError(
            f"none of the {len(vocabulary)} words of the vocabulary occurs in the corpus; "
            "give them in the form of the tokenizer (stems, if there is a stemmer)"
        )
