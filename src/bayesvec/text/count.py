"""Text, or baskets of items, to pair counts."""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from bayesvec import __version__
from bayesvec._pipeline import check_threads
from bayesvec._validate import group_name
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.spill import parse_memory
from bayesvec.counts.windows import PairOptions, count_corpus
from bayesvec.errors import InputError, OptionError
from bayesvec.text.corpus import TokenStream, encode, number_lists, tokenize
from bayesvec.text.reading import read_blocks, row_blocks
from bayesvec.text.sources import ReadOptions, Source, find_sources
from bayesvec.text.tables import Row
from bayesvec.text.tokens import Tokenizer, make_tokenizer
from bayesvec.text.vocabulary import VocabularyOptions, WordList, Words, make_vocabulary_options

PathLike = str | os.PathLike[str]

_LISTS = ("vocabulary", "stopwords")
_NONE_LEFT = object()


def count(
    texts: PathLike | Iterable[PathLike] | None = None,
    *,
    documents: Iterable[str | Sequence[str]] | None = None,
    groups: Iterable[Any] | None = None,
    vocab: int | None = None,
    min_count: int = 1,
    vocabulary: Words | None = None,
    window: int = 2,
    window_over: str = "positions",
    negatives: int = 1,
    negative_power: float = 1.0,
    subsample: float | None = None,
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
        compressed (``.gz .bz2 .xz .zst``). Text is never given here itself.
    documents : iterable of str, or of lists of str, optional
        The documents themselves, instead of ``texts``; lists of words are not cut again or lower-cased.
    groups : iterable, optional
        The group (a party, a year) of each of ``documents``: text, numbers or dates.
    vocab : int, optional
        How many of the most common words are kept; by default 5,000, or all if there are fewer. Words equally
        common are taken in the order of their code points.
    min_count : int, optional
        How often a word must occur to be kept.
    vocabulary : path or iterable of str, optional
        The words to keep, in this order, instead of the most common ones; a file has one on each line. They
        are lower-cased and composed as the tokenizer does it.
    window : int, optional
        Contexts are the words at most this far to the left and to the right, in the same document.
    window_over : {"positions", "vocabulary"}, optional
        Whether a word that is not kept keeps its place in the window or is closed up.
    negatives : int, optional
        Negative samples for each positive one.
    negative_power : float, optional
        They are drawn from the frequencies of the words kept, to this power.
    subsample : float, optional
        Threshold ``t`` of Mikolov et al. (2013): a token of a word with relative frequency ``f`` is kept with
        probability ``sqrt(t / f)``.
    tokenizer : str, optional
        ``words`` (lower-case Unicode words), ``whitespace`` (text that is tokenised already), or a regular
        expression. See `bayesvec.text.tokens` for what exactly a word is.
    lowercase : bool, optional
        Whether words are lower-cased; by default all but those of ``whitespace``.
    stem : {"english"}, optional
        Replace each word by its Snowball stem.
    stopwords : path or iterable of str, optional
        Words that are treated apart, given as those of ``vocabulary``.
    stopwords_action : {"drop", "keep-unstemmed"}, optional
        Whether stopwords are outside the vocabulary (the default) or only left unstemmed.
    text_column, group_column : str, optional
        The columns of a table that hold the text and the group of each document. With groups, word rows are
        ``word@group`` for every word that occurs in the group; contexts are shared.
    document : {"line", "file"}, optional
        What a document of plain text is.
    format : {"auto", "text", "jsonl", "csv", "tsv", "parquet"}, optional
        The format of the files; by default their names tell.
    encoding, errors : str, optional
        How bytes are decoded; ``errors`` is ``strict``, ``replace`` or ``ignore``.
    memory : str or int, optional
        About how much memory the counting may use, such as ``"1GB"``; beyond it temporary files are used, in
        the folder that the environment variable TMPDIR names. The list of distinct words is always in memory.
    threads : int, optional
        By default one for each processor.
    seed : int, optional
        Of the negative samples and the subsampling.
    progress : bool, optional
        Show progress if standard error is a terminal.

    Returns
    -------
    PairCounts
        The counts, with the encoded documents as ``source``.
    """
    pair_options = PairOptions(
        window=window,
        window_over=window_over,
        negatives=negatives,
        negative_power=negative_power,
        subsample=subsample,
        seed=seed,
    )
    cutter = make_tokenizer(tokenizer, lowercase)
    documents, are_lists = _peeked(documents)
    words, lists = make_vocabulary_options(
        vocab,
        min_count,
        vocabulary,
        stem,
        stopwords,
        stopwords_action,
        form=str if are_lists else cutter.form,
    )
    limit, workers = parse_memory(memory), check_threads(threads)
    reading = ReadOptions(text_column, group_column, document, format, encoding, errors)
    sources: list[Source] = []
    if are_lists and texts is None:
        stream = _read_lists(documents, groups, cutter, memory=limit)
    else:
        stream, sources = _read(
            texts, documents, groups, cutter, reading, memory=limit, threads=workers, show=progress
        )
    options = _described(words, lists, cutter, reading) | {"document": document}
    if are_lists:
        options |= {"tokenizer": None, "lowercase": None}
    return _counted(
        stream, sources, words, pair_options, options, memory=limit, threads=workers, show=progress
    )


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
    """Count the pairs of items that lie in the same basket (a user's films), with negative samples.

    Every ordered pair of distinct places in a basket is a positive sample.

    Parameters
    ----------
    baskets : iterable of iterables, or path or iterable of paths
        The baskets, each an iterable of items (named by ``str(item)``); or files as in `count`, where a line
        or a row of a table is a basket.
    groups : iterable, optional
        The group of each basket, where baskets are given themselves.
    tokenizer : str, optional
        How a line of a file is cut into items: at white space, or every match of a regular expression
        (``[^,]+`` for items between commas).
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
        window=None, negatives=negatives, negative_power=negative_power, subsample=subsample, seed=seed
    )
    cutter = make_tokenizer(tokenizer, lowercase)
    paths, items = _paths_or_baskets(baskets)
    form = (
        str if paths is None else cutter.form
    )  # baskets in memory are not cut: their items stay as they are
    words, lists = make_vocabulary_options(vocab, min_count, vocabulary, None, None, None, form=form)
    limit, workers = parse_memory(memory), check_threads(threads)
    reading = ReadOptions(text_column, group_column, "line", format, encoding, errors)
    sources: list[Source] = []
    if paths is None:
        stream = number_lists(map(_item_names, items, itertools.count(1)), cutter, memory=limit)
        stream = stream._replace(groups=_checked_groups(groups, len(stream.lengths), "baskets"))
    else:
        stream, sources = _read(
            paths, None, groups, cutter, reading, memory=limit, threads=workers, show=progress
        )
    options = _described(words, lists, cutter, reading)
    return _counted(
        stream, sources, words, pair_options, options, memory=limit, threads=workers, show=progress
    )


def _read(
    texts: Any,
    documents: Iterable[Any] | None,
    groups: Iterable[Any] | None,
    tokenizer: Tokenizer,
    reading: ReadOptions,
    *,
    memory: int,
    threads: int,
    show: bool,
) -> tuple[TokenStream, list[Source]]:
    """Read and tokenise files, or documents given as strings."""
    if (texts is None) == (documents is None):
        raise OptionError("give either texts (paths) or documents (strings), one of the two")
    reading = replace(
        reading, divisible=tokenizer.classes is not None, block_bytes=max(1 << 16, min(1 << 22, memory // 64))
    )
    sources: list[Source] = []
    if documents is not None:
        blocks = row_blocks(_given_rows(documents, groups), "documents", reading)
    elif groups is not None:
        raise OptionError(
            "groups goes with documents (or baskets) in memory; those of files are named by group_column"
        )
    else:
        sources = find_sources(texts)
        blocks = read_blocks(sources, reading)
    stream = tokenize(
        blocks,
        tokenizer,
        total_bytes=sum(source.size for source in sources),
        memory=memory,
        threads=threads,
        show=show,
    )
    if not len(stream.tokens):
        names = ", ".join(source.name for source in sources[:3]) or "documents"
        empty = sources and all(source.path is not None and source.size == 0 for source in sources)
        problem = "is empty" if empty else f"holds no words (tokenizer {tokenizer.name!r})"
        raise InputError(f"{names} {problem}; give text with at least two words")
    return stream, sources


def _peeked(documents: Any) -> tuple[Any, bool]:
    """Return the documents, and whether they are lists of words (by the first one)."""
    if documents is None or isinstance(documents, str):
        return documents, False
    rest = iter(documents)
    first = next(rest, _NONE_LEFT)
    if first is _NONE_LEFT:
        raise InputError("there are no documents; give at least one")
    return itertools.chain([first], rest), isinstance(first, list | tuple)


def _read_lists(documents: Any, groups: Any, tokenizer: Tokenizer, *, memory: int) -> TokenStream:
    """Number the words of documents that are lists of them."""
    stream = number_lists(map(_words_of, documents, itertools.count(1)), tokenizer, memory=memory)
    if not len(stream.tokens):
        raise InputError("documents holds no words; give text with at least two words")
    return stream._replace(groups=_checked_groups(groups, len(stream.lengths), "documents"))


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


def _given_rows(documents: Iterable[Any], groups: Iterable[Any] | None) -> Iterable[Row]:
    if isinstance(documents, str):
        raise InputError("documents is one string; it must be a list of strings, one for each document")
    names = None if groups is None else iter(groups)
    number = 0
    for number, text in enumerate(documents, start=1):
        if not isinstance(text, str):
            raise InputError(
                f"document {number} is {type(text).__name__}; it must be a string, or all must be lists of words"
            )
        yield text, None if names is None else _group_of(number, names), number
    if names is not None and next(names, _NONE_LEFT) is not _NONE_LEFT:
        raise InputError(f"there are more groups than documents ({number}); give one for each document")


def _group_of(number: int, groups: Iterator[Any]) -> str:
    group = next(groups, _NONE_LEFT)
    if group is _NONE_LEFT:
        raise InputError(f"document {number} has no group; groups needs one for each document")
    if (name := group_name(group)) is None:
        raise InputError(f"the group of document {number} is {group!r}; it must be text, a number or a date")
    return name


def _checked_groups(groups: Iterable[Any] | None, size: int, what: str) -> list[str] | None:
    if groups is None:
        return None
    given = list(groups)
    if len(given) != size:
        raise InputError(f"groups has {len(given)} entries for {size} {what}; it needs one for each")
    rest = iter(given)
    return [_group_of(number, rest) for number in range(1, size + 1)]


def _item_names(basket: Any, number: int) -> list[str]:
    if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
        raise InputError(f"basket {number} is {basket!r}; it must be a list of items")
    return [str(item) for item in basket]


def _paths_or_baskets(baskets: Any) -> tuple[Any, Iterable[Iterable[Any]]]:
    """Tell paths from baskets by the type of the first item: strings and paths are paths."""
    if isinstance(baskets, str | os.PathLike):
        return baskets, ()
    rest = iter(baskets)
    first = next(rest, None)
    if first is None:
        raise InputError("there are no baskets; give at least one")
    whole = itertools.chain([first], rest)
    return (list(whole), ()) if isinstance(first, str | os.PathLike) else (None, whole)


def _described(
    words: VocabularyOptions, lists: Mapping[str, WordList], tokenizer: Tokenizer, reading: ReadOptions
) -> dict[str, Any]:
    """Return the options that made the vocabulary, fit for JSON; lists of words by name, size and checksum."""
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
    *,
    memory: int,
    threads: int,
    show: bool,
) -> PairCounts:
    """Choose the vocabulary, count, and write down how it was done."""
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
        "groups": list(groups),
    }
    return count_corpus(corpus, vocabulary, groups, recipe=recipe, memory=memory, threads=threads, show=show)
