"""word2vec's text and binary formats, which gensim and most other programs read.

A first line with the number of vectors and their length, then each word with its numbers: as text, with nine
digits, from which every float32 can be read back; or as little-endian float32. White space in words is encoded by
`bayesvec.vectors.spelling`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesvec._atomic import placed
from bayesvec._progress import progress
from bayesvec._targets import check_free
from bayesvec._types import Float32
from bayesvec.io import Exported, check_disk, require_draws, size_text
from bayesvec.storage.layout import SIDES
from bayesvec.storage.reader import names_of
from bayesvec.vectors.point import POINTS, point_vectors
from bayesvec.vectors.spelling import encoded

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws


_FILE = re.compile(r"chain-\d+-draw-\d+\.(txt|bin)")
_ROWS = 1000  # rows of text that are held at a time


def export_one(
    draws: "Draws",
    target: Path,
    side: str,
    one: tuple[int, int] | None,
    *,
    what: str,
    binary: bool,
    force: bool,
) -> Exported:
    """Write one draw, given by its chain and number, or one vector per row (``what``) if none is."""
    check_free(target, what="an export", force=force)
    if one is None:
        told, values = POINTS[what], point_vectors(draws, side, what=what).values
    else:
        chain, draw = one
        told = f"draw {draw} of chain {chain}"
        values = draws.read(side, draws=slice(draw, draw + 1))[chain, 0]
    names = tuple(map(encoded, names_of(draws, side)))
    with placed(target) as partial:
        size = write_vectors(partial, names, values, binary=binary)
    return Exported(str(target), _format(binary), f"{told} of {_described(draws, side)}", 1, size)


def export_all(draws: "Draws", target: Path, side: str, *, binary: bool, force: bool, show: bool) -> Exported:
    """Write one file per draw."""
    from bayesvec._progress import tell

    check_free(
        target,
        what="a folder of such files",
        force=force,
        ours=lambda folder: all(_FILE.fullmatch(path.name) for path in folder.iterdir()),
        folder=True,
    )
    require_draws(draws, side)
    names = tuple(map(encoded, names_of(draws, side)))
    count = draws.num_chains * draws.num_draws
    _, _, block = next(draws.blocks(side))
    each = sum(map(len, vector_parts(names, block[0], binary=binary)))
    check_disk(target, each * count)
    if show:
        tell(f"{count:,} files of {size_text(each)}, {size_text(each * count)} in all, go to {target}")
    ending, digits = "bin" if binary else "txt", len(str(draws.num_draws - 1))
    total = 0
    with (
        placed(target, folder=True, force=force) as folder,
        progress("writing draws", count, enabled=show) as advance,
    ):
        for chain, first, block in draws.blocks(side):
            for draw, values in enumerate(block, start=first):
                file = folder / f"chain-{chain}-draw-{draw:0{digits}d}.{ending}"
                total += write_vectors(file, names, values, binary=binary)
                advance(1, "")
    content = f"all draws of {_described(draws, side)}"
    return Exported(str(target), _format(binary), content, count, total)


def write_vectors(path: Path, names: tuple[str, ...], values: Float32, *, binary: bool) -> int:
    """Write vectors (row, K) to a file; return its size."""
    with path.open("wb") as file:
        return sum(map(file.write, vector_parts(names, values, binary=binary)))


def vector_parts(names: tuple[str, ...], values: Float32, *, binary: bool) -> Iterator[bytes]:
    """Yield the bytes of a file of vectors; ``names`` are encoded."""
    yield f"{len(names)} {values.shape[1]}\n".encode()
    if binary:
        rows = np.ascontiguousarray(values, dtype="<f4")
        for name, row in zip(names, rows, strict=True):
            yield b"%b %b\n" % (name.encode(), row.tobytes())
        return
    line = "%s" + " %.9g" * values.shape[1] + "\n"
    for first in range(0, len(names), _ROWS):
        part = values[first : first + _ROWS].astype(np.float32).tolist()
        lines = [line % (name, *row) for name, row in zip(names[first : first + _ROWS], part, strict=True)]
        yield "".join(lines).encode()


def _described(draws: "Draws", side: str) -> str:
    names = names_of(draws, side)
    changed = sum(name != encoded(name) for name in names)
    spaced = f", {changed:,} of them with spaces written as ␠" if changed else ""
    return f"{len(names):,} {SIDES[side]}s in {draws.dim} dimensions{spaced}"


def _format(binary: bool) -> str:
    return "word2vec-binary" if binary else "word2vec"
