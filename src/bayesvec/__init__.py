"""Word embeddings that know how sure they are: the full posterior of skip-gram with negative sampling."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# The module of each public name. It is imported when the name is first used, so that `import bayesvec` and
# `bayesvec --help` are fast.
_MODULE_OF = {
    "BayesianEmbedding": "integrations.sklearn",
    "Estimate": "estimates.estimate",
    "PairCounts": "counts.pairs",
    "Posterior": "posterior.posterior",
    "calibrate": "diagnostics.calibration",
    "compare": "diagnostics.comparison",
    "count": "text.count",
    "count_baskets": "text.count",
    "datasets": "datasets",
    "export": "io",
    "fit": "fitting",
    "from_pairs": "counts.pairs",
    "from_table": "counts.table",
    "open": "posterior.posterior",
    "open_counts": "counts.store",
    "open_truth": "simulation.pairs",
    "priors": "priors",
    "random_polyagamma": "kernels.polyagamma",
    "read_vectors": "vectors.read",
    "simulate": "simulation.pairs",
    "simulate_documents": "simulation.documents",
}

# without `open`: a star import must not hide Python's own
__all__ = sorted({*_MODULE_OF, "__version__"} - {"open"})


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'bayesvec' has no attribute {name!r}")
    module = import_module(f"bayesvec.{_MODULE_OF[name]}")
    return module if name == _MODULE_OF[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*__all__, "open"})


if TYPE_CHECKING:
    from bayesvec import datasets as datasets
    from bayesvec import priors as priors
    from bayesvec.counts.pairs import PairCounts as PairCounts
    from bayesvec.counts.pairs import from_pairs as from_pairs
    from bayesvec.counts.store import open_counts as open_counts
    from bayesvec.counts.table import from_table as from_table
    from bayesvec.diagnostics.calibration import calibrate as calibrate
    from bayesvec.diagnostics.comparison import compare as compare
    from bayesvec.estimates.estimate import Estimate as Estimate
    from bayesvec.fitting import fit as fit
    from bayesvec.integrations.sklearn import BayesianEmbedding as BayesianEmbedding
    from bayesvec.io import export as export
    from bayesvec.kernels.polyagamma import random_polyagamma as random_polyagamma
    from bayesvec.posterior.posterior import Posterior as Posterior
    from bayesvec.posterior.posterior import open as open
    from bayesvec.simulation.documents import simulate_documents as simulate_documents
    from bayesvec.simulation.pairs import open_truth as open_truth
    from bayesvec.simulation.pairs import simulate as simulate
    from bayesvec.text.count import count as count
    from bayesvec.text.count import count_baskets as count_baskets
    from bayesvec.vectors.read import read_vectors as read_vectors
