"""Pair counts on disk: a folder of plain NumPy arrays, opened memory-mapped, with a manifest.

The folder is written beside its place and renamed, so that it is there as a whole or not at all. Every array is
checked against its CRC-32C when it is opened; folders of 0.1.0, which have none, against their SHA-256.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from bayesvec import __version__, _targets
from bayesvec import _atomic as files
from bayesvec._checksums import checksum_of_file
from bayesvec._parallel import default_threads
from bayesvec._types import Array
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.left_out import note
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.counts.spill import parts
from bayesvec.counts.table import ENDINGS, from_table
from bayesvec.errors import InputError

FORMAT = "bayesvec counts"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_NAME = re.compile(r"[^/\\\0]+")  # of an array, and of its file in the folder


def save_counts(
    counts: PairCounts,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    extra: Mapping[str, Array] | None = None,
) -> None:
    """Write ``counts`` to the folder ``path``; a reader never sees it half-written.

    Parameters
    ----------
    counts : PairCounts
        What to write.
    path : path
        The folder to make.
    force : bool
        Replace counts (or a file) that already are at ``path``. A folder of anything else is never replaced.
    extra : Mapping of ndarray, optional
        Further arrays to keep in the folder; read them with `read_extra`.
    """
    with _new_folder(Path(path), force=force) as new:
        _write(counts, new, extra or {})


def save_parts(parts: Mapping[str, PairCounts], path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write counts by name to folders in the folder ``path``, which appears as a whole or not at all.

    Parameters
    ----------
    parts : Mapping of PairCounts
        What to write.
    path : path
        The folder to make.
    force : bool
        Replace a folder that holds nothing but counts folders.
    """
    with _new_folder(Path(path), force=force, of_parts=True) as new:
        for name, counts in parts.items():
            (new / name).mkdir()
            _write(counts, new / name, {})


def _new_folder(final: Path, *, force: bool, of_parts: bool = False) -> AbstractContextManager[Path]:
    check_free(final, force=force, of_parts=of_parts)
    return files.placed(final, folder=True, force=force, error=partial(InputError, file=str(final)))


def _write(counts: PairCounts, folder: Path, extra: Mapping[str, Array]) -> None:
    """Write the arrays and the manifest of counts."""
    arrays = _arrays(counts)
    beside = {f"extra.{name}": array for name, array in extra.items()}
    if counts.source is not None:
        beside |= {f"source.{name}": array for name, array in counts.source.arrays().items()}
    arrays |= beside
    with ThreadPoolExecutor(default_threads()) as pool:  # writing and hashing release the interpreter's lock
        fingerprint = pool.submit(lambda: counts.fingerprint)
        checksums = pool.map(lambda name: _save_array(folder / f"{name}.npy", arrays[name]), arrays)
        hashes = pool.map(_hash, beside.values())
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "num_words": counts.num_words,
        "num_contexts": counts.num_contexts,
        "num_pairs": counts.num_pairs,
        "num_positives": counts.num_positives,
        "num_negatives": counts.num_negatives,
        "fingerprint": fingerprint.result(),
        "grouped": counts.groups is not None,
        "recipe": dict(counts.recipe),
        "source": None if counts.source is None else dict(counts.source.options),
        "hashes": dict(zip(beside, hashes, strict=True)),
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()},
    }
    manifest["crc32c"] = dict(zip(arrays, checksums, strict=True))
    (folder / MANIFEST).write_text(_seal(manifest), encoding="ascii")


def _save_array(file: Path, array: Array) -> int:
    """Write an array as `np.save` does, in parts; return the checksum of the file."""
    array = np.ascontiguousarray(array)
    with file.open("wb") as handle:
        np.lib.format.write_array_header_1_0(handle, np.lib.format.header_data_from_array_1_0(array))
        for part in parts(array):
            handle.write(part.data)
    return checksum_of_file(file)


def open_counts(path: str | os.PathLike[str], *, verify: bool = False) -> PairCounts:
    """Open counts: a folder written by `save` (memory-mapped), or a table of (word, context, n_pos, n_neg).

    The files of a folder are always checked against their checksums.

    Parameters
    ----------
    path : path
        A counts folder, or a file that ends in .tsv, .csv or .parquet (see `from_table`).
    verify : bool
        Also compute the fingerprint again, and compare the two orders in which a folder has the pairs.
    """
    folder = Path(path)
    if folder.suffix.lower() in ENDINGS and not folder.is_dir():
        return from_table(folder)
    there = _Folder(folder, read_manifest(folder))
    manifest = there.manifest
    counts = PairCounts(
        words=there.names("words"),
        contexts=there.names("contexts"),
        by_word=there.side("by_word", "num_words", "num_contexts"),
        by_context=there.side("by_context", "num_contexts", "num_words"),
        permutation=there.ids("permutation", manifest["num_pairs"]),
        groups=there.names("groups") if manifest["grouped"] else None,
        recipe=manifest["recipe"],
        source=there.source(),
    )
    if verify or "crc32c" not in manifest:
        there.verify(counts)
    # what is known need not be computed again: it would read every page
    vars(counts).update({name: manifest[name] for name in ("fingerprint", "num_positives", "num_negatives")})
    return counts


