"""Exports of a run: word2vec, ArviZ, Parquet, a memory-mapped NumPy file.

Every export appears at once when it is complete, and is written with a few draws in memory at a time.
"""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesvec._validate import one_of, whole
from bayesvec.errors import OptionError
from bayesvec.estimates.intervals import LEVEL, tails

if TYPE_CHECKING:
    from bayesvec.storage.reader import Draws, RunLike

FORMATS = ("word2vec", "word2vec-binary", "arviz", "parquet", "memmap")
SIDES = ("rho", "alpha")
WHAT = ("point", "centred", "mean", "draw", "all")


@dataclass(frozen=True)
class Exported:
    """Summary of an export.

    Attributes
    ----------
    out : str
        The file, or the folder of files.
    format : str
        Its format.
    content : str
        Its contents, in words.
    files : int
        How many files.
    bytes : int
        Their total size.
    """

    out: str
    format: str
    content: str
    files: int
    bytes: int

    def __str__(self) -> str:
        many = f" in {self.files:,} files" if self.files > 1 else ""
        return f"{self.out}: {self.content} ({self.format}, {size_text(self.bytes)}{many})"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return asdict(self)


def export(
    posterior: "RunLike | Draws",
    path: str | os.PathLike[str],
    format: str = "word2vec",
    *,
    side: str | None = None,
    what: str | None = None,
    chain: int | None = None,
    draw: int | None = None,
    level: float = LEVEL,
    force: bool = False,
    progress: bool = False,
) -> Exported:
    """Write a posterior in a format that other programs read.

    Parameters
    ----------
    posterior : Posterior or path
        The posterior, or its run folder.
    path : path
        The file to write; with ``what="all"`` the folder.
    format : {"word2vec", "word2vec-binary", "arviz", "parquet", "memmap"}
        ``word2vec`` (text) and ``word2vec-binary`` are what gensim's ``load_word2vec_format`` reads; white space in
        words is encoded, see `bayesvec.vectors.spelling`. ``arviz`` is one netCDF file (``.nc``; requires
        h5netcdf) with all draws, their names and statistics. ``parquet`` has one row per word: how often it was
        seen, mean and standard deviation of its vector, and its norm with interval, ESS and R-hat.
        ``memmap`` is a NumPy file (``.npy``) with all draws, (chain, draw, row, K), and a JSON file with the
        names of the rows beside it.
    side : {"rho", "alpha"}, optional
        The vectors of the words (the default) or of the contexts; ``arviz`` takes all that are stored.
    what : {"point", "centred", "mean", "draw", "all"}, optional
        For word2vec: a point estimate for comparing words, the posterior mean centred and rescaled (the default;
        `bayesvec.vectors.point`), the posterior mean less its average over all words, the posterior mean itself, one
        draw, or a folder with one file per draw.
    chain, draw : int, optional
        Which draw, counted from 0; the chain is 0 by default.
    level : float, optional
        Probability of the intervals of ``parquet``.
    force : bool, optional
        Replace what is at ``path``.
    progress : bool, optional
        Show progress on a terminal, and report the total size of many files before they are written.

    Returns
    -------
    Exported
    """
    from bayesvec.storage.reader import draws_of

    one_of("format", format, FORMATS)
    if side is not None:
        one_of("side", side, SIDES)
    tails(level)
    target, draws = Path(path), draws_of(posterior)
    what, chain, draw = _checked_what(format, what, chain, draw, draws)
    common: dict[str, Any] = {"force": force, "show": progress}
    if format == "arviz":
        from bayesvec.io.netcdf import export_netcdf

        return export_netcdf(draws, target, side, **common)
    side = side or "rho"
    if format == "parquet":
        from bayesvec.io.parquet import export_parquet

        return export_parquet(draws, target, side, level, **common)
    if format == "memmap":
        from bayesvec.io.memmap import export_memmap

        return export_memmap(draws, target, side, **common)
    from bayesvec.io import word2vec

    binary = format == "word2vec-binary"
    if what == "all":
        return word2vec.export_all(draws, target, side, binary=binary, **common)
    one = None if draw is None else (chain or 0, draw)
    return word2vec.export_one(draws, target, side, one, what=what, binary=binary, force=force)


def _checked_what(
    format: str, what: str | None, chain: int | None, draw: int | None, draws: "Draws"
) -> tuple[str, int | None, int | None]:
    """Return what to write of the draws; one draw if one is named."""
    if not format.startswith("word2vec"):
        given = {"what": what, "chain": chain, "draw": draw}
        name = next((name for name, value in given.items() if value is not None), None)
        if name is not None:
            raise OptionError(
                f"{name} goes with word2vec and word2vec-binary, not with {format}; leave it out"
            )
        return "all", None, None
    named = chain is not None or draw is not None
    what = one_of("what", what or ("draw" if named else "point"), WHAT)
    if named and what != "draw":
        raise OptionError(f"draw and chain name one draw, and what is {what!r}; take what='draw'")
    if what == "draw":
        if draw is None:
            raise OptionError("what is 'draw', and no draw is named; give its number, counted from 0")
        return what, _number("chain", chain or 0, draws.num_chains), _number("draw", draw, draws.num_draws)
    return what, None, None


def _number(name: str, value: Any, size: int) -> int:
    number = whole(name, value, 0)
    if number >= size:
        last = f"from 0 to {size - 1}" if size > 1 else "0"
        raise OptionError(f"{name} is {number}; the run has {size}, so it must be {last}")
    return number


def check_disk(target: Path, size: float) -> None:
    """Raise an `OptionError` if the disk has less room than ``size`` bytes."""
    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise OptionError(
            f"{target} takes {size_text(size)}, and {size_text(free)} are free there; make room first"
        )


def size_text(size: float) -> str:
    """Return a number of bytes as text."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def about_run(draws: "Draws") -> dict[str, Any]:
    """Return what identifies a run: its folder, and how it was fitted."""
    settings = draws.manifest["settings"]
    return {"run": str(draws.path)} | {name: settings.get(name) for name in ("method", "identify", "seed")}


def require_draws(draws: "Draws", side: str) -> None:
    """Raise a `RunError` if the run keeps no draws of a side."""
    draws.read(side, rows=[0], draws=slice(0))
