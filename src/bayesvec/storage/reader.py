"""Draws in a run folder: what is committed there, read a few words at a time.

    RUN/manifest.json        settings, versions, where the counts came from, how the arrays are cut
    RUN/names.json           the words and the contexts
    RUN/counts/              the counts
    RUN/draws.zarr/          Zarr 3 in ArviZ's layout
        posterior/           rho (chain, draw, word, dim), alpha (chain, draw, context, dim)
        sample_stats/        lp (log posterior), seconds, cosine of some pairs of words
    RUN/state/chain-0.json   the commit mark of chain 0: how many of its draws are safely on the disk
    RUN/state/chain-0.*      its checkpoint: the sampler's state, mean and variance of all rows

`bayesvec.storage.writer` writes it. A reader may open a folder that is still being written; it sees the draws that
were committed when it opened.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesvec import _atomic as files
from bayesvec._types import Float32, Float64, Int64
from bayesvec.errors import OptionError, RunError
from bayesvec.storage import zarr3

if TYPE_CHECKING:
    import xarray

FORMAT = "bayesvec run"
FORMAT_VERSION = 1
STAT_NAMES = {"log_posterior": "lp"}  # ArviZ's name for it
SIDES = {"rho": "word", "alpha": "context"}


class Mark(NamedTuple):
    """What of a chain is committed: a crash takes back everything after it and nothing before."""

    sweep: int = 0
    draws: int = 0
    generation: int = 0  # which checkpoint belongs to it; 0 is none


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run; raise a `RunError` if the folder is not one or is damaged."""
    try:
        manifest = files.read_json(folder / "manifest.json", FORMAT)
    except (FileNotFoundError, NotADirectoryError):
        missing = "it has no manifest.json" if folder.is_dir() else "it is a file"
        what = missing if folder.exists() else "there is nothing of that name"
        raise RunError(f"{folder} is not a run folder: {what}", path=str(folder)) from None
    if manifest["format_version"] > FORMAT_VERSION:
        version = manifest["versions"]["bayesvec"]
        message = f"{folder} was written by bayesvec {version}, in a newer format; update bayesvec to read it"
        raise RunError(message, path=str(folder))
    return manifest


def mark_file(folder: Path, chain: int) -> Path:
    """Return the file of a chain's commit mark."""
    return folder / "state" / f"chain-{chain}.json"


def checkpoint_file(folder: Path, chain: int, generation: int) -> Path:
    """Return the file of one checkpoint of a chain."""
    return folder / "state" / f"chain-{chain}.{generation}.arrays"


def read_mark(folder: Path, chain: int) -> Mark:
    """Return what is committed of a chain."""
    try:
        return Mark(**files.read_json(mark_file(folder, chain)))
    except FileNotFoundError:
        return Mark()


def stored_arrays(folder: Path, manifest: dict[str, Any]) -> dict[str, zarr3.Array]:
    """Return the arrays of a run by name, as its manifest describes them."""
    return {
        name: zarr3.Array(
            folder / "draws.zarr" / described["group"] / name,
            tuple(described["dims"]),
            tuple(described["shape"]),
            described["dtype"],
            described["shard_draws"],
            described["chunk_rows"],
        )
        for name, described in manifest["arrays"].items()
    }


def open_draws(path: str | PathLike[str]) -> "Draws":
    """Open a run folder for reading.

    Parameters
    ----------
    path : str or path-like
        The folder that `fit` wrote; it may still be growing.
    """
    return Draws(Path(path))


