"""Words as they are typed: those that begin so, that contain it, or that are spelled nearly so."""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from bayesvec._types import Int64
from bayesvec.counts.names import closest
from bayesvec.errors import BayesvecError
from bayesvec.posterior.questions.uncertain import word_counts
from bayesvec.report.gather import frequent_words

if TYPE_CHECKING:
    from bayesvec.explore.runs import Shown
    from bayesvec.posterior.posterior import Posterior


def words(shown: "Shown", q: str = "", at: str | None = None, limit: int = 12) -> dict[str, Any]:
    """Return words that fit what was typed, the most frequent first, each with how often it was seen."""
    posterior = shown.posterior
    rows = posterior.slice_rows(at)
    seen = counts(posterior)
    names = [posterior.bare_name(row, at) for row in rows.tolist()]
    order = np.arange(len(rows)) if seen is None else np.argsort(-seen[rows], kind="stable")
    found = _fitting(q.strip(), [names[i] for i in order.tolist()], limit)
    place = dict(zip(names, rows.tolist(), strict=True))
    return {
        "words": [
            {"word": word, "seen": None if seen is None else int(seen[place[word]]), "how": how}
            for word, how in found
        ]
    }


def _fitting(typed: str, names: list[str], limit: int) -> list[tuple[str, str]]:
    """Return words with how they fit: they are it, begin so, contain it, or are spelled nearly so."""
    folded = typed.casefold()
    same, begins, contains = [], [], []
    for name in names:
        other = name.casefold()
        if other == folded:
            same.append(name)
        elif other.startswith(folded):
            begins.append(name)
        elif folded in other:
            contains.append(name)
    found = [(name, "is") for name in same] + [(name, "begins") for name in begins]
    found += [(name, "contains") for name in contains]
    if typed and len(found) < limit:
        known = {name for name, _ in found}
        found += [(name, "similar") for name in closest(typed, tuple(names)) if name not in known]
    return found[:limit]


_SEEN: "WeakKeyDictionary[Posterior, Int64 | None]" = WeakKeyDictionary()  # reading counts takes time


def counts(posterior: "Posterior") -> Int64 | None:
    """Return how often each row was seen; None for a run without its counts."""
    if posterior not in _SEEN:
        try:
            _SEEN[posterior] = word_counts(posterior.draws)
        except (BayesvecError, OSError):
            _SEEN[posterior] = None
    return _SEEN[posterior]


def most_seen(posterior: "Posterior", at: str | None, n: int) -> Int64:
    """Return the rows of the ``n`` words of a slice that were seen most often."""
    rows, seen = posterior.slice_rows(at), counts(posterior)
    if seen is None or not seen[rows].any():
        return rows[:n]
    return rows[np.argsort(-seen[rows], kind="stable")[:n]]


def examples(posterior: "Posterior", at: str | None, n: int = 8) -> list[str]:
    """Return a few frequent words to start from."""
    rows, seen = most_seen(posterior, at, 400), counts(posterior)
    names = [posterior.bare_name(row, at) for row in rows.tolist()]
    return frequent_words(names, np.ones(len(rows), np.int64) if seen is None else seen[rows] + 1, n)
