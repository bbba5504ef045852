"""A quantity of all pairs among some words: a symmetric matrix of estimates."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bayesvec._printable import printable
from bayesvec._types import Float64
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import Estimate
from bayesvec.estimates.intervals import LEVEL
from bayesvec.estimates.table import Table


class Pair(NamedTuple):
    """A pair of words."""

    word: str
    other: str
    mean: float
    low: float
    high: float
    rhat: float
    ess: float


@dataclass(frozen=True, eq=False)
class Matrix:
    """A quantity of every pair of some words, such as their cosines; ``matrix["tax", "law"]`` is an estimate.

    Attributes
    ----------
    words : tuple of str
        The words, two or more.
    estimates : tuple of Estimate
        One for each pair, in the order of ``itertools.combinations(words, 2)``.
    diagonal : float
        The value for a word and itself.
    """

    words: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    diagonal: float = 1.0

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __getitem__(self, pair: tuple[str, str]) -> Estimate:
        """Return the estimate of a pair, in either order."""
        one, other = pair
        for word in pair:
            if word not in self.words:
                raise OptionError(f"{word!r} is not in this matrix; its words are {', '.join(self.words)}")
        if one == other:
            raise OptionError(f"a pair is two different words; got {one!r} twice")
        i, j = sorted((self.words.index(one), self.words.index(other)))
        return self.estimates[i * len(self) - i * (i + 1) // 2 + j - i - 1]

    @property
    def mean(self) -> Float64:
        """The posterior means, (M, M)."""
        return self._square([each.mean for each in self.estimates])

    def interval(self, level: float = LEVEL) -> tuple[Float64, Float64]:
        """Return the lower and the upper ends of the intervals, (M, M) each."""
        low, high = zip(*(each.interval(level) for each in self.estimates), strict=True)
        return self._square(low), self._square(high)

    def table(self, level: float = LEVEL) -> Table[Pair]:
        """Return one row for each pair."""
        rows = [
            Pair(*words, each.mean, *each.interval(level), each.rhat, each.ess)
            for words, each in zip(combinations(self.words, 2), self.estimates, strict=True)
        ]
        title = f"{self._name}: mean and {100 * level:g}% interval"
        return Table(
            rows, title=title, quantity=self.estimates[0].quantity, draws=self.estimates[0].draws.size
        )

    def to_pandas(self) -> Any:
        """Return the posterior means as a Pandas data frame, if Pandas is installed."""
        import pandas

        return pandas.DataFrame(self.mean, index=list(self.words), columns=list(self.words))

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """Return plain values."""
        return {"words": list(self.words), "level": level, "pairs": self.table(level).to_dict()}

    def text(self, level: float = LEVEL) -> str:
        """Return the lower triangle as text: mean and interval of each pair."""
        names = [printable(word) for word in self.words]
        lines = [["", *names[:-1]]]
        for i, name in enumerate(names[1:], start=1):
            cells = [_cell(self[self.words[i], other], level) for other in self.words[:i]]
            lines.append([name, *cells, *[""] * (len(names) - 1 - i)])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Matrix: {self._name} of {len(self)} words>\n{self}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @property
    def _name(self) -> str:
        quantity = self.estimates[0].quantity
        return "value" if quantity is None else quantity.axis

    def _square(self, values: Any) -> Float64:
        square = np.full((len(self), len(self)), self.diagonal)
        rows, columns = np.triu_indices(len(self), 1)
        square[rows, columns] = square[columns, rows] = values
        return square


def _cell(estimate: Estimate, level: float) -> str:
    low, high = estimate.interval(level)
    return f"{estimate.mean:.2f}" if np.isnan(low) else f"{estimate.mean:.2f} ({low:.2f}, {high:.2f})"
