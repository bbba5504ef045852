"""Files of vectors: word2vec's text and binary formats, and GloVe's text, which has no first line of sizes.

Such a file does not state its format, which is inferred from its beginning. A line of text is split from the right:
a word may hold spaces (some of GloVe's do).
"""

import codecs
from collections.abc import Callable, Collection, Iterator
from itertools import takewhile
from typing import IO, NamedTuple

import numpy as np

from bayesvec._types import Float32
from bayesvec.errors import InputError
from bayesvec.vectors.spelling import decoded

_CHUNK = 1 << 18
_LONGEST = 1 << 24  # bytes of a line or a word; a longer one is not in a file of vectors
_WINDOW = 1 << 12  # bytes that distinguish text from binary


class _Entry(NamedTuple):
    word: bytes
    numbers: bytes  # as text, or as little-endian float32


class _Stream:
    """A file that is read by lines, words and bytes."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self.name = name
        self.line = 0  # the number of the line, or in a binary file of the vector, that was read last
        self._stream = stream
        self._held = b""
        self._at = 0

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end, without moving on."""
        while len(self._held) - self._at < size and self._fill():
            pass
        return self._held[self._at : self._at + size]

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end."""
        taken = self.peek(size)
        self._at += len(taken)
        return taken

    def until(self, mark: bytes) -> bytes | None:
        """Return what comes before the next ``mark``, or before the end; None at the end."""
        seen = self._at
        while (found := self._held.find(mark, seen)) < 0:
            seen = len(self._held) - self._at
            if seen > _LONGEST:
                raise self.error("this is no file of vectors: a line is too long")
            if not self._fill():
                rest = self.take(len(self._held) - self._at)
                return rest or None
        taken = self._held[self._at : found]
        self._at = found + 1
        return taken

    def next_line(self) -> bytes | None:
        """Return the next line without its end; None after the last."""
        line = self.until(b"\n")
        self.line += line is not None
        return line

    def error(self, problem: str, unit: str = "line") -> InputError:
        """Return an error that names the place."""
        message = f"{self.name}, {unit} {max(self.line, 1)}: {problem}"
        return InputError(message, file=self.name, line=max(self.line, 1))

    def _fill(self) -> bool:
        """Read on, and drop what was used."""
        chunk = self._stream.read(_CHUNK)
        self._held = self._held[self._at :] + chunk
        self._at = 0
        return bool(chunk)


def read_file(name: str, stream: IO[bytes], words: Collection[str] | None) -> tuple[list[str], Float32]:
    """Return the words of a file and their vectors, (word, K); with ``words``, of these only."""
    file = _Stream(name, stream)
    first, count, dim = _begin(file)
    text = count is None or _is_text(file.peek(_WINDOW + 32 * dim), count, dim)
    if not text:
        assert count is not None
        entries = _binary_entries(file, dim, count)
    else:
        if count is not None:
            first = file.next_line() or b""
            if _dim_of(first) != dim:
                raise file.error(f"{_shown(first)} is not a word and {dim} numbers, as the first line states")
        entries = _text_entries(file, first, dim, count)
    vector = _text_vector if text else _binary_vector
    return _gathered(file, entries, vector, dim, None if words is None else set(words))


def read_dim(name: str, stream: IO[bytes]) -> int:
    """Return the length of the vectors of a file by its first line."""
    return _begin(_Stream(name, stream))[2]


def _begin(file: _Stream) -> tuple[bytes, int | None, int]:
    """Read the first line; return it with the number of vectors, if stated, and their length."""
    first = file.next_line()
    if first is None or not first.strip():
        raise file.error(
            "the file is empty; a file of vectors begins with their number and size, or with one"
        )
    sizes = _sizes(first)
    if sizes is None:
        dim = _dim_of(first)
        if not dim:
            raise file.error(f"{_shown(first)} is not a word with numbers; give a file of word2vec or GloVe")
        return first, None, dim
    if min(sizes) < 1:
        raise file.error("{} vectors of {} numbers are announced; there must be at least one".format(*sizes))
    return first, *sizes


def _gathered(
    file: _Stream,
    entries: Iterator[_Entry],
    vector: Callable[[_Stream, str, bytes, int], Float32],
    dim: int,
    wanted: set[str] | None,
) -> tuple[list[str], Float32]:
    """Return words and vectors; words are decoded if every one in the file is as bayesvec encodes it."""
    names: set[str] = set()
    ours = True
    kept: list[tuple[str, str]] = []  # a word as it is in the file, and decoded
    values = bytearray()
    for word, numbers in entries:
        try:
            name = word.decode()
        except UnicodeDecodeError:
            raise file.error(f"the word {word[:40]!r} is not UTF-8; convert the file") from None
        plain = decoded(name)
        ours = ours and plain is not None
        if name in names:
            continue
        names.add(name)
        if wanted is None or name in wanted or plain in wanted:
            kept.append((name, name if plain is None else plain))
            values += vector(file, name, numbers, dim).tobytes()
    chosen = [plain if ours else name for name, plain in kept]
    table = np.frombuffer(values, dtype=np.float32).reshape(-1, dim)
    rows = [row for row, word in enumerate(chosen) if wanted is None or word in wanted]
    return [chosen[row] for row in rows], table if len(rows) == len(table) else table[rows]


def _text_vector(file: _Stream, word: str, numbers: bytes, dim: int) -> Float32:
    try:
        with np.errstate(over="ignore"):  # too large a number is refused below
            vector = np.array(list(map(float, numbers.split())), dtype=np.float64).astype(np.float32)
    except ValueError as error:
        raise file.error(f"the vector of {word!r} has an entry that is not a number ({error})") from None
    if len(vector) != dim:
        raise file.error(f"the vector of {word!r} has {len(vector)} numbers; those before it have {dim}")
    if not np.isfinite(vector).all():
        raise file.error(f"the vector of {word!r} has a number that is not finite (or not a float32)")
    return vector


def _binary_vector(file: _Stream, word: str, numbers: bytes, dim: int) -> Float32:
    vector = np.frombuffer(numbers, "<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise file.error(f"the vector of {word!r} has a number that is not finite", "vector")
    return vector


def _text_entries(file: _Stream, line: bytes | None, dim: int, count: int | None) -> Iterator[_Entry]:
    found = 0
    while line is not None:
        if not line.strip() and not file.peek(_WINDOW).strip():
            break  # empty lines at the end
        if found == count:
            raise file.error(f"there are more vectors than the {count} that the first line states")
        word = _word_of(line, dim)
        if not word:
            raise file.error(f"{_shown(line)} is not a word and {dim} numbers, as the lines before")
        yield _Entry(word, line[len(word) :])
        found += 1
        line = file.next_line()
    if count is not None and found < count:
        raise file.error(f"it ends after {found} of {count} vectors; it is truncated, fetch it again")


def _word_of(line: bytes, dim: int) -> bytes:
    """Return what precedes the last ``dim`` numbers of a line; nothing if there are fewer."""
    if line.rstrip().count(b" ") == dim:
        return line.partition(b" ")[0]  # the usual case, much faster
    word, *numbers = line.rsplit(None, dim) or [b""]
    return word if len(numbers) == dim else b""


def _binary_entries(file: _Stream, dim: int, count: int) -> Iterator[_Entry]:
    for number in range(count):
        file.line = number + 1
        word = file.until(b" ")
        vector = file.take(4 * dim)
        if word is None or len(vector) < 4 * dim:
            raise file.error(
                f"it ends after {number} of {count} vectors; it is truncated, fetch it again", "vector"
            )
        yield _Entry(word.lstrip(b"\n"), vector)
    if file.peek(_WINDOW).strip(b"\n"):
        raise file.error(f"there is more after the {count} vectors that the first line states", "vector")


def _sizes(line: bytes) -> tuple[int, int] | None:
    """Return number and size of the vectors if these two are all that a line has."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def _dim_of(line: bytes) -> int:
    """Return how many numbers are at the end of a line, after a word."""
    return sum(1 for _ in takewhile(_is_number, reversed(line.split()[1:])))


def _is_number(part: bytes) -> bool:
    try:
        float(part)
    except ValueError:
        return False
    return True


def _is_text(window: bytes, count: int, dim: int) -> bool:
    """Distinguish text from binary by what follows the sizes."""
    line = window.partition(b"\n")[0]
    _, *numbers = line.rsplit(None, dim) or [b""]
    if len(numbers) == dim and all(map(_is_number, numbers)):
        return True
    if any(byte < 0x20 and byte not in b"\t\r\n" for byte in window):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(window)  # it may end inside a character
    except UnicodeDecodeError:
        return False
    # It is malformed text, unless it is a binary file so short that all its bytes happen to be letters.
    return not _fits_binary(window, count, dim)


def _fits_binary(window: bytes, count: int, dim: int) -> bool:
    at = 0
    for _ in range(count):
        space = window.find(b" ", at)
        if space < 0 or space + 1 + 4 * dim > len(window):
            return False
        at = space + 1 + 4 * dim
    return not window[at:].strip(b"\n")


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
