"""All draws in one NumPy file, to be opened as ``np.load(file, mmap_mode="r")``; names in a JSON file beside it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesvec._atomic import placed
from bayesvec._progress import progress
from bayesvec._targets import check_free
from bayesvec.errors import OptionError
from bayesvec.io import Exported, about_run, check_disk, require_draws
from bayesvec.storage.layout import SIDES
from bayesvec.storage.reader import names_of

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


def export_memmap(draws: "Draws", target: Path, side: str, *, force: bool, show: bool) -> Exported:
    """Write the draws of one side, (chain, draw, row, K) as float32, a few at a time."""
    if target.suffix != ".npy":
        raise OptionError(f"{target} is not the name of a NumPy file; give it a name that ends in .npy")
    described = target.with_suffix(".json")
    for path in (target, described):
        check_free(path, what="an export", force=force)
    names, kind = names_of(draws, side), SIDES[side]
    shape = (draws.num_chains, draws.num_draws, len(names), draws.dim)
    require_draws(draws, side)
    check_disk(target, 4 * float(np.prod(shape)))
    described_as = {
        "array": target.name,
        "side": side,
        "dims": ["chain", "draw", kind, "dim"],
        "shape": shape,
        "names": names,
        **about_run(draws),
    }
    with placed(described) as beside, placed(target) as partial:
        beside.write_text(json.dumps(described_as), encoding="ascii")
        with (
            partial.open("wb") as file,
            progress("writing draws", shape[0] * shape[1], enabled=show) as advance,
        ):
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": shape}
            )
            for _, _, block in draws.blocks(side):  # in the order of the file
                file.write(np.ascontiguousarray(block, dtype="<f4").data)
                advance(len(block), "")
    size = target.stat().st_size + described.stat().st_size
    content = f"{shape[0]} chains of {shape[1]:,} draws of {shape[2]:,} {kind}s in {shape[3]} dimensions"
    return Exported(str(target), "memmap", content, 2, size)
