"""Gaussian priors over the rows of rho and of alpha, and how to make them."""

from bayesvec.priors.dynamic import dynamic
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.graph import graph
from bayesvec.priors.grouped import grouped
from bayesvec.priors.informative import informative
from bayesvec.priors.learned import Learned
from bayesvec.priors.spherical import spherical
from bayesvec.priors.vectors import from_vectors

__all__ = [
    "Learned",
    "Prior",
    "RowPrior",
    "dynamic",
    "from_vectors",
    "graph",
    "grouped",
    "informative",
    "spherical",
]
