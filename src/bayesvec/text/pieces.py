"""Text in pieces that workers of a cluster read, tokenise and number by themselves.

A piece is some files, or a range of the lines of a large one; what workers cannot read (standard input, documents in
memory, large files that are compressed or tables) is read here and sent in blocks. Each worker numbers the words of
its piece in order of appearance. Pieces are put together in order, so that the words get the numbers that one process
gives them.
"""

import codecs
import platform
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import IO, NamedTuple

import numpy as np

from bayesvec._pipeline import in_order
from bayesvec._progress import progress
from bayesvec.counts.documents import Lengths
from bayesvec.counts.spill import GrowingArray
from bayesvec.errors import InputError
from bayesvec.text.corpus import TokenStream, speed, tokenize
from bayesvec.text.reading import Block, Tally, read_blocks
from bayesvec.text.sources import ReadOptions, Source, kind_of
from bayesvec.text.tokens import Tokenizer

LEAST_BYTES, MOST_BYTES = 1 << 20, 1 << 24  # of a piece
PIECES_PER_WORKER = 4
WHOLE_BYTES = 1 << 28  # of a file that cannot be cut and that a worker still reads by itself
_LINE_END = 1 << 16  # bytes to look at for the end of a line, at a time

Piece = Sequence[Source] | Block


class Numbered(NamedTuple):
    """A piece, its words numbered by their order in it."""

    stream: TokenStream
    read: int  # bytes
    continues: bool  # its first document started in the previous piece


def cut_sources(
    sources: Sequence[Source], options: ReadOptions, tally: Tally, *, workers: int
) -> Iterator[Piece]:
    """Yield the pieces of all files, in order.

    Parameters
    ----------
    sources : sequence of Source
        The files.
    options : ReadOptions
        How they are read.
    tally : Tally
        Of what is replaced where files are read here.
    workers : int
        Number of workers; there are several pieces for each, unless they would be small.
    """
    total = sum(source.size for source in sources)
    wanted = min(MOST_BYTES, max(LEAST_BYTES, total // (PIECES_PER_WORKER * workers)))
    together: list[Source] = []
    for source in sources:
        for part in _parts(source, options, wanted):
            here = _is_read_here(part, options)
            if together and (here or sum(map(_size, together)) + _size(part) > wanted):
                yield together
                together = []
            if here:
                yield from read_blocks([part], options, tally)
            else:
                together.append(part)
    if together:
        yield together


def _size(part: Source) -> int:
    return (part.size if part.last is None else part.last) - part.first


def _is_cut(source: Source, options: ReadOptions) -> bool:
    """Whether a file can be cut at any line end: plain text in UTF-8, a document per line."""
    kind, compression = kind_of(source, options)
    plain = codecs.lookup(options.encoding).name == "utf-8" and options.errors == "strict"
    by_line = options.document == "line" and options.separator is None
    return source.path is not None and kind == "text" and not compression and plain and by_line


def _is_read_here(source: Source, options: ReadOptions) -> bool:
    """Whether workers cannot read a file (standard input, a pipe), or one of them would read too much."""
    if source.path is None or not source.path.is_file():
        return True
    return _size(source) > WHOLE_BYTES and not _is_cut(source, options)


def _parts(source: Source, options: ReadOptions, wanted: int) -> Iterator[Source]:
    """Yield ranges of whole lines of a file, of about ``wanted`` bytes each; the file itself if it cannot be cut."""
    if source.path is not None:
        source = source._replace(path=source.path.absolute())  # workers have folders of their own
    if source.path is None or source.size <= wanted or not _is_cut(source, options):
        yield source
        return
    with source.path.open("rb") as handle:
        first = 0
        while first < source.size:
            last = _after_line(handle, first + wanted, source.size)
            yield source._replace(first=first, last=last)
            first = last


def _after_line(handle: IO[bytes], place: int, size: int) -> int:
    """Return where the next line begins after a place in a file."""
    handle.seek(place)
    while place < size and (some := handle.read(_LINE_END)):
        if (at := some.find(b"\n")) >= 0:
            return place + at + 1
        place += len(some)
    return size


def number(tokenizer: Tokenizer, options: ReadOptions, memory: int, piece: Piece) -> Numbered:
    """Read a piece and number its words: what a worker does."""
    tally, continues = Tally(), False
    if isinstance(piece, Block):
        blocks: Iterable[Block] = [piece._replace(continues=False)]
        read, continues = piece.read, piece.continues
    else:
        if missing := next((each for each in piece if each.path and not each.path.exists()), None):
            raise InputError(
                f"{missing.name} is not on {platform.node()}; put the text on a file system that all nodes share",
                file=missing.name,
            )
        blocks, read = read_blocks(piece, options, tally), sum(map(_size, piece))
    stream = tokenize(blocks, tokenizer, total_bytes=0, memory=memory, threads=1, show=False)
    return Numbered(stream._replace(zero_bytes=tally.zero_bytes), read, continues)


def tokenize_pieces(
    pieces: Iterable[Piece],
    tokenizer: Tokenizer,
    options: ReadOptions,
    *,
    total_bytes: int,
    memory: int,
    workers: int,
    show: bool,
) -> TokenStream:
    """Split pieces of text into words on a cluster; number the words here, from the lists of the pieces' words."""
    numbers: dict[str, int] = {}
    frequency = np.zeros(1 << 12, dtype=np.int64)
    tokens, lengths = GrowingArray(np.int32, memory // 4), Lengths(memory)
    groups: list[str] = []
    zero_bytes = 0
    work = partial(number, tokenizer, options, memory)
    with progress("reading", total_bytes or None, enabled=show) as advance:
        told = speed()
        for stream, read, continues in in_order(work, pieces, threads=workers):
            new = np.array([numbers.setdefault(word, len(numbers)) for word in stream.words], dtype=np.int32)
            if len(numbers) > len(frequency):
                frequency = np.concatenate([frequency, np.zeros(len(numbers), dtype=np.int64)])
            frequency[new] += stream.frequency
            tokens.append(new[stream.tokens])
            lengths.append(np.array(stream.lengths), continues)
            groups.extend(stream.groups or ())
            zero_bytes += stream.zero_bytes
            advance(read, told(tokens.size))
    return TokenStream(
        tokens.finish(),
        lengths.finish(),
        list(numbers),
        frequency[: len(numbers)],
        groups or None,
        zero_bytes,
    )
