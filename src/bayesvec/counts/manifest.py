"""The manifest of a counts folder: what its arrays are, their checksums, and how the counts were made."""

import hashlib
import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesvec import _atomic as files
from bayesvec.counts.documents import EncodedCorpus
from bayesvec.counts.table import ENDINGS
from bayesvec.errors import InputError

FORMAT = "bayesvec counts"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_NAME = re.compile(r"[^/\\\0]+")  # of an array, and of its file in the folder


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a counts folder; raise an `InputError` if the folder is something else or damaged."""
    wrong = partial(InputError, file=str(folder))
    files.recover(folder)
    if not folder.is_dir():
        what = "is not counts" if folder.exists() else "does not exist"
        raise wrong(f"{folder} {what}; give a counts folder or a {_either()} file")
    files.check_plain(folder, wrong)
    make = "make one with `bayesvec count`"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="ascii"))
    except FileNotFoundError:
        raise wrong(f"{folder} is not a counts folder: it has no {MANIFEST}; {make}") from None
    except json.JSONDecodeError:
        raise damaged(folder, f"{MANIFEST} is not JSON") from None
    except (OSError, UnicodeDecodeError):
        raise damaged(folder, f"{MANIFEST} cannot be read") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise wrong(f"{folder} is not a counts folder but something else; {make}")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise wrong(
            f"{folder} has format version {manifest.get('format_version')} and this bayesvec reads "
            f"{FORMAT_VERSION}; count again or use the version that wrote it ({manifest.get('version')})"
        )
    if manifest.pop("checksum", None) != _digest(manifest):
        raise damaged(folder, f"{MANIFEST} was changed or cut off")
    try:
        _check_manifest(manifest)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise damaged(folder, f"{MANIFEST} does not describe what is in it") from None
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


def seal(manifest: dict[str, Any]) -> str:
    """Return the manifest as text, with a checksum of what it will read back as."""
    try:
        read_back = json.loads(json.dumps(manifest))
    except (TypeError, ValueError) as error:
        raise InputError(f"the recipe cannot be saved as JSON ({error}); use plain values") from None
    return json.dumps(read_back | {"checksum": _digest(read_back)}, indent=1) + "\n"


def _digest(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]


def damaged(folder: Path, what: str) -> InputError:
    """Return an error that says what is damaged in a counts folder."""
    return InputError(f"{folder} is damaged: {what}; count again or restore it", file=str(folder))


def _either() -> str:
    return ", ".join(ENDINGS[:-1]) + f" or {ENDINGS[-1]}"
