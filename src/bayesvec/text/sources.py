"""The files that hold the text: finding, opening and decompressing them."""

import bz2
import codecs
import glob
import gzip
import lzma
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from bayesvec._validate import one_of
from bayesvec.errors import InputError, OptionError

FORMATS = ("auto", "text", "jsonl", "csv", "tsv", "parquet")
PIECE_SHARE = 8  # memory that a piece of text takes while it is read, as a multiple of its size
_FORMAT_OF = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
FILE_ENDINGS = {".txt", *_FORMAT_OF, *_COMPRESSED}  # of names that can only be those of files


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes
    ----------
    text_column, group_column : str or None
        The columns of a table that hold the text and the group of each document.
    document : str
        ``line`` or ``file``: whether a document of plain text is a line or a file.
    separator : Pattern or None
        What stands between the documents of plain text, instead.
    basket_column, item_column : str or None
        The columns of a table that hold a basket and one of its items in each row.
    group_by : str or None
        ``file``: the group of a document is the file that it is in.
    format : str
        One of ``FORMATS``; ``auto`` is by the name of the file.
    encoding, errors : str
        As in `bytes.decode`; errors is ``strict``, ``replace`` or ``ignore``.
    divisible : bool
        Whether a document may be split at white space for reading (not if a word can contain white space).
    block_bytes : int
        Approximate number of bytes read at a time.
    piece_bytes : int
        Most bytes of a piece of text that cannot be divided.
    """

    text_column: str | None = None
    group_column: str | None = None
    document: str = "line"
    format: str = "auto"
    encoding: str = "utf-8"
    errors: str = "strict"
    divisible: bool = True
    block_bytes: int = 1 << 22
    piece_bytes: int = 1 << 62
    separator: re.Pattern[str] | None = None
    basket_column: str | None = None
    item_column: str | None = None
    group_by: str | None = None

    def __post_init__(self) -> None:
        one_of("document", self.document, ("line", "file"))
        one_of("format", self.format, FORMATS)
        one_of("errors", self.errors, ("strict", "replace", "ignore"))
        try:
            b"a".decode(self.encoding, "replace")  # empty bytes would not be decoded at all
            codecs.getincrementaldecoder(self.encoding)
        except (LookupError, UnicodeError, ValueError, TypeError):
            raise OptionError(
                f"encoding {self.encoding!r} is not a text encoding; give one such as utf-8, latin-1 or utf-16"
            ) from None
        if (self.basket_column is None) != (self.item_column is None):
            raise OptionError(
                "--basket-column and --item-column (basket_column=, item_column=) go together; give both or neither"
            )
        if self.basket_column is not None and self.text_column is not None:
            raise OptionError("--text-column does not go with --basket-column; give one of the two")
        if self.group_column is not None and self.text_column is None and self.basket_column is None:
            raise OptionError(
                "--group-column (group_column=) needs a table: give --text-column (text_column=) as well"
            )
        if self.group_by not in (None, "file"):
            raise OptionError(
                f"--group-by (group_by=) is {self.group_by!r}; it must be file: each file is a group. For a column "
                "of a table give --group-column (group_column=)"
            )
        if self.group_by is not None and self.group_column is not None:
            raise OptionError("groups are either files or in a column: give --group-by or --group-column")

    def check_piece(self, name: str, size: int) -> None:
        """Raise if a piece of text that cannot be divided is too large for the memory that may be used."""
        if size > self.piece_bytes:
            raise InputError(
                f"{name} has a piece of text of more than {self.piece_bytes / 1e6:,.0f} MB that cannot be divided: "
                "a word, a row of a table, or a document if the tokenizer is a regular expression or there is "
                f"a separator; it takes up to {PIECE_SHARE} times its size in memory: raise --memory (memory=), "
                "or divide it",
                file=name,
            )

    def columns(self) -> list[str]:
        """Return the columns of a table that are read."""
        named = (self.text_column, self.basket_column, self.item_column, self.group_column)
        return [column for column in named if column is not None]


class Source(NamedTuple):
    """A file to read; standard input has no path."""

    name: str
    path: Path | None
    size: int  # bytes, 0 if unknown
    group: str | None = None  # of all its documents
    first: int = 0  # byte, if only a part of it is read
    last: int | None = None  # one past the last byte


def find_sources(texts: Any, group_by: str | None = None) -> list[Source]:
    """Return the files that ``texts`` names: a path, a glob, a folder, ``-``, or several of these.

    Each file has a group if ``texts`` is a mapping of groups to paths, if an item is written ``group=path``, or if
    ``group_by`` is ``file``: then it is named after the file, without its endings.
    """
    items: list[tuple[str | None, Any]]
    if isinstance(texts, Mapping):
        items = [
            (str(group), path)
            for group, paths in texts.items()
            for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)
        ]
    else:
        several = [texts] if isinstance(texts, str | os.PathLike) else list(texts)
        items = [_group_and_path(item) for item in several]
    if not items:
        raise InputError("no text is given; name a file, a folder, a glob, or - for standard input")
    found: list[Source] = []
    for group, item in items:
        if not isinstance(item, str | os.PathLike):
            shown = repr(item) if len(repr(item)) <= 40 else f"{repr(item)[:40]}..."
            raise InputError(f"{shown} is not a path; give documents in memory as documents=[...]")
        for source in _sources_of(str(os.fspath(item))):
            named = stem_of(source.name) if group_by == "file" and group is None else group
            found.append(source._replace(group=named))
    without = next((source.name for source in found if source.group is None), None)
    if without is not None and any(source.group is not None for source in found):
        raise InputError(
            f"{without} has no group, and other files have one; write GROUP={shlex.quote(without)}",
            file=without,
        )
    seen: set[str] = set()
    for source in found:
        place = source.name if source.path is None else os.path.abspath(source.path)
        if place in seen:
            raise InputError(f"{source.name} is named twice; name each file once", file=source.name)
        seen.add(place)
    return found


def _group_and_path(item: Any) -> tuple[str | None, Any]:
    """Split ``group=path``, unless there is a file of that name."""
    group, sign, path = item.partition("=") if isinstance(item, str) else ("", "", "")
    if not (sign and group.strip() and path) or names_a_file(item):
        return None, item
    return group.strip(), path


def stem_of(name: str) -> str:
    """Return the name of a file without its folder and its endings."""
    path = Path(name)
    return (path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path).stem


def _sources_of(name: str) -> list[Source]:
    if name == "-":
        return [Source("-", None, 0)]
    path = Path(name)
    try:
        there = path.exists()
    except OSError as error:
        shown = f"{name[:40]!r}..." if len(name) > 40 else repr(name)
        raise InputError(
            f"{shown} cannot be a file ({error.strerror}); name files here, "
            "and give the text itself as documents=[...] (in the shell: through a pipe, as -)",
            file=name,
        ) from None
    if there and path.is_dir():
        inside = (p for p in path.rglob("*") if p.is_file())
        paths = sorted(p for p in inside if not any(part[0] == "." for part in p.relative_to(path).parts))
        if not paths:
            raise InputError(f"{name} is a folder without files; name one that holds text", file=name)
    elif there:
        paths = [path]
    else:
        paths = sorted(p for p in map(Path, glob.glob(name, recursive=True)) if p.is_file())
        if not paths:
            problem = "matches no file" if glob.has_magic(name) else "does not exist"
            raise InputError(f"{name} {problem}; name a file, a folder or a glob that does", file=name)
    return [Source(str(p), p, p.stat().st_size) for p in paths]


def names_a_file(name: str) -> bool:
    """Whether a string is the name of a file or a folder that exists, or a pattern that matches one."""
    try:
        return name == "-" or bool(_sources_of(name))
    except (InputError, ValueError):
        return False


def kind_of(source: Source, options: ReadOptions) -> tuple[str, str]:
    """Return the format and the compression of a file; raise if the options do not fit it."""
    suffixes = Path(source.name.lower()).suffixes
    compression = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSED else ""
    kind = options.format
    columns = options.columns()
    if kind == "auto":
        by_default = "jsonl" if source.path is None and columns else "text"
        kind = _FORMAT_OF.get(suffixes[-1], "text") if suffixes else by_default
    if kind == "text" and columns:
        flag = "--text-column (text_column=)" if options.text_column else "--basket-column and --item-column"
        raise OptionError(
            f"{source.name} is read as plain text, which has no column {columns[0]!r}; "
            f"leave out {flag}, or give --format (format=) as jsonl, csv, tsv or parquet"
        )
    if kind != "text" and not columns:
        raise OptionError(
            f"{source.name} is a table ({kind}): name the column that holds the text by --text-column "
            "(text_column=), or give --format text (format='text')"
        )
    if kind != "text" and (options.document == "file" or options.separator is not None):
        flag = "--document (document=)" if options.separator is None else "--document-separator"
        raise OptionError(
            f"{source.name} is a table ({kind}), whose documents are its rows; leave out {flag}"
        )
    return kind, compression


def opened(source: Source) -> AbstractContextManager[IO[bytes]]:
    """Open a file, or a part of it, for reading; standard input is not closed afterwards."""
    if source.path is None:
        return nullcontext(sys.stdin.buffer)
    if source.last is None:
        return source.path.open("rb")
    return closing(cast(IO[bytes], _Part(source.path.open("rb"), source.first, source.last)))


class _Part:
    """A range of the bytes of a file.

    Parameters
    ----------
    handle : file
        The file; it is closed with the part.
    first, last : int
        The first byte, and one past the last.
    """

    def __init__(self, handle: IO[bytes], first: int, last: int) -> None:
        self._handle, self._last = handle, last
        handle.seek(first)

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        return self._handle.read(max(0, min(size, self._last - self.tell())))

    def tell(self) -> int:
        """Return the place in the file."""
        return self._handle.tell()

    def close(self) -> None:
        """Close the file."""
        self._handle.close()


def decompressed(handle: IO[bytes], compression: str) -> IO[bytes]:
    """Return the decompressed stream by the extension of the file name; any other extension is not compressed."""
    openers: dict[str, Callable[[Any], Any]] = {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": _Zstandard,
    }
    stream: IO[bytes] = openers.get(compression, lambda handle: handle)(handle)
    return stream


class _Zstandard:
    """A stream of Zstandard frames; unlike the library's own it detects a truncated file."""

    def __init__(self, handle: IO[bytes]) -> None:
        import zstandard

        self._handle = handle
        self._error = zstandard.ZstdError
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._fresh = True  # no byte of the frame has been read yet
        self._left = b""

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        while not self._left:
            chunk = self._frame.unused_data or self._handle.read(1 << 16)
            if self._frame.eof:
                self._frame, self._fresh = self._new_frame(), True
            if not chunk:
                if not self._fresh:
                    raise EOFError("it is truncated in the middle of a frame")
                return b""
            self._fresh = False
            try:
                self._left = self._frame.decompress(chunk)
            except self._error as error:
                raise OSError(str(error)) from None
        taken, self._left = self._left[:size], self._left[size:]
        return taken
