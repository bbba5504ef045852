"""All draws in one netCDF-4 file in ArviZ's layout, which ``arviz.from_netcdf`` opens.

The groups are ``posterior`` (rho, alpha) and ``sample_stats`` (log posterior, seconds, some cosines), with words,
contexts and pairs by name as coordinates. It is written a few draws at a time, unlike by xarray's own writer.
The run folder itself opens without a copy: `Posterior.to_datatree`.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesvec import __version__
from bayesvec._atomic import placed
from bayesvec._progress import progress
from bayesvec._targets import check_free
from bayesvec.errors import OptionError
from bayesvec.estimates.labels import label
from bayesvec.io import Exported, check_disk, require_draws
from bayesvec.storage.layout import SIDES
from bayesvec.storage.reader import names_of

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


def export_netcdf(draws: "Draws", target: Path, side: str | None, *, force: bool, show: bool) -> Exported:
    """Write the draws of one side, or of all that are stored, with the statistics of the sweeps."""
    if target.suffix != ".nc":
        raise OptionError(f"{target} is not the name of a netCDF file; give it a name that ends in .nc")
    try:
        import h5netcdf
    except ImportError:
        raise OptionError(
            "writing an ArviZ file requires h5netcdf; install it (pip install 'bayesvec[netcdf]'), or open the run "
            "itself: bayesvec.open(run).to_datatree()"
        ) from None
    stored = [name for name in SIDES if name in draws.manifest["arrays"]]
    sides = stored if side is None else [side]
    for name in sides:
        require_draws(draws, name)
    check_free(target, what="an export", force=force)
    count = draws.num_chains * draws.num_draws
    check_disk(target, 4.0 * count * draws.dim * sum(len(names_of(draws, name)) for name in sides))
    with placed(target) as partial, h5netcdf.File(partial, "w") as file:
        file.attrs.update(_attributes(draws))
        group = file.create_group("posterior")
        group.attrs.update(_attributes(draws))
        _coordinates(group, draws)
        if sides:
            _coordinate(group, "dim", np.arange(draws.dim))
        with progress("writing draws", count * len(sides), enabled=show) as advance:
            for name in sides:
                _coordinate(group, SIDES[name], names_of(draws, name))
                dims = ("chain", "draw", SIDES[name], "dim")
                variable = group.create_variable(name, dims, np.float32)
                for chain, first, block in draws.blocks(name):
                    variable[chain, first : first + len(block)] = block
                    advance(len(block), "")
        _write_stats(file, draws)
    content = (
        f"{draws.num_chains} chains of {draws.num_draws:,} draws of {' and '.join(sides) or 'statistics'}"
    )
    return Exported(str(target), "arviz", content, 1, target.stat().st_size)


def _write_stats(file: Any, draws: "Draws") -> None:
    group = file.create_group("sample_stats")
    group.attrs.update(_attributes(draws))
    _coordinates(group, draws)
    for name, described in draws.manifest["arrays"].items():
        if name in SIDES:
            continue
        values = draws.stats(name)
        dims = ("chain", "draw", *described["dims"])
        if "pair" in dims and "pair" not in group.dimensions:
            words = draws.words
            _coordinate(group, "pair", [label("cosine", (words[i], words[j])) for i, j in draws.monitored])
        group.create_variable(name, dims, described["dtype"], data=values)


def _coordinates(group: Any, draws: "Draws") -> None:
    _coordinate(group, "chain", np.arange(draws.num_chains))
    _coordinate(group, "draw", np.arange(draws.num_draws))


def _coordinate(group: Any, dim: str, values: Any) -> None:
    """Write the labels of a dimension, numbers or names."""
    group.dimensions[dim] = len(values)
    if isinstance(values, np.ndarray):
        group.create_variable(dim, (dim,), np.int64, data=values)
        return
    import h5py

    names = [name.encode("utf-8", "replace").decode() for name in values]
    group.create_variable(dim, (dim,), h5py.string_dtype(), data=np.array(names, dtype=object))


def _attributes(draws: "Draws") -> dict[str, Any]:
    """Return the attributes that ArviZ gives a group: creator, time, and duration."""
    return {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "creation_library": "bayesvec",
        "creation_library_version": __version__,
        "inference_library": "bayesvec",
        "inference_library_version": draws.manifest["versions"]["bayesvec"],
        "sampling_time": draws.seconds,
        "settings": json.dumps(draws.manifest["settings"]),
    }
