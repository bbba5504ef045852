"""Pair counts on disk: a folder of plain NumPy arrays, opened memory-mapped, with a manifest.

The folder is written beside its place and renamed, so that it is there as a whole or not at all.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec import __version__
from bayesvec import _atomic as files
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.pairs import PairCounts, Side
from bayesvec.counts.table import ENDINGS, from_table
from bayesvec.errors import InputError

FORMAT = "bayesvec counts"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"


Array = npt.NDArray[Any]


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
    final = Path(path)
    check_free(final, force=force)
    with files.placed(final, folder=True, force=force, error=partial(InputError, file=str(final))) as new:
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
    final = Path(path)
    check_free(final, force=force, of_parts=True)
    with files.placed(final, folder=True, force=force, error=partial(InputError, file=str(final))) as new:
        for name, counts in parts.items():
            (new / name).mkdir()
            _write(counts, new / name, {})


def _write(counts: PairCounts, folder: Path, extra: Mapping[str, Array]) -> None:
    """Write the arrays and the manifest of counts."""
    arrays = _arrays(counts)
    beside = {f"extra.{name}": array for name, array in extra.items()}
    if counts.source is not None:
        beside |= {f"source.{name}": array for name, array in counts.source.arrays().items()}
    arrays |= beside
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": __version__,
        "num_words": counts.num_words,
        "num_contexts": counts.num_contexts,
        "num_pairs": counts.num_pairs,
        "num_positives": counts.num_positives,
        "num_negatives": counts.num_negatives,
        "fingerprint": counts.fingerprint,
        "grouped": counts.groups is not None,
        "recipe": dict(counts.recipe),
        "source": None if counts.source is None else dict(counts.source.options),
        "hashes": {name: _hash(array) for name, array in beside.items()},
        "arrays": {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()},
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    (folder / MANIFEST).write_text(_seal(manifest), encoding="ascii")


def open_counts(path: str | os.PathLike[str], *, verify: bool = False) -> PairCounts:
    """Open counts: a folder written by `save` (memory-mapped), or a table of (word, context, n_pos, n_neg).

    Parameters
    ----------
    path : path
        A counts folder, or a file that ends in .tsv, .csv or .parquet (see `from_table`).
    verify : bool
        Read every array of a folder and check it against its fingerprint, not only the sizes.
    """
    folder = Path(path)
    if folder.suffix.lower() in ENDINGS and not folder.is_dir():
        return from_table(folder)
    manifest = read_manifest(folder)
    counts = PairCounts(
        words=_names(folder, manifest, "words"),
        contexts=_names(folder, manifest, "contexts"),
        by_word=_side(folder, manifest, "by_word", "num_words", "num_contexts"),
        by_context=_side(folder, manifest, "by_context", "num_contexts", "num_words"),
        permutation=_ids(folder, manifest, "permutation", manifest["num_pairs"]),
        groups=_names(folder, manifest, "groups") if manifest["grouped"] else None,
        recipe=manifest["recipe"],
        source=_source(folder, manifest),
    )
    if verify:
        _verify(counts, folder, manifest)
    # what is known need not be computed again: it would read every page
    vars(counts).update({name: manifest[name] for name in ("fingerprint", "num_positives", "num_negatives")})
    return counts


def read_extra(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read the further arrays that were saved with counts."""
    folder = Path(path)
    manifest = read_manifest(folder)
    kept = [name for name in manifest["arrays"] if name.startswith("extra.")]
    return {name.removeprefix("extra."): _array(folder, manifest, name) for name in kept}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a counts folder, or say what the folder is instead."""
    if not folder.exists():
        raise InputError(
            f"{folder} does not exist; give a counts folder or a {_either()} file", file=str(folder)
        )
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not counts; give a counts folder or a {_either()} file", file=str(folder)
        )
    try:
        text = (folder / MANIFEST).read_text(encoding="ascii")
    except FileNotFoundError:
        raise InputError(
            f"{folder} is not a counts folder: it has no {MANIFEST}; make one with `bayesvec count`",
            file=str(folder),
        ) from None
    except (OSError, UnicodeDecodeError):
        raise _damaged(folder, f"{MANIFEST} cannot be read") from None
    try:
        manifest = json.loads(text)
    except json.JSONDecodeError:
        raise _damaged(folder, f"{MANIFEST} is not JSON") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(
            f"{folder} is not a counts folder but something else; make one with `bayesvec count`",
            file=str(folder),
        )
    if manifest.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{folder} has format version {manifest.get('format_version')} and this bayesvec reads "
            f"{FORMAT_VERSION}; count again or use the version that wrote it ({manifest.get('version')})",
            file=str(folder),
        )
    if manifest.pop("checksum", None) != _digest(manifest):
        raise _damaged(folder, f"{MANIFEST} was changed or cut off")
    return manifest


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
    files.check_free(
        final,
        what="a folder of counts folders" if of_parts else "a counts folder",
        force=force,
        ours=lambda folder: all(map(_may_be_replaced, folder.iterdir() if of_parts else [folder])),
        folder=True,
        parents=True,
        error=partial(InputError, file=str(final)),
    )


def _may_be_replaced(folder: Path) -> bool:
    """Tell whether a folder holds counts, be they damaged."""
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


def _names(folder: Path, manifest: Mapping[str, Any], what: str) -> tuple[str, ...]:
    joined = _array(folder, manifest, f"{what}.bytes").tobytes()
    offsets = _array(folder, manifest, f"{what}.offsets").tolist()
    rows = manifest["num_contexts" if what == "contexts" else "num_words"]
    if len(offsets) != rows + 1 or offsets[0] != 0 or offsets[-1] != len(joined):
        raise _damaged(folder, f"{what}.offsets.npy does not fit")
    try:
        return tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets))
    except UnicodeDecodeError:
        raise _damaged(folder, f"{what}.bytes.npy is not text") from None


def _side(folder: Path, manifest: Mapping[str, Any], name: str, rows: str, columns: str) -> Side:
    side = Side(*(_array(folder, manifest, f"{name}.{part}") for part in Side._fields))
    _ids(folder, manifest, f"{name}.other", manifest[columns])
    ends = side.indptr
    fits = (
        len(ends) == manifest[rows] + 1
        and ends[0] == 0
        and ends[-1] == manifest["num_pairs"]
        and np.all(np.diff(ends) >= 0)
    )
    if not fits or not all(len(array) == manifest["num_pairs"] for array in side[1:]):
        raise _damaged(folder, f"the arrays of {name} do not fit together")
    return side


def _array(folder: Path, manifest: Mapping[str, Any], name: str) -> Array:
    """Map one array into memory, after a look at its size."""
    file = folder / f"{name}.npy"
    try:
        dtype, shape = manifest["arrays"][name]
        # a plain array over the map: compiled code treats it like any other read-only array
        array = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise _damaged(folder, f"{file.name} is missing") from None
    except (KeyError, ValueError, OSError):
        raise _damaged(folder, f"{file.name} cannot be read or is cut off") from None
    if array.dtype.str != dtype or list(array.shape) != shape:
        raise _damaged(folder, f"{file.name} has {array.dtype} {array.shape}, not {dtype} {tuple(shape)}")
    return array


def _ids(folder: Path, manifest: Mapping[str, Any], name: str, size: int) -> Array:
    """Map an array whose entries are places in another, after a look at all of them.

    Compiled code does not look again: an id out of range would read, or write, memory that is not its own.
    """
    array = _array(folder, manifest, name)
    if len(array) and (array.min() < 0 or array.max() >= size):
        raise _damaged(folder, f"{name}.npy holds numbers that are not from 0 to {size - 1}")
    return array


def _source(folder: Path, manifest: Mapping[str, Any]) -> EncodedCorpus | None:
    """Open the corpus that was counted, if it was kept."""
    if manifest["source"] is None:
        return None
    names = [name for name in manifest["arrays"] if name.startswith("source.")]
    arrays = {name.removeprefix("source."): _array(folder, manifest, name) for name in names}
    return EncodedCorpus(**arrays, options=manifest["source"])


def _hash(array: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()[:32]


def _verify(counts: PairCounts, folder: Path, manifest: Mapping[str, Any]) -> None:
    """Read everything: by_word against the fingerprint, by_context against by_word."""
    if counts.fingerprint != manifest["fingerprint"]:
        raise _damaged(folder, "the counts do not match their fingerprint")
    word = np.repeat(np.arange(counts.num_words, dtype=np.int32), np.diff(counts.by_word.indptr))
    order = counts.permutation
    inside = len(order) == 0 or (order.min() >= 0 and order.max() < counts.num_pairs)
    columns = (word, counts.by_word.n_pos, counts.by_word.n_neg)
    if not inside or not all(
        np.array_equal(own[order], other) for own, other in zip(columns, counts.by_context[1:], strict=True)
    ):
        raise _damaged(folder, "by_context does not match by_word")
    for name, wanted in manifest["hashes"].items():
        if _hash(_array(folder, manifest, name)) != wanted:
            raise _damaged(folder, f"{name}.npy does not match its checksum")


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
