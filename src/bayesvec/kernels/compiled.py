"""How every inner loop is compiled: cached on disk, without the interpreter's lock, without fastmath."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# When any kernel was last changed. Numba checks the file of the function it caches, but not those of the
# functions compiled into it: after an update it would run old code on new tables, silently.
KERNELS = tuple(
    (path.name, path.stat().st_mtime_ns, path.stat().st_size)
    for path in sorted(Path(__file__).parent.glob("*.py"))
)


def compiled(function: F, **options: Any) -> F:
    """Compile ``function`` with Numba; it may then run beside others in plain Python threads."""
    dispatcher = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:  # there is none when compilation is switched off
        cache_file._source_stamp = (cache_file._source_stamp, KERNELS)
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """Compile ``function`` into each of its callers: helpers of inner loops, and steps with one or two callers.

    Numba optimises a function by itself and once more in each caller, and passes a tuple of arrays by dozens of
    arguments; without that a first start takes a third less time.
    """
    return compiled(function, inline="always")


def fused(function: F) -> F:
    """Compile arithmetic whose products and sums may be fused (never less exact), in the order written."""
    return compiled(function, fastmath={"contract"})


def summing(function: F) -> F:
    """Compile a sum that may be reordered, so that it is vectorised; NaN and infinity are kept."""
    return compiled(function, fastmath={"reassoc", "contract", "nsz"})


def is_cached(function: Callable[..., Any]) -> bool:
    """Whether some version of a compiled function is in the cache on disk, or nothing is ever kept there."""
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return cache_file is None or bool(cache_file._load_index())


def cache_folder() -> Path | None:
    """Return the folder in which compiled code is kept; None if there is none."""
    path = getattr(getattr(_nothing, "_cache", None), "cache_path", None)
    return None if path is None else Path(path)


@compiled
def _nothing() -> None:
    """Do nothing: never compiled, it only has a place in the cache."""
