"""Word embeddings that know how sure they are: the full posterior of skip-gram with negative sampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. A module is imported when one of its names is first used, so that
# `import bayesvec` and `bayesvec --help` answer at once.
_HOME = {
    "BayesianEmbedding": "bayesvec.embedding",
    "Estimate": "bayesvec.estimate",
    "PairCounts": "bayesvec.counts",
    "Posterior": "bayesvec.posterior",
    "calibrate": "bayesvec.trials",
    "compare": "bayesvec.comparison",
    "count": "bayesvec.text.counting",
    "count_baskets": "bayesvec.text.counting",
    "export": "bayesvec.exports",
    "fit": "bayesvec.run",
    "from_pairs": "bayesvec.counts",
    "from_table": "bayesvec.counts_table",
    "open": "bayesvec.posterior",  # not in __all__: a star import must not hide Python's own
    "open_counts": "bayesvec.counts_store",
    "open_truth": "bayesvec.worlds",
    "random_polyagamma": "bayesvec.kernels.polyagamma",
    "read_vectors": "bayesvec.vectors",
    "simulate": "bayesvec.worlds",
    "simulate_documents": "bayesvec.worlds_text",
}

_MODULES = ("datasets", "priors")

__all__ = [
    "BayesianEmbedding",
    "Estimate",
    "PairCounts",
    "Posterior",
    "__version__",
    "calibrate",
    "compare",
    "count",
    "count_baskets",
    "datasets",
    "export",
    "fit",
    "from_pairs",
    "from_table",
    "open_counts",
    "open_truth",
    "priors",
    "random_polyagamma",
    "read_vectors",
    "simulate",
    "simulate_documents",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"bayesvec.{name}")
    raise AttributeError(f"module 'bayesvec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})


if TYPE_CHECKING:
    from bayesvec import datasets, priors
    from bayesvec.comparison import compare
    from bayesvec.counts import PairCounts, from_pairs
    from bayesvec.counts_store import open_counts
    from bayesvec.counts_table import from_table
    from bayesvec.embedding import BayesianEmbedding
    from bayesvec.estimate import Estimate
    from bayesvec.exports import export
    from bayesvec.kernels.polyagamma import random_polyagamma
    from bayesvec.posterior import Posterior
    from bayesvec.posterior import open as open
    from bayesvec.run import fit
    from bayesvec.text.counting import count, count_baskets
    from bayesvec.trials import calibrate
    from bayesvec.vectors import read_vectors
    from bayesvec.worlds import open_truth, simulate
    from bayesvec.worlds_text import simulate_documents
