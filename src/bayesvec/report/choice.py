"""Which words a report tells of when none are asked for."""

import numpy as np
import numpy.typing as npt

HOW_MANY = 6
_LETTERS = 6  # words as long as this are seldom mere grammar


def frequent_words(words: tuple[str, ...], seen: npt.NDArray[np.int64], n: int = HOW_MANY) -> list[str]:
    """Return the ``n`` words of six letters or more that were seen most often, others after them.

    Without a list of a language's grammatical words length is a rule of thumb. Of rows such as ``tax@1990`` and
    ``tax@2000`` the one that was seen most often stands for the word.

    Parameters
    ----------
    words : tuple of str
        The rows' names.
    seen : ndarray of int64, (word,)
        How often each was seen.
    n : int, optional
        How many.
    """
    order = [words[row] for row in np.argsort(-seen, kind="stable") if seen[row] > 0]
    long = [word for word in order if sum(map(str.isalpha, word.partition("@")[0])) >= _LETTERS]
    chosen: dict[str, str] = {}
    for word in [*long, *order]:
        chosen.setdefault(word.partition("@")[0], word)
    return list(chosen.values())[:n]
