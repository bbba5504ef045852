"""Windows over encoded documents: from token ids to pair counts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesvec._parallel import chunks_by_cost
from bayesvec._pipeline import check_threads, in_order
from bayesvec._progress import progress
from bayesvec._types import Array, Bool, Float64, Int32, Int64
from bayesvec.counts.documents import EncodedCorpus, Lengths, Span, document_bounds, offsets, spans
from bayesvec.counts.options import PairOptions
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.counts.spill import PART, GrowingArray, is_mapped, parse_memory, parts, release
from bayesvec.errors import InputError
from bayesvec.kernels import counting as kernels
from bayesvec.kernels import rng

LONG = 20_000_000  # tokens from which each step is announced where there is no terminal

_PAIR_BYTES = 20  # of a pair by context: other, n_pos, n_neg, and its entry by word

# Appending to a list of samples is faster than counting in a table, whose memory is accessed at random; so a list may
# be this many times as long as the table.
_LONGEST_LIST = 16


class _Task(NamedTuple):
    """The inputs of every worker that counts a range of rows."""

    tokens: Int32
    bounds: Int64
    numbers: Int64
    group_of: Int32
    row_of: Int32  # (groups, words)
    window: int
    negatives: int
    share: Float64
    alias: Int32
    key: rng.Key
    samples: Int64  # of each row


def count_corpus(
    corpus: EncodedCorpus,
    vocabulary: Sequence[str],
    groups: Sequence[str] = (),
    *,
    recipe: Mapping[str, Any] | None = None,
    memory: int | None = None,
    threads: int | None = None,
    workers: int | None = None,
    show: bool = False,
) -> PairCounts:
    """Count the pairs of encoded documents.

    Parameters
    ----------
    corpus : EncodedCorpus
        The documents and the options of counting; it becomes the ``source`` of the counts.
    vocabulary : sequence of str
        Names of the contexts.
    groups : sequence of str, optional
        Names of the groups.
    recipe : Mapping, optional
        How the counts were made, kept with them.
    memory : int, optional
        Approximate limit on memory, in bytes.
    threads : int, optional
        Number of threads; by default one per processor.
    workers : int, optional
        Number of processes of a cluster that count instead, if there is one.
    show : bool, optional
        Show progress if standard error is a terminal.
    """
    limit, count = parse_memory(memory), check_threads(threads)
    for array in corpus.arrays().values():
        array.flags.writeable = False
    with progress("preparing to count", None, enabled=show, announce=len(corpus.tokens) > LONG):
        task = _prepare(corpus, len(vocabulary), memory=limit, threads=count)
    if not task.samples.any():
        raise InputError(
            "there are no pairs: no document has two words of the vocabulary within one window; "
            "keep more words, or widen the window"
        )
    # what pairs and tokens leave of the memory; tokens in files take none of it
    left = limit * (2 + is_mapped(corpus.tokens) + is_mapped(task.tokens)) // 8
    by_word = _by_word(task, memory=limit, room=left, threads=workers or count, show=show)
    with progress("sorting by context", None, enabled=show, announce=is_mapped(by_word.other)):
        by_context, permutation = _by_context(
            by_word, len(vocabulary), memory=limit, room=left, threads=count
        )
    for array in (*by_word, *by_context, permutation):
        array.flags.writeable = False
    words, group_of_row = _row_names(corpus, vocabulary, groups)
    return PairCounts(
        words, tuple(vocabulary), by_word, by_context, permutation, group_of_row, dict(recipe or {}), corpus
    )


def _prepare(corpus: EncodedCorpus, num_words: int, *, memory: int, threads: int) -> _Task:
    """Subsample the documents, number the rows and count the samples of each row."""
    options = PairOptions(**corpus.options)
    tokens, bounds = corpus.tokens, corpus.bounds
    close_up = options.window is not None and options.window_over == "vocabulary"
    threshold = options.threshold(num_words, int(corpus.frequency.sum()))
    if close_up or threshold is not None:
        keep = keep_probability(corpus.frequency, threshold)
        key = rng.make_key(options.seed, rng.SUBSAMPLE)
        tokens, bounds = _thinned(corpus, keep, key, close_up, memory=memory, threads=threads)
        tokens.flags.writeable = bounds.flags.writeable = False
    group_of = np.zeros(corpus.num_documents, np.int32) if corpus.group_of is None else corpus.group_of
    group_of = np.ascontiguousarray(group_of)
    group_of.flags.writeable = False
    row_of, num_rows = _row_numbers(corpus, num_words)
    window = options.window or 0
    positives = _positives(tokens, bounds, group_of, row_of, window, num_rows, threads=threads)
    share, alias = kernels.alias_table(negative_weight(corpus.frequency, options.negative_power))
    return _Task(
        tokens,
        bounds,
        corpus.numbers,
        group_of,
        row_of,
        window,
        options.negatives,
        share,
        alias,
        rng.make_key(options.seed, rng.NEGATIVES),
        positives * (1 + options.negatives),
    )


def negative_weight(frequency: Int64, power: float) -> Float64:
    """Return the weight of each context as a negative sample; the most frequent context has weight 1."""
    relative = frequency / max(1, frequency.max())  # divide first: the power of a count may overflow
    weight: Float64 = np.where(frequency > 0, relative**power, 0.0)
    return weight


def _thinned(
    corpus: EncodedCorpus, keep: Float64, key: rng.Key, close_up: bool, *, memory: int, threads: int
) -> tuple[Int32, Int64]:
    """Remove tokens from the documents (`kernels.thin`), a span at a time."""
    tokens, lengths = GrowingArray(np.int32, memory // 4), Lengths(memory)

    def part(span: Span) -> tuple[Span, Int32, Int64]:
        kept = kernels.thin(corpus.tokens, corpus.bounds, corpus.numbers, span, keep, key, close_up)
        _release(corpus.tokens, (corpus.bounds, corpus.numbers), span)
        return span, *kept

    at_once = max(1, min(PART, memory // 256))
    for span, kept, kept_lengths in in_order(part, spans(corpus.bounds, at_once), threads=threads, here=True):
        tokens.append(kept)
        lengths.append(kept_lengths, continues=span.token > corpus.bounds[span.document])
    return tokens.finish(), document_bounds(lengths.finish(), memory=memory)


def _release(tokens: Int32, of_documents: Sequence[Array], span: Span) -> None:
    """Release what a span needs of arrays in files: the tokens, and what has an entry for each document."""
    release(tokens[span.token : span.tokens_end])
    release(*(array[span.document : span.documents_end] for array in of_documents))


def keep_probability(frequency: Int64, threshold: float | None) -> Float64:
    """Return the probability with which subsampling keeps a token of each word."""
    if threshold is None:
        return np.ones(len(frequency))
    relative = np.maximum(frequency, 1) / max(1, frequency.sum())
    kept: Float64 = np.minimum(1.0, np.sqrt(threshold / relative))
    return kept


def _row_numbers(corpus: EncodedCorpus, num_words: int) -> tuple[Int32, int]:
    """Return the row of each word in each group, (groups, words), and the number of rows."""
    if corpus.rows is None:
        return np.arange(num_words, dtype=np.int32)[np.newaxis], num_words
    row_of = np.full((int(corpus.rows[:, 1].max()) + 1, num_words), -1, dtype=np.int32)
    row_of[corpus.rows[:, 1], corpus.rows[:, 0]] = np.arange(len(corpus.rows), dtype=np.int32)
    return row_of, len(corpus.rows)


def _positives(
    tokens: Int32, bounds: Int64, group_of: Int32, row_of: Int32, window: int, num_rows: int, *, threads: int
) -> Int64:
    """Return the number of positive samples of each row."""
    idle = [np.zeros(num_rows, dtype=np.int64) for _ in range(threads)]

    def part(span: Span) -> None:
        counted = idle.pop()
        kernels.positives_per_row(tokens, bounds, group_of, row_of, window, span, counted)
        idle.append(counted)
        _release(tokens, (bounds, group_of), span)

    for _ in in_order(part, spans(bounds), threads=threads, here=True):
        pass
    total = np.sum(idle, axis=0)
    if len(total) and total.max() >= 2**31:
        raise InputError(f"a word has {total.max()} positive samples; at most {2**31 - 1} are allowed")
    return np.asarray(total)


def _by_word(task: _Task, *, memory: int, room: int, threads: int, show: bool) -> Side:
    """Count all rows, as many at a time as there is room for; return the pairs by word."""
    chunks = _chunks(task, memory=room, threads=threads)
    most = int(np.minimum(len(task.share), task.samples).sum())
    pairs = [GrowingArray(np.int32, memory // 24, most) for _ in range(3)]  # other, n_pos, n_neg
    row_pairs: list[Int64] = []
    idle = [_Scratch() for _ in range(threads)]

    def count_rows(chunk: tuple[int, int]) -> tuple[Int64, list[Int32]]:
        scratch = idle.pop()
        try:
            return _count_rows(task, *chunk, scratch)
        finally:
            idle.append(scratch)

    total = float(task.samples.sum())
    with progress("counting", total, enabled=show, announce=len(task.tokens) > LONG) as advance:
        counted = in_order(count_rows, chunks, threads=threads)
        for (first, last), (of_rows, parts) in zip(chunks, counted, strict=True):
            row_pairs.append(of_rows)
            for array, part in zip(pairs, parts, strict=True):
                array.append(part)
            advance(float(task.samples[first:last].sum()), f"{pairs[0].size:,} pairs")
    idle.clear()
    return Side(offsets(np.concatenate(row_pairs)), *(array.finish() for array in pairs))


def _chunks(task: _Task, *, memory: int, threads: int) -> list[tuple[int, int]]:
    """Return ranges of rows of about equal work, each within one worker's share of the memory."""
    num_contexts = len(task.share)
    bucket = 4 * np.where(_is_table(task), 2 * num_contexts, task.samples)
    result = 12 * np.minimum(num_contexts, task.samples)
    used, done = offsets(bucket + result), offsets(task.samples)
    chunks: list[tuple[int, int]] = []
    first = 0
    while first < len(task.samples):
        by_memory = int(np.searchsorted(used, used[first] + memory // threads, side="right")) - 1
        by_work = int(np.searchsorted(done, done[first] + done[-1] / (4 * threads), side="left"))
        last = max(first + 1, min(by_memory, by_work))
        chunks.append((first, min(last, len(task.samples))))
        first = last
    return chunks


def _is_table(task: _Task) -> Bool:
    """Whether each row's samples are counted in a table over contexts; otherwise they are listed."""
    return task.samples > _LONGEST_LIST * 2 * len(task.share)


class _Scratch:
    """Arrays that a worker reuses for one range of rows after another: allocating is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, Int32] = {}

    def take(self, name: str, size: int) -> Int32:
        """Return an uninitialised array of this size."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size, dtype=np.int32)
        return self._arrays[name][:size]


def _count_rows(task: _Task, first: int, last: int, scratch: _Scratch) -> tuple[Int64, list[Int32]]:
    """Count the pairs of rows ``first`` to ``last``: pairs per row, then other, n_pos and n_neg of each pair."""
    num_contexts = len(task.share)
    samples = task.samples[first:last]
    dense = _is_table(task)[first:last]
    start = offsets(np.where(dense, 2 * num_contexts, samples))
    buffer = scratch.take("buffer", int(start[-1]))
    for bucket in np.flatnonzero(dense):
        buffer[start[bucket] : start[bucket + 1]] = 0
    cursor = start[:-1].copy()
    for span in spans(task.bounds):
        kernels.fill_buckets(*task[:-1], span, first, dense, cursor, buffer)
        _release(task.tokens, (task.bounds, task.numbers, task.group_of), span)
    most = int(np.minimum(num_contexts, samples).sum())
    other, n_pos, n_neg = (scratch.take(name, most) for name in Side._fields[1:])
    row_pairs = np.empty(last - first, dtype=np.int64)
    table = np.zeros(2 * num_contexts, dtype=np.int32)
    size = kernels.empty_buckets(start[:-1], samples, dense, buffer, table, other, n_pos, n_neg, row_pairs)
    return row_pairs, [array[:size].copy() for array in (other, n_pos, n_neg)]


def _by_context(
    by_word: Side, num_contexts: int, *, memory: int, room: int, threads: int
) -> tuple[Side, Int64]:
    """Return the pairs by context, and the entry by word of each; each thread takes a range of contexts."""
    occurrences = np.zeros(num_contexts, dtype=np.int64)
    for part in parts(by_word.other):
        kernels.add_occurrences(part, occurrences)
    indptr = offsets(occurrences)
    blocks = chunks_by_cost(np.diff(by_word.indptr), 1 + len(by_word.other) // PART)  # of rows

    def transposed(contexts: tuple[int, int]) -> tuple[Array, ...]:
        cursor = indptr[slice(*contexts)] - indptr[contexts[0]]
        size = indptr[contexts[1]] - indptr[contexts[0]]
        found = *(np.empty(size, np.int32) for _ in range(3)), np.empty(size, np.int64)
        for rows in blocks:
            kernels.transpose(*by_word, rows, contexts, cursor, *found)
            release(*(array[slice(*by_word.indptr[[*rows]])] for array in by_word[1:]))
        return found

    size = int(indptr[-1])
    wholes = (
        [GrowingArray(np.int32, memory // 24, size) for _ in range(3)],
        GrowingArray(np.int64, memory // 12, size),
    )
    at_once = max(1, room // (threads + 2) // _PAIR_BYTES)  # pairs: being sorted, sorted, and appended
    ranges = chunks_by_cost(occurrences, max(4 * threads, 1 + len(by_word.other) // at_once))
    for found in in_order(transposed, ranges, threads=threads, here=True):
        for whole, part in zip((*wholes[0], wholes[1]), found, strict=True):
            whole.append(part)
    return Side(indptr, *(whole.finish() for whole in wholes[0])), wholes[1].finish()


def _row_names(
    corpus: EncodedCorpus, vocabulary: Sequence[str], groups: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    if corpus.rows is None:
        return tuple(vocabulary), None
    pairs = corpus.rows.tolist()
    words = tuple(f"{vocabulary[word]}@{groups[group]}" for word, group in pairs)
    return words, tuple(groups[group] for _, group in pairs)
