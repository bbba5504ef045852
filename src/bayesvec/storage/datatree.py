"""Draws as an xarray DataTree in ArviZ's layout: vectors are read when they are used."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from bayesvec._types import Array
from bayesvec.storage.layout import SIDES
from bayesvec.storage.lazy import LazyArray

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


class _Backend(BackendArray):
    """A lazy array as xarray indexes it: each axis by itself."""

    def __init__(self, array: LazyArray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Array:
        chosen = [np.arange(size)[part] for part, size in zip(key, self.shape, strict=True)]
        chains, draws, rows, dims = map(np.atleast_1d, chosen)
        first, last = (int(draws.min()), int(draws.max()) + 1) if len(draws) else (0, 0)
        values = self.array[:, first:last, rows]
        values = values[np.ix_(chains, draws - first, np.arange(len(rows)), dims)]
        return np.asarray(values[tuple(slice(None) if np.ndim(part) else 0 for part in chosen)])


def make_datatree(draws: "Draws") -> xarray.DataTree:
    """Return the committed draws and their statistics, with words and contexts as coordinates."""
    names = {"word": draws.words, "context": draws.contexts}
    groups: dict[str, dict[str, Any]] = {"posterior": {}, "sample_stats": {}}
    for name in draws.array_names:
        if name in SIDES:
            lazy = LazyArray(draws, name, len(names[SIDES[name]]))
            data = indexing.LazilyIndexedArray(_Backend(lazy))
            groups["posterior"][name] = (("chain", "draw", SIDES[name], "dim"), data)
        else:
            values = draws.stats(name)
            values = values.astype(draws.manifest["arrays"][name].get("dtype", values.dtype), copy=False)
            groups["sample_stats"][name] = (("chain", "draw", "pair")[: values.ndim], values)
    library = {"creation_library": "bayesvec", "inference_library": "bayesvec"}
    written = draws.manifest.get("versions", {}).get("bayesvec")
    attributes = library | ({} if written is None else {"inference_library_version": written})
    datasets = {}
    for group, variables in groups.items():
        dataset = xarray.Dataset(variables, attrs=attributes)
        labels: dict[Any, Any] = {dim: np.arange(size) for dim, size in dataset.sizes.items()}
        for dim in labels.keys() & names.keys():
            shown = [name.encode("utf-8", "replace").decode() for name in names[dim]]
            labels[dim] = np.array(shown, dtype=np.dtypes.StringDType())
        datasets[group] = dataset.assign_coords(labels)
    return xarray.DataTree.from_dict(datasets)
