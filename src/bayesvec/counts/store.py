"""Pair counts on disk: a folder of plain NumPy arrays, opened memory-mapped, with a manifest.

The folder is written beside its place and renamed, so that it is there as a whole or not at all. Every array is
checked against its CRC-32C when it is opened; folders of 0.1.0, which have none, against their SHA-256.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import numpy as np

from bayesvec import __version__, _targets
from bayesvec import _atomic as files
from bayesvec._checksums import checksum_of_file
from bayesvec._parallel import default_threads
from bayesvec._types import Array
from bayesvec.counts.folder import LEFT_OUT, CountsFolder, hash_of
from bayesvec.counts.left_out import note
from bayesvec.counts.manifest import FORMAT, FORMAT_VERSION, MANIFEST, read_manifest, seal
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.counts.spill import parts
from bayesvec.counts.table import ENDINGS, from_table
from bayesvec.errors import InputError


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
    elif counts.left_out is not None:
        beside |= dict(zip(LEFT_OUT, counts.left_out, strict=True))
    arrays |= beside
    with ThreadPoolExecutor(default_threads()) as pool:  # writing and hashing release the interpreter's lock
        fingerprint = pool.submit(lambda: counts.fingerprint)
        checksums = pool.map(lambda name: _save_array(folder / f"{name}.npy", arrays[name]), arrays)
        hashes = pool.map(hash_of, beside.values())
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
    (folder / MANIFEST).write_text(seal(manifest), encoding="ascii")


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
    there = CountsFolder(folder, read_manifest(folder))
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
        words_left_out=there.left_out() if manifest["source"] is None else None,
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
    there = CountsFolder(Path(path), read_manifest(Path(path)))
    return Side(*(there.array(f"{name}.{part}", checked=False) for part in Side._fields))


def is_counts(path: Path, *, as_table: bool) -> bool:
    """Whether a path is that of counts and not of text: a folder with a manifest, or a table if ``as_table``."""
    if path.suffix.lower() in ENDINGS and not os.path.isdir(path):
        return as_table
    return os.path.lexists(path / MANIFEST)


def read_extra(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read the further arrays that were saved with counts."""
    return CountsFolder(Path(path), read_manifest(Path(path))).arrays("extra.")


def left_out_note(path: Path, word: str) -> str:
    """Return what is known of a word that the counts in ``path`` have no row for, for a message; mostly nothing."""
    try:
        there = CountsFolder(path, manifest := read_manifest(path))
        kept = there.left_out()
    except InputError:  # damage is reported where the counts themselves are used
        return ""
    return note(word, *kept, manifest["recipe"], manifest["num_contexts"]) if kept else ""


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
