"""Documents read from files, as blocks of UTF-8."""

import codecs
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, NamedTuple

import numpy as np

from bayesvec._types import Int64
from bayesvec.errors import InputError
from bayesvec.text.separator import separated
from bayesvec.text.sources import ReadOptions, Source, decompressed, kind_of, opened
from bayesvec.text.tables import Record, Row, csv_records, json_records, parquet_records, text_rows

_HEAD = 1 << 16  # bytes by which a binary file is recognised
_CONTROLS = "".join(map(chr, range(32))).translate(dict.fromkeys(map(ord, "\t\n\v\f\r\x1a\x1b")))


@dataclass
class Tally:
    """What was replaced while the text was read."""

    zero_bytes: int = 0  # read as spaces


class Block(NamedTuple):
    """Documents, or parts of documents, that are read together."""

    data: bytes  # UTF-8
    starts: Int64  # first byte of each document
    ends: Int64  # one past its last
    groups: list[str] | None = None  # the group of each document
    continues: bool = False  # the first document started in the previous block
    read: int = 0  # bytes of the file consumed since the previous block


def read_blocks(sources: Sequence[Source], options: ReadOptions, tally: Tally) -> Iterator[Block]:
    """Yield the documents of all files, in order, in blocks of about ``options.block_bytes``."""
    for source in sources:
        with _to_read(source, options) as (kind, handle, stream):
            done, is_file = source.first, source.path is not None and source.path.is_file()  # not a pipe
            for block in _blocks_of(source, kind, stream, options, tally):
                at = max(done, handle.tell()) if is_file else done
                if source.group is not None:
                    block = block._replace(groups=[source.group] * (len(block.starts) - block.continues))
                yield block._replace(read=at - done)
                done = at


def read_records(
    sources: Sequence[Source], options: ReadOptions, tally: Tally
) -> Iterator[tuple[Source, Record]]:
    """Yield the rows of all tables, in order."""
    for source in sources:
        with _to_read(source, options) as (kind, _, stream):
            for record in _records(source, kind, stream, options, tally):
                yield source, record


@contextmanager
def _to_read(source: Source, options: ReadOptions) -> Iterator[tuple[str, IO[bytes], IO[bytes]]]:
    """Open a file: its format, its bytes, and its bytes decompressed."""
    kind, compression = kind_of(source, options)
    try:
        with opened(source) as handle:
            yield kind, handle, decompressed(handle, compression)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{source.name} cannot be read: {reason}", file=source.name) from None


def _blocks_of(
    source: Source, kind: str, stream: IO[bytes], options: ReadOptions, tally: Tally
) -> Iterator[Block]:
    if kind != "text":
        records = _records(source, kind, stream, options, tally)
        return row_blocks(text_rows(records, source.name, options), source.name, options, tally)
    chunks = _utf8_chunks(source, stream, options, tally)
    if options.separator is None:
        return _text_blocks(source, chunks, options)
    texts = separated(chunks, options.separator, partial(options.check_piece, source.name))
    return row_blocks(((text, None, 0) for text in texts), source.name, options, tally)


def _records(
    source: Source, kind: str, stream: IO[bytes], options: ReadOptions, tally: Tally
) -> Iterator[Record]:
    """Yield the rows of a table."""
    if kind == "parquet":
        return parquet_records(source, stream, options)
    lines = _lines(_utf8_chunks(source, stream, options, tally), partial(options.check_piece, source.name))
    return (json_records if kind == "jsonl" else csv_records)(source, lines, options, kind)


def _utf8_chunks(source: Source, stream: IO[bytes], options: ReadOptions, tally: Tally) -> Iterator[bytes]:
    """Yield the text as valid UTF-8, zero bytes as spaces; a chunk may end inside a character."""
    plain = codecs.lookup(options.encoding).name == "utf-8" and options.errors == "strict"
    decoder = codecs.getincrementaldecoder(options.encoding)(options.errors)
    total = source.first
    first = source.first == 0
    for chunk in _chunks(source, stream, options):
        total += len(chunk)
        utf8 = _decoded(source, decoder, chunk, total, options, plain=plain)
        if zeros := utf8.count(0):
            tally.zero_bytes += zeros
            utf8 = utf8.replace(b"\0", b" ")
        yield utf8.removeprefix(codecs.BOM_UTF8) if first else utf8
        first = False
    if tail := _decoded(
        source, decoder, b"", total, options, plain=plain
    ):  # the rest of the decoder's buffer
        yield tail


