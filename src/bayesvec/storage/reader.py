"""Draws in a run folder, read a few words at a time (see `bayesvec.storage.layout`).

A reader may open a folder that is still being written; it sees the draws that were committed when it opened.
"""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from bayesvec._parallel import in_threads
from bayesvec._types import Float32, Float64, Int64
from bayesvec.errors import OptionError, RunError
from bayesvec.storage import layout, zarr3, zarr3_metadata
from bayesvec.storage.layout import SIDES, STAT_NAMES, Mark, read_manifest, read_mark
from bayesvec.storage.outcome import Outcome, read_outcome, read_seconds
from bayesvec.storage.settings import Settings

if TYPE_CHECKING:
    import xarray


def open_draws(path: str | PathLike[str]) -> "Draws":
    """Open a run folder for reading.

    Parameters
    ----------
    path : str or path-like
        The folder that `fit` wrote; it may still be growing.
    """
    return Draws(Path(path))


class HasDraws(Protocol):
    """What was opened from a run folder, such as a Posterior."""

    @property
    def draws(self) -> "Draws":
        """The draws of the run."""


RunLike = str | PathLike[str] | HasDraws  # where a run is taken, `Draws` themselves are too


def draws_of(run: "RunLike | Draws") -> "Draws":
    """Return the draws of a run folder, which must have some, or of what was opened from one."""
    if not isinstance(run, str | PathLike):
        return cast("Draws", getattr(run, "draws", run))
    draws = open_draws(run)
    if not draws.num_draws:
        raise RunError(f"{run} has no draws yet; wait for them, or resume it with --resume", path=str(run))
    return draws


