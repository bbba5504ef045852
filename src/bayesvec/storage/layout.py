"""The run folder: where each part is, what the manifest holds, which draws are committed.

    RUN/manifest.json        settings, versions, the origin of the counts, the layout of the arrays
    RUN/names.json           the words and the contexts
    RUN/counts/              the counts
    RUN/draws.zarr/          Zarr 3 in ArviZ's layout
        posterior/           rho (chain, draw, word, dim), alpha (chain, draw, context, dim); a file has some draws,
                             or one block of the rows of a draw (`bayesvec.storage.blocks`)
        sample_stats/        lp (log posterior), seconds, cosines of some pairs of words
    RUN/state/chain-0.json   the commit mark of chain 0: how many of its draws are safely on the disk
    RUN/state/chain-0.*      its checkpoint: the sampler's state, mean and variance of all rows

`bayesvec.storage.writer` writes it, `bayesvec.storage.reader` reads it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bayesvec import _atomic as files
from bayesvec._checksums import read_arrays, read_json
from bayesvec._types import Array
from bayesvec.errors import RunError
from bayesvec.storage import zarr3
from bayesvec.storage.blocks import Blocked, in_blocks
from bayesvec.storage.schema import check_manifest, is_size

FORMAT = "bayesvec run"
FORMAT_VERSION = 2  # 1 if no array is in blocks of rows
STAT_NAMES = {"log_posterior": "lp"}  # ArviZ's name for it
STAT_DRAWS = 1000  # draws of a statistic in one file
MONITORED = 50  # pairs of words, and as many of frequent words, whose cosines are stored
FREQUENT = 200  # words that are called frequent
SIDES = {"rho": "word", "alpha": "context"}


class Mark(NamedTuple):
    """What is committed of a chain: a crash loses everything after it and nothing before."""

    sweep: int = 0
    draws: int = 0
    generation: int = 0  # of the checkpoint that belongs to it; 0 is none


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run; raise a `RunError` if the folder is not one or is damaged."""
    files.recover(folder)
    files.check_plain(folder, partial(RunError, path=str(folder)))
    try:
        manifest = read_json(folder / "manifest.json", FORMAT)
    except (FileNotFoundError, NotADirectoryError):
        missing = "it has no manifest.json" if folder.is_dir() else "it is a file"
        what = missing if folder.exists() else "there is nothing of that name"
        raise RunError(f"{folder} is not a run folder: {what}", path=str(folder)) from None
    newer = manifest.get("format_version", 0)
    if isinstance(newer, int) and newer > FORMAT_VERSION:
        versions = manifest.get("versions")
        version = versions.get("bayesvec") if isinstance(versions, dict) else None
        by = f"bayesvec {version}" if isinstance(version, str) else "another bayesvec"
        message = f"{folder} was written by {by}, in a newer format; update bayesvec to read it"
        raise RunError(message, path=str(folder))
    check_manifest(manifest, folder)
    return manifest


def state_file(folder: Path, name: str) -> Path:
    """Return the file of the arrays that all chains share under ``name``."""
    return folder / "state" / f"{name}.arrays"


def mark_file(folder: Path, chain: int) -> Path:
    """Return the file of a chain's commit mark."""
    return folder / "state" / f"chain-{chain}.json"


def checkpoint_file(folder: Path, chain: int, generation: int) -> Path:
    """Return the file of one checkpoint of a chain."""
    return folder / "state" / f"chain-{chain}.{generation}.arrays"


def read_mark(folder: Path, chain: int) -> Mark:
    """Return what is committed of a chain."""
    path = mark_file(folder, chain)
    try:
        mark = read_json(path)
    except FileNotFoundError:
        return Mark()
    if mark.keys() != {*Mark._fields} or not all(is_size(value) for value in mark.values()):
        raise RunError(
            f"{path} is damaged: it must hold whole numbers {', '.join(Mark._fields)}", path=str(path)
        )
    return Mark(**mark)


def read_checkpoint(folder: Path, chain: int, mark: Mark, manifest: Mapping[str, Any]) -> dict[str, Array]:
    """Read the checkpoint that belongs to a chain's mark; raise a `RunError` if it is missing or damaged."""
    path = checkpoint_file(folder, chain, mark.generation)
    try:
        saved = read_arrays(path)
    except FileNotFoundError:
        raise RunError(f"{path} is missing: the run folder is damaged", path=str(path)) from None
    dim = manifest["settings"]["dim"]
    for name, rows in num_rows(manifest).items():
        for kind in ("state", "mean", "squares"):
            array = saved.get(f"{kind}_{name}")
            if array is not None and (array.shape != (rows, dim) or array.dtype.kind != "f"):
                found = f"{kind}_{name} is {array.dtype} {array.shape}, not of shape ({rows}, {dim})"
                raise RunError(
                    f"{path} does not fit the run: {found}; restore it from a copy", path=str(path)
                )
    return saved


