"""A counts folder to read from: its arrays are mapped into memory, and each is checked before it is used."""

import hashlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from bayesvec._checksums import checksum_of_file
from bayesvec._types import Array, Int64, UInt8
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.manifest import damaged
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.counts.spill import parts

LEFT_OUT = ("source.left_out_names", "source.left_out_counts")


class CountsFolder(NamedTuple):
    """A counts folder to read from."""

    path: Path
    manifest: Mapping[str, Any]

    def array(self, name: str, *, checked: bool = True) -> Array:
        """Map one array into memory, after a check of its size and, if ``checked``, its checksum."""
        file = self.path / f"{name}.npy"
        try:
            dtype, shape = self.manifest["arrays"][name]
            if checked and "crc32c" in self.manifest:  # before anything in the file is used, its header too
                self.check(checksum_of_file(file) == self.manifest["crc32c"][name], file)
            # a plain array over the map: compiled code treats it like any other read-only array
            array = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
        except FileNotFoundError:
            raise damaged(self.path, f"{file.name} is missing") from None
        except (
            KeyError,
            ValueError,
            OSError,
            SyntaxError,
            TokenError,
            TypeError,
            ArithmeticError,
            MemoryError,
        ):
            raise damaged(self.path, f"{file.name} cannot be read or is cut off") from None
        if array.dtype.str != dtype or list(array.shape) != shape:
            found = f"{array.dtype} {array.shape}, not {dtype} {tuple(shape)}"
            raise damaged(self.path, f"{file.name} has {found}")
        if name in self.manifest["hashes"] and "crc32c" not in self.manifest:
            self.check(hash_of(array) == self.manifest["hashes"][name], file)
        return array

    def check(self, matches: bool, file: Path) -> None:
        """Raise if a file does not match its checksum."""
        if not matches:
            raise damaged(self.path, f"{file.name} does not match its checksum")

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Map the arrays whose names start with ``prefix``, by the rest of the name."""
        names = [name for name in self.manifest["arrays"] if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.array(name) for name in names}

    def ids(self, name: str, size: int) -> Array:
        """Map an array of positions in another, after a check of all of them."""
        array = self.array(name)
        self.check_ids(name, array, size)
        return array

    def check_ids(self, name: str, array: Array, size: int) -> None:
        """Raise if an id is out of range: compiled code, which does not check again, would leave its memory."""
        if len(array) and (array.min() < 0 or array.max() >= size):
            raise damaged(self.path, f"{name}.npy holds numbers that are not from 0 to {size - 1}")

    def names(self, what: str) -> tuple[str, ...]:
        """Read the names of rows."""
        joined = self.array(f"{what}.bytes").tobytes()
        offsets = self.array(f"{what}.offsets").tolist()
        rows = self.manifest["num_contexts" if what == "contexts" else "num_words"]
        if len(offsets) != rows + 1 or offsets[0] != 0 or offsets[-1] != len(joined):
            raise damaged(self.path, f"{what}.offsets.npy does not fit")
        try:
            return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets))
        except UnicodeDecodeError:
            raise damaged(self.path, f"{what}.bytes.npy is not text") from None

    def side(self, name: str, rows: str, columns: str) -> Side:
        """Map the pairs of one side, after a check that its arrays fit together."""
        side = Side(*(self.array(f"{name}.{part}") for part in Side._fields))
        self.check_ids(f"{name}.other", side.other, self.manifest[columns])
        ends, pairs = side.indptr, self.manifest["num_pairs"]
        fits = len(ends) == self.manifest[rows] + 1 and ends[0] == 0 and ends[-1] == pairs
        if not fits or np.any(np.diff(ends) < 0) or any(len(array) != pairs for array in side[1:]):
            raise damaged(self.path, f"the arrays of {name} do not fit together")
        return side

    def source(self) -> EncodedCorpus | None:
        """Open the documents that were counted, if they were kept."""
        options = self.manifest["source"]
        return None if options is None else EncodedCorpus(**self.arrays("source."), options=options)

    def left_out(self) -> tuple[UInt8, Int64] | None:
        """Open the words that are not in the vocabulary, if they were kept."""
        if not self.manifest["arrays"].keys() >= {*LEFT_OUT}:
            return None
        names, counts = (self.array(name) for name in LEFT_OUT)
        return names, counts

    def verify(self, counts: PairCounts) -> None:
        """Compare by_word with the fingerprint, by_context with by_word."""
        if counts.fingerprint != self.manifest["fingerprint"]:
            raise damaged(self.path, "the counts do not match their fingerprint")
        by_word, by_context = counts.by_word, counts.by_context
        columns: tuple[Array, ...] = (by_word.other, by_word.rows(), *by_word[2:])
        others: tuple[Array, ...] = (by_context.rows(), *by_context[1:])
        pairs = zip(columns, others, strict=True)
        if not all(np.array_equal(own[counts.permutation], other) for own, other in pairs):
            raise damaged(self.path, "by_context does not match by_word")


def hash_of(array: Array) -> str:
    """Return the SHA-256 of an array, shortened."""
    digest = hashlib.sha256()
    for part in parts(array):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:32]
