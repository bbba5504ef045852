r"""Token ids to counted pairs: the compiled part of counting.

Pairs are gathered row by row. A worker takes a range of word rows, walks over all tokens, and puts the
samples of its rows into one bucket per row: a table over contexts where the row has many samples, else a list.
Which worker takes which rows, and how much fits into memory at a time, changes nothing in the result.
"""

import numpy as np

from bayesvec._types import Bool, Float64, Int32, Int64
from bayesvec.kernels.compiled import compiled, inlined
from bayesvec.kernels.rng import Key, at_sweep, bits, to_uniform

Span = tuple[int, int, int, int]  # first document, one past the last, first token, one past the last


@compiled
def alias_table(weight: Float64) -> tuple[Float64, Int32]:
    """Return Walker's alias table of a distribution, built as in Vose (1991).

    A uniform cell ``i`` gives ``i`` with probability ``share[i]``, else ``alias[i]``.
    """
    size = len(weight)
    share = weight * (size / weight.sum())
    alias = np.arange(size).astype(np.int32)
    small = np.empty(size, np.int32)
    large = np.empty(size, np.int32)
    num_small = 0
    num_large = 0
    for i in range(size):
        if share[i] < 1.0:
            small[num_small] = i
            num_small += 1
        else:
            large[num_large] = i
            num_large += 1
    while num_small > 0 and num_large > 0:
        num_small -= 1
        poor = small[num_small]
        rich = large[num_large - 1]
        alias[poor] = rich
        share[rich] -= 1.0 - share[poor]
        if share[rich] < 1.0:
            num_large -= 1
            small[num_small] = rich
            num_small += 1
    # What is left differs from 1 by rounding alone; a cell of no weight is never left over by more than that.
    for i in range(num_small):
        share[small[i]] = 1.0
    for i in range(num_large):
        share[large[i]] = 1.0
    return share, alias


@inlined
def address(key: Key, document: int, number: int) -> tuple[np.uint64, np.uint64]:
    """Return the two 64-bit words that numbers ``number`` and ``number ^ 1`` of a document share."""
    return bits(at_sweep(key, number >> 33), document, (number >> 1) & 0xFFFFFFFF)


@compiled
def thin(
    tokens: Int32,
    bounds: Int64,
    numbers: Int64,
    span: Span,
    keep: Float64,
    key: Key,
    close_up: bool,
) -> tuple[Int32, Int64]:
    """Take out tokens: at random with probability ``1 - keep[token]``, and those outside the vocabulary.

    Parameters
    ----------
    tokens, bounds, numbers : ndarray
        The documents, as in `bayesvec.counts.documents.EncodedCorpus`.
    span : (int, int, int, int)
        The range of documents, and the range of their tokens, to thin.
    keep : ndarray of float64
        The probability that a token of each word stays.
    key : Key
        Of the random numbers; token ``i`` of a document takes number ``i``.
    close_up : bool
        Whether a token taken out leaves no gap; else -1 keeps its place.

    Returns
    -------
    tokens : ndarray of int32
        What is kept of the tokens, one after another.
    lengths : ndarray of int64
        How many of them are in each document.
    """
    first_document, last_document, first, last = span
    kept = np.empty(last - first, np.int32)
    lengths = np.empty(last_document - first_document, np.int64)
    at = 0
    for document in range(first_document, last_document):
        begin = bounds[document]
        at_begin = at
        for i in range(max(begin, first), min(bounds[document + 1], last)):
            token = tokens[i]
            if token >= 0 and keep[token] < 1.0:
                number = i - begin
                even, odd = address(key, numbers[document], number)
                if to_uniform(odd if number & 1 else even) >= keep[token]:
                    token = np.int32(-1)
            if token >= 0 or not close_up:
                kept[at] = token
                at += 1
        lengths[document - first_document] = at - at_begin
    return kept[:at], lengths


@compiled
def gather(tokens: Int32, bounds: Int64, documents: Int64, out: Int32) -> None:
    """Write the tokens of some documents one after another."""
    at = 0
    for document in documents:
        for i in range(bounds[document], bounds[document + 1]):
            out[at] = tokens[i]
            at += 1


