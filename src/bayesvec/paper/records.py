"""Values of records: fit for JSON, small and readable."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesvec._types import Float64


def tidy(value: Any) -> Any:
    """Return ``value`` fit for JSON: NumPy's numbers as Python's, non-finite ones as None."""
    if isinstance(value, Mapping):
        return {str(name): tidy(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [tidy(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"a record cannot hold {type(value).__name__}")


def pack(values: npt.ArrayLike, decimals: int = 4) -> str:
    """Return many numbers as one line of text, which keeps records small and readable."""
    return " ".join(f"{value:.{decimals}f}" for value in np.asarray(values, dtype=np.float64).ravel())


def unpack(text: str) -> Float64:
    """Return the numbers that `pack` wrote."""
    return np.array(text.split(), dtype=np.float64)
