"""How every inner loop is compiled: cached on disk, without the interpreter's lock, without fastmath."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile ``function`` with Numba; it may then run beside others in plain Python threads."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Compile ``function`` into each of its callers (for scalar helpers in inner loops)."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function))
