"""Encoding: words become numbers as they are read, then rows of the vocabulary."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from bayesvec._pipeline import in_order
from bayesvec._progress import progress
from bayesvec._types import Int32, Int64
from bayesvec.counts.documents import BOUNDS_SHARE, EncodedCorpus, Lengths, document_bounds, spans
from bayesvec.counts.left_out import left_out
from bayesvec.counts.spill import PART, GrowingArray, grown, parts, release
from bayesvec.errors import InputError
from bayesvec.text.reading import Block
from bayesvec.text.tokens import Tokenizer, WordTable
from bayesvec.text.vocabulary import VocabularyOptions, choose_vocabulary


class TokenStream(NamedTuple):
    """Every token as the number of its word, before a vocabulary is chosen."""

    tokens: Int32
    lengths: Int64  # of each document
    words: list[str]  # by number
    frequency: Int64  # of each word
    groups: list[str] | None  # of each document
    zero_bytes: int = 0  # read as spaces


def tokenize(
    blocks: Iterable[Block], tokenizer: Tokenizer, *, total_bytes: int, memory: int, threads: int, show: bool
) -> TokenStream:
    """Split blocks of text into words and number them.

    Several blocks are scanned at once by compiled code; words are numbered in the order of the blocks.
    """
    table = WordTable(tokenizer)
    tokens = GrowingArray(np.int32, memory // 4)
    lengths = Lengths(memory)
    groups: list[str] = []
    with progress("reading", total_bytes or None, enabled=show) as advance:
        told = speed()
        for block, scanned in in_order(partial(_scan, tokenizer), blocks, threads=threads):
            if scanned is None:
                texts = (block.data[a:b].decode() for a, b in zip(block.starts, block.ends, strict=True))
                ids, block_lengths = table.add_lists(map(tokenizer.iterate, texts))
            else:
                ids, block_lengths = table.add_scanned(block.data, *scanned)
            tokens.append(ids)
            lengths.append(block_lengths, block.continues)
            groups.extend(block.groups or ())
            advance(block.read, told(tokens.size))
    return TokenStream(tokens.finish(), lengths.finish(), table.words, table.frequency, groups or None)


def speed() -> Callable[[int], str]:
    """Return a function that describes, for the progress line, how many tokens were read since this call."""
    start = perf_counter()

    def told(size: int) -> str:
        seconds = perf_counter() - start
        return f"{size:,} tokens" + (f", {size / seconds:,.0f} per second" if seconds > 1.0 else "")

    return told


def _scan(tokenizer: Tokenizer, block: Block) -> tuple[Block, tuple[Int32, Int64, Int64] | None]:
    """Scan a block in compiled code, if the tokenizer can."""
    if tokenizer.classes is None:
        return block, None
    from bayesvec.kernels.scanning import scan

    if tokenizer.lowercase:  # ASCII letters; their case makes no other difference
        block = block._replace(data=block.data.lower())
    data = np.frombuffer(block.data, dtype=np.uint8)
    return block, scan(data, block.starts, block.ends, tokenizer.classes)


def number_lists(documents: Iterable[Sequence[str]], tokenizer: Tokenizer, *, memory: int) -> TokenStream:
    """Number the words of tokenised documents."""
    table = WordTable(tokenizer)
    tokens = GrowingArray(np.int32, memory // 4)
    lengths = Lengths(memory)
    remaining = iter(documents)
    while several := [list(document) for document in islice(remaining, 10_000)]:
        ids, some_lengths = table.add_lists(several)
        tokens.append(ids)
        lengths.append(some_lengths, continues=False)
    return TokenStream(tokens.finish(), lengths.finish(), table.words, table.frequency, None)


def encode(
    stream: TokenStream,
    forms: list[str | None],
    options: VocabularyOptions,
    pair_options: dict[str, Any],
    *,
    memory: int,
) -> tuple[EncodedCorpus, tuple[str, ...], tuple[str, ...]]:
    """Choose the vocabulary and replace every token by its row, in place.

    Parameters
    ----------
    stream : TokenStream
        The text.
    forms : list of str or None
        The form under which each word is counted; None if it is not.
    options : VocabularyOptions
        Which forms are kept.
    pair_options : dict
        How pairs are counted, kept with the corpus.
    memory : int
        Limit on memory in bytes.

    Returns
    -------
    corpus : EncodedCorpus
        The documents.
    vocabulary : tuple of str
        Names of the context rows.
    groups : tuple of str
        Names of the groups, in order; empty if there are none.
    """
    vocabulary, frequency, row = choose_vocabulary(forms, stream.frequency, options)
    others = left_out(forms, stream.frequency, row)
    for part in parts(stream.tokens):
        part[:] = row[part]
    bounds = document_bounds(stream.lengths, memory=memory)
    names: tuple[str, ...] = ()
    group_of = rows = None
    if stream.groups is not None:
        names = tuple(sorted(set(stream.groups)))
        if bad := next((name for name in names if "@" in name), None):
            raise InputError(f"the group {bad!r} contains '@', which separates word and group; rename it")
        number = {name: at for at, name in enumerate(names)}
        group_of = np.array([number[group] for group in stream.groups], dtype=np.int32)
        rows = _rows_that_occur(stream.tokens, bounds, group_of, len(vocabulary), len(names))
    size = len(stream.lengths)
    some = (np.arange(first, min(first + PART, size)) for first in range(0, size, PART))
    numbers = grown(some, np.int64, memory // BOUNDS_SHARE)
    corpus = EncodedCorpus(stream.tokens, bounds, numbers, frequency, group_of, rows, pair_options, *others)
    return corpus, vocabulary, names


def _rows_that_occur(tokens: Int32, bounds: Int64, group_of: Int32, num_words: int, num_groups: int) -> Int32:
    """Return the (word, group) combinations that occur, word by word."""
    from bayesvec.kernels.counting import mark_rows

    occurs = np.zeros((num_words, num_groups), dtype=np.bool_)
    for span in spans(bounds):
        mark_rows(tokens, bounds, group_of, span, occurs)
        release(tokens[span.token : span.tokens_end])
    return np.argwhere(occurs).astype(np.int32)
