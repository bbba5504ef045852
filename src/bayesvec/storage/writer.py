"""Write a run folder so that what is committed stays, whatever happens next (see `bayesvec.storage.layout`).

Shards are written beside, flushed to the disk and renamed; then the checkpoint; then the commit mark moves. A
crash in between leaves the old mark with the old checkpoint, and shards that at most hold more draws than the mark
counts. Draws are a function of the state before them, so a resumed run writes the same bytes again.

Draws in blocks of rows can be written by others: each block is a file of its own, which appears whole, and the mark
moves once all are there.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec import _atomic as files
from bayesvec._checksums import array_parts, write_json
from bayesvec._held import HeldRows
from bayesvec._types import Array
from bayesvec.storage import layout, zarr3, zarr3_coordinates, zarr3_metadata
from bayesvec.storage.layout import SIDES, Mark
from bayesvec.storage.moments import add_draw

# Given a side, its rows, the chain and the number of a draw, has others write its blocks, and returns what waits for
# them.
WriteBlocks = Callable[[str, Any, int, int], Callable[[], None]]


def create(folder: Path, manifest: Mapping[str, Any], names: Mapping[str, Sequence[str] | None]) -> None:
    """Write everything of a new run but its counts into the empty ``folder``; the manifest goes last."""
    (folder / "state").mkdir()
    write_json(folder / "names.json", names)
    settings = manifest["settings"]
    arrays = layout.stored_arrays(folder, dict(manifest))
    staged = files.Staged()
    root = folder / "draws.zarr"
    library = {"inference_library": "bayesvec", "inference_library_version": manifest["versions"]["bayesvec"]}
    for group in ("posterior", "sample_stats"):
        zarr3_metadata.write_group(staged, root / group, {"creation_library": "bayesvec", **library})
    labels = {"word": names["words"], "context": names["contexts"]}
    for array in arrays.values():
        for dim, size in zip(array.dims, array.shape, strict=True):
            if labels.get(dim) is not None:
                zarr3_coordinates.write_names(staged, array.folder.parent / dim, dim, labels[dim] or ())
            else:
                zarr3_coordinates.write_range(staged, array.folder.parent / dim, dim, size)
    for group in ("posterior", "sample_stats"):
        zarr3_coordinates.write_range(staged, root / group / "chain", "chain", settings["chains"])
    _write_sizes(staged, arrays, settings)
    staged.commit()
    zarr3_metadata.write_root(root)
    write_json(folder / "manifest.json", manifest)


def change(folder: Path, manifest: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Change the length of a run, make room for more draws and return the new manifest; no draw changes."""
    longer = {**manifest, "settings": dict(settings)}
    before = manifest["settings"]["draws"]
    if settings["draws"] > before:
        staged = files.Staged()
        _write_sizes(staged, layout.stored_arrays(folder, longer), longer["settings"], before)
        staged.commit()
        zarr3_metadata.write_root(folder / "draws.zarr")
    write_json(folder / "manifest.json", longer)
    return longer


def _write_sizes(
    staged: files.Staged, arrays: Mapping[str, zarr3.Array], settings: Mapping[str, Any], before: int = 0
) -> None:
    """Stage what says how many draws there are, of which room for ``before`` is there."""
    for array in arrays.values():
        array.folder.mkdir(parents=True, exist_ok=True)
        staged.write(array.folder / "zarr.json", [array.metadata(settings["chains"], settings["draws"])])
    for group in {array.folder.parent for array in arrays.values()}:
        zarr3_coordinates.write_draw_numbers(staged, group / "draw", settings["draws"], before)


