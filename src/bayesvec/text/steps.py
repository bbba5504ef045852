"""The steps of counting: read and tokenise, choose the vocabulary, count, and record how it was done."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from bayesvec import __version__
from bayesvec._cluster import Where, on_cluster
from bayesvec._compiling import announce_compiling
from bayesvec._progress import tell
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.options import PairOptions
from bayesvec.counts.pairs import PairCounts
from bayesvec.counts.spill import parts
from bayesvec.counts.windows import count_corpus
from bayesvec.errors import InputError
from bayesvec.text.baskets import collect_baskets
from bayesvec.text.corpus import TokenStream, encode, number_lists, tokenize
from bayesvec.text.given import Given, group_names
from bayesvec.text.phrases import PhraseOptions, join_phrases
from bayesvec.text.pieces import cut_sources, tokenize_pieces
from bayesvec.text.reading import Tally, read_blocks, read_records, row_blocks
from bayesvec.text.sources import PIECE_SHARE, ReadOptions, Source, find_sources
from bayesvec.text.tokens import Tokenizer
from bayesvec.text.vocabulary import VocabularyOptions, WordList, word_forms
from bayesvec.text.wrapped import REMEDY, wrapped_source

_LISTS = ("vocabulary", "stopwords")


class Limits(NamedTuple):
    """Resources that counting may use, and whether it shows its progress."""

    memory: int
    threads: int
    show: bool
    where: Where
    workers: int | None = None  # of a cluster


def _read(
    given: Given, tokenizer: Tokenizer, reading: ReadOptions, limits: Limits
) -> tuple[TokenStream, list[Source]]:
    """Read and tokenise what was given."""
    memory, threads, show, _, workers = limits
    tally = Tally()
    reading = replace(
        reading,
        divisible=tokenizer.classes is not None,
        block_bytes=max(1 << 16, min(1 << 22, memory // 128)),
        piece_bytes=memory // PIECE_SHARE,
    )
    sources = [] if given.paths is None else find_sources(given.paths, reading.group_by)
    if given.lists is not None:
        stream = number_lists(given.lists, tokenizer, memory=memory)
    elif reading.basket_column is not None:
        rows = (
            ((source.name, source.group, record) for source, record in read_records(sources, reading, tally))
            if given.records is None
            else ((given.what, None, record) for record in given.records)
        )
        stream = collect_baskets(rows, reading, memory=memory)
    else:
        total = sum(source.size for source in sources)
        held = None if given.rows is None else row_blocks(given.rows, given.what, reading, tally)
        if workers is None:
            blocks = held or read_blocks(sources, reading, tally)
            stream = tokenize(blocks, tokenizer, total_bytes=total, memory=memory, threads=threads, show=show)
        else:
            pieces = held or cut_sources(sources, reading, tally, workers=workers)
            stream = tokenize_pieces(
                pieces, tokenizer, reading, total_bytes=total, memory=memory, workers=workers, show=show
            )
            tally.zero_bytes += stream.zero_bytes
    if not len(stream.tokens):
        names = ", ".join(source.name for source in sources[:3]) or given.what
        empty = sources and all(source.path is not None and source.size == 0 for source in sources)
        how = "" if given.lists is not None else f" (tokenizer {tokenizer.name!r})"
        problem = "is empty" if empty else f"holds no words{how}"
        raise InputError(f"{names} {problem}; give text with at least two words")
    if show and (zeros := tally.zero_bytes):
        many = (
            "1 zero byte (NUL) in the text was"
            if zeros == 1
            else f"{zeros:,} zero bytes (NUL) in the text were"
        )
        tell(f"{many} read as white space")
    if given.groups is not None:
        stream = stream._replace(groups=group_names(given.groups, len(stream.lengths), given.what))
    return stream._replace(zero_bytes=tally.zero_bytes), sources


def described(
    words: VocabularyOptions, lists: Mapping[str, WordList], tokenizer: Tokenizer, reading: ReadOptions
) -> dict[str, Any]:
    """Return the options of the vocabulary as JSON values; lists of words by name, size and checksum."""
    names = {name: lists[name].described() if name in lists else None for name in _LISTS}
    return {
        "vocab": words.vocab,
        "min_count": words.min_count,
        "stem": words.stem,
        **names,
        "stopwords_action": words.stopwords_action,
        "tokenizer": tokenizer.name,
        "lowercase": tokenizer.lowercase,
        "text_column": reading.text_column,
        "group_column": reading.group_column,
        "format": reading.format,
        "encoding": reading.encoding,
        "errors": reading.errors,
    }


def counted(
    given: Given,
    tokenizer: Tokenizer,
    reading: ReadOptions,
    words: VocabularyOptions,
    phrases: PhraseOptions | None,
    pair_options: PairOptions,
    options: dict[str, Any],
    limits: Limits,
) -> PairCounts:
    """Read, choose the vocabulary and count, here or on a cluster, and record how it was done."""
    with announce_compiling(enabled=limits.show), on_cluster(limits.where, limits.threads) as at_once:
        if limits.where.engine != "local":
            limits = limits._replace(workers=at_once)
        stream, sources = _read(given, tokenizer, reading, limits)
        if limits.show and pair_options.window is not None and (name := wrapped_source(sources, reading)):
            tell(REMEDY.format(name=name))
        made = _encoded(stream, sources, words, phrases, pair_options, options, limits)
        del stream  # its words take memory
        memory, threads, show, _, workers = limits
        corpus, vocabulary, groups, recipe = made
        return count_corpus(
            corpus,
            vocabulary,
            groups,
            recipe=recipe,
            memory=memory,
            threads=threads,
            workers=workers,
            show=show,
        )


def _encoded(
    stream: TokenStream,
    sources: Sequence[Source],
    words: VocabularyOptions,
    phrases: PhraseOptions | None,
    pair_options: PairOptions,
    options: dict[str, Any],
    limits: Limits,
) -> tuple[EncodedCorpus, tuple[str, ...], tuple[str, ...], dict[str, Any]]:
    """Choose the vocabulary and encode the text; return what is counted, and a record of how it was made."""
    types = len(stream.words)
    stopwords_not_found = len(words.stopwords.difference(stream.words))
    documents = sum(int(np.count_nonzero(part)) for part in parts(stream.lengths))
    forms, found = word_forms(stream.words, words), {}
    if phrases is not None:
        stream, forms, number = join_phrases(stream, forms, phrases, memory=limits.memory)
        found = {"phrases_found": number}
    corpus, vocabulary, groups = encode(stream, forms, words, asdict(pair_options), memory=limits.memory)
    recipe = {
        "made_by": "count" if pair_options.window is not None else "count_baskets",
        "version": __version__,
        "options": {**options, **asdict(pair_options)},
        "inputs": [_input(source) for source in sources],
        "documents": documents,
        "tokens": len(corpus.tokens),
        "tokens_in_vocabulary": int(corpus.frequency.sum()),
        "word_types": types,
        "words_not_found": int((corpus.frequency == 0).sum()),
        "stopwords_not_found": stopwords_not_found,
        "zero_bytes": stream.zero_bytes,
        **found,
        "groups": list(groups),
    }
    return corpus, vocabulary, groups, recipe


def _input(source: Source) -> dict[str, Any]:
    group = {} if source.group is None else {"group": source.group}
    return {"name": source.name, "bytes": source.size or None, **group}
