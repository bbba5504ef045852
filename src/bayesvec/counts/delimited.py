"""Delimited text with a header (CSV, TSV), read row by row; errors name the line and the remedy."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from bayesvec.errors import InputError


def delimited_rows(
    lines: Iterable[str], name: str, columns: Sequence[str], *, tabs: bool, remedy: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the wanted fields of each row.

    Parameters
    ----------
    lines : iterable of str
        The lines with their ends, the header first. Blank lines are skipped.
    name : str
        Name of the file, for messages.
    columns : sequence of str
        The wanted columns.
    tabs : bool
        Whether fields are separated by tabs, not commas. In a TSV file quotes are ordinary characters unless the
        header starts with one.
    remedy : str
        What to do if a column is missing.
    """
    rest = iter(lines)
    first = next(rest, "")
    reader = csv.reader(
        chain([first], rest),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if tabs and not first.startswith('"') else csv.QUOTE_MINIMAL,
        strict=True,
    )
    limit = csv.field_size_limit(2**31 - 1)  # a document may be long
    try:
        header = next(filter(None, reader), [])
        for column in columns:
            if column not in header:
                raise no_column(column, header, name, remedy=remedy)
            if header.count(column) > 1:
                raise InputError(f"{name} has two columns {column!r}; rename one of them", file=name)
        places = [header.index(column) for column in columns]
        for values in filter(None, reader):
            if len(values) != len(header):
                raise InputError(
                    f"{name}, line {reader.line_num} has {len(values)} fields; "
                    f"the header has {len(header)}; fix the line",
                    file=name,
                    line=reader.line_num,
                )
            yield reader.line_num, [values[place] for place in places]
    except csv.Error as error:
        raise InputError(
            f"{name}, line {reader.line_num} cannot be read as {'TSV' if tabs else 'CSV'} ({error}); fix the line",
            file=name,
            line=reader.line_num,
        ) from None
    finally:
        csv.field_size_limit(limit)


def no_column(
    column: str, present: Sequence[object], name: str, *, remedy: str, line: int | None = None
) -> InputError:
    """Return the error about a column that a table does not have."""
    where = name if line is None else f"{name}, line {line}"
    found = ", ".join(map(str, present)) or "none"
    return InputError(f"{where} has no column {column!r}; it has {found}; {remedy}", file=name, line=line)
