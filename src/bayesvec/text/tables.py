"""Rows of tables: JSON lines, CSV, Parquet and data frames."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Any

from bayesvec._validate import group_name
from bayesvec.counts.delimited import delimited_rows, no_column
from bayesvec.errors import InputError, OptionError
from bayesvec.text.sources import ReadOptions, Source

Row = tuple[str | None, str | None, int]  # text, group, and the row's number for messages
Record = tuple[dict[str, Any], int]  # the wanted columns of a row, and its number

FRAME = "the data frame"


def text_rows(records: Iterable[Record], name: str, options: ReadOptions) -> Iterator[Row]:
    """Yield the text and the group of each row of a table."""
    for row, number in records:
        text = row[str(options.text_column)]
        if not (text is None or isinstance(text, str)):
            if not missing(text):
                raise _not_text(name, options.text_column, type(text).__name__, line=number)
            text = None
        yield text, group_of(row, name, options, number), number


def json_records(source: Source, lines: Iterable[str], options: ReadOptions, _kind: str) -> Iterator[Record]:
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
        for column in options.columns():
            if column not in row:
                raise no_column(column, list(row), source.name, remedy=_remedy(options), line=number)
        yield row, number


def csv_records(source: Source, lines: Iterable[str], options: ReadOptions, kind: str) -> Iterator[Record]:
    """Yield the rows of a CSV file, or of a TSV file if ``kind`` is tsv; an empty file has none."""
    rest = iter(lines)
    if (first := next(rest, None)) is None:
        return
    columns, tabs = options.columns(), kind == "tsv"
    rows = delimited_rows(chain([first], rest), source.name, columns, tabs=tabs, remedy=_remedy(options))
    for number, (_, values) in enumerate(rows, start=1):
        yield dict(zip(columns, values, strict=True)), number


def parquet_records(source: Source, stream: IO[bytes], options: ReadOptions) -> Iterator[Record]:
    """Yield the rows of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    if source.path is None:
        stream = pyarrow.BufferReader(stream.read())  # Parquet is read from its end
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        _check_schema(file.schema_arrow, source.name, options)
        yield from _batch_records(file.iter_batches(batch_size=1024, columns=options.columns()))
    except pyarrow.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{source.name} cannot be read as Parquet: {reason}", file=source.name) from None


def frame_records(frame: Any, options: ReadOptions) -> Iterator[Record]:
    """Yield the rows of a data frame of any library, an Arrow table or stream, or a mapping of columns."""
    if not options.columns():
        raise OptionError("a data frame is given: name the column that holds the text by text_column")
    if isinstance(frame, Mapping) or hasattr(frame, "iloc"):  # pandas may hold what Arrow has no type for
        yield from _column_records(frame, options)
        return
    import pyarrow

    if hasattr(frame, "__arrow_c_stream__"):
        stream = pyarrow.RecordBatchReader.from_stream(frame)
        schema, batches = stream.schema, iter(stream)
    else:
        batch = pyarrow.record_batch(frame)
        schema, batches = batch.schema, iter([batch])
    _check_schema(schema, FRAME, options)
    few = (batch.slice(at, 1024) for batch in batches for at in range(0, len(batch), 1024))
    yield from _batch_records(batch.select(options.columns()) for batch in few)


def _column_records(frame: Any, options: ReadOptions) -> Iterator[Record]:
    """Yield the rows of a table whose columns are found by name."""
    names = options.columns()
    for name in names:
        if name not in frame:
            raise no_column(name, list(frame), FRAME, remedy=_remedy(options))
    columns = [frame[name] for name in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"{FRAME} has columns of different lengths; they must be equally long")
    for number, values in enumerate(zip(*columns, strict=True), start=1):
        yield dict(zip(names, values, strict=True)), number


def _batch_records(batches: Iterable[Any]) -> Iterator[Record]:
    rows = chain.from_iterable(batch.to_pylist() for batch in batches)
    yield from ((row, number) for number, row in enumerate(rows, start=1))


def _check_schema(schema: Any, name: str, options: ReadOptions) -> None:
    """Raise unless an Arrow table has the columns, with text in that of the text."""
    from pyarrow import types

    for column in options.columns():
        if column not in schema.names:
            raise no_column(column, schema.names, name, remedy=_remedy(options))
    if options.text_column is None:
        return
    kind = schema.field(options.text_column).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        raise _not_text(name, options.text_column, str(kind))


def missing(value: Any) -> bool:
    """Whether a cell is empty, as the libraries of data frames mark it: None, NaN or NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def group_of(row: Mapping[str, Any], name: str, options: ReadOptions, number: int) -> str | None:
    """Return the group of a row; None if there are no groups."""
    return None if options.group_column is None else name_in(row, options.group_column, name, number)


def name_in(row: Mapping[str, Any], column: str, name: str, number: int, what: str = "a group") -> str:
    """Return what a column names in a row: a group, a basket, an item."""
    value = row[column]
    if (found := group_name(value)) is None:
        shown = "nothing" if value is None or (isinstance(value, str) and not value) else repr(value)
        raise InputError(
            f"{name}, row {number} has {shown} in column {column!r}; "
            f"every row needs {what}: text, a number or a date",
            file=name,
            line=number,
        )
    return found


def _remedy(options: ReadOptions) -> str:
    wanted = (
        ("basket_column", "item_column") if options.text_column is None else ("text_column", "group_column")
    )
    flags = " or ".join(f"--{name.replace('_', '-')}" for name in wanted)
    return f"name one of these by {flags} ({', '.join(f'{name}=' for name in wanted)})"


def _not_text(name: str, column: str | None, kind: str, line: int | None = None) -> InputError:
    where = name if line is None else f"{name}, line {line}"
    problem = f"{where}: column {column!r} holds {kind}; --text-column (text_column=) must name one with text"
    return InputError(problem, file=name, line=line)
