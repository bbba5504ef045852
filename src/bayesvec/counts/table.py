"""Counts of your own: from a data frame, or from a file with columns word, context, n_pos and n_neg."""

import codecs
import os
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesvec import __version__
from bayesvec._types import Int64
from bayesvec._validate import one_of
from bayesvec.counts.delimited import delimited_rows, no_column
from bayesvec.counts.pairs import PairCounts, added, from_pairs
from bayesvec.errors import InputError, OptionError

ENDINGS = (".tsv", ".csv", ".parquet")

_WHOLE = "; it must be a whole number, zero or more"


def from_table(
    table: Any,
    *,
    word: str = "word",
    context: str = "context",
    n_pos: str = "n_pos",
    n_neg: str = "n_neg",
    group: str | None = None,
    order: str = "frequency",
) -> PairCounts:
    """Make pair counts from a table with one row per (word, context) pair.

    Repeated pairs are added up. A word and a context may have the same name: they are different rows.

    Parameters
    ----------
    table : data frame, mapping of columns, or path
        Anything indexed by column name (pandas, Polars, a pyarrow Table, a dict of arrays), or the path of a .tsv,
        .csv or .parquet file. Text files are UTF-8 and start with a header; in a .tsv file quotes are ordinary
        characters unless the header is quoted.
    word, context, n_pos, n_neg : str
        Names of the four columns. Counts are whole numbers, zero or more.
    group : str, optional
        Name of a column with the group (a party, a year) of the word; the word's row is then word@group.
    order : {"frequency", "appearance"}
        Order of the rows: by decreasing number of samples, ties by name; or by first appearance.
    """
    one_of("order", order, ("frequency", "appearance"))
    names = [word, context, n_pos, n_neg, *([] if group is None else [group])]
    if len(set(names)) != len(names):
        raise OptionError(f"columns are {', '.join(names)}; each must be named once")
    recipe: dict[str, Any] = {"made_by": "from_table", "version": __version__, "order": order, "group": group}
    where = "the table"
    if isinstance(table, str | os.PathLike):
        where = str(table)
        table = read_columns(Path(table), names)
        recipe |= {"input": where, "bytes": Path(where).stat().st_size}
    columns = [_column(table, name, names, where) for name in names]
    sizes = {len(column.values) for column in columns}
    if len(sizes) > 1:
        raise InputError(f"{where} has columns of different lengths; they must be equally long")
    if sizes == {0}:
        raise InputError(f"{where} has no rows; it needs at least one")
    positive, negative = _counts(columns[2]), _counts(columns[3])
    row, words = _coded(columns[0])
    column, contexts = _coded(columns[1])
    groups: list[str] | None = None
    if group is not None:
        row, words, groups = _with_groups(row, words, *_coded(columns[4]))
    if order == "frequency":
        row, words, rank = _by_frequency(row, words, positive + negative)
        column, contexts, _ = _by_frequency(column, contexts, positive + negative)
        groups = None if groups is None else [groups[i] for i in rank]
    return from_pairs(
        row,
        column,
        n_pos=positive,
        n_neg=negative,
        words=words,
        contexts=contexts,
        groups=groups,
        recipe=recipe,
    )


class _Column(NamedTuple):
    """A column of a table: an Arrow array if the table is Arrow's, else a NumPy array."""

    values: Any
    name: str
    where: str  # name of the table, for messages

    def error(self, index: int, problem: str) -> InputError:
        """Return the error about an entry."""
        row = index + 1
        return InputError(f"{self.where}, row {row}: {self.name} {problem}", file=self.where, line=row)


def _column(table: Any, name: str, names: Sequence[str], where: str) -> _Column:
    try:
        column = table[name]
    except (KeyError, IndexError, ValueError, TypeError):
        present = getattr(table, "column_names", None) or getattr(table, "columns", None)
        present = list(table if present is None and isinstance(table, dict) else present or [])
        raise no_column(name, present, where, remedy=_needed(names)) from None
    except Exception as error:  # every data frame library has its own error for this
        raise InputError(f"column {name!r} of {where} cannot be read: {error}") from None
    if hasattr(column, "combine_chunks"):
        return _Column(column.combine_chunks(), name, where)
    # as an array, a list of names with a missing value would become text, "nan" included
    array = np.array(column, dtype=object) if isinstance(column, list | tuple) else np.asarray(column)
    if array.ndim != 1:
        raise InputError(f"column {name!r} of {where} has {array.ndim} dimensions; it must have one")
    return _Column(array, name, where)


def _needed(names: Sequence[str]) -> str:
    return f"{', '.join(names)} are needed"


def _counts(column: _Column) -> Int64:
    """Return a column of counts as integers; raise at the first that is not one."""
    array = np.asarray(column.values)
    if array.dtype.kind in "iu":
        bad = np.flatnonzero(array < 0)
    elif array.dtype.kind == "f":
        bad = np.flatnonzero(~((array >= 0) & (array < 2.0**53) & (array == np.floor(array))))
    else:
        bad = np.flatnonzero([not _is_whole(value) for value in array])
    if len(bad):
        value = array[bad[0]]
        raise column.error(
            int(bad[0]), f"is {value!r}{_WHOLE}" if isinstance(value, str) else f"is {value}{_WHOLE}"
        )
    return array.astype(np.int64)


