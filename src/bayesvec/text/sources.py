"""The files that hold the text: finding, opening and decompressing them."""

import bz2
import codecs
import glob
import gzip
import lzma
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from bayesvec._validate import one_of
from bayesvec.errors import InputError, OptionError

FORMATS = ("auto", "text", "jsonl", "csv", "tsv", "parquet")
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


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes
    ----------
    text_column, group_column : str or None
        The columns of a table that hold the text and the group of each document.
    document : str
        ``line`` or ``file``: whether a document of plain text is a line or a file.
    format : str
        One of ``FORMATS``; ``auto`` is by the name of the file.
    encoding, errors : str
        As in `bytes.decode`; errors is ``strict``, ``replace`` or ``ignore``.
    divisible : bool
        Whether a document may be split at white space for reading (not if a word can contain white space).
    block_bytes : int
        Approximate number of bytes read at a time.
    """

    text_column: str | None = None
    group_column: str | None = None
    document: str = "line"
    format: str = "auto"
    encoding: str = "utf-8"
    errors: str = "strict"
    divisible: bool = True
    block_bytes: int = 1 << 22

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
        if self.group_column is not None and self.text_column is None:
            raise OptionError(
                "--group-column (group_column=) needs a table: give --text-column (text_column=) as well"
            )


class Source(NamedTuple):
    """A file to read; standard input has no path."""

    name: str
    path: Path | None
    size: int  # bytes, 0 if unknown


def find_sources(texts: Any) -> list[Source]:
    """Return the files that ``texts`` names: a path, a glob, a folder, ``-``, or several of these."""
    several = [texts] if isinstance(texts, str | os.PathLike) else list(texts)
    if not several:
        raise InputError("no text is given; name a file, a folder, a glob, or - for standard input")
    found: list[Source] = []
    for item in several:
        if not isinstance(item, str | os.PathLike):
            raise InputError(f"{item!r} is not a path; give documents in memory as documents=[...]")
        found.extend(_sources_of(str(os.fspath(item))))
    seen: set[str] = set()
    for source in found:
        place = source.name if source.path is None else os.path.abspath(source.path)
        if place in seen:
            raise InputError(f"{source.name} is named twice; name each file once", file=source.name)
        seen.add(place)
    return found


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


def kind_of(source: Source, options: ReadOptions) -> tuple[str, str]:
    """Return the format and the compression of a file; raise if the options do not fit it."""
    suffixes = Path(source.name.lower()).suffixes
    compression = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSED else ""
    kind = options.format
    if kind == "auto":
        by_default = "jsonl" if source.path is None and options.text_column else "text"
        kind = _FORMAT_OF.get(suffixes[-1], "text") if suffixes else by_default
    if kind == "text" and options.text_column:
        raise OptionError(
            f"{source.name} is read as plain text, which has no column {options.text_column!r}; "
            "leave out --text-column (text_column=), or give --format (format=) as jsonl, csv, tsv or parquet"
        )
    if kind != "text" and not options.text_column:
        raise OptionError(
            f"{source.name} is a table ({kind}): name the column that holds the text by --text-column "
            "(text_column=), or give --format text (format='text')"
        )
    if kind != "text" and options.document == "file":
        raise OptionError(
            f"{source.name} is a table ({kind}), whose documents are its rows; "
            "leave out --document (document=)"
        )
    return kind, compression


def opened(source: Source) -> AbstractContextManager[IO[bytes]]:
    """Open a file for reading; standard input is not closed afterwards."""
    return nullcontext(sys.stdin.buffer) if source.path is None else source.path.open("rb")


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
