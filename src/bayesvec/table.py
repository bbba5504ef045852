"""A small table of results that prints itself, in a terminal and in a notebook."""

import html
import math
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

from bayesvec.estimate import plain

Row = TypeVar("Row", bound=NamedTuple)


class Table(Generic[Row]):
    """Rows of one kind of named tuple.

    Parameters
    ----------
    rows : sequence of NamedTuple
        The rows, each with the same fields; at least one.
    title : str, optional
        What the table shows.
    """

    def __init__(self, rows: Sequence[Row], *, title: str = "") -> None:
        self.rows = tuple(rows)
        self.title = title
        self.columns: tuple[str, ...] = self.rows[0]._fields

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | str) -> Row | list[Any]:
        """Return a row by its number or a column by its name."""
        if isinstance(key, str):
            where = self.columns.index(key)
            return [row[where] for row in self.rows]
        return self.rows[key]

    def __str__(self) -> str:
        cells = [list(self.columns), *self.texts()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(
                text.ljust(width) if isinstance(value, str) else text.rjust(width)
                for text, width, value in zip(line, widths, self.rows[0], strict=True)
            ).rstrip()
            for line in cells
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{self}" if self.title else str(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in line) + "</tr>"
            for line in self.texts()
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def texts(self) -> list[list[str]]:
        """Return the cells as text, numbers with a fixed number of decimals."""
        return [
            [_text(name, value) for name, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of plain values, None for what is missing."""
        return [plain(row._asdict()) for row in self.rows]

    def to_arrow(self) -> Any:
        """Return a PyArrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.to_dict())

    def to_pandas(self) -> Any:
        """Return a Pandas data frame, if Pandas is installed."""
        return self.to_arrow().to_pandas()


def _text(name: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "n/a"
    return f"{value:.0f}" if name.startswith("ess") else f"{value:.2f}"