@compiled
def mark_rows(tokens: Int32, bounds: Int64, group_of: Int32, span: Span, occurs: Bool) -> None:
    """Mark in ``occurs``, (words, groups), which words of a span of tokens occur in documents of which groups."""
    first_document, last_document, first, last = span
    for document in range(first_document, last_document):
        for i in range(max(bounds[document], first), min(bounds[document + 1], last)):
            if tokens[i] >= 0:
                occurs[tokens[i], group_of[document]] = True


@compiled
def positives_per_row(
    tokens: Int32,
    bounds: Int64,
    group_of: Int32,
    row_of: Int32,
    window: int,
    span: Span,
    out: Int64,
) -> None:
    """Add to ``out`` the number of positive pairs of each word row in a span of tokens.

    Parameters
    ----------
    tokens, bounds, group_of : ndarray
        The documents and their groups (all 0 where there are none).
    row_of : ndarray of int32, shape (groups, words)
        The word row of each word in each group.
    window : int
        Reach of the window to each side; 0 is the whole document.
    span : (int, int, int, int)
        The range of documents, and the range of their tokens.
    out : ndarray of int64
        One entry per word row.
    """
    first_document, last_document, first, last = span
    for document in range(first_document, last_document):
        begin, end = bounds[document], bounds[document + 1]
        reach = window if window > 0 else end - begin
        inside = 0  # tokens of the vocabulary between low and high
        low = max(begin, first - reach)
        high = low
        for i in range(max(begin, first), min(end, last)):
            while high < end and high <= i + reach:
                inside += tokens[high] >= 0
                high += 1
            while low < i - reach:
                inside -= tokens[low] >= 0
                low += 1
            if tokens[i] >= 0:
                out[row_of[group_of[document], tokens[i]]] += inside - 1


@inlined
def _put(buffer: Int32, at: int, is_table: bool, code: int) -> int:
    """Put a sample into the bucket at ``at``; return where the next one goes."""
    if is_table:
        buffer[at + code] += 1
        return at
    buffer[at] = code
    return at + 1


@compiled
def fill_buckets(
    tokens: Int32,
    bounds: Int64,
    numbers: Int64,
    group_of: Int32,
    row_of: Int32,
    window: int,
    negatives: int,
    share: Float64,
    alias: Int32,
    key: Key,
    span: Span,
    first_row: int,
    dense: Bool,
    cursor: Int64,
    buffer: Int32,
) -> None:
    """Put every sample that a span of tokens has of the rows from ``first_row`` on into their buckets.

    A sample is coded ``2 * context`` if it is positive, ``2 * context + 1`` if negative. Slot ``s`` of the
    window around token ``i`` takes the numbers ``(i * 2 * reach + s) * negatives`` and on of its document.

    Parameters
    ----------
    tokens, bounds, numbers, group_of, row_of, window
        As in `positives_per_row` and `thin`.
    negatives : int
        Negative samples for each positive one.
    share, alias : ndarray
        The distribution of negative contexts (`alias_table`).
    key : Key
        Of the random numbers.
    span : (int, int, int, int)
        The range of documents, and the range of their tokens.
    first_row : int
        The row of the first bucket.
    dense : ndarray of bool
        Whether each bucket is a table over codes; else it is a list of codes.
    cursor : ndarray of int64
        Where the next sample of each bucket goes; of a table, where it begins.
    buffer : ndarray of int32
        The buckets; tables begin with zeros.
    """
    last_row = first_row + len(dense)
    num_contexts = len(share)
    first_document, last_document, first, last = span
    for document in range(first_document, last_document):
        begin, end = bounds[document], bounds[document + 1]
        rows = row_of[group_of[document]]
        reach = window if window > 0 else end - begin
        for i in range(max(begin, first), min(end, last)):
            word = tokens[i]
            if word < 0 or not first_row <= rows[word] < last_row:
                continue
            bucket = rows[word] - first_row
            is_table = dense[bucket]
            at = cursor[bucket]
            drawn = -1  # the pair of numbers last drawn
            even = odd = np.uint64(0)
            for j in range(max(begin, i - reach), min(end, i + reach + 1)):
                context = tokens[j]
                if context < 0 or j == i:
                    continue
                at = _put(buffer, at, is_table, 2 * context)
                slot = j - i + reach - (1 if j > i else 0)
                number = ((i - begin) * 2 * reach + slot) * negatives
                for n in range(number, number + negatives):
                    if n >> 1 != drawn:
                        drawn = n >> 1
                        even, odd = address(key, numbers[document], n)
                    place = to_uniform(odd if n & 1 else even) * num_contexts
                    cell = min(int(place), num_contexts - 1)
                    if place - cell >= share[cell]:
                        cell = alias[cell]
                    at = _put(buffer, at, is_table, 2 * cell + 1)
            cursor[bucket] = at


