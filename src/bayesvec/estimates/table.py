"""Small tables of answers, printed, sliced, and handed to other programs."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, overload

from bayesvec._printable import printable
from bayesvec.errors import OptionError
from bayesvec.estimates.texts import plain, probability_text

if TYPE_CHECKING:
    from os import PathLike

    from bayesvec.estimates.estimate import Quantity

Row = TypeVar("Row", bound=NamedTuple)

# columns that hold fractions of draws
PROBABILITIES = ("probability", "in_top", "gained", "lost")

_LATEX = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": "$<$",
        ">": "$>$",
    }
)


class Table(Generic[Row]):
    """Rows of one kind of named tuple.

    Parameters
    ----------
    rows : sequence of NamedTuple
        The rows, each with the same fields; at least one.
    title : str, optional
        What the table shows.
    quantity : Quantity, optional
        What the means and intervals in it are of.
    draws : int, optional
        Number of draws that the probabilities in it are fractions of.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        title: str = "",
        quantity: "Quantity | None" = None,
        draws: int | None = None,
    ) -> None:
        self.rows = tuple(rows)
        self.title = title
        self.quantity = quantity
        self.draws = draws
        self.columns: tuple[str, ...] = self.rows[0]._fields

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | slice | str) -> Row | Self | list[Any]:
        """Return a row by its number, some rows as a table (``table[:5]``), or a column by its name."""
        if isinstance(key, slice):
            part = type(self).__new__(type(self))
            part.__dict__.update(self.__dict__, rows=self.rows[key])
            return part
        if isinstance(key, str):
            if key not in self.columns:
                raise OptionError(f"there is no column {key!r}; there are {', '.join(self.columns)}")
            where = self.columns.index(key)
            return [row[where] for row in self.rows]
        return self.rows[key]

    def __str__(self) -> str:
        cells = [list(self.columns), *self.texts()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left = self._left()
        return "\n".join(
            "  ".join(
                text.ljust(width) if is_left else text.rjust(width)
                for text, width, is_left in zip(line, widths, left, strict=True)
            ).rstrip()
            for line in cells
        )

    def __repr__(self) -> str:
        return f"{printable(self.title)}\n{self}" if self.title else str(self)

    def _repr_html_(self) -> str:
        from bayesvec.estimates.html import table_html  # takes time to import

        return table_html(self)

    def texts(self) -> list[list[str]]:
        """Return the cells as text, numbers with a fixed number of decimals, probabilities never as 0 or 1."""
        return [
            [self._text(name, value) for name, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of plain values, None for what is missing."""
        return [plain(row._asdict()) for row in self.rows]

    def to_arrow(self) -> Any:
        """Return a PyArrow table."""
        import pyarrow

        columns = {name: [row[name] for row in self.to_dict()] for name in self.columns}
        return pyarrow.table(columns)

    def to_pandas(self) -> Any:
        """Return a Pandas data frame, if Pandas is installed."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return a Polars data frame, if Polars is installed."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_csv(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the table as CSV with all digits, empty where a figure is missing; write it to ``path`` if given.

        Control characters in words are written as escapes.
        """
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.to_dict():
            writer.writerow(printable(cell) if isinstance(cell, str) else cell for cell in row.values())
        return _written(lines.getvalue(), path)

    def to_markdown(self) -> str:
        """Return the table in Markdown, with the decimals of the printed table."""
        rule = ["---" if is_left else "---:" for is_left in self._left()]
        body = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in line] for line in self.texts()]
        return "\n".join(f"| {' | '.join(line)} |" for line in ([*self.columns], rule, *body)) + "\n"

    def to_latex(self) -> str:
        r"""Return the table as a LaTeX ``tabular`` with the rules of booktabs."""
        form = "".join("l" if is_left else "r" for is_left in self._left())
        head, *body = (
            " & ".join(cell.translate(_LATEX) for cell in line) + r" \\"
            for line in ([*self.columns], *self.texts())
        )
        lines = (rf"\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule", *body)
        return "\n".join((*lines, r"\bottomrule", r"\end{tabular}", ""))

    def _left(self) -> list[bool]:
        """Return which columns hold text, set flush left."""
        return [all(isinstance(value, str) for value in self[name]) for name in self.columns]

    def _text(self, name: str, value: Any) -> str:
        if value is None:
            return "n/a"
        if not isinstance(value, float):
            return printable(str(value))
        if math.isnan(value):
            return "n/a"
        if name in PROBABILITIES:
            return probability_text(value, self.draws)
        return f"{value:.0f}" if name.startswith("ess") else f"{value:z.2f}"


def _written(text: str, path: "str | PathLike[str] | None") -> str:
    """Return text, written to a file if one is given."""
    if path is not None:
        from pathlib import Path

        from bayesvec._atomic import placed
        from bayesvec._targets import check_free

        check_free(Path(path), what="a table", force=True)
        with placed(Path(path)) as partial:
            partial.write_bytes(text.encode())
    return text
