"""Names of rows: the row of a word, and suggestions for an unknown word."""

import unicodedata
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import cached_property

import numpy as np

from bayesvec._types import Int64
from bayesvec.errors import OptionError, UnknownWordError

_SUGGESTED = 5
_COMPARED = 300  # candidates whose spelling is compared in full


SHARED = "shared"  # the slice of the vectors that those of groups lie around


def _nothing(_name: str) -> str:
    return ""


class Names:
    """The names of the rows of one side.

    Parameters
    ----------
    names : tuple of str
        One per row, all different.
    among : str, optional
        Where the name was looked up, for the error about an unknown one.
    explain : callable, optional
        Returns what else is known of an unknown name, for that error.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        *,
        among: str = "in the vocabulary",
        explain: Callable[[str], str] = _nothing,
    ) -> None:
        self.names = names
        self.among = among
        self.explain = explain

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def row(self, name: str) -> int:
        """Return the row of ``name``, or raise an error with the closest names."""
        if not isinstance(name, str):
            raise OptionError(f"{name!r} is not a word; give a string")
        row = self._find(name)
        if row is None:
            raise self._unknown(name)
        return row

    def rows(self, names: Iterable[str]) -> Int64:
        """Return the row of each of ``names``, or raise an error that names the unknown ones."""
        wanted = list(names)
        rows = [self._find(name) if isinstance(name, str) else self.row(name) for name in wanted]
        unknown = dict.fromkeys(name for name, row in zip(wanted, rows, strict=True) if row is None)
        if unknown:
            raise self._unknown(*unknown)
        return np.array(rows, dtype=np.int64)

    def _unknown(self, name: str, *others: str) -> UnknownWordError:
        """Return the error about an unknown name, with the closest ones, and about others that are unknown too."""
        near, more = closest(name, self.names), self.explain(name)
        return UnknownWordError(name, near, among=self.among, more=more, others=others)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def _find(self, name: str) -> int | None:
        """Return the row of a name as given, or in Unicode's composed form (NFC), in which texts are read."""
        row = self._rows.get(name)
        return self._rows.get(unicodedata.normalize("NFC", name)) if row is None else row


def closest(word: str, names: tuple[str, ...], most: int = _SUGGESTED) -> tuple[str, ...]:
    """Return the names most like ``word``: in its groups first, then continued, then with a similar spelling.

    For a word in a slice only names in that slice are considered. Comparing spellings takes about ten microseconds
    per name, so only names that share enough pairs of letters are compared.
    """
    folded = word.casefold()
    _, at, group = word.partition("@")
    if at:
        names = tuple(name for name in names if name.endswith(f"@{group}")) or names
    same = [name for name in names if name.casefold().split("@")[0] == folded or name.casefold() == folded]
    longer = sorted(
        (name for name in names if _goes_on(name.casefold(), folded)), key=lambda name: (len(name), name)
    )
    letters = _letter_pairs(folded)
    shared = []
    for name in names:
        if abs(len(name) - len(word)) <= 3:
            pairs = _letter_pairs(name.casefold())
            common = len(letters & pairs)
            if common:
                shared.append((-common / (len(letters) + len(pairs)), name))
    shared.sort()
    matcher = SequenceMatcher(b=folded)
    scored = []
    for _, name in shared[:_COMPARED]:
        matcher.set_seq1(name.casefold())
        if matcher.ratio() >= 0.6:
            scored.append((-matcher.ratio(), name))
    return tuple(dict.fromkeys(same + longer + [name for _, name in sorted(scored)]))[:most]


def _goes_on(name: str, start: str) -> bool:
    """Whether a name is ``start`` and more words, as Toy Story (1995) is Toy Story."""
    return (
        len(start) > 1
        and name.startswith(start)
        and name[len(start) : len(start) + 1] in (" ", "(", ",", ":")
    )


def _letter_pairs(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[i : i + 2] for i in range(len(padded) - 1)}
