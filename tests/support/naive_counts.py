"""Counting in plain Python, straight from the definitions: the twin that the compiled counting must equal."""

from collections import Counter

NEGATIVES, SUBSAMPLE = 4, 5  # purposes of the addressed random numbers


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011) on Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def uniform(seed, purpose, document, number):
    """The uniform that number ``number`` of a document is."""
    block = number >> 1
    words = philox(
        (block & 0xFFFFFFFF, document, block >> 32, purpose), (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF)
    )
    high, low = words[2:] if number & 1 else words[:2]
    return (((high << 32 | low) >> 11) + 0.5) * 2.0**-53


def most_common(documents, size):
    """The vocabulary of documents that are lists of words."""
    total = Counter(word for document in documents for word in document)
    return sorted(total, key=lambda word: (-total[word], word))[:size]


def count(
    documents,
    vocabulary,
    draw,
    *,
    window=2,
    window_over="positions",
    negatives=1,
    subsample=None,
    seed=0,
    groups=None,
    numbers=None,
):
    """Positive and negative samples by (word, context); ``draw`` maps a uniform to a context.

    The window None is the whole document.
    """
    total = Counter(word for document in documents for word in document if word in vocabulary)
    tokens = sum(total.values())
    positive, negative = Counter(), Counter()
    for at, document in enumerate(documents):
        number = at if numbers is None else numbers[at]
        words = [word if word in total else None for word in document]
        if subsample is not None:
            keep = {word: min(1.0, (subsample / (total[word] / tokens)) ** 0.5) for word in total}
            words = [
                word if word is not None and uniform(seed, SUBSAMPLE, number, i) < keep[word] else None
                for i, word in enumerate(words)
            ]
        if window_over == "vocabulary":
            words = [word for word in words if word is not None]
        reach = len(words) if window is None else window
        for i, word in enumerate(words):
            if word is None:
                continue
            name = word if groups is None else f"{word}@{groups[at]}"
            offsets = [*range(-reach, 0), *range(1, reach + 1)]
            for slot, offset in enumerate(offsets):
                j = i + offset
                if not 0 <= j < len(words) or words[j] is None:
                    continue
                positive[name, words[j]] += 1
                for k in range(negatives):
                    u = uniform(seed, NEGATIVES, number, (i * 2 * reach + slot) * negatives + k)
                    negative[name, draw(u)] += 1
    return positive, negative


def as_counters(counts):
    """The pairs of a PairCounts by name, without zeros."""
    positive, negative = Counter(), Counter()
    side = counts.by_word
    for row, word in enumerate(counts.words):
        for entry in range(side.indptr[row], side.indptr[row + 1]):
            pair = (word, counts.contexts[side.other[entry]])
            positive[pair] += int(side.n_pos[entry])
            negative[pair] += int(side.n_neg[entry])
    return +positive, +negative