def _is_whole(value: object) -> bool:
    if isinstance(value, float):
        return 0 <= value < 2.0**53 and value == int(value)
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < 2**53


def _coded(column: _Column) -> tuple[Int64, list[str]]:
    """Return the index of each entry's name, and the names in order of first appearance."""
    if hasattr(column.values, "dictionary_encode"):
        codes, names = _coded_arrow(column)
    else:
        values = column.values.tolist()
        other = next((i for i, value in enumerate(values) if not isinstance(value, str | Integral)), None)
        if other is not None:
            raise column.error(other, f"is {values[other]!r}; it must be text")
        text = list(map(str, values))  # a number is a name, too
        seen = {value: i for i, value in enumerate(dict.fromkeys(text))}
        codes, names = np.array([seen[value] for value in text], dtype=np.int64), list(seen)
    if "" in names:
        raise column.error(int(np.argmax(codes == names.index(""))), "is empty; every row needs a name")
    return codes, names


def _coded_arrow(column: _Column) -> tuple[Int64, list[str]]:
    import pyarrow as pa

    values = column.values
    if values.null_count:
        raise column.error(int(np.argmax(np.asarray(values.is_null()))), "is None; it must be text")
    try:
        encoded = values.cast(pa.string()).dictionary_encode()
    except pa.ArrowException:
        problem = f"column {column.name!r} of {column.where} holds {values.type}; it must hold text"
        raise InputError(problem, file=column.where) from None
    return np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()


def _with_groups(
    row: Int64, words: list[str], group: Int64, groups: list[str]
) -> tuple[Int64, list[str], list[str]]:
    """Return rows that are a word in a group, named word@group, in order of first appearance."""
    both, first, row = np.unique(row * len(groups) + group, return_index=True, return_inverse=True)
    order = np.argsort(first)
    word_of, group_of = np.divmod(both[order], len(groups))
    names = [f"{words[w]}@{groups[g]}" for w, g in zip(word_of, group_of, strict=True)]
    return np.argsort(order)[row], names, [groups[g] for g in group_of]


def _by_frequency(row: Int64, names: list[str], n: Int64) -> tuple[Int64, list[str], list[int]]:
    """Renumber the names by decreasing number of samples, ties by name."""
    frequency = added(row, n, len(names)).tolist()
    rank = sorted(range(len(names)), key=lambda i: (-frequency[i], names[i]))
    return np.argsort(rank)[row], [names[i] for i in rank], rank


def read_columns(path: Path, names: Sequence[str]) -> Any:
    """Read the named columns of a file: the third and fourth as counts, the others as text."""
    import pyarrow as pa
    from pyarrow import parquet

    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path} does not end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}", file=str(path))
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty; it needs columns {', '.join(names)}", file=str(path))
        if ending != ".parquet":
            return _read_text(path, names)
        with parquet.ParquetFile(path) as file:
            present = file.schema_arrow.names
            for name in names:
                if name not in present:
                    raise no_column(name, present, str(path), remedy=_needed(names))
            return file.read(columns=list(names))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}", file=str(path)) from None
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path} cannot be read as {ending[1:]}: {reason}", file=str(path)) from None


def _read_text(path: Path, names: Sequence[str]) -> Any:
    """Read a CSV or TSV file: fast by Arrow, and line by line if that fails, to find the line at fault."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    next(_text_rows(path, names), None)  # checks the header
    tabs = path.suffix.lower() == ".tsv"
    with path.open("rb") as file:
        quoted = not tabs or file.readline().removeprefix(codecs.BOM_UTF8).startswith(b'"')
    types = {name: pa.int64() if name in names[2:4] else pa.string() for name in names}
    parse = arrow_csv.ParseOptions(
        delimiter="\t" if tabs else ",", quote_char='"' if quoted else False, newlines_in_values=quoted
    )
    convert = arrow_csv.ConvertOptions(column_types=types, include_columns=list(names), null_values=[])
    try:
        table = arrow_csv.read_csv(path, parse_options=parse, convert_options=convert)
        if all(len(table) == 0 or compute.min(table[name]).as_py() >= 0 for name in names[2:4]):
            return table
    except pa.ArrowInvalid:
        pass
    rows = [
        [_whole(value, names[i], path, line) if i in (2, 3) else value for i, value in enumerate(fields)]
        for line, fields in _text_rows(path, names)
    ]
    return {name: np.array([row[i] for row in rows], dtype=object) for i, name in enumerate(names)}


def _text_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the wanted fields of each row of a CSV or TSV file."""
    tabs = path.suffix.lower() == ".tsv"
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            yield from delimited_rows(file, str(path), names, tabs=tabs, remedy=_needed(names))
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not UTF-8 (at byte {_first_invalid_byte(path)}); convert it to UTF-8", file=str(path)
        ) from None


def _whole(value: str, name: str, path: Path, number: int) -> int:
    """Return a count written as 3 or as 3.0."""
    try:
        count = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    except ValueError:
        count = -1
    if not _is_whole(count):
        where = f"{path}, line {number}"
        raise InputError(f"{where}: {name} is {value!r}{_WHOLE}", file=str(path), line=number)
    return int(count)


def _first_invalid_byte(path: Path) -> int:
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0