class Draws:
    """The committed draws of a run.

    Parameters
    ----------
    path : Path
        The run folder.

    Attributes
    ----------
    path : Path
        The run folder.
    manifest : dict
        Settings, versions, the counts' fingerprint and recipe.
    num_chains : int
        How many chains the run has.
    num_draws : int
        How many draws of every chain were committed when this was opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = read_manifest(path)
        self.num_chains: int = self.manifest["settings"]["chains"]
        self._marks = [read_mark(path, chain) for chain in range(self.num_chains)]
        self.num_draws = min(mark.draws for mark in self._marks)
        self._arrays = stored_arrays(path, self.manifest)

    def __repr__(self) -> str:
        kept = f"{self.num_chains} chains of {self.num_draws} draws"
        return f"Draws({str(self.path)!r}: {kept}, {'finished' if self.finished else 'not finished'})"

    @cached_property
    def _names(self) -> dict[str, Any]:
        return files.read_json(self.path / "names.json")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Names of the rows of rho."""
        return tuple(self._names["words"])

    @cached_property
    def contexts(self) -> tuple[str, ...]:
        """Names of the rows of alpha."""
        return tuple(self._names["contexts"])

    @cached_property
    def groups(self) -> tuple[str, ...] | None:
        """The group of each row of rho, where rows are word@group."""
        groups = self._names["groups"]
        return None if groups is None else tuple(groups)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.manifest["settings"]["dim"])

    @property
    def finished(self) -> bool:
        """Whether every chain has all the draws that were asked for."""
        return self.num_draws >= int(self.manifest["settings"]["draws"])

    @property
    def monitored(self) -> list[tuple[int, int]]:
        """The pairs of words whose cosines are in ``stats("cosine")``."""
        return [(first, second) for first, second in self.manifest["monitored"]]

    def read(
        self,
        name: str,
        rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
        draws: slice | None = None,
    ) -> Float32:  # (chain, draw, row, K)
        """Read draws of some rows; only the chunks that hold them are touched, and each is checked.

        Parameters
        ----------
        name : str
            ``rho`` or ``alpha``.
        rows : sequence of int, optional
            Which rows, in any order; all of them if not given.
        draws : slice, optional
            Which draws; all that are committed if not given.

        Returns
        -------
        ndarray of float32, (chain, draw, row, K)
        """
        array = self._array(name)
        ids = self._row_ids(array, rows)
        numbers = np.arange(self.num_draws)[slice(None) if draws is None else draws]
        count = array.rows if ids is None else len(ids)
        result = np.empty((self.num_chains, len(numbers), count, array.width), np.float32)
        shards = numbers // array.shard_draws
        for chain in range(self.num_chains):
            for shard in np.unique(shards):
                here = np.flatnonzero(shards == shard)
                content = array.read(chain, int(shard), ids)
                result[chain, here] = content[numbers[here] - shard * array.shard_draws]
        return result

    def blocks(
        self, name: str, rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None
    ) -> Iterator[tuple[int, int, Float32]]:
        """Go through all draws a few at a time: yield chain, number of the first draw, (draw, row, K)."""
        array = self._array(name)
        ids = self._row_ids(array, rows)
        for chain in range(self.num_chains):
            for first in range(0, self.num_draws, array.shard_draws):
                content = array.read(chain, first // array.shard_draws, ids)
                yield chain, first, content[: self.num_draws - first].astype(np.float32, copy=False)

    def _array(self, name: str) -> zarr3.Array:
        if name not in SIDES:
            raise OptionError(f"there are no draws of {name!r}; there are rho and alpha")
        if name not in self._arrays:
            store = self.manifest["settings"]["store"]
            message = f"{self.path} keeps no draws of {name}: it was made with store={store!r}"
            raise RunError(
                f"{message}; its mean and variance are there, for more fit with store='both'",
                path=str(self.path),
            )
        return self._arrays[name]

    def _row_ids(
        self, array: zarr3.Array, rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None
    ) -> Int64 | None:
        if rows is None:
            return None
        ids = np.asarray(rows, dtype=np.int64).reshape(-1)
        if len(ids) and (ids.min() < 0 or ids.max() >= array.rows):
            wrong = int(ids.min() if ids.min() < 0 else ids.max())
            raise OptionError(f"row {wrong} is not there; rows are from 0 to {array.rows - 1}")
        return ids

    @property
    def scale_names(self) -> tuple[str, ...]:
        """The statistics that are learned precisions of the prior, such as ``rho_drift_precision``."""
        return tuple(name for name in self._arrays if name.startswith(("rho_", "alpha_")))

    def stats(self, name: str) -> Float64:  # (chain, draw) or (chain, draw, pair)
        """Return a statistic of the stored sweeps: ``log_posterior``, ``seconds``, ``cosine``, a scale."""
        chains = [self.chain_stats(name, chain)[: self.num_draws] for chain in range(self.num_chains)]
        return np.stack(chains)

    def chain_draws(self, chain: int) -> int:
        """Return how many draws of one chain are committed."""
        return self._marks[chain].draws

    def chain_stats(self, name: str, chain: int) -> Float64:  # (draw,) or (draw, pair)
        """Return a statistic of one chain, for all draws of it that are committed."""
        stored = STAT_NAMES.get(name, name)
        if stored in SIDES or stored not in self._arrays:
            known = sorted(set(self._arrays) - set(SIDES) - {"lp"} | {"log_posterior"})
            raise OptionError(f"there is no statistic {name!r}; there are {', '.join(known)}")
        array = self._arrays[stored]
        count = self._marks[chain].draws
        shards = [array.read(chain, shard) for shard in range(-(-count // array.shard_draws))]
        joined = np.concatenate([np.empty((0, array.rows, array.width)), *shards])[:count]
        return joined.reshape(count, *array.shape)

    def mean(self, name: str) -> Float64:  # (row, K)
        """Return the mean of all committed draws of ``rho`` or ``alpha``, whatever was stored of them."""
        return self._pooled(name)[1]

    def variance(self, name: str) -> Float64:  # (row, K)
        """Return the variance of all committed draws of ``rho`` or ``alpha`` over all chains."""
        count, _, squares = self._pooled(name)
        return squares / max(count - 1, 1)

    def _pooled(self, name: str) -> tuple[int, Float64, Float64]:
        """Return number, mean and sum of squared deviations over all chains (Chan, Golub & LeVeque 1983)."""
        if name not in SIDES:
            raise OptionError(f"there are no draws of {name!r}; there are rho and alpha")
        total, mean, squares = 0, np.zeros(()), np.zeros(())
        for chain in range(self.num_chains):
            mark, moments = self._moments(chain)
            if not mark.draws:
                continue
            count = total + mark.draws
            difference = moments[f"mean_{name}"] - mean
            mean = mean + difference * (mark.draws / count)
            squares = squares + moments[f"squares_{name}"] + difference**2 * (total * mark.draws / count)
            total = count
        if not total:
            raise RunError(f"{self.path} has no draws yet", path=str(self.path))
        return total, mean, squares

    def _moments(self, chain: int) -> tuple[Mark, dict[str, Float64]]:
        mark = self._marks[chain]
        while mark.generation:
            try:
                return mark, files.read_arrays(checkpoint_file(self.path, chain, mark.generation))
            except FileNotFoundError:  # a writer has gone on since; unless the mark is the same
                before, mark = mark, read_mark(self.path, chain)
                if mark == before:
                    path = checkpoint_file(self.path, chain, mark.generation)
                    raise RunError(f"{path} is missing: the run folder is damaged", path=str(path)) from None
        return mark, {}

    def verify(self) -> None:
        """Read everything once; raise a `RunError` that names the file and the chunk if one is damaged."""
        _ = self.words
        for chain in range(self.num_chains):
            self._moments(chain)
        for array in self._arrays.values():
            for chain in range(self.num_chains):
                for shard in range(-(-self.num_draws // array.shard_draws)):
                    array.read(chain, shard)

    def to_datatree(self) -> "xarray.DataTree":
        """Return the committed draws as an xarray DataTree in ArviZ's layout, read when they are used."""
        import xarray

        tree = xarray.open_datatree(self.path / "draws.zarr", engine="zarr", consolidated=False)
        return tree.isel(draw=slice(0, self.num_draws), missing_dims="ignore")
