"""Pair counts of text, or of baskets of items."""

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from bayesvec import __version__
from bayesvec._pipeline import check_threads
from bayesvec._progress import tell
from bayesvec._validate import group_name
from bayesvec.counts.options import NEGATIVE_POWER, NEGATIVES, SUBSAMPLE, WINDOW, PairOptions
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.spill import parse_memory
from bayesvec.counts.windows import count_corpus
from bayesvec.errors import InputError, OptionError
from bayesvec.text.corpus import TokenStream, encode, number_lists, tokenize
from bayesvec.text.reading import Tally, read_blocks, row_blocks
from bayesvec.text.sources import ReadOptions, Source, find_sources
from bayesvec.text.tables import Row
from bayesvec.text.tokens import Tokenizer, make_tokenizer
from bayesvec.text.vocabulary import VocabularyOptions, WordList, Words, make_vocabulary_options

PathLike = str | os.PathLike[str]

_LISTS = ("vocabulary", "stopwords")


def count(
    texts: PathLike | Iterable[PathLike] | None = None,
    *,
    documents: Iterable[str | Sequence[str]] | None = None,
    groups: Iterable[Any] | None = None,
    vocab: int | None = None,
    min_count: int = 1,
    vocabulary: Words | None = None,
    window: int = WINDOW,
    window_over: str = "positions",
    negatives: int = NEGATIVES,
    negative_power: float = NEGATIVE_POWER,
    subsample: float | str | None = SUBSAMPLE,
    tokenizer: str = "words",
    lowercase: bool | None = None,
    stem: str | None = None,
    stopwords: Words | None = None,
    stopwords_action: str | None = None,
    text_column: str | None = None,
    group_column: str | None = None,
    document: str = "line",
    format: str = "auto",
    encoding: str = "utf-8",
    errors: str = "strict",
    memory: str | int | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> PairCounts:
    """Count the word pairs of a text, with negative samples.

    The counts are the same whatever the number of threads and the memory limit.

    Parameters
    ----------
    texts : path or iterable of paths, optional
        Files, globs, folders, or ``-`` for standard input: plain text, JSON lines, CSV or Parquet, also
        compressed (``.gz .bz2 .xz .zst``). To give the text itself, use ``documents``.
    documents : iterable of str, or of lists of str, optional
        The documents themselves, instead of ``texts``; lists of words are not tokenised or lower-cased.
    groups : iterable, optional
        The group (a party, a year) of each of ``documents``: text, numbers or dates.
    vocab : int, optional
        Size of the vocabulary, the most frequent words; by default 5,000, or all if there are fewer. Ties are
        broken by code points.
    min_count : int, optional
        Minimum count of a word.
    vocabulary : path or iterable of str, optional
        The vocabulary, in this order, instead of the most frequent words; a file has one word per line. Words are
        lower-cased and composed as the tokenizer does it.
    window : int, optional
        Number of words to the left and to the right that are contexts, in the same document.
    window_over : {"positions", "vocabulary"}, optional
        Whether a word outside the vocabulary keeps its position in the window or is removed first.
    negatives : int, optional
        Negative samples per positive sample.
    negative_power : float, optional
        Negative samples are drawn in proportion to the frequencies to this power.
    subsample : float, "auto" or None, optional
        Threshold ``t`` of Mikolov et al. (2013): a token of a word with relative frequency ``f`` is kept with
        probability ``sqrt(t / f)``. ``auto`` is 0.001, or the mean frequency of the vocabulary's words if that
        is larger, and nothing in a text of fewer than 10,000 tokens; None keeps every token.
    tokenizer : str, optional
        ``words`` (lower-case Unicode words), ``whitespace`` (for tokenised text), or a regular expression. See
        `bayesvec.text.tokens` for the definition of a word.
    lowercase : bool, optional
        Whether words are lower-cased; by default with every tokenizer but ``whitespace``.
    stem : {"english"}, optional
        Replace each word by its Snowball stem.
    stopwords : path or iterable of str, optional
        Stopwords, given like ``vocabulary``.
    stopwords_action : {"drop", "keep-unstemmed"}, optional
        Whether stopwords are removed from the vocabulary (the default) or only left unstemmed.
    text_column, group_column : str, optional
        The columns of a table that hold the text and the group of each document. With groups, word rows are
        ``word@group`` for every word that occurs in the group; contexts are shared.
    document : {"line", "file"}, optional
        Whether a document of plain text is a line or a file.
    format : {"auto", "text", "jsonl", "csv", "tsv", "parquet"}, optional
        The format of the files; by default by their names.
    encoding, errors : str, optional
        How bytes are decoded; ``errors`` is ``strict``, ``replace`` or ``ignore``.
    memory : str or int, optional
        Approximate limit on memory, such as ``"1GB"``; beyond it temporary files are used, in the folder named by
        the environment variable TMPDIR. The list of distinct words is always in memory.
    threads : int, optional
        Number of threads; by default one per processor.
    seed : int, optional
        Seed of the negative samples and the subsampling.
    progress : bool, optional
        Show progress if standard error is a terminal.

    Returns
    -------
    PairCounts
        The counts, with the encoded documents as ``source``.
    """
    pair_options = PairOptions(window, window_over, negatives, negative_power, subsample, seed)
    cutter = make_tokenizer(tokenizer, lowercase)
    documents, are_lists = _peek(documents)
    form = str if are_lists else cutter.form
    words, lists = make_vocabulary_options(
        vocab, min_count, vocabulary, stem, stopwords, stopwords_action, form=form
    )
    limits = _Limits(parse_memory(memory), check_threads(threads), progress)
    reading = ReadOptions(text_column, group_column, document, format, encoding, errors)
    sources: list[Source] = []
    if are_lists and texts is None:
        stream = _number(map(_words_of, documents, itertools.count(1)), cutter, "documents", limits)
        stream = _with_groups(stream, groups, "documents")
    else:
        stream, sources = _read(texts, documents, groups, cutter, reading, limits)
    options = _described(words, lists, cutter, reading) | {"document": document}
    if are_lists:
        options |= {"tokenizer": None, "lowercase": None}
    return _counted(stream, sources, words, pair_options, options, limits)


def count_baskets(
    baskets: PathLike | Iterable[PathLike] | Iterable[Iterable[Any]],
    *,
    groups: Iterable[Any] | None = None,
    vocab: int | None = None,
    min_count: int = 1,
    vocabulary: Words | None = None,
    negatives: int = 1,
    negative_power: float = 1.0,
    subsample: float | None = None,
    tokenizer: str = "whitespace",
    lowercase: bool | None = None,
    text_column: str | None = None,
    group_column: str | None = None,
    format: str = "auto",
    encoding: str = "utf-8",
    errors: str = "strict",
    memory: str | int | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> PairCounts:
    """Count the pairs of items in the same basket (the films of a user), with negative samples.

    Every ordered pair of distinct positions in a basket is a positive sample.

    Parameters
    ----------
    baskets : iterable of iterables, or path or iterable of paths
        The baskets, each an iterable of items (named by ``str(item)``); or files as in `count`, where a line or
        a row of a table is a basket.
    groups : iterable, optional
        The group of each basket, if the baskets themselves are given.
    tokenizer : str, optional
        How a line of a file is split into items: at white space, or every match of a regular expression (``[^,]+``
        for items separated by commas).
    vocab, min_count, vocabulary, negatives, negative_power, subsample
        As in `count`, items for words.
    lowercase, text_column, group_column, format, encoding, errors, memory, threads, seed, progress
        As in `count`.

    Returns
    -------
    PairCounts
        The counts, with the encoded baskets as ``source``.
    """
    pair_options = PairOptions(
        None, negatives=negatives, negative_power=negative_power, subsample=subsample, seed=seed
    )
    cutter = make_tokenizer(tokenizer, lowercase)
    paths, items = _paths_or_baskets(baskets)
    form = str if paths is None else cutter.form  # items of baskets in memory stay as they are
    words, lists = make_vocabulary_options(vocab, min_count, vocabulary, None, None, None, form=form)
    limits = _Limits(parse_memory(memory), check_threads(threads), progress)
    reading = ReadOptions(text_column, group_column, "line", format, encoding, errors)
    sources: list[Source] = []
    if paths is None:
        stream = _number(map(_item_names, items, itertools.count(1)), cutter, "baskets", limits)
        stream = _with_groups(stream, groups, "baskets")
    else:
        stream, sources = _read(paths, None, groups, cutter, reading, limits)
    options = _described(words, lists, cutter, reading)
    return _counted(stream, sources, words, pair_options, options, limits)


class _Limits(NamedTuple):
    """Resources that counting may use, and whether it shows its progress."""

    memory: int
    threads: int
    show: bool


def _read(
    texts: Any,
    documents: Iterable[Any] | None,
    groups: Iterable[Any] | None,
    tokenizer: Tokenizer,
    reading: ReadOptions,
    limits: _Limits,
) -> tuple[TokenStream, list[Source]]:
    """Read and tokenise files, or documents given as strings."""
    if (texts is None) == (documents is None):
        raise OptionError("give either texts (paths) or documents (strings), one of the two")
    if documents is None and groups is not None:
        raise OptionError(
            "groups goes with documents (or baskets) in memory; for files, name the column by group_column"
        )
    block_bytes = max(1 << 16, min(1 << 22, limits.memory // 64))
    reading = replace(reading, divisible=tokenizer.classes is not None, block_bytes=block_bytes)
    sources = [] if documents is not None else find_sources(texts)
    tally = Tally()
    blocks = (
        read_blocks(sources, reading, tally)
        if documents is None
        else row_blocks(_given_rows(documents), "documents", reading, tally)
    )
    total = sum(source.size for source in sources)
    memory, threads, show = limits
    stream = tokenize(blocks, tokenizer, total_bytes=total, memory=memory, threads=threads, show=show)
    if not len(stream.tokens):
        names = ", ".join(source.name for source in sources[:3]) or "documents"
        empty = sources and all(source.path is not None and source.size == 0 for source in sources)
        problem = "is empty" if empty else f"holds no words (tokenizer {tokenizer.name!r})"
        raise InputError(f"{names} {problem}; give text with at least two words")
    if tally.zero_bytes and show:
        zeros = (
            "1 zero byte (NUL) in the text was"
            if tally.zero_bytes == 1
            else f"{tally.zero_bytes:,} zero bytes (NUL) in the text were"
        )
        tell(f"{zeros} read as white space")
    stream = stream._replace(zero_bytes=tally.zero_bytes)
    return _with_groups(stream, groups, "documents"), sources


def _number(lists: Iterable[Sequence[str]], tokenizer: Tokenizer, what: str, limits: _Limits) -> TokenStream:
    """Number the words of documents given as lists, or the items of baskets."""
    stream = number_lists(lists, tokenizer, memory=limits.memory)
    if not len(stream.tokens):
        raise InputError(f"{what} holds no words; give at least two words")
    return stream


def _peek(documents: Any) -> tuple[Any, bool]:
    """Return the documents, and whether they are lists of words, judging by the first."""
    if documents is None or isinstance(documents, str):
        return documents, False
    first, whole = _first_of(documents, "documents")
    return whole, isinstance(first, list | tuple)


def _paths_or_baskets(baskets: Any) -> tuple[Any, Iterable[Iterable[Any]]]:
    """Return paths or baskets, judging by the type of the first: strings and paths are paths."""
    if isinstance(baskets, str | os.PathLike):
        return baskets, ()
    first, whole = _first_of(baskets, "baskets")
    return (list(whole), ()) if isinstance(first, str | os.PathLike) else (None, whole)


def _first_of(items: Iterable[Any], what: str) -> tuple[Any, Iterable[Any]]:
    """Return the first item, and all of them."""
    rest = iter(items)
    for first in rest:
        return first, itertools.chain([first], rest)
    raise InputError(f"there are no {what}; give at least one")


def _words_of(document: Any, number: int) -> Sequence[str]:
    if not isinstance(document, list | tuple):
        raise InputError(
            f"document {number} is {type(document).__name__}, and the first one is a list of words; "
            "give all in one form"
        )
    other = next((word for word in document if not isinstance(word, str) or not word), None)
    if other is not None:
        raise InputError(f"document {number} holds {other!r}; words are strings, not empty")
    return document


def _item_names(basket: Any, number: int) -> list[str]:
    if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
        raise InputError(f"basket {number} is {basket!r}; it must be a list of items")
    return [str(item) for item in basket]


def _given_rows(documents: Iterable[Any]) -> Iterable[Row]:
    if isinstance(documents, str):
        raise InputError("documents is one string; it must be a list of strings, one per document")
    for number, text in enumerate(documents, start=1):
        if not isinstance(text, str):
            raise InputError(
                f"document {number} is {type(text).__name__}; it must be a string, or all must be lists of words"
            )
        yield text, None, number


def _with_groups(stream: TokenStream, groups: Iterable[Any] | None, what: str) -> TokenStream:
    """Return the documents with the groups that were given for them."""
    if groups is None:
        return stream
    names = []
    for number, group in enumerate(groups, start=1):
        if (name := group_name(group)) is None:
            raise InputError(f"group {number} is {group!r}; it must be text, a number or a date")
        names.append(name)
    if len(names) != len(stream.lengths):
        raise InputError(f"there are {len(names)} groups for {len(stream.lengths)} {what}; give one for each")
    return stream._replace(groups=names)


def _described(
    words: VocabularyOptions, lists: Mapping[str, WordList], tokenizer: Tokenizer, reading: ReadOptions
) -> dict[str, Any]:
    """Return the options of the vocabulary as JSON values; lists of words by name, size and checksum."""
    described = {name: lists[name].described() if name in lists else None for name in _LISTS}
    return {
        "vocab": words.vocab,
        "min_count": words.min_count,
        "stem": words.stem,
        **described,
        "stopwords_action": words.stopwords_action,
        "tokenizer": tokenizer.name,
        "lowercase": tokenizer.lowercase,
        "text_column": reading.text_column,
        "group_column": reading.group_column,
        "format": reading.format,
        "encoding": reading.encoding,
        "errors": reading.errors,
    }


def _counted(
    stream: TokenStream,
    sources: Sequence[Source],
    words: VocabularyOptions,
    pair_options: PairOptions,
    options: dict[str, Any],
    limits: _Limits,
) -> PairCounts:
    """Choose the vocabulary, count, and record how it was done."""
    types = len(stream.words)
    stopwords_not_found = len(words.stopwords.difference(stream.words))
    documents = int((stream.lengths > 0).sum())
    corpus, vocabulary, groups = encode(stream, words, asdict(pair_options))
    recipe = {
        "made_by": "count" if pair_options.window is not None else "count_baskets",
        "version": __version__,
        "options": {**options, **asdict(pair_options)},
        "inputs": [{"name": source.name, "bytes": source.size or None} for source in sources],
        "documents": documents,
        "tokens": len(corpus.tokens),
        "tokens_in_vocabulary": int(corpus.frequency.sum()),
        "word_types": types,
        "words_not_found": int((corpus.frequency == 0).sum()),
        "stopwords_not_found": stopwords_not_found,
        "zero_bytes": stream.zero_bytes,
        "groups": list(groups),
    }
    memory, threads, show = limits
    return count_corpus(corpus, vocabulary, groups, recipe=recipe, memory=memory, threads=threads, show=show)
