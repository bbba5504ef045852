"""Pair counts of text, or of baskets of items."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Unpack

from bayesvec._cluster import LOCAL, Where
from bayesvec._pipeline import check_threads
from bayesvec.counts.options import NEGATIVE_POWER, NEGATIVES, SUBSAMPLE, WINDOW, PairOptions
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.spill import parse_memory
from bayesvec.errors import OptionError
from bayesvec.text.given import recognise, recognise_baskets
from bayesvec.text.options import CountOptions, of_baskets
from bayesvec.text.phrases import PhraseOptions
from bayesvec.text.separator import make_separator
from bayesvec.text.sources import ReadOptions
from bayesvec.text.steps import Limits, counted, described
from bayesvec.text.tokens import make_tokenizer
from bayesvec.text.vocabulary import Words, make_vocabulary_options


def count(
    texts: Any = None,
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
    phrases: bool = False,
    phrase_threshold: float = PhraseOptions.threshold,
    phrase_min_count: int = PhraseOptions.min_count,
    text_column: str | None = None,
    group_column: str | None = None,
    group_by: str | None = None,
    document: str = "line",
    document_separator: str | None = None,
    format: str = "auto",
    encoding: str = "utf-8",
    errors: str = "strict",
    memory: str | int | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = True,
    engine: str = Where.engine,
    address: str | None = None,
    workers: int | None = None,
) -> PairCounts:
    """Count the word pairs of a text, with negative samples.

    The counts are the same whatever the number of threads and the memory limit.

    Parameters
    ----------
    texts : path or iterable of paths, texts, or data frame, optional
        Files, globs, folders, or ``-`` for standard input: plain text, JSON lines, CSV or Parquet, also
        compressed (``.gz .bz2 .xz .zst``). Or the texts themselves: a list of strings (of which none names a
        file) or of lists of words, a column (pandas, Polars, Arrow, NumPy), or a data frame with ``text_column``.
    documents : iterable of str, or of lists of str, optional
        The documents themselves, never read as paths, instead of ``texts``; lists of words are not tokenised or
        lower-cased.
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
    stem : str, optional
        Replace each word by its stem: ``english`` or another language of the Snowball stemmers.
    stopwords : str, path or iterable of str, optional
        Stopwords: the name of a language, for a short list that comes with the package (see
        `bayesvec.text.stopwords`), or words given like ``vocabulary``.
    stopwords_action : {"drop", "keep-unstemmed"}, optional
        Whether stopwords are removed from the vocabulary (the default) or only left unstemmed.
    phrases : bool, optional
        Join two words that often occur together into one, ``new_york``, before the vocabulary is chosen; stems, if
        there is a stemmer, and never stopwords. See `bayesvec.text.phrases` for the score.
    phrase_threshold, phrase_min_count : float and int, optional
        Smallest score of a phrase, and the count that is subtracted from that of every pair.
    text_column, group_column : str, optional
        The columns of a table that hold the text and the group of each document. With groups, word rows are
        ``word@group`` for every word that occurs in the group; contexts are shared.
    group_by : {"file"}, optional
        The group of a document is the file it is in, named without its endings; for other names, give ``texts``
        as a mapping, ``{"dem": "a.txt", "repub": "b.txt"}``, or as ``["dem=a.txt", "repub=b.txt"]``.
    document : {"line", "file"}, optional
        Whether a document of plain text is a line or a file.
    document_separator : str, optional
        A regular expression that separates the documents of plain text, instead of line ends, which are
        then white space; what decides where a separator ends must be within 1,000 characters of it.
    format : {"auto", "text", "jsonl", "csv", "tsv", "parquet"}, optional
        The format of the files; by default by their names.
    encoding, errors : str, optional
        How bytes are decoded; ``errors`` is ``strict``, ``replace`` or ``ignore``.
    memory : str or int, optional
        Limit on the resident memory of counting, such as ``"1GB"``, beyond a base of about 200 MB, 300 bytes
        for each distinct word and 100 for each document with a group; by default half of the machine's memory.
        The peak may be half as much again. What does not fit goes to temporary files in the folder named by the
        environment variable TMPDIR; what cannot be held is refused.
    threads : int, optional
        Number of threads; by default one per processor.
    seed : int, optional
        Seed of the negative samples and the subsampling.
    progress : bool, optional
        Show progress on standard error.
    engine : {"local", "ray"}, optional
        Count on the threads of this process, or on a Ray cluster. The counts are the same.
    address : str, optional
        Of the Ray cluster, or ``auto`` for the one that this node is part of; by default Ray is started on this
        machine, and stopped at the end.
    workers : int, optional
        Processes of the Ray cluster; by default one per processor of its nodes.

    Returns
    -------
    PairCounts
        The counts, with the encoded documents as ``source``.
    """
    pair_options = PairOptions(window, window_over, negatives, negative_power, subsample, seed)
    joining = PhraseOptions(phrase_threshold, phrase_min_count)
    if document_separator is not None and document == "file":
        raise OptionError("--document file does not go with --document-separator; leave out one of the two")
    reading = ReadOptions(
        text_column,
        group_column,
        document,
        format,
        encoding,
        errors,
        separator=None if document_separator is None else make_separator(document_separator),
        group_by=group_by,
    )
    given = recognise(texts, documents, groups, reading)
    cutter = make_tokenizer(tokenizer, lowercase)
    form = cutter.form if given.lists is None else str  # lists of words stay as they are
    words, lists = make_vocabulary_options(
        vocab, min_count, vocabulary, stem, stopwords, stopwords_action, form=form
    )
    limits = Limits(parse_memory(memory), check_threads(threads), progress, Where(engine, address, workers))
    options = described(words, lists, cutter, reading) | {
        "phrases": phrases,
        **({"phrase_threshold": phrase_threshold, "phrase_min_count": phrase_min_count} if phrases else {}),
        "group_by": group_by,
        "document": document,
        "document_separator": document_separator,
    }
    if given.lists is not None:
        options |= {"tokenizer": None, "lowercase": None}
    return counted(given, cutter, reading, words, joining if phrases else None, pair_options, options, limits)


def count_baskets(
    baskets: Any,
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
    basket_column: str | None = None,
    item_column: str | None = None,
    group_by: str | None = None,
    format: str = "auto",
    encoding: str = "utf-8",
    errors: str = "strict",
    memory: str | int | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: bool = True,
    engine: str = Where.engine,
    address: str | None = None,
    workers: int | None = None,
) -> PairCounts:
    """Count the pairs of items in the same basket (the films of a user), with negative samples.

    Every ordered pair of distinct positions in a basket is a positive sample.

    Parameters
    ----------
    baskets : iterable of iterables, path or iterable of paths, or data frame
        The baskets, each an iterable of items (named by ``str(item)``); or files or a data frame as in `count`,
        where a line or a row of a table is a basket.
    groups : iterable, optional
        The group of each basket, if the baskets themselves are given.
    tokenizer : str, optional
        How a line of a file is split into items: at white space, or every match of a regular expression (``[^,]+``
        for items separated by commas).
    basket_column, item_column : str, optional
        The columns of a table with one row per basket and item (a user and a film), in any order. With groups,
        what a basket holds in each group is a basket of its own.
    vocab, min_count, vocabulary, negatives, negative_power, subsample
        As in `count`, items for words.
    lowercase, text_column, group_column, group_by, format, encoding, errors, memory, threads, seed, progress, engine,
    address, workers
        As in `count`.

    Returns
    -------
    PairCounts
        The counts, with the encoded baskets as ``source``.
    """
    pair_options = PairOptions(
        None, negatives=negatives, negative_power=negative_power, subsample=subsample, seed=seed
    )
    reading = ReadOptions(
        text_column,
        group_column,
        "line",
        format,
        encoding,
        errors,
        basket_column=basket_column,
        item_column=item_column,
        group_by=group_by,
    )
    given = recognise_baskets(baskets, groups, reading)
    cutter = make_tokenizer(tokenizer, lowercase)
    form = cutter.form if given.lists is None else str
    words, lists = make_vocabulary_options(vocab, min_count, vocabulary, None, None, None, form=form)
    limits = Limits(parse_memory(memory), check_threads(threads), progress, Where(engine, address, workers))
    options = described(words, lists, cutter, reading) | {
        "basket_column": basket_column,
        "item_column": item_column,
        "group_by": group_by,
    }
    return counted(given, cutter, reading, words, None, pair_options, options, limits)


def count_any(
    texts: Any,
    *,
    threads: int | None,
    progress: bool,
    where: Where = LOCAL,
    **options: Unpack[CountOptions],
) -> PairCounts:
    """Count words, or items if the options are those of baskets.

    Parameters
    ----------
    texts
        Whatever `count` or `count_baskets` takes.
    threads, progress
        As there.
    where : Where
        Where to count.
    **options
        Their options; ``count_seed`` is their seed.
    """
    counting: Any = count_baskets if of_baskets(options) else count
    given: dict[str, Any] = {**options, **asdict(where)}
    given.pop("baskets", None)
    if "count_seed" in given:
        given["seed"] = given.pop("count_seed")
    return counting(texts, threads=threads, progress=progress, **given)  # type: ignore[no-any-return]