class ChainRecorder:
    """Writes the draws and the checkpoints of one chain.

    Parameters
    ----------
    folder : Path
        The run folder, locked by the caller.
    chain : int
        The chain.
    manifest : Mapping
        The run's manifest.

    Attributes
    ----------
    mark : Mark
        What is committed.
    draws : int
        Draws appended so far, committed or not.
    """

    def __init__(self, folder: Path, chain: int, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.chain = chain
        self._manifest = manifest
        self.mark = layout.read_mark(folder, chain)
        self.draws = self.mark.draws
        self._arrays = layout.stored_arrays(folder, dict(manifest))
        self._staged = files.Staged()
        self._blocks: dict[str, Array] = {}  # the shard being filled, (shard_draws, rows, width)
        self._moments: dict[str, Any] = {}  # arrays, or rows that others hold
        self._under_way: list[Callable[[], None]] = []  # each waits until workers have written their blocks

    def restore(self) -> dict[str, Array]:
        """Return the committed state (nothing if there is none) and take up the shards that are not full."""
        self._remove_old(self.mark.generation)
        self._remove_partial()
        if not self.mark.generation:
            return {}
        saved = layout.read_checkpoint(self.folder, self.chain, self.mark, self._manifest)
        for name, array in self._arrays.items():
            full, rest = divmod(self.draws, array.shard_draws)
            if rest:
                self._block(name)[:rest] = array.read(self.chain, full)[:rest]
        moments = [name for name in saved if name.startswith(("mean_", "squares_"))]
        self._moments = {name: saved.pop(name) for name in moments}
        return {name.removeprefix("state_"): array for name, array in saved.items()}

    def append(self, values: Mapping[str, npt.ArrayLike], write_blocks: WriteBlocks | None = None) -> None:
        """Add one draw: ``rho`` and ``alpha`` (whether stored or not) and the statistics by name.

        Parameters
        ----------
        values : Mapping
            The draw.
        write_blocks : callable, optional
            Delegates writing a side that is in blocks of rows to workers.
        """
        self._wait()
        for name in SIDES:
            self._add_moments(name, values[name])
        for name, array in self._arrays.items():
            if len(array.blocks) > 1:
                self._append_blocks(name, array, values[name], write_blocks)
                continue
            place = self.draws % array.shard_draws
            block = self._block(name)
            block[place].reshape(array.shape)[...] = values[name]
            if place + 1 == array.shard_draws:
                self._staged.write(
                    array.shard(self.chain, self.draws // array.shard_draws), array.parts(block)
                )
        self.draws += 1

    def _append_blocks(
        self, name: str, array: zarr3.Array, rows: Any, write_blocks: WriteBlocks | None
    ) -> None:
        """Write a draw block by block, or have it written."""
        if write_blocks is not None:
            self._under_way.append(write_blocks(name, rows, self.chain, self.draws))
            return
        for block in array.blocks:
            own = np.asarray(rows)[None, block.first_row : block.first_row + block.rows]
            self._staged.write(block.shard(self.chain, self.draws), block.parts(own))

    def _wait(self) -> None:
        """Wait for the blocks that others write."""
        while self._under_way:
            self._under_way[-1]()
            self._under_way.pop()

    @property
    def between_shards(self) -> bool:
        """Whether a commit now would write no shard of vectors that is not full."""
        kept = [array for name, array in self._arrays.items() if name in SIDES]
        return all(self.draws % array.shard_draws == 0 for array in kept)

    def commit(self, sweep: int, state: Mapping[str, Any]) -> None:
        """Bring everything appended so far and the state after ``sweep`` safely onto the disk."""
        self._wait()
        for name, array in self._arrays.items():
            full, rest = divmod(self.draws, array.shard_draws)
            if rest and self.draws > self.mark.draws:
                self._staged.write(array.shard(self.chain, full), array.parts(self._block(name)[:rest]))
        named = {f"state_{name}": array for name, array in state.items()}
        generation = self.mark.generation + 1
        checkpoint = layout.checkpoint_file(self.folder, self.chain, generation)
        self._staged.write(checkpoint, array_parts({**named, **self._moments}))
        self._staged.commit()
        mark = Mark(sweep, self.draws, generation)
        write_json(layout.mark_file(self.folder, self.chain), mark._asdict())
        self.mark = mark
        self._remove_old(generation)
        if self.draws == self._manifest["settings"]["draws"]:
            self._remove_partial()

    def _block(self, name: str) -> Array:
        if name not in self._blocks:
            array = self._arrays[name]
            self._blocks[name] = np.empty((array.shard_draws, array.rows, array.width), array.stored)
        return self._blocks[name]

    def _add_moments(self, name: str, value: Any) -> None:
        """Update mean and sum of squared deviations by one draw; of rows that others hold, where those are."""
        first, second = f"mean_{name}", f"squares_{name}"
        mean, squares = self._moments.get(first), self._moments.get(second)
        if isinstance(value, HeldRows):
            mean, squares = value.moments(mean, squares, self.draws)
        else:
            if mean is None or squares is None:
                mean, squares = np.zeros(np.shape(value)), np.zeros(np.shape(value))
            add_draw(mean, squares, np.asarray(value), self.draws)
        self._moments |= {first: mean, second: squares}

    def _remove_old(self, generation: int) -> None:
        """Remove the checkpoints of this chain but the one that the mark names."""
        kept = layout.checkpoint_file(self.folder, self.chain, generation).name
        for path in (self.folder / "state").glob(f"chain-{self.chain}.*.arrays*"):
            if path.name != kept:
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()

    def _remove_partial(self) -> None:
        """Remove what was left of blocks by workers that were killed."""
        for array in self._arrays.values():
            if len(array.blocks) > 1:
                files.remove_partial(array.folder, f"c.{self.chain}.*")