def _chunks(source: Source, stream: IO[bytes], options: ReadOptions) -> Iterator[bytes]:
    """Yield the bytes of a file, or of a part of it, unless the file begins like a binary one."""
    head = stream.read(_HEAD) if source.first == 0 else b""
    text = head.decode(options.encoding, "replace")
    # text may hold stray zero bytes, but not be made of them, of control characters and of what is no character
    if "\0" in text and 3 * sum(map(text.count, f"{_CONTROLS}\ufffd")) > len(text):
        raise InputError(
            f"{source.name} is a binary file (its beginning is full of zero bytes and control characters); "
            "give text, or its --encoding (encoding=) if it is UTF-16 or UTF-32",
            file=source.name,
        )
    for start in range(0, len(head), options.block_bytes):
        yield head[start : start + options.block_bytes]
    while chunk := stream.read(options.block_bytes):
        yield chunk


def _decoded(
    source: Source,
    decoder: codecs.IncrementalDecoder,
    chunk: bytes,
    total: int,
    options: ReadOptions,
    *,
    plain: bool,
) -> bytes:
    """Return a chunk as UTF-8; if it is UTF-8 already (``plain``) it is only checked."""
    try:
        text = decoder.decode(chunk, final=not chunk)
        return chunk if plain else text.encode("utf-8", options.errors)
    except UnicodeError as error:
        where = f" ({error})"
        if isinstance(error, UnicodeDecodeError):
            offset = total - len(error.object) + error.start
            where = f" at byte {offset} (0x{error.object[error.start]:02x})"
        raise InputError(
            f"{source.name} is not valid {options.encoding}{where}; "
            "give the right --encoding (encoding=), or --errors replace (errors='replace')",
            file=source.name,
        ) from None


def _text_blocks(source: Source, chunks: Iterable[bytes], options: ReadOptions) -> Iterator[Block]:
    """Split at line ends (and at a space in a line longer than a block) and mark the documents."""
    by_line = options.document == "line"
    held: list[bytes] = []
    size = 0
    continues = False
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1 if by_line or options.divisible else 0
        inside = not by_line
        if cut == 0 and options.divisible and held:
            cut = chunk.rfind(b" ") + 1
            inside = True
        if cut == 0:
            held.append(chunk)
            size += len(chunk)
            options.check_piece(source.name, size)
            continue
        data = b"".join([*held, chunk[:cut]])
        held, size = [chunk[cut:]], len(chunk) - cut
        yield _text_block(data, by_line, continues)
        continues = inside
    data = b"".join(held)
    if data:
        yield _text_block(data, by_line, continues)


def _text_block(data: bytes, by_line: bool, continues: bool) -> Block:
    if not by_line:
        return Block(data, np.zeros(1, np.int64), np.array([len(data)], dtype=np.int64), None, continues)
    array = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(array == ord("\n"))
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    ends = ends - ((ends > starts) & (array[ends - 1] == ord("\r")))
    return Block(data, starts.astype(np.int64), ends.astype(np.int64), None, continues)


def row_blocks(rows: Iterable[Row], name: str, options: ReadOptions, tally: Tally) -> Iterator[Block]:
    """Collect rows of (text, group, number) in blocks, zero bytes as spaces."""
    texts: list[bytes] = []
    groups: list[str] = []
    size = 0
    for text, group, number in rows:
        try:
            encoded = (text or "").encode("utf-8", options.errors)
        except UnicodeEncodeError:
            problem = "contains half of a surrogate pair; give --errors replace (errors='replace')"
            raise InputError(f"{name}, row {number}: the text {problem}", file=name, line=number) from None
        if zeros := encoded.count(0):
            tally.zero_bytes += zeros
            encoded = encoded.replace(b"\0", b" ")
        texts.append(encoded)
        if group is not None:
            groups.append(group)
        size += len(encoded)
        if size >= options.block_bytes:
            yield _row_block(texts, groups)
            texts, groups, size = [], [], 0
    if texts:
        yield _row_block(texts, groups)


def _row_block(texts: list[bytes], groups: list[str]) -> Block:
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    return Block(b"".join(texts), starts, ends, groups or None)


def _lines(chunks: Iterable[bytes], check_size: Callable[[int], None]) -> Iterator[str]:
    """Yield the lines, with their ends."""
    held: list[bytes] = []
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield (b"".join([*held, line]) + b"\n").decode()
            held.clear()
        held.append(rest)
        check_size(sum(map(len, held)))
    if last := b"".join(held):
        yield last.decode()
