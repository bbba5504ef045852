"""The zarr.json files of a Zarr 3 store: of its groups, of its arrays, and of the root with copies of all."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayesvec._atomic import Staged, write
from bayesvec.errors import RunError


def write_group(staged: Staged, folder: Path, attributes: dict[str, Any]) -> None:
    """Stage the zarr.json of a group."""
    folder.mkdir(parents=True, exist_ok=True)
    staged.write(folder / "zarr.json", [_encoded(_group(attributes))])


def write_root(folder: Path) -> None:
    """Write the zarr.json of the group that holds all others, with a copy of theirs (which xarray reads)."""
    below = {}
    for path in sorted(folder.glob("*/**/zarr.json")):
        try:
            below[str(path.parent.relative_to(folder))] = json.loads(path.read_bytes())
        except ValueError:  # one that nothing here has written
            raise RunError(
                f"{path} is not JSON; remove it or restore it from a copy", path=str(path)
            ) from None
    write(folder / "zarr.json", [_encoded(_root(below))])


def check_metadata(root: Path, draws: int) -> None:
    """Raise a `RunError` if a zarr.json is damaged: each has a copy in that of the root, and they must agree.

    Where the number of draws is stated it must be ``draws`` or more: a run that is being extended has made room.
    """
    path = root / "zarr.json"
    try:
        described = json.loads(path.read_bytes())
        copies = described["consolidated_metadata"]["metadata"]
        whole = described == _root(copies)
        for name, copy in copies.items():
            path = root.joinpath(*(part for part in name.split("/") if part != ".."), "zarr.json")
            own = json.loads(path.read_bytes())
            whole = whole and _without_draws(own, draws) == _without_draws(copy, draws)
            if not whole:
                break
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError):
        whole = False
    if not whole:
        message = f"{path} is damaged: it does not match its copy in {root / 'zarr.json'}"
        raise RunError(message, path=str(path))


def _without_draws(metadata: dict[str, Any], draws: int) -> dict[str, Any]:
    """Return the metadata of an array without its number of draws, if there is room for ``draws``."""
    names, shape = metadata.get("dimension_names", []), list(metadata.get("shape", []))
    if "draw" in names and shape[names.index("draw")] >= draws:
        shape[names.index("draw")] = None
    return {**metadata, "shape": shape}


def _group(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a group."""
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def _root(copies: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of the group that holds all others, with a copy of theirs."""
    consolidated = {"kind": "inline", "must_understand": False, "metadata": copies}
    return {**_group({}), "consolidated_metadata": consolidated}


def array_metadata(
    shape: Sequence[int],
    dims: Sequence[str],
    data_type: str,
    chunk: Sequence[int],
    fill: str | int,
    codecs: Sequence[dict[str, Any]],
) -> bytes:
    """Return the content of the zarr.json of an array."""
    content = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "dimension_names": list(dims),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": fill,
        "codecs": list(codecs),
        "attributes": {},
        "storage_transformers": [],
    }
    return _encoded(content)


def _encoded(metadata: dict[str, Any]) -> bytes:
    """Return the content of a zarr.json; without indentation, which takes ten times as long to write."""
    return json.dumps(metadata).encode()