@compiled
def empty_buckets(
    start: Int64,
    samples: Int64,
    dense: Bool,
    buffer: Int32,
    table: Int32,
    other: Int32,
    n_pos: Int32,
    n_neg: Int32,
    row_pairs: Int64,
) -> int:
    """Add up each bucket's samples and write the distinct pairs, contexts rising.

    Parameters
    ----------
    start : ndarray of int64
        Where each bucket begins in ``buffer``.
    samples : ndarray of int64
        How many samples each holds.
    dense, buffer : ndarray
        As `fill_buckets` left them.
    table : ndarray of int32
        Work space, two entries per context, all zero; left so.
    other, n_pos, n_neg : ndarray of int32
        Written: the context, the positive and the negative samples of each pair.
    row_pairs : ndarray of int64
        Written: the number of pairs of each bucket.

    Returns
    -------
    int
        The number of pairs written.
    """
    at = 0
    for bucket in range(len(start)):
        begin = at
        first, last = start[bucket], start[bucket] + samples[bucket]
        if dense[bucket]:
            at = _write_table(buffer[first : first + len(table)], other, n_pos, n_neg, at)
        elif samples[bucket] * 16 > len(table):
            for k in range(first, last):
                table[buffer[k]] += 1
            at = _write_table(table, other, n_pos, n_neg, at)
            table[:] = 0
        else:
            codes = np.sort(buffer[first:last])
            for code in codes:
                if at == begin or other[at - 1] != code >> 1:
                    other[at] = code >> 1
                    n_pos[at] = 0
                    n_neg[at] = 0
                    at += 1
                if code & 1:
                    n_neg[at - 1] += 1
                else:
                    n_pos[at - 1] += 1
        row_pairs[bucket] = at - begin
    return at


@compiled
def _write_table(table: Int32, other: Int32, n_pos: Int32, n_neg: Int32, at: int) -> int:
    for context in range(len(table) // 2):
        if table[2 * context] or table[2 * context + 1]:
            other[at] = context
            n_pos[at] = table[2 * context]
            n_neg[at] = table[2 * context + 1]
            at += 1
    return at


@compiled
def add_occurrences(numbers: Int32, out: Int64) -> None:
    """Add to ``out`` how often each number occurs, without a copy as `np.bincount` makes."""
    for number in numbers:
        out[number] += 1


@compiled
def transpose(
    indptr: Int64,
    other: Int32,
    n_pos: Int32,
    n_neg: Int32,
    rows: tuple[int, int],
    contexts: tuple[int, int],
    cursor: Int64,
    t_other: Int32,
    t_pos: Int32,
    t_neg: Int32,
    permutation: Int64,
) -> None:
    """Write the pairs of some rows and some contexts, held by word, once more, held by context.

    Parameters
    ----------
    indptr, other, n_pos, n_neg : ndarray
        All pairs by word.
    rows, contexts : (int, int)
        The range of rows and the range of contexts.
    cursor : ndarray of int64
        Where the next pair of each of these contexts goes; moved on.
    t_other, t_pos, t_neg : ndarray of int32
        Written: the pairs by context.
    permutation : ndarray of int64
        Written: the entry by word of each entry by context.
    """
    first, last = contexts
    for row in range(rows[0], rows[1]):
        end = indptr[row + 1]
        entry = indptr[row] + np.searchsorted(other[indptr[row] : end], first)
        while entry < end and other[entry] < last:
            at = cursor[other[entry] - first]
            cursor[other[entry] - first] = at + 1
            t_other[at] = row
            t_pos[at] = n_pos[entry]
            t_neg[at] = n_neg[entry]
            permutation[at] = entry
            entry += 1
