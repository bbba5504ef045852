r"""Phrases: two words that occur together more often than chance are joined into one, ``new_york``.

The score of words a and b is that of Mikolov et al. (2013), as gensim's ``Phrases`` computes it,

.. math:: \frac{(n_{ab} - m) V}{n_a n_b},

with :math:`n_{ab}` occurrences of b right after a, the minimum count :math:`m`, and :math:`V` different words and
pairs of words. Pairs above the threshold are joined from left to right; a word is part of one phrase at most.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesvec._types import Array, Bool, Int32, Int64
from bayesvec._validate import positive, whole
from bayesvec.counts.documents import document_bounds
from bayesvec.counts.spill import PART, parts, release
from bayesvec.text.corpus import TokenStream

JOINED_BY = "_"
_FEWEST = 1 << 16  # pairs to hold, however little memory there is


@dataclass(frozen=True)
class PhraseOptions:
    """Which pairs of words are phrases.

    Attributes
    ----------
    threshold : float
        Smallest score of a phrase.
    min_count : int
        Count that is subtracted from that of a pair: rarer pairs are never phrases.
    """

    threshold: float = 10.0
    min_count: int = 5

    def __post_init__(self) -> None:
        positive("phrase_threshold", self.threshold, or_zero=True)
        object.__setattr__(self, "min_count", whole("phrase_min_count", self.min_count, 1))


def join_phrases(
    stream: TokenStream, forms: list[str | None], options: PhraseOptions, *, memory: int
) -> tuple[TokenStream, list[str | None], int]:
    """Join the phrases of a text, in place.

    Parameters
    ----------
    stream : TokenStream
        The text.
    forms : list of str or None
        The form of each word; a word without one (a stopword) is in no phrase.
    options : PhraseOptions
        Which pairs are phrases.
    memory : int
        Limit on memory; less of it takes longer, with the same result.

    Returns
    -------
    stream : TokenStream
        The text, each form and each phrase a word.
    forms : list of str or None
        The form of each word.
    found : int
        Number of different phrases.
    """
    stream, forms = _by_form(stream, forms)
    joinable = np.array([form is not None for form in forms])
    pairs = _Pairs(stream.tokens, document_bounds(stream.lengths, memory=memory), joinable)
    keys = _phrases(pairs, stream.frequency, options, most=max(_FEWEST, memory // 512))
    number = {word: at for at, word in enumerate(stream.words)}
    words = list(stream.words)
    ids = np.empty(len(keys), dtype=np.int32)
    for at, (a, b) in enumerate(zip(*np.divmod(keys, len(joinable)), strict=True)):
        phrase = f"{stream.words[a]}{JOINED_BY}{stream.words[b]}"
        ids[at] = number.setdefault(phrase, len(number))
        if ids[at] == len(words):
            words.append(phrase)
    forms += words[len(forms) :]
    tokens, lengths = _join(pairs, keys, ids, stream.lengths)
    from bayesvec.kernels.counting import add_occurrences

    frequency = np.zeros(len(words), dtype=np.int64)
    for part in parts(tokens):
        add_occurrences(part, frequency)
    joined = stream._replace(tokens=tokens, lengths=lengths, words=words, frequency=frequency)
    return joined, forms, len(keys)


def _by_form(stream: TokenStream, forms: list[str | None]) -> tuple[TokenStream, list[str | None]]:
    """Number the forms in place of the words, in place."""
    number: dict[tuple[str, bool], int] = {}
    code = np.array(
        [
            number.setdefault((word if form is None else form, form is None), len(number))
            for word, form in zip(stream.words, forms, strict=True)
        ],
        dtype=np.int32,
    )
    for part in parts(stream.tokens):
        part[:] = code[part]
    frequency = np.zeros(len(number), dtype=np.int64)
    np.add.at(frequency, code, stream.frequency)
    words = [word for word, _ in number]
    return stream._replace(words=words, frequency=frequency), [
        None if stopped else word for word, stopped in number
    ]


class _Pairs(NamedTuple):
    """The pairs of adjacent words of a document, each as one number."""

    tokens: Int32
    bounds: Int64  # of the documents
    joinable: Bool  # of each word

    def at(self, first: int, stop: int) -> Int64:
        """Return the pairs that begin at tokens from ``first`` to before ``stop``; -1 where there is none."""
        keys = np.full(stop - first, -1, dtype=np.int64)
        last = min(stop, len(self.tokens) - 1)
        left, right = self.tokens[first:last].astype(np.int64), self.tokens[first + 1 : last + 1]
        keys[: last - first] = np.where(
            self.joinable[left] & self.joinable[right], left * len(self.joinable) + right, -1
        )
        ends = self.bounds[
            np.searchsorted(self.bounds, first + 1) : np.searchsorted(self.bounds, stop, "right")
        ]
        keys[ends - 1 - first] = -1
        release(self.tokens[first:stop], ends)
        return keys


def _phrases(pairs: _Pairs, frequency: Int64, options: PhraseOptions, *, most: int) -> Int64:
    """Return the pairs whose score is above the threshold, in order."""
    distinct = int(np.count_nonzero(frequency[pairs.joinable]))
    frequent: list[tuple[Int64, Int64]] = []
    left = [(1, 0)]
    while left:  # more parts of the pairs than one, if they cannot all be held at a time
        keys, counts = _counted(pairs, *left.pop(), left, most=most)
        distinct += len(keys)
        kept = counts > options.min_count
        frequent.append((keys[kept], counts[kept]))
    keys, counts = _added(frequent)
    a, b = np.divmod(keys, len(pairs.joinable))
    score = (counts - options.min_count) / (frequency[a] * frequency[b]).astype(np.float64) * distinct
    return keys[score > options.threshold]


def _counted(
    pairs: _Pairs, parts: int, part: int, left: list[tuple[int, int]], *, most: int
) -> tuple[Int64, Int64]:
    """Count the pairs of one of ``parts`` parts; what does not fit becomes a part of its own, for later."""
    held: list[tuple[Int64, Int64]] = []
    total = merged = 0
    for first in range(0, len(pairs.tokens), PART):
        keys = pairs.at(first, min(first + PART, len(pairs.tokens)))
        keys = keys[(keys >= 0) & _in_part(keys, parts, part)]
        held.append(np.unique(keys, return_counts=True))
        total += len(held[-1][0])
        if total <= max(2 * merged, most):
            continue
        held = [_added(held)]
        while len(held[0][0]) > most:
            left.append((2 * parts, part + parts))
            parts *= 2
            stays = _in_part(held[0][0], parts, part)
            held = [(held[0][0][stays], held[0][1][stays])]
        total = merged = len(held[0][0])
    return _added(held)


def _in_part(keys: Int64, parts: int, part: int) -> Bool:
    """Whether each pair is in a part, by a hash of it; ``parts`` is a power of two."""
    mixed = (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return np.asarray((mixed & np.uint64(parts - 1)) == np.uint64(part))


def _added(held: list[tuple[Int64, Int64]]) -> tuple[Int64, Int64]:
    """Add up the counts of equal pairs; pairs increase."""
    keys: Array = np.concatenate([np.zeros(0, np.int64), *(keys for keys, _ in held)])
    counts: Array = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in held)])
    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(counts, first)


def _join(pairs: _Pairs, phrases: Int64, ids: Int32, lengths: Int64) -> tuple[Int32, Int64]:
    """Replace the two words of each phrase by its number, from left to right, in place."""
    tokens = pairs.tokens
    if not len(phrases):
        return tokens, lengths
    written, taken = 0, False  # taken: the first token belongs to the phrase before it
    for first in range(0, len(tokens), PART):
        stop = min(first + PART, len(tokens))
        keys = pairs.at(first, stop)
        place = np.minimum(np.searchsorted(phrases, keys), len(phrases) - 1)
        joined = _every_other(phrases[place] == keys, taken)
        second = np.concatenate([[taken], joined[:-1]])
        new = np.where(joined, ids[place], tokens[first:stop])[~second]
        document = np.searchsorted(pairs.bounds, first + np.flatnonzero(joined), "right") - 1
        np.subtract.at(lengths, document, 1)
        release(pairs.bounds, lengths)
        tokens[written : written + len(new)] = new
        release(tokens[written:stop])
        written, taken = written + len(new), bool(joined[-1])
    return tokens[:written], lengths


def _every_other(marked: Bool, taken: bool) -> Bool:
    """Keep the first, third, ... of each run of marks; if ``taken``, the first mark of all cannot be kept."""
    marked = marked.copy()
    marked[0] &= not taken
    at = np.arange(len(marked))
    begins = marked & ~np.concatenate([[False], marked[:-1]])
    run = np.maximum.accumulate(np.where(begins, at, 0))
    return np.asarray(marked & ((at - run) % 2 == 0))
