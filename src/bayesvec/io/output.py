"""Put what is written in its place when it is whole: all of it is there, or nothing."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from bayesvec import _atomic as files
from bayesvec.errors import OptionError


def check_free(target: Path, *, force: bool, ours: Callable[[Path], bool] | None = None) -> None:
    """Raise an `OptionError` that says what to do unless ``target`` can be written.

    Parameters
    ----------
    target : Path
        The file or folder to make.
    force : bool
        Whether what is there may be replaced.
    ours : callable, optional
        For a folder: tells of a file in it whether an export has written it. A folder with anything else is
        never replaced.
    """
    if not target.parent.is_dir():
        raise OptionError(f"cannot write {target}: there is no folder {target.parent}; make it first")
    if not target.exists() and not target.is_symlink():
        return
    if target.is_dir():
        inside = list(target.iterdir())
        if not inside and ours:
            return
        if ours is None or not all(map(ours, inside)):
            raise OptionError(f"{target} is a folder of something else; name another place")
    elif ours is not None:
        raise OptionError(f"{target} is a file, and a folder is to be made; name another place")
    if not force:
        raise OptionError(f"{target} is there already; replace it with --force (force=True), or name another")


def check_room(target: Path, size: float) -> None:
    """Raise an `OptionError` if the disk has less room than ``size`` bytes."""
    from bayesvec.io import size_text

    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise OptionError(
            f"{target} takes {size_text(size)}, and {size_text(free)} are free there; make room first"
        )


@contextlib.contextmanager
def placed(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Give a name beside ``target`` to write to; it takes the place of ``target`` if nothing fails."""
    place = target.resolve()  # through links: what they point at is replaced, not they
    partial = place.with_name(f".{place.name}.{secrets.token_hex(4)}.partial")
    aside = partial.with_suffix(".old")
    try:
        if folder:
            partial.mkdir()
        yield partial
        if folder:
            files.sync_tree(partial)
            if place.exists():
                os.rename(place, aside)
        else:
            files.sync_file(partial)
        os.replace(partial, place)
        files.sync_directory(place.parent)
    except OSError as error:
        if aside.exists() and not place.exists():
            os.rename(aside, place)
        raise OptionError(
            f"cannot write {target}: {error.strerror or error}; make room or name another place"
        ) from None
    finally:
        for left in (partial, aside):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