def open_side(path: str | os.PathLike[str], name: str) -> Side:
    """Map one side of saved counts, ``by_word`` or ``by_context``: sizes are checked, the pairs are not read.

    For workers of a run, whose counts are checked by the process that starts them.
    """
    there = _Folder(Path(path), read_manifest(Path(path)))
    return Side(*(there.array(f"{name}.{part}", checked=False) for part in Side._fields))


def is_counts(path: Path, *, as_table: bool) -> bool:
    """Whether a path is that of counts and not of text: a folder with a manifest, or a table if ``as_table``."""
    if path.suffix.lower() in ENDINGS and not os.path.isdir(path):
        return as_table
    return os.path.lexists(path / MANIFEST)


def read_extra(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read the further arrays that were saved with counts."""
    return _Folder(Path(path), read_manifest(Path(path))).arrays("extra.")


def left_out_note(path: Path, word: str) -> str:
    """Return what is known of a word that the counts in ``path`` have no row for, for a message; mostly nothing."""
    names, counts = "source.left_out_names", "source.left_out_counts"
    try:
        there = _Folder(path, manifest := read_manifest(path))
        if names not in manifest["arrays"] or counts not in manifest["arrays"]:
            return ""
        kept = there.array(names), there.array(counts)
    except InputError:  # damage is reported where the counts themselves are used
        return ""
    return note(word, *kept, manifest["recipe"], manifest["num_contexts"])


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a counts folder; raise an `InputError` if the folder is something else or damaged."""
    wrong = partial(InputError, file=str(folder))
    files.recover(folder)
    if not folder.is_dir():
        what = "is not counts" if folder.exists() else "does not exist"
        raise wrong(f"{folder} {what}; give a counts folder or a {_either()} file")
    make = "make one with `bayesvec count`"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="ascii"))
    except FileNotFoundError:
        raise wrong(f"{folder} is not a counts folder: it has no {MANIFEST}; {make}") from None
    except json.JSONDecodeError:
        raise _damaged(folder, f"{MANIFEST} is not JSON") from None
    except (OSError, UnicodeDecodeError):
        raise _damaged(folder, f"{MANIFEST} cannot be read") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise wrong(f"{folder} is not a counts folder but something else; {make}")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise wrong(
            f"{folder} has format version {manifest.get('format_version')} and this bayesvec reads "
            f"{FORMAT_VERSION}; count again or use the version that wrote it ({manifest.get('version')})"
        )
    if manifest.pop("checksum", None) != _digest(manifest):
        raise _damaged(folder, f"{MANIFEST} was changed or cut off")
    try:
        _check_manifest(manifest)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _damaged(folder, f"{MANIFEST} does not describe what is in it") from None
    return manifest


def _check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise a ValueError (or another error of its kind) unless all values have their types."""
    arrays = manifest["arrays"]
    sizes = [manifest[f"num_{what}"] for what in ("words", "contexts", "pairs", "positives", "negatives")]
    kinds = {"fingerprint": str, "grouped": bool, "recipe": dict, "hashes": dict, "arrays": dict}
    fits = all(type(manifest[name]) is kind for name, kind in kinds.items())
    fits &= all(type(size) is int and size >= 0 for size in sizes)
    fits &= manifest["source"] is None or type(manifest["source"]) is dict
    fits &= "crc32c" not in manifest or manifest["crc32c"].keys() == arrays.keys()
    fits &= manifest["hashes"].keys() <= arrays.keys()
    source = {name.removeprefix("source.") for name in arrays if name.startswith("source.")}
    fits &= manifest["source"] is None or {*EncodedCorpus.ARRAYS[:4]} <= source <= {*EncodedCorpus.ARRAYS}
    for name, (dtype, shape) in arrays.items():
        item = np.dtype(dtype)
        fits &= _NAME.fullmatch(name) is not None and not item.hasobject
        fits &= all(type(size) is int and size >= 0 for size in shape)
    if not fits or arrays["permutation"][1] != [manifest["num_pairs"]]:
        raise ValueError


def check_free(final: Path, *, force: bool, of_parts: bool = False) -> None:
    """Raise unless ``final`` can be written: it does not exist, or ``force`` may replace it.

    Parameters
    ----------
    final : Path
        The folder.
    force : bool
        Whether counts that are there may be replaced.
    of_parts : bool
        Whether ``final`` is to hold counts folders, and so may be replaced if it does.
    """
    _targets.check_free(
        final,
        what="a folder of counts folders" if of_parts else "a counts folder",
        force=force,
        ours=lambda folder: all(map(_may_be_replaced, folder.iterdir() if of_parts else [folder])),
        folder=True,
        parents=True,
        error=partial(InputError, file=str(final)),
    )


def _may_be_replaced(folder: Path) -> bool:
    """Whether a folder holds counts, even damaged ones."""
    manifest = folder / MANIFEST
    return manifest.is_file() and FORMAT in manifest.read_text(errors="replace")


def _arrays(counts: PairCounts) -> dict[str, Array]:
    """Return all that is saved, by file name."""
    arrays: dict[str, Array] = {"permutation": counts.permutation}
    for side in ("by_word", "by_context"):
        arrays |= {f"{side}.{name}": array for name, array in getattr(counts, side)._asdict().items()}
    arrays |= _encode_names("words", counts.words) | _encode_names("contexts", counts.contexts)
    if counts.groups is not None:
        arrays |= _encode_names("groups", counts.groups)
    return arrays


def _encode_names(what: str, names: Sequence[str]) -> dict[str, Array]:
    """Return names as bytes and offsets: any string survives, with newlines and lone surrogates too."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.int64)
    return {f"{what}.bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{what}.offsets": offsets}


