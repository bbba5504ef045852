"""A run in the formats of others: word2vec, ArviZ, Parquet, a memory-mapped NumPy file.

Every export is written beside its place and renamed when it is whole, a few draws in memory at a time.
"""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesvec._validate import one_of, whole
from bayesvec.errors import OptionError
from bayesvec.estimates.estimate import LEVEL, tails

if TYPE_CHECKING:
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.storage.reader import Draws

FORMATS = ("word2vec", "word2vec-binary", "arviz", "parquet", "memmap")
SIDES = ("rho", "alpha")
WHAT = ("mean", "draw", "all")


@dataclass(frozen=True)
class Exported:
    """What an export has written.

    Attributes
    ----------
    out : str
        The file, or the folder of files.
    format : str
        Its format.
    content : str
        What it holds, in words.
    files : int
        How many files.
    bytes : int
        Their size in all.
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
    posterior: "Posterior",
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
    posterior : Posterior
        The posterior.
    path : path
        The file to make; with ``what="all"`` the folder.
    format : {"word2vec", "word2vec-binary", "arviz", "parquet", "memmap"}
        ``word2vec`` is text, and with ``word2vec-binary`` what gensim's ``load_word2vec_format`` reads: words with
        white space are written as `bayesvec.vectors.spelling` says. ``arviz`` is one netCDF file (``.nc``; it takes
        h5netcdf) with all draws, their names and statistics. ``parquet`` has a row for each word: how often it was
        seen, mean and standard deviation of its vector, and its norm with interval, ESS and R-hat.
        ``memmap`` is a NumPy file (``.npy``) with all draws, (chain, draw, row, K), and a JSON file with the
        names of the rows beside it.
    side : {"rho", "alpha"}, optional
        The words' vectors (the default) or the contexts'; ``arviz`` takes all that are stored.
    what : {"mean", "draw", "all"}, optional
        Of the word2vec formats: the posterior mean (the default), one draw, or a folder with a file for each.
    chain, draw : int, optional
        Which draw, counted from 0; the chain is 0 if it is not given.
    level : float, optional
        Probability of the intervals of ``parquet``.
    force : bool, optional
        Replace what is at ``path``.
    progress : bool, optional
        Show progress on a terminal, and say how large many files will be before they are written.

    Returns
    -------
    Exported
    """
    one_of("format", format, FORMATS)
    if side is not None:
        one_of("side", side, SIDES)
    tails(level)
    target, draws = Path(path), posterior.draws
    what, chain, draw = _checked_what(format, what, chain, draw, draws)
    common: dict[str, Any] = {"force": force, "show": progress}
    if format == "arviz":
        from bayesvec.io.netcdf import export_netcdf

        return export_netcdf(draws, target, side, **common)
    if format == "parquet":
        from bayesvec.io.parquet import export_parquet

        return export_parquet(draws, target, side or "rho", level, **common)
    if format == "memmap":
        from bayesvec.io.memmap import export_memmap

        return export_memmap(draws, target, side or "rho", **common)
    from bayesvec.io import word2vec

    binary = format == "word2vec-binary"
    if what == "mean":
        return word2vec.export_mean(draws, target, side or "rho", binary=binary, force=force)
    if what == "all":
        return word2vec.export_all(draws, target, side or "rho", binary=binary, **common)
    assert draw is not None
    return word2vec.export_draw(draws, target, side or "rho", chain or 0, draw, binary=binary, force=force)


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
    what = one_of("what", what or ("draw" if named else "mean"), WHAT)
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
    """Write a number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def require_draws(draws: "Draws", side: str) -> None:
    """Raise a `RunError` if the run keeps no draws of a side."""
    draws.read(side, rows=[0], draws=slice(0))
