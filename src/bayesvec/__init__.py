"""Word embeddings that know how sure they are: the full posterior of skip-gram with negative sampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. A module is imported when one of its names is first used, so that
# `import bayesvec` and `bayesvec --help` answer at once.
_HOME = {
    "PairCounts": "bayesvec.counts",
    "count": "bayesvec.counting",
    "count_baskets": "bayesvec.counting",
    "from_pairs": "bayesvec.counts",
}

__all__ = ["PairCounts", "__version__", "count", "count_baskets", "from_pairs"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bayesvec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


if TYPE_CHECKING:
    from bayesvec.counting import count, count_baskets
    from bayesvec.counts import PairCounts, from_pairs
