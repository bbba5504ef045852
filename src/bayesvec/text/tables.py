"""Rows of tables: JSON lines, CSV and Parquet."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

from bayesvec._validate import group_name
from bayesvec.counts.delimited import delimited_rows, no_column
from bayesvec.errors import InputError
from bayesvec.text.sources import ReadOptions, Source

Row = tuple[str | None, str | None, int]  # text, group, and the row's number for messages

_REMEDY = "name one of these by --text-column or --group-column (text_column=, group_column=)"


def json_rows(source: Source, lines: Iterable[str], options: ReadOptions, _kind: str) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines; blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            problem = str(error)
            if isinstance(error, json.JSONDecodeError):  # its own message numbers lines from this one
                problem = f"{error.msg} at column {error.colno}"
            raise InputError(
                f"{source.name}, line {number} is not JSON ({problem}); fix or remove the line",
                file=source.name,
                line=number,
            ) from None
        if not isinstance(row, dict):
            raise InputError(
                f"{source.name}, line {number} is a JSON {type(row).__name__}; each line must be an object",
                file=source.name,
                line=number,
            )
        for column in _columns(options):
            if column not in row:
                raise no_column(column, list(row), source.name, remedy=_REMEDY, line=number)
        text = row[options.text_column]
        if not isinstance(text, str | None):
            raise _not_text(source, options.text_column, type(text).__name__, line=number)
        yield text, _group(source, row, options, number), number


def csv_rows(source: Source, lines: Iterable[str], options: ReadOptions, kind: str) -> Iterator[Row]:
    """Yield the rows of a CSV file, or of a TSV file if ``kind`` is tsv; an empty file has none."""
    rest = iter(lines)
    if (first := next(rest, None)) is None:
        return
    columns, tabs = _columns(options), kind == "tsv"
    rows = delimited_rows(chain([first], rest), source.name, columns, tabs=tabs, remedy=_REMEDY)
    for number, (_, values) in enumerate(rows, start=1):
        row = dict(zip(columns, values, strict=True))
        yield row[str(options.text_column)], _group(source, row, options, number), number


def parquet_rows(source: Source, stream: IO[bytes], options: ReadOptions) -> Iterator[Row]:
    """Yield the rows of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    if source.path is None:
        stream = pyarrow.BufferReader(stream.read())  # Parquet is read from its end
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        columns = _columns(options)
        for column in columns:
            if column not in file.schema_arrow.names:
                raise no_column(column, file.schema_arrow.names, source.name, remedy=_REMEDY)
        kind = file.schema_arrow.field(options.text_column).type
        kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise _not_text(source, options.text_column, str(kind))
        number = 0
        for batch in file.iter_batches(batch_size=1024, columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield row[options.text_column], _group(source, row, options, number), number
    except pyarrow.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{source.name} cannot be read as Parquet: {reason}", file=source.name) from None


def _group(source: Source, row: dict[str, Any], options: ReadOptions, number: int) -> str | None:
    if options.group_column is None:
        return None
    group = row[options.group_column]
    if (name := group_name(group)) is None:
        shown = "nothing" if group is None or group == "" else repr(group)
        raise InputError(
            f"{source.name}, row {number} has {shown} in column {options.group_column!r}; "
            "every document needs a group: text, a number or a date",
            file=source.name,
            line=number,
        )
    return name


def _columns(options: ReadOptions) -> list[str]:
    return [column for column in (options.text_column, options.group_column) if column is not None]


def _not_text(source: Source, column: str | None, kind: str, line: int | None = None) -> InputError:
    where = source.name if line is None else f"{source.name}, line {line}"
    problem = f"{where}: column {column!r} holds {kind}; --text-column (text_column=) must name one with text"
    return InputError(problem, file=source.name, line=line)
