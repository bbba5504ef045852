"""Text, or baskets of items, to pair counts."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from bayesvec import __version__
from bayesvec.counts import PairCounts
from bayesvec.errors import InputError, OptionError
from bayesvec.text.corpus import TokenStream, VocabularyOptions, encode, number_lists, read_words, tokenize
from bayesvec.text.holdout import split_documents
from bayesvec.text.memory import parse_memory
from bayesvec.text.pairs import PairOptions, count_corpus
from bayesvec.text.pipeline import check_threads
from bayesvec.text.reading import read_blocks, row_blocks
from bayesvec.text.sources import ReadOptions, Source, find_sources
from bayesvec.text.tables import Row
from bayesvec.text.tokens import Tokenizer, make_tokenizer

__all__ = ["count", "count_baskets", "count_corpus", "split_documents"]

PathLike = str | os.PathLike[str]
Words = PathLike | Iterable[str]


def count(
    texts: PathLike | Iterable[PathLike] | None = None,
    *,
    documents: Iterable[str] | None = None,
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
    stopwords_action: str = "drop",
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
    documents : iterable of str, optional
        The documents themselves, instead of ``texts``.
    groups : iterable, optional
        The group (a party, a year) of each of ``documents``.
    vocab : int, optional
        How many of the most common words are kept; by default 5,000, or all if there are fewer. Words equally
        common are taken in the order of their code points.
    min_count : int, optional
        How often a word must occur to be kept.
    vocabulary : path or iterable of str, optional
        The words to keep, in this order, instead of the most common ones; a file has one on each line.
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
        Words, as the tokenizer leaves them, that are treated apart.
    stopwords_action : {"drop", "keep-unstemmed"}, optional
        Whether stopwords are outside the vocabulary or only left unstemmed.
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
        About how much memory the counting may use, such as ``"1GB"``; beyond it temporary files are used. The
        list of distinct words is always in memory.
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
    words = _vocabulary_options(vocab, min_count, vocabulary, stem, stopwords, stopwords_action)
    cutter = make_tokenizer(tokenizer, lowercase)
    limit, workers = parse_memory(memory), check_threads(threads)
    reading = ReadOptions(text_column, group_column, document, format, encoding, errors)
    stream, sources = _read(
        texts, documents, groups, cutter, reading, memory=limit, threads=workers, show=progress
    )
    options = {
        **_described(words, cutter),
        "text_column": text_column,
        "group_column": group_column,
        "document": document,
        "encoding": encoding,
        "errors": errors,
    }
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
    words = _vocabulary_options(vocab, min_count, vocabulary, None, None, "drop")
    cutter = make_tokenizer(tokenizer, lowercase)
    limit, workers = parse_memory(memory), check_threads(threads)
    reading = ReadOptions(text_column, group_column, "line", format, encoding, errors)
    sources: list[Source] = []
    paths, items = _paths_or_baskets(baskets)
    if paths is None:
        stream = number_lists(([str(item) for item in basket] for basket in items), cutter, memory=limit)
        stream = stream._replace(groups=_checked_groups(groups, len(stream.lengths)))
    else:
        stream, sources = _read(
            paths, None, groups, cutter, reading, memory=limit, threads=workers, show=progress
        )
    options = {**_described(words, cutter), "text_column": text_column, "group_column": group_column}
    return _counted(
        stream, sources, words, pair_options, options, memory=limit, threads=workers, show=progress
    )


def _vocabulary_options(
    vocab: int | None,
    min_count: int,
    vocabulary: Words | None,
    stem: str | None,
    stopwords: Words | None,
    stopwords_action: str,
) -> VocabularyOptions:
    options = VocabularyOptions(vocab, min_count, None, stem, frozenset(), stopwords_action)
    if stopwords is not None:
        options = replace(options, stopwords=frozenset(read_words(stopwords, "stopwords")))
    if vocabulary is not None:
        options = replace(options, vocabulary=read_words(vocabulary, "vocabulary"))
    return options


def _read(
    texts: Any,
    documents: Iterable[str] | None,
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
        raise OptionError("groups goes with documents; the groups of files are named by group_column")
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


def _given_rows(documents: Iterable[str], groups: Iterable[Any] | None) -> Iterable[Row]:
    if isinstance(documents, str):
        raise InputError("documents is one string; it must be a list of strings, one for each document")
    names = None if groups is None else iter(groups)
    number = 0
    for number, text in enumerate(documents, start=1):
        if not isinstance(text, str):
            raise InputError(f"document {number} is {type(text).__name__}; it must be a string")
        group = None if names is None else next(names, None)
        if names is not None and group is None:
            raise InputError(f"document {number} has no group; groups needs one for each document")
        yield text, group, number
    if names is not None and next(names, None) is not None:
        raise InputError(f"there are more groups than documents ({number}); give one for each document")


def _checked_groups(groups: Iterable[Any] | None, size: int) -> list[str] | None:
    if groups is None:
        return None
    names = list(groups)
    if len(names) != size or any(name is None for name in names):
        raise InputError(f"groups has {len(names)} entries for {size} baskets; it needs one for each")
    return [str(name) for name in names]


def _paths_or_baskets(baskets: Any) -> tuple[Any, Iterable[Iterable[Any]]]:
    """Tell paths from baskets by the type of the first item: strings and paths are paths."""
    if isinstance(baskets, str | os.PathLike):
        return baskets, ()
    rest = iter(baskets)
    first = next(rest, None)
    if first is None:
        raise InputError("there are no baskets; give at least one")
    whole = chain([first], rest)
    return (list(whole), ()) if isinstance(first, str | os.PathLike) else (None, whole)


def _described(words: VocabularyOptions, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the options that made the vocabulary, fit for JSON; lists of words by their length alone."""
    return {
        "vocab": words.vocab,
        "min_count": words.min_count,
        "vocabulary": None if words.vocabulary is None else len(words.vocabulary),
        "stem": words.stem,
        "stopwords": len(words.stopwords),
        "stopwords_action": words.stopwords_action,
        "tokenizer": tokenizer.name,
        "lowercase": tokenizer.lowercase,
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
        "groups": list(groups),
    }
    return count_corpus(corpus, vocabulary, groups, recipe=recipe, memory=memory, threads=threads, show=show)