class _Folder(NamedTuple):
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
            raise _damaged(self.path, f"{file.name} is missing") from None
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
            raise _damaged(self.path, f"{file.name} cannot be read or is cut off") from None
        if array.dtype.str != dtype or list(array.shape) != shape:
            found = f"{array.dtype} {array.shape}, not {dtype} {tuple(shape)}"
            raise _damaged(self.path, f"{file.name} has {found}")
        if name in self.manifest["hashes"] and "crc32c" not in self.manifest:
            self.check(_hash(array) == self.manifest["hashes"][name], file)
        return array

    def check(self, matches: bool, file: Path) -> None:
        """Raise if a file does not match its checksum."""
        if not matches:
            raise _damaged(self.path, f"{file.name} does not match its checksum")

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
            raise _damaged(self.path, f"{name}.npy holds numbers that are not from 0 to {size - 1}")

    def names(self, what: str) -> tuple[str, ...]:
        """Read the names of rows."""
        joined = self.array(f"{what}.bytes").tobytes()
        offsets = self.array(f"{what}.offsets").tolist()
        rows = self.manifest["num_contexts" if what == "contexts" else "num_words"]
        if len(offsets) != rows + 1 or offsets[0] != 0 or offsets[-1] != len(joined):
            raise _damaged(self.path, f"{what}.offsets.npy does not fit")
        try:
            return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets))
        except UnicodeDecodeError:
            raise _damaged(self.path, f"{what}.bytes.npy is not text") from None

    def side(self, name: str, rows: str, columns: str) -> Side:
        """Map the pairs of one side, after a check that its arrays fit together."""
        side = Side(*(self.array(f"{name}.{part}") for part in Side._fields))
        self.check_ids(f"{name}.other", side.other, self.manifest[columns])
        ends, pairs = side.indptr, self.manifest["num_pairs"]
        fits = len(ends) == self.manifest[rows] + 1 and ends[0] == 0 and ends[-1] == pairs
        if not fits or np.any(np.diff(ends) < 0) or any(len(array) != pairs for array in side[1:]):
            raise _damaged(self.path, f"the arrays of {name} do not fit together")
        return side

    def source(self) -> EncodedCorpus | None:
        """Open the documents that were counted, if they were kept."""
        options = self.manifest["source"]
        return None if options is None else EncodedCorpus(**self.arrays("source."), options=options)

    def verify(self, counts: PairCounts) -> None:
        """Compare by_word with the fingerprint, by_context with by_word."""
        if counts.fingerprint != self.manifest["fingerprint"]:
            raise _damaged(self.path, "the counts do not match their fingerprint")
        by_word, by_context = counts.by_word, counts.by_context
        columns: tuple[Array, ...] = (by_word.other, by_word.rows(), *by_word[2:])
        others: tuple[Array, ...] = (by_context.rows(), *by_context[1:])
        pairs = zip(columns, others, strict=True)
        if not all(np.array_equal(own[counts.permutation], other) for own, other in pairs):
            raise _damaged(self.path, "by_context does not match by_word")


def _hash(array: Array) -> str:
    digest = hashlib.sha256()
    for part in parts(array):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:32]


def _seal(manifest: dict[str, Any]) -> str:
    """Return the manifest as text, with a checksum of what it will read back as."""
    try:
        read_back = json.loads(json.dumps(manifest))
    except (TypeError, ValueError) as error:
        raise InputError(f"the recipe cannot be saved as JSON ({error}); use plain values") from None
    return json.dumps(read_back | {"checksum": _digest(read_back)}, indent=1) + "\n"


def _digest(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(f"{folder} is damaged: {what}; count again or restore it", file=str(folder))


def _either() -> str:
    return ", ".join(ENDINGS[:-1]) + f" or {ENDINGS[-1]}"
