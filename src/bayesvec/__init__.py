"""Word embeddings that know how sure they are: the full posterior of skip-gram with negative sampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. A module is imported when one of its names is first used, so that
# `import bayesvec` and `bayesvec --help` answer at once.
_HOME = {
    "BayesianEmbedding": "bayesvec.integrations.sklearn",
    "Estimate": "bayesvec.estimates.estimate",
    "PairCounts": "bayesvec.counts.pairs",
    "Posterior": "bayesvec.posterior.posterior",
    "calibrate": "bayesvec.diagnostics.calibration",
    "compare": "bayesvec.diagnostics.comparison",
    "count": "bayesvec.text.count",
    "count_baskets": "bayesvec.text.count",
    "export": "bayesvec.io",
    "fit": "bayesvec.fitting",
    "from_pairs": "bayesvec.counts.pairs",
    "from_table": "bayesvec.counts.table",
    "open": "bayesvec.posterior.posterior",  # not in __all__: a star import must not hide Python's own
    "open_counts": "bayesvec.counts.store",
    "open_truth": "bayesvec.simulation.pairs",
    "random_polyagamma": "bayesvec.kernels.polyagamma",
    "read_vectors": "bayesvec.vectors.read",
    "simulate": "bayesvec.simulation.pairs",
    "simulate_documents": "bayesvec.simulation.documents",
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
    from bayesvec.counts.pairs import PairCounts, from_pairs
    from bayesvec.counts.store import open_counts
    from bayesvec.counts.table import from_table
    from bayesvec.diagnostics.calibration import calibrate
    from bayesvec.diagnostics.comparison import compare
    from bayesvec.estimates.estimate import Estimate
    from bayesvec.fitting import fit
    from bayesvec.integrations.sklearn import BayesianEmbedding
    from bayesvec.io import export
    from bayesvec.kernels.polyagamma import random_polyagamma
    from bayesvec.posterior.posterior import Posterior
    from bayesvec.posterior.posterior import open as open
    from bayesvec.simulation.documents import simulate_documents
    from bayesvec.simulation.pairs import open_truth, simulate
    from bayesvec.text.count import count, count_baskets
    from bayesvec.vectors.read import read_vectors
