"""What the manifest of a run must be: checked as a whole when a run is opened, before any value of it is used.

A run folder may come from someone else. Every number has a range, every name stays inside the folder, and what the
manifest claims of sizes is compared with the files, so that no forged value is trusted with memory or time.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesvec.errors import OptionError, RunError
from bayesvec.storage.settings import Settings

MOST = 2**31 - 1
GROUPS = ("posterior", "sample_stats")
_NAME = re.compile(r"\w{1,100}")  # of an array and its folder
_FACTS = {
    "format_version": int,
    "created": str,
    "machine": str,
    "processor": str,
    "versions": dict,
    "counts": dict,
}
_KINDS = {"method": str, "init": str, "options": dict, "prior_recipe": dict, "sweeping": bool, "auto": dict}


def is_size(value: Any, least: int = 0) -> bool:
    """Whether a value is a whole number that can be a size."""
    return type(value) is int and least <= value <= MOST


def check_manifest(manifest: Mapping[str, Any], folder: Path) -> None:
    """Raise a `RunError` that names the first entry of a manifest that cannot be right."""
    for name, check in (
        ("settings", _settings),
        ("arrays", _arrays),
        ("monitored", _monitored),
        ("frequent", _frequent),
        ("scales", _scales),
        ("facts", _facts),
    ):
        try:
            fits = check(manifest, folder)
        except (KeyError, TypeError, ValueError, AttributeError, OptionError):
            fits = False
        if not fits:
            message = (
                f"the {name!r} in {folder / 'manifest.json'} cannot be right: they do not fit the run folder"
            )
            raise RunError(f"{message}; restore it from a copy", path=str(folder))


def _settings(manifest: Mapping[str, Any], folder: Path) -> bool:
    settings = manifest["settings"]
    Settings(**settings)  # raises if a value is out of range
    fits = all(type(settings.get(name, kind())) is kind for name, kind in _KINDS.items())
    fits &= all(is_size(settings[name], 1) for name in ("chains", "draws", "dim"))
    # the coordinate of the chains: a number of 8 bytes each, and a checksum
    chains = folder / "draws.zarr" / "sample_stats" / "chain" / "c.0"
    return fits and (not chains.exists() or chains.stat().st_size == 8 * settings["chains"] + 4)


def _arrays(manifest: Mapping[str, Any], folder: Path) -> bool:
    names = folder / "names.json"
    most_rows = names.stat().st_size if names.exists() else MOST  # a name takes a byte or more
    return all(_array(name, array, manifest, most_rows) for name, array in manifest["arrays"].items())


def _array(name: str, array: Mapping[str, Any], manifest: Mapping[str, Any], most_rows: int) -> bool:
    shape, dims = array["shape"], array["dims"]
    fits = _NAME.fullmatch(name) is not None and array["group"] in GROUPS
    fits &= all(type(dim) is str and _NAME.fullmatch(dim) is not None for dim in dims)
    fits &= len(shape) == len(dims) <= 2 and all(is_size(size, 1) for size in shape)
    fits &= array["dtype"] in ("float32", "float64")
    fits &= is_size(array["shard_draws"], 1) and array["shard_draws"] <= 10**6
    fits &= is_size(array["chunk_rows"], 1) and array["chunk_rows"] <= max([1, *shape])
    if "block_rows" in array and fits:
        rows = array["block_rows"]
        fits &= is_size(rows, 1) and rows % array["chunk_rows"] == 0 and array["shard_draws"] == 1
        fits &= len(shape) == 2 and rows < shape[0] <= 10**5 * rows
    if name in ("rho", "alpha"):
        fits &= len(shape) == 2 and shape[0] <= most_rows and shape[1] == manifest["settings"]["dim"]
    elif shape:
        fits &= len(shape) == 1 and shape[0] <= 10**6
    return bool(fits)


def _monitored(manifest: Mapping[str, Any], _folder: Path) -> bool:
    rho = manifest["arrays"].get("rho")
    most = MOST if rho is None else rho["shape"][0]
    pairs = [(first, second) for first, second in manifest["monitored"]]
    return all(is_size(row) and row < most for pair in pairs for row in pair)


def _frequent(manifest: Mapping[str, Any], _folder: Path) -> bool:
    rho = manifest["arrays"].get("rho")
    most = MOST if rho is None else rho["shape"][0]
    rows = manifest.get("frequent", [])
    return len(rows) <= 1000 and all(is_size(row) and row < most for row in rows)


def _scales(manifest: Mapping[str, Any], _folder: Path) -> bool:
    if "scales" not in manifest:  # version 0.1.0
        return True
    scales = manifest["scales"]
    named = [name for side in ("rho", "alpha") for name in scales[side]]
    return len(scales) == 2 and all(type(name) is str and name in manifest["arrays"] for name in named)


def _facts(manifest: Mapping[str, Any], _folder: Path) -> bool:
    """Whether what is only shown, or compared, has its type."""
    fits = all(type(manifest.get(name, kind())) is kind for name, kind in _FACTS.items())
    counts = manifest.get("counts", {})
    recipe = counts.get("recipe", {})
    fits &= all(type(version) is str for version in manifest.get("versions", {}).values())
    fits &= type(counts.get("fingerprint", "")) is str and type(recipe) is dict
    fits &= all(
        is_size(size) or name == "num_observations" for name, size in counts.items() if "num_" in name
    )
    fits &= type(counts.get("num_observations", 0)) is int
    return fits and type(recipe.get("options", {})) is dict and type(recipe.get("inputs", [])) is list