def num_rows(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of rows of each side, as far as the manifest states it."""
    arrays, counts = manifest["arrays"], manifest.get("counts", {})
    stored = {name: arrays[name]["shape"][0] for name in SIDES if name in arrays}
    known = {"rho": counts.get("num_words"), "alpha": counts.get("num_contexts")}
    return {name: rows for name, rows in (known | stored).items() if rows is not None}


def read_names(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Read the names of the rows; raise a `RunError` unless there is one for each."""
    path = folder / "names.json"
    names = read_json(path)
    rows = num_rows(manifest)
    sides = {"words": "rho", "contexts": "alpha"} | ({} if names.get("groups") is None else {"groups": "rho"})
    for what, side in sides.items():
        found, size = names.get(what), rows.get(side)
        if size is None:
            continue
        if not isinstance(found, list) or len(found) != size or not all(type(name) is str for name in found):
            has = f"{len(found)} {what}" if isinstance(found, list) else f"no list of {what}"
            message = f"{path} does not fit the run: it has {has}, and {size} names are needed"
            raise RunError(f"{message}; restore it from a copy", path=str(path))
    return names


def plan_arrays(
    folder: Path,
    *,
    sides: Mapping[str, int],
    dim: int,
    stats: Sequence[str],
    pairs: int,
    most_draws: int | None = None,
    blocks: bool = False,
) -> dict[str, zarr3.Array]:
    """Choose the arrays of a run.

    Parameters
    ----------
    folder : Path
        The run folder.
    sides : Mapping
        Number of rows of what is stored, of ``rho`` and ``alpha``.
    dim : int
        Length of a vector.
    stats : sequence of str
        Numbers kept for every draw.
    pairs : int
        How many cosines are kept for every draw.
    most_draws : int, optional
        Draws of each chain, if there can never be more.
    blocks : bool
        Cut large draws into blocks of rows, for workers to write.
    """
    posterior, statistics = (folder / "draws.zarr" / group for group in ("posterior", "sample_stats"))
    arrays = {
        name: zarr3.planned(posterior / name, (SIDES[name], "dim"), (rows, dim), "float32", most_draws)
        for name, rows in sides.items()
    }
    if blocks:
        arrays = {name: in_blocks(array) for name, array in arrays.items()}
    for stat in stats:
        name = STAT_NAMES.get(stat, stat)
        arrays[name] = zarr3.Array(statistics / name, (), (), "float64", STAT_DRAWS, 1)
    if pairs:
        arrays["cosine"] = zarr3.Array(
            statistics / "cosine", ("pair",), (pairs,), "float32", STAT_DRAWS, pairs
        )
    return arrays


def described(arrays: Mapping[str, zarr3.Array]) -> dict[str, Any]:
    """Return the manifest's description of the arrays."""
    return {
        name: {
            "group": array.folder.parent.name,
            "dims": list(array.dims),
            "shape": list(array.shape),
            "dtype": array.dtype,
            "shard_draws": array.shard_draws,
            "chunk_rows": array.chunk_rows,
        }
        | ({"block_rows": array.block_rows} if isinstance(array, Blocked) else {})
        for name, array in arrays.items()
    }


def format_version(arrays: Mapping[str, zarr3.Array]) -> int:
    """Return the oldest version of the format that has such arrays."""
    return FORMAT_VERSION if any(isinstance(array, Blocked) for array in arrays.values()) else 1


def stored_arrays(folder: Path, manifest: dict[str, Any]) -> dict[str, zarr3.Array]:
    """Return the arrays of a run by name, as its manifest describes them."""
    arrays: dict[str, zarr3.Array] = {}
    for name, described in manifest["arrays"].items():
        given = (
            folder / "draws.zarr" / described["group"] / name,
            tuple(described["dims"]),
            tuple(described["shape"]),
            described["dtype"],
            described["shard_draws"],
            described["chunk_rows"],
        )
        rows = described.get("block_rows")
        arrays[name] = zarr3.Array(*given) if rows is None else Blocked(*given, block_rows=rows)
    return arrays