def names_of(draws: "Draws", side: str) -> tuple[str, ...]:
    """Return the names of the rows of ``rho`` (the words) or of ``alpha`` (the contexts)."""
    return draws.words if side == "rho" else draws.contexts


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
        self.num_chains = self.settings.chains
        self._marks = [read_mark(path, chain) for chain in range(self.num_chains)]
        self.num_draws = min(mark.draws for mark in self._marks)
        self._arrays = layout.stored_arrays(path, self.manifest)
        if (path / "draws.zarr").exists():
            zarr3_metadata.check_metadata(path / "draws.zarr", self.manifest["settings"]["draws"])
        self._check_last_shards()

    def __repr__(self) -> str:
        kept = f"{self.num_chains} chains of {self.num_draws} draws"
        return f"Draws({str(self.path)!r}: {kept}, {'finished' if self.finished else 'not finished'})"

    @property
    def version(self) -> tuple[Any, ...]:
        """What is committed, and where: another value after any change of the folder's files, or of its name."""
        folder = self.path.resolve()
        stamps = []
        for path in sorted(folder.rglob("*")):
            with contextlib.suppress(
                FileNotFoundError
            ):  # a file that was being written, and has its name now
                stat = path.stat()
                stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        return (str(folder), self.num_draws, tuple(self._marks), hash(tuple(stamps)))

    @property
    def settings(self) -> Settings:
        """The run's settings."""
        return Settings(**self.manifest["settings"])

    @property
    def outcome(self) -> Outcome:
        """What the method reports of the run."""
        return read_outcome(self.path)

    @property
    def seconds(self) -> float:
        """The seconds by the clock that the run took, as far as they are known.

        A process that was killed leaves no total; the time of the sweeps whose draws are stored is known even then.
        """
        return max(float(self.stats("seconds").sum(axis=1).max()), read_seconds(self.path))

    def _check_last_shards(self) -> None:
        """Raise unless the last committed draws are there with the size that the manifest states."""
        for array in (block for stored in self._arrays.values() for block in stored.blocks):
            for chain, mark in enumerate(self._marks):
                path = array.shard(chain, max(mark.draws - 1, 0) // array.shard_draws)
                if mark.draws and path.exists() and path.stat().st_size != array.shard_bytes:
                    message = (
                        f"{path} is damaged: it has {path.stat().st_size:,} bytes, not {array.shard_bytes:,}"
                    )
                    raise RunError(message, path=str(path))

    @cached_property
    def _names(self) -> dict[str, Any]:
        return layout.read_names(self.path, self.manifest)

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
        return self.settings.dim

    @property
    def finished(self) -> bool:
        """Whether every chain has all the draws that were asked for, and no more are to be decided on."""
        rules = self.settings.rules
        return self.num_draws >= self.settings.draws and (rules.ended or not rules.draws)

    @property
    def row_norms(self) -> Float32 | None:
        """Lengths of the word vectors, (chain, draw, word), where they are kept; here they are not."""
        return None

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
        """Read draws of some rows; only the chunks that hold them are read, and each is checked.

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

        def read_shard(chain: int, shard: int) -> None:
            here = np.flatnonzero(shards == shard)
            within = numbers[here] - shard * array.shard_draws
            if np.array_equal(within, np.arange(len(here))):  # from its first draw, so straight into place
                array.read(chain, shard, ids, result[chain, here[0] : here[0] + len(here)])
            else:
                result[chain, here] = array.read(chain, shard, ids)[within]

        in_threads(
            read_shard,
            [(chain, int(shard)) for chain in range(self.num_chains) for shard in np.unique(shards)],
        )
        return result

    def blocks(
        self, name: str, rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None
    ) -> Iterator[tuple[int, int, Float32]]:
        """Iterate over all draws, a few at a time: yield the chain, the number of the first, (draw, row, K)."""
        for chain, first in self.block_starts(name):
            yield chain, first, self.block(name, chain, first, rows)

    def block_starts(self, name: str) -> list[tuple[int, int]]:
        """Return the chain and the number of the first draw of every block of `blocks`."""
        return self._starts(self._array(name).shard_draws)

    def _starts(self, step: int) -> list[tuple[int, int]]:
        """Return each chain with the number of every draw at which a block of ``step`` draws begins."""
        firsts = range(0, self.num_draws, step)
        return [(chain, first) for chain in range(self.num_chains) for first in firsts]

    def block(
        self,
        name: str,
        chain: int,
        first: int,
        rows: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    ) -> Float32:  # (draw, row, K)
        """Read the block of draws that begins with ``first``, one of `block_starts`."""
        array = self._array(name)
        content = array.read(chain, first // array.shard_draws, self._row_ids(array, rows))
        return content[: self.num_draws - first].astype(np.float32, copy=False)

    def _array(self, name: str) -> zarr3.Array:
        _check_side(name)
        if name not in self._arrays:
            message = f"{self.path} keeps no draws of {name}: it was made with store={self.settings.store!r}"
            raise RunError(
                f"{message}; it has their mean and variance, for more fit with store='both'",
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
    def array_names(self) -> tuple[str, ...]:
        """What is stored of each draw: ``rho`` and ``alpha``, as far as they are, and the statistics."""
        return tuple(self._arrays)

    @property
    def scale_names(self) -> tuple[str, ...]:
        """The statistics that are learned precisions of the prior, such as ``rho_drift_precision``."""
        return tuple(name for side in SIDES for name in self.scales_of(side))

    def scales_of(self, side: str) -> tuple[str, ...]:
        """Return the statistics that are learned precisions of the prior of one side."""
        recorded = self.manifest.get("scales")
        if recorded is None:  # written by version 0.1.0: only their names show what they are
            return tuple(name for name in self._arrays if name.startswith(f"{side}_"))
        return tuple(recorded[side])

    @property
    def draw_bytes(self) -> int:
        """Size of a stored draw of one chain, in bytes."""
        return sum(
            4 * self._arrays[name].rows * self._arrays[name].width for name in SIDES if name in self._arrays
        )

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
        """Return the mean of all committed draws of ``rho`` or ``alpha``, stored or not."""
        return self._pooled(name)[1]

    def variance(self, name: str) -> Float64:  # (row, K)
        """Return the variance of all committed draws of ``rho`` or ``alpha`` over all chains."""
        count, _, squares = self._pooled(name)
        return squares / max(count - 1, 1)

    def _pooled(self, name: str) -> tuple[int, Float64, Float64]:
        """Return number, mean and sum of squared deviations over all chains (Chan, Golub & LeVeque 1983)."""
        _check_side(name)
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
                return mark, layout.read_checkpoint(self.path, chain, mark, self.manifest)
            except RunError:  # the writer may have committed since
                before, mark = mark, read_mark(self.path, chain)
                if mark == before:
                    raise
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
        """Return the committed draws as a lazy xarray DataTree in ArviZ's layout."""
        from bayesvec.storage.datatree import make_datatree

        return make_datatree(self)


def _check_side(name: str) -> None:
    if name not in SIDES:
        raise OptionError(f"there are no draws of {name!r}; there are rho and alpha")
