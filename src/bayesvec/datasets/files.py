"""Where a data set's files are: a path, the folder BAYESVEC_DATA, or a download that is kept."""

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from pathlib import Path

from bayesvec._atomic import placed
from bayesvec.errors import InputError

VARIABLE = "BAYESVEC_DATA"
TIMEOUT = 30.0  # seconds without an answer


def local(path: str | os.PathLike[str] | None, *names: str) -> Path | None:
    """Return where the data is on this machine: ``path``, else a name in $BAYESVEC_DATA, else nowhere."""
    if path is not None:
        given = Path(path)
        if not given.exists():
            raise InputError(f"{given} does not exist; give the path of the data", file=str(given))
        return given
    root = os.environ.get(VARIABLE)
    found = [Path(root, name) for name in names if root and Path(root, name).exists()]
    return found[0] if found else None


def downloaded(url: str, *, md5: str, what: str, limit: int) -> Path:
    """Return the file at ``url``, downloaded once, checked, and kept in the user's cache.

    Parameters
    ----------
    url : str
        The official address.
    md5 : str
        The checksum that its owner publishes.
    what : str
        What it is, for messages.
    limit : int
        More bytes than this are not it.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "bayesvec")
    kept = cache / url.rsplit("/", 1)[1]
    if kept.exists() and hashlib.md5(kept.read_bytes(), usedforsecurity=False).hexdigest() == md5:
        return kept
    place = Path(os.environ.get(VARIABLE) or f"${VARIABLE}", kept.name)
    remedy = f"download it yourself and put it at {place}, or in Python give its path"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            content = response.read(limit + 1)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or error
        raise InputError(f"cannot download {what} from {url} ({reason}); {remedy}") from None
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise InputError(f"what {url} gave is not {what} (its MD5 is {found}, not {md5}); {remedy}")
    with placed(
        kept, error=lambda problem: InputError(f"cannot keep {what}: {problem}; {remedy}")
    ) as partial:
        partial.write_bytes(content)
    return kept
