"""What a caller gives as text: files, texts in memory, lists of words, or the columns of a data frame."""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bayesvec._validate import group_name
from bayesvec.errors import InputError, OptionError
from bayesvec.text.sources import FILE_ENDINGS, ReadOptions, names_a_file
from bayesvec.text.tables import FRAME, Record, Row, frame_records, missing, text_rows

_JUDGED = 1000  # strings of a list by which it is recognised as paths or as texts


class Given(NamedTuple):
    """Text in one of four forms."""

    paths: Any = None
    records: Iterable[Record] | None = None  # rows of a table with a basket and an item each
    rows: Iterable[Row] | None = None  # texts, perhaps with groups
    lists: Iterable[Sequence[str]] | None = None  # words, or items
    groups: Iterable[Any] | None = None  # of each document in memory
    what: str = "documents"


def recognise(texts: Any, documents: Any, groups: Any, reading: ReadOptions) -> Given:
    """Return what was given to `bayesvec.count`, judging by its type and by its first items."""
    if (texts is None) == (documents is None):
        raise OptionError("give either texts (paths) or documents (strings), one of the two")
    groups = None if groups is None else column_values(groups)
    texts = _collected(texts)
    if documents is None and is_frame(texts) and (reading.text_column or not isinstance(texts, Mapping)):
        if groups is not None:
            raise OptionError("a data frame has its groups in a column; name it by group_column, not groups")
        return Given(rows=text_rows(frame_records(texts, reading), FRAME, reading), what=FRAME)
    if documents is None:
        documents, texts = _texts_in_memory(texts)
    if documents is None:
        if groups is not None:
            raise OptionError(
                "groups goes with documents (or baskets) in memory; for files, name the column by group_column"
            )
        return Given(texts)
    if reading.text_column is not None:
        raise OptionError(
            f"text_column is {reading.text_column!r}, and the documents are no table; "
            "leave it out, or give a data frame"
        )
    if isinstance(documents, str):
        raise InputError("documents is one string; it must be a list of strings, one per document")
    may_miss = _is_column(documents)
    first, whole = first_of(column_values(documents), "documents")
    if isinstance(first, list | tuple):
        return Given(lists=map(_words_of, whole, itertools.count(1)), groups=groups)
    return Given(rows=_text_rows(whole, may_miss=may_miss), groups=groups)


def recognise_baskets(baskets: Any, groups: Any, reading: ReadOptions) -> Given:
    """Return what was given to `bayesvec.count_baskets`: strings and paths are paths, anything else a basket."""
    groups = None if groups is None else column_values(groups)
    baskets = _collected(baskets)
    if is_frame(baskets) and (reading.columns() or not isinstance(baskets, Mapping)):
        if groups is not None:
            raise OptionError("a data frame has its groups in a column; name it by group_column, not groups")
        records = frame_records(baskets, reading)
        if reading.basket_column is not None:
            return Given(records=records, what=FRAME)
        return Given(rows=text_rows(records, FRAME, reading), what=FRAME)
    if isinstance(baskets, str | os.PathLike | Mapping):
        return Given(baskets, groups=groups, what="baskets")
    first, whole = first_of(column_values(baskets), "baskets")
    if isinstance(first, str | os.PathLike):
        return Given(list(whole), groups=groups, what="baskets")
    return Given(lists=map(_item_names, whole, itertools.count(1)), groups=groups, what="baskets")


def _collected(given: Any) -> Any:
    """Return a lazy data frame of Polars as a data frame, and anything else as it is."""
    return given.collect() if hasattr(given, "collect_schema") and hasattr(given, "collect") else given


def is_frame(given: Any) -> bool:
    """Whether an object is a table: a data frame, an Arrow table or stream, or a mapping of columns."""
    if isinstance(given, Mapping):
        return True
    arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return (arrow or hasattr(given, "iloc")) and any(
        hasattr(given, name) for name in ("columns", "column_names", "schema")
    )


def _is_column(given: Any) -> bool:
    """Whether an object is a column of a table (a series, an Arrow or NumPy array)."""
    names = ("__arrow_c_stream__", "__arrow_c_array__", "iloc", "__array_interface__")
    return not is_frame(given) and any(hasattr(given, name) for name in names)


def column_values(column: Any) -> Iterable[Any]:
    """Return the values of a column as Python objects, and anything else as it is."""
    import_arrow = hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__")
    if not import_arrow or hasattr(column, "iloc"):  # a pandas column may hold what Arrow has no type for
        return column  # type: ignore[no-any-return]
    import pyarrow

    chunks = pyarrow.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pyarrow.array(column)
    return (value.as_py() for value in chunks)


def _texts_in_memory(texts: Any) -> tuple[Any, Any]:
    """Return (documents, None) if ``texts`` are texts, or (None, paths) if they are paths.

    A column is texts, and so are lists of words. A list of strings is texts if some have several words and none looks
    like the name of a file: by its ending, or because it has several words and the file exists.
    """
    if isinstance(texts, str | os.PathLike | Mapping):
        return None, texts
    if _is_column(texts):
        return texts, None
    if not isinstance(texts, Iterable):
        raise InputError(
            f"got {type(texts).__name__}; give files by their names, a list of texts, or a data frame"
        )
    rest = iter(texts)
    some = list(itertools.islice(rest, _JUDGED))
    whole = some if len(some) < _JUDGED else itertools.chain(some, rest)
    if some and all(isinstance(item, list | tuple) for item in some):
        return whole, None
    strings = all(isinstance(item, str) for item in some)
    if not strings or not any(len(item.split()) > 1 for item in some) or any(map(_looks_like_a_file, some)):
        return None, whole
    return whole, None


def _looks_like_a_file(item: str) -> bool:
    return Path(item).suffix.lower() in FILE_ENDINGS or (len(item.split()) > 1 and names_a_file(item))


def first_of(items: Iterable[Any], what: str) -> tuple[Any, Iterable[Any]]:
    """Return the first item, and all of them."""
    rest = iter(items)
    for first in rest:
        return first, itertools.chain([first], rest)
    raise InputError(f"there are no {what}; give at least one")


def _text_rows(documents: Iterable[Any], *, may_miss: bool) -> Iterator[Row]:
    """Yield texts as rows; a missing value of a column is an empty text."""
    for number, text in enumerate(documents, start=1):
        if isinstance(text, str):
            yield text, None, number
        elif may_miss and missing(text):
            yield None, None, number
        else:
            raise InputError(
                f"document {number} is {type(text).__name__}; it must be a string, or all must be lists of words"
            )


def _words_of(document: Any, number: int) -> Sequence[str]:
    if not isinstance(document, list | tuple):
        raise InputError(
            f"document {number} is {type(document).__name__}, and the first one is a list of words; "
            "give all in one form"
        )
    other = next((word for word in document if not isinstance(word, str) or not word), None)
    if other is not None:
        raise InputError(f"document {number} holds {other!r}; words are strings, not empty")
    return document


def _item_names(basket: Any, number: int) -> list[str]:
    if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
        raise InputError(f"basket {number} is {basket!r}; it must be a list of items")
    return [str(item) for item in basket]


def group_names(groups: Iterable[Any], size: int, what: str) -> list[str]:
    """Return the names of the groups that were given for documents in memory."""
    names = []
    for number, group in enumerate(groups, start=1):
        if (name := group_name(group)) is None:
            raise InputError(f"group {number} is {group!r}; it must be text, a number or a date")
        names.append(name)
    if len(names) != size:
        raise InputError(f"there are {len(names)} groups for {size} {what}; give one for each")
    return names
