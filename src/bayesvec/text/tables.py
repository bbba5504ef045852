"""Rows of tables: JSON lines, CSV and Parquet."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from bayesvec.errors import InputError
from bayesvec.text.sources import ReadOptions, Source

Row = tuple[str | None, Any, int]  # text, group, and the row's number for messages


def json_rows(source: Source, lines: Iterable[str], options: ReadOptions, _kind: str) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines; blank lines are passed over."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"{source.name}, line {number} is not JSON: {error}", file=source.name, line=number
            ) from None
        if not isinstance(row, dict):
            raise InputError(
                f"{source.name}, line {number} is a JSON {type(row).__name__}; each line must be an object",
                file=source.name,
                line=number,
            )
        for column in filter(None, (options.text_column, options.group_column)):
            if column not in row:
                raise _no_column(source, column, list(row), line=number)
        text = row[options.text_column]
        if not isinstance(text, str | None):
            raise _not_text(source, options.text_column, type(text).__name__, line=number)
        yield text, _group(source, row, options, number), number


def csv_rows(source: Source, lines: Iterable[str], options: ReadOptions, kind: str) -> Iterator[Row]:
    """Yield the rows of a CSV file with a header, between commas or (``kind`` tsv) tabs."""
    reader = csv.reader(lines, delimiter="\t" if kind == "tsv" else ",", strict=True)
    limit = csv.field_size_limit(2**31 - 1)  # a document may be long
    try:
        header = next(reader, [])
        for column in filter(None, (options.text_column, options.group_column)):
            if header and column not in header:
                raise _no_column(source, column, header)
        for number, values in enumerate(reader, start=1):
            if not values:
                continue
            if len(values) != len(header):
                raise InputError(
                    f"{source.name}, line {reader.line_num} has {len(values)} fields; "
                    f"the header has {len(header)}",
                    file=source.name,
                    line=reader.line_num,
                )
            row = dict(zip(header, values, strict=True))
            yield row[str(options.text_column)], _group(source, row, options, number), number
    except csv.Error as error:
        raise InputError(
            f"{source.name}, line {reader.line_num}: {error}", file=source.name, line=reader.line_num
        ) from None
    finally:
        csv.field_size_limit(limit)


def parquet_rows(source: Source, stream: IO[bytes], options: ReadOptions) -> Iterator[Row]:
    """Yield the rows of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    if source.path is None:
        stream = pyarrow.BufferReader(stream.read())  # Parquet is read from its end
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        columns = [column for column in (options.text_column, options.group_column) if column]
        for column in columns:
            if column not in file.schema_arrow.names:
                raise _no_column(source, column, file.schema_arrow.names)
        kind = file.schema_arrow.field(options.text_column).type
        kind = getattr(kind, "value_type", kind)  # of a dictionary
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


def _group(source: Source, row: dict[str, Any], options: ReadOptions, number: int) -> Any:
    if options.group_column is None:
        return None
    group = row[options.group_column]
    if group is None or group == "":
        raise InputError(
            f"{source.name}, row {number} has nothing in column {options.group_column!r}; "
            "every document needs a group",
            file=source.name,
            line=number,
        )
    return group


def _no_column(source: Source, column: str, existing: Sequence[str], line: int | None = None) -> InputError:
    where = source.name if line is None else f"{source.name}, line {line}"
    names = ", ".join(map(str, existing))
    return InputError(f"{where} has no column {column!r}; it has {names}", file=source.name, line=line)


def _not_text(source: Source, column: str | None, kind: str, line: int | None = None) -> InputError:
    where = source.name if line is None else f"{source.name}, line {line}"
    problem = f"{where}: column {column!r} holds {kind}; it must hold text"
    return InputError(problem, file=source.name, line=line)
