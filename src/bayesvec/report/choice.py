"""Which words a report tells of when none are asked for."""

from collections.abc import Sequence

import numpy as np

from bayesvec._types import Int64

HOW_MANY = 6
_LETTERS = 6  # words as long as this are seldom mere grammar


def frequent_words(words: Sequence[str], seen: Int64, n: int = HOW_MANY) -> list[str]:
    """Return the ``n`` words of six letters or more that were seen most often, others after them, each once.

    Without a list of a language's grammatical words length is a rule of thumb.

    Parameters
    ----------
    words : sequence of str
        The words of the rows; one that has several, in several slices, stands where it was seen most often.
    seen : ndarray of int64, (row,)
        How often each was seen.
    n : int, optional
        How many.
    """
    order = [words[row] for row in np.argsort(-seen, kind="stable") if seen[row] > 0]
    long = [word for word in order if sum(map(str.isalpha, word)) >= _LETTERS]
    return list(dict.fromkeys([*long, *order]))[:n]
